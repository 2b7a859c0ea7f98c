import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { plotCapacity, plotCurves, plotQualityMap, toSvg } from "../../src/plot/index.js";
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

  it("draws that line along y if the exponent changes sign there", () => {
    const turned = {
      ...map,
      values: {
        lyapunovExponent: Matrix.from([
          [-0.5, Number.NaN, -1],
          [-1, -2, -1],
          [1, 0, -1],
        ]),
      },
    };
    const figure = plotQualityMap({ ...turned, y: { parameter: "spectralRadius", values: [0.1, 1, 2] } }, "lyapunovExponent");
    expect(decoded(figure.data[1]!["x"])).toEqual([0, 1]);
    expect(decoded(figure.data[1]!["y"])).toEqual([1.5, 2]);
  });

  it("draws the exponent on a scale that is as wide below 0 as above", () => {
    expect(plotQualityMap(map, "lyapunovExponent").data[0]).toMatchObject({ zmin: -1, zmax: 1 });
  });

  it("takes a measure that the map has", () => {
    expect(() => plotQualityMap(map, "storage")).toThrow('measure is "storage"; it takes one of lyapunovExponent, memoryCapacity');
    expect(() => plotQualityMap(undefined as never, "storage")).toThrow("map is missing; it takes what qualityMap() gives");
  });
});

describe("plotCurves", () => {
  const curves = { measured: { x: [1, 2, 3], y: [0.1, 10, 4], as: "points" }, exact: { x: [0, 5], y: [1, 2] } } as const;

  it("draws points and lines over one axis, and says what they are", () => {
    const figure = plotCurves(curves, { title: "Order", xLabel: "K", yLabel: "R" });
    expect(figure.data.map(({ name, mode }) => [name, mode])).toEqual([
      ["measured", "markers"],
      ["exact", "lines"],
    ]);
    expect(decoded(figure.data[0]!["y"])).toEqual([0.1, 10, 4]);
    expect(figure.description).toBe("Order: R over K. measured: 0.1 at 1, 4 at 3, at most 10 at 2. exact: 1 at 0, 2 at 5, at most 2 at 5.");
    expect(toSvg(figure)).toContain("<circle");
  });

  it("takes a logarithmic axis", () => {
    expect(plotCurves(curves, { logarithmic: true }).layout["yaxis"]).toMatchObject({ type: "log" });
  });

  it("takes as many x as y, and at least one curve", () => {
    expect(() => plotCurves({})).toThrow("there is no curve to draw");
    expect(() => plotCurves([] as never)).toThrow("curves is an array of 0; it takes curves by name");
    expect(() => plotCurves({ a: { x: [1], y: [] } })).toThrow("a has 1 values of x and 0 of y");
    expect(() => plotCurves({ a: { x: [1] } as never })).toThrow("it takes a curve with lists x and y");
    expect(() => plotCurves({ a: { x: [1], y: [1], as: "bars" as never } })).toThrow('a.as is "bars"; it takes line, points, both');
  });
});
