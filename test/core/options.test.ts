import { describe, expect, expectTypeOf, it } from "vitest";
import {
  byType,
  choice,
  either,
  filled,
  flag,
  given,
  type InputOf,
  list,
  nothing,
  number,
  object,
  option,
  optional,
  resolve,
  seed,
  type TableOf,
  text,
  tuple,
  whole,
  withoutDefaults,
} from "../../packages/core/src/options.js";

const radius = "a number of at least 0, or null";
const table = {
  size: given(whole({ atLeast: 1 }), "Neurons."),
  radius: option(either(radius, number({ atLeast: 0 }), nothing), 0.9, "Of W."),
  leak: option(number({ above: 0, atMost: 1 }), 0.3, "a."),
  shape: option(
    byType<{ type: "ring" } | { type: "jumps"; length: number }>({ ring: {}, jumps: { length: given(whole(), "k.") } }),
    { type: "ring" },
    "W.",
  ),
  start: filled(object({ mode: option(choice("zeros", "random"), "zeros", "How."), seed: optional(whole(), "Of it.") }), "x."),
  grid: optional(tuple<[number, number]>("two whole numbers", [whole(), whole()]), "Points."),
  lambdas: optional(list(number(), "at least one number", 1), "A grid."),
};

describe("a table of options", () => {
  it("fills in the defaults and leaves out what has none", () => {
    expect(resolve(table, { size: 3 })).toEqual({ size: 3, radius: 0.9, leak: 0.3, shape: { type: "ring" }, start: { mode: "zeros" } });
  });

  it.each([
    [{}, "value", "size", "size is missing; it takes a whole number of at least 1"],
    [{ sise: 3 }, "unknown-field", "sise", 'unknown field "sise": did you mean "size"?'],
    [{ size: 3, leak: 0 }, "value", "leak", "leak is 0; it takes a number above 0 and at most 1"],
    [{ size: 3, radius: "x" }, "value", "radius", 'radius is "x"; it takes a number of at least 0, or null'],
    [{ size: 3, start: { mod: 1 } }, "unknown-field", "start.mod", 'unknown field "start.mod": did you mean "mode"?'],
    [{ size: 3, start: { mode: "x" } }, "value", "start.mode", 'start.mode is "x"; it takes "zeros" or "random"'],
    [{ size: 3, start: 1 }, "value", "start", "start is 1; it takes an object with mode, seed"],
    [
      { size: 3, shape: "circle" },
      "value",
      "shape",
      'shape is "circle"; it takes one of ring, jumps, or an object whose "type" is one of them',
    ],
    [
      { size: 3, shape: { type: "jumps", lenght: 1 } },
      "unknown-field",
      "shape.lenght",
      'unknown field "shape.lenght": did you mean "length"?',
    ],
    [{ size: 3, shape: "jumps" }, "value", "shape.length", "shape.length is missing; it takes a whole number of at least 0"],
    [{ size: 3, grid: [1] }, "value", "grid", "grid is an array of 1; it takes two whole numbers"],
    [{ size: 3, lambdas: [1, Number.NaN] }, "value", "lambdas[1]", "lambdas[1] is NaN; it takes a finite number"],
    [{ size: 3, lambdas: [] }, "value", "lambdas", "lambdas is an array of 0; it takes at least one number"],
  ])("refuses %j", (options, code, field, message) => {
    expect(() => resolve(table, options)).toThrow(expect.objectContaining({ name: "ArgumentError", code, field, message }));
  });

  it("names what takes the options, if it is told", () => {
    expect(() => resolve(table, { size: 0 }, "create")).toThrow("create: size is 0; it takes a whole number of at least 1");
    expect(() => resolve(table, null as never, "create")).toThrow("create: options is null; it takes an object of options");
  });

  it("becomes a JSON Schema, in the words of the errors", () => {
    expect(object(table).schema).toMatchObject({
      type: "object",
      required: ["size"],
      additionalProperties: false,
      properties: {
        size: { type: "integer", minimum: 1, description: "Neurons. Takes a whole number of at least 1." },
        radius: { anyOf: [{ type: "number", minimum: 0 }, { type: "null" }], default: 0.9 },
        start: { properties: { mode: { enum: ["zeros", "random"] } } },
      },
    });
  });

  it("can be taken without its defaults", () => {
    expect(resolve(withoutDefaults({ on: option(flag, true, "") }), {})).toEqual({});
  });

  it("has every option of its interface, and none more", () => {
    interface Two {
      readonly a?: number | undefined;
      readonly b?: number | undefined;
    }
    // @ts-expect-error b is missing
    ({ a: option(number(), 1, "") }) satisfies TableOf<Two>;
    // @ts-expect-error c is no option
    ({ a: option(number(), 1, ""), b: option(number(), 1, ""), c: option(number(), 1, "") }) satisfies TableOf<Two>;
    // @ts-expect-error b is a number
    ({ a: option(number(), 1, ""), b: option(flag, true, "") }) satisfies TableOf<Two>;
  });

  it("yields the type of what a user writes", () => {
    const inner = { from: given(number(), ""), to: option(number(), 1, "") };
    const table = {
      size: given(whole(), ""),
      name: option(text(), "a", ""),
      seed: optional(seed, ""),
      range: optional(either("a number or a range", number(), object(inner)), ""),
      ranges: optional(list(object(inner), "ranges"), ""),
    };
    interface Range {
      readonly from: number;
      readonly to?: number | undefined;
    }
    interface Written {
      readonly size: number;
      readonly name?: string | undefined;
      readonly seed?: string | number | undefined;
      readonly range?: number | Range | undefined;
      readonly ranges?: readonly Range[] | undefined;
    }
    interface Derived extends InputOf<typeof table> {}
    expectTypeOf<Derived>().branded.toEqualTypeOf<Written>();
    expectTypeOf<Pick<Derived, "size" | "name" | "seed">>().toEqualTypeOf<Pick<Written, "size" | "name" | "seed">>();
    // @ts-expect-error size has to be given
    expect(() => resolve(table, {} satisfies Derived)).toThrow("size");
    expect(resolve(table, { size: 1, range: { from: 0 } } satisfies Derived)).toEqual({ size: 1, name: "a", range: { from: 0, to: 1 } });
  });
});
