// The space of a search: what it takes, and the sentence for what it does not.
import { describe, expect, it } from "vitest";
import { SearchSpace, type SpaceDescription } from "../../packages/search/src/index.js";

describe("a space", () => {
  it.each<[unknown, string]>([
    [{}, "space is empty; it takes at least one parameter, such as { radius: { float: [0.1, 1.5] } }"],
    [{ a: { float: [2, 1] } }, "space.a.float is [2, 1]: its bounds are crossed; the smaller comes first"],
    [{ a: { float: [0, 1], log: true } }, "space.a.float[0] is 0; it takes a number above 0 if values are spread in their logarithm"],
    [{ a: { int: [0, 10], step: 3 } }, "space.a.step is 3, which does not divide 10 - 0; choose bounds that are whole steps apart"],
    [{ a: { float: [1, 2], log: true, step: 0.5 } }, "space.a.step is 0.5; it takes nothing if log is true: one of the two"],
    [{ a: { flot: [0, 1] } }, 'space.a is {"flot":[0,1]}; it takes an object with float: [low, high], int: [low, high]'],
    [{ a: { float: [0, 1], lgo: true } }, 'unknown field "space.a.lgo": did you mean "log"?'],
    [{ a: { choice: [] } }, "space.a.choice is an array of 0; it takes a list of at least one value"],
    [{ a: { choice: [1, 1] } }, "space.a.choice is 1; it takes each value once"],
    [{ a: { float: [0, 1], int: [0, 1] } }, "it takes one of float and int, not both"],
    [{ a: { int: [0.5, 1] } }, "space.a.int[0] is 0.5; it takes a whole number"],
    [{ a: { float: [0, 1], when: { b: 1 } } }, 'unknown field "space.a.when.b"; known fields are a'],
    [{ a: { float: [0, 1], when: { b: 0.5 } }, b: { float: [0, 1] } }, "a choice or a whole number to depend on; b is a float"],
    [{ a: { float: [0, 1], when: { b: "z" } }, b: { choice: ["x", "y"] } }, 'space.a.when.b is "z"; it takes "x", "y"'],
    [
      { a: { choice: [1, 2], when: { b: 1 } }, b: { choice: [1, 2], when: { a: 1 } } },
      "space: the conditions are a circle: a depends on b depends on a",
    ],
    [{ a: { sweep: [0, 1], points: 3 } }, "space.a.sweep[0] is 0; it takes a number above 0"],
    [3, "space is 3; it takes an object of parameters"],
  ])("refuses %j", (description, sentence) => {
    expect(() => new SearchSpace(description as SpaceDescription)).toThrow(sentence);
  });

  it("keeps sweeps apart from the parameters that a sampler draws", () => {
    const { parameters, sweeps } = new SearchSpace({ a: { float: [0, 1] }, lambda: { sweep: [1e-4, 1], points: 3 } });
    expect(parameters.map(({ name }) => name)).toEqual(["a"]);
    expect(sweeps["lambda"]).toEqual([1e-4, expect.closeTo(1e-2, 12), 1]);
  });

  it("reads parameters as internal values, and back", () => {
    const space = new SearchSpace({ a: { float: [0, 1] }, b: { choice: ["x", null, true] }, c: { int: [1, 9], when: { b: "x" } } });
    const values = space.toInternal({ a: 0.5, b: null });
    expect([...values]).toEqual([0.5, 1, Number.NaN]);
    expect(space.toParameters(values)).toEqual({ a: 0.5, b: null });
    expect([...space.toInternal({ a: 7, b: "other", c: 1.5 })]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  it("names what a fixed value may be", () => {
    const space = new SearchSpace({ radius: { float: [0, 1] }, b: { choice: ["x", "y"] } });
    expect(() => space.checkFixed({ radus: 1 })).toThrow('unknown field "params.radus": did you mean "radius"?');
    expect(() => space.checkFixed({ radius: 2 })).toThrow("params.radius is 2; it takes a number from 0 to 1");
    expect(() => space.checkFixed({ b: "z" })).toThrow('params.b is "z"; it takes "x", "y"');
  });
});
