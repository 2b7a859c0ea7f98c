import { describe, expect, it } from "vitest";
import { Matrix } from "../../src/numerics/index.js";
import { plotCapacity, plotQualityMap, toSvg } from "../../src/plot/index.js";
import { decoded } from "./decoded.js";

const capacity = (first: number, second: number) => ({
  total: first + second,
  rank: 5,
  byDegree: [
    { degree: 1, capacity: first, byDelay: [1, first - 1, 0, 0] },
    { degree: 2, capacity: second, byDelay: [0, second, 0] },
  ],
});

describe("plotCapacity", () => {
  it("stacks degrees by delay, the highest sum first, up to the last delay that counts", () => {
    const figure = plotCapacity(capacity(1.5, 0.25));
    expect(figure.data.map(({ name }) => name)).toEqual(["degree 2: 0.25", "degree 1: 1.5"]);
    expect(decoded(figure.data[0]!["x"])).toEqual([0, 1, 2]);
    expect(decoded(figure.data[0]!["y"])).toEqual([1, 0.75, 0]);
    expect(decoded(figure.data[1]!["y"])).toEqual([1, 0.5, 0]);
    expect(figure.description).toContain("1.75 in all, of a rank of 5");
    expect(toSvg(figure)).toContain("longest delay");
  });

  it("stacks those of several reservoirs beside their ranks", () => {
    const figure = plotCapacity({ calm: capacity(3, 1), wild: capacity(1, 2) });
    expect(figure.data.map(({ name }) => name)).toEqual(["degree 2", "degree 1", "rank"]);
    expect(decoded(figure.data[0]!["y"])).toEqual([4, 3]);
    expect(decoded(figure.data[2]!["y"])).toEqual([5, 5]);
    expect(toSvg(figure)).toContain("wild");
  });

  it("takes what informationCapacity gives", () => {
    expect(() => plotCapacity(null as never)).toThrow("capacities is null; it takes what informationCapacity() gives");
    expect(() => plotCapacity({ a: 5 } as never)).toThrow("a is 5");
    expect(() => plotCapacity({})).toThrow("there is no capacity to draw");
  });
});

describe("plotQualityMap", () => {
  const map = {
    x: { parameter: "spectralRadius", values: [0.5, 1, 1.5] },
    y: { parameter: "inputScaling", values: [0.1, 1] },
    values: {
      lyapunovExponent: Matrix.from([
        [-0.5, 0.5, 1],
        [-1, -0.25, 0.75],
      ]),
      memoryCapacity: Matrix.from([
        [3, 9, 1],
        [2, 4, Number.NaN],
      ]),
    },
  };

  it("draws a measure with the line at which the exponent changes sign", () => {
    const figure = plotQualityMap(map, "memoryCapacity");
    expect(figure.title).toBe("Memory capacity");
    expect(figure.description).toContain("largest 9 at spectralRadius 1, inputScaling 0.1");
    expect(decoded(figure.data[0]!["z"])).toEqual([3, 9, 1, 2, 4, Number.NaN]);
    expect(decoded(figure.data[1]!["x"])).toEqual([0.5, 1.25]);
    expect(decoded(figure.data[1]!["y"])).toEqual([0, 1]);
    expect(toSvg(figure)).toContain("spectralRadius");
  });

  it("draws the exponent on a scale that is as wide below 0 as above", () => {
    expect(plotQualityMap(map, "lyapunovExponent").data[0]).toMatchObject({ zmin: -1, zmax: 1 });
  });

  it("takes a measure that the map has", () => {
    expect(() => plotQualityMap(map, "storage")).toThrow('measure is "storage"; it takes one of lyapunovExponent, memoryCapacity');
    expect(() => plotQualityMap(undefined as never, "storage")).toThrow("map is missing; it takes what qualityMap() gives");
  });
});
