import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { type QualityMap, qualityMapFromJson, qualityMapToJson } from "../../src/analysis/index.js";
import { readMap, settingsAt } from "../../src/lab/map.js";
import { defaultSettings } from "../../src/lab/settings.js";

const map: QualityMap = {
  reservoir: { size: 50, leakRate: 1, seed: 4 },
  x: { parameter: "spectralRadius", values: [0.5, 1, 2.5] },
  y: { parameter: "inputScaling", values: [0.1, 1] },
  values: { memoryCapacity: new Matrix(2, 3, Float64Array.of(1 / 3, 2, 3, 4, 5, Number.NaN)) },
  engine: { name: "cpu", reason: "asked for" },
  interrupted: false,
};
const text = JSON.stringify(qualityMapToJson(map));

describe("a map as JSON", () => {
  it("keeps every bit, and what was not measured", () => {
    expect(text).toContain("5,null]");
    expect(qualityMapFromJson(JSON.parse(text))).toEqual(map);
    expect(qualityMapFromJson({ measures: {}, map: JSON.parse(text) })).toEqual(map);
  });

  it.each([
    [5, "the map is 5; it takes an object with x, y and values"],
    [{ measures: {} }, "this analysis was made without a map (spillway analyse --map 24)"],
    [{ ...JSON.parse(text), x: { parameter: "a" } }, 'x is {"parameter":"a"}; it takes an axis: a parameter and its values'],
    [{ ...JSON.parse(text), y: { parameter: "a", values: [null] } }, "y.values is an array of 1; it takes finite numbers, at least one"],
    [{ ...JSON.parse(text), values: {} }, "values is {}; it takes at least one measure"],
    [{ ...JSON.parse(text), values: { a: {} } }, "it takes measures of a map: lyapunovExponent"],
    [
      { ...JSON.parse(text), values: { storage: { data: [1] } } },
      "values.storage is an array of 1; it takes 2 x 3 values in `data`, row by row",
    ],
    [{ ...JSON.parse(text), values: { storage: { data: [1, 2, 3, 4, 5, "6"] } } }, "values.storage.data[5] is"],
    [{ ...JSON.parse(text), reservoir: undefined }, "reservoir is missing; it takes the description of a reservoir"],
  ])("says what is wrong with another one (%#)", (json, sentence) => {
    expect(() => qualityMapFromJson(json)).toThrow(sentence as string);
  });
});

describe("a map in the lab", () => {
  it("gives the settings of a point: the map's reservoir and axes, within the sliders", () => {
    const settings = settingsAt(readMap(text, "analysis.json"), 2, 0, { ...defaultSettings, bias: 0.7 });
    expect(settings).toEqual({ ...defaultSettings, bias: 0.7, size: 50, leakRate: 1, seed: 4, spectralRadius: 2, inputScaling: 0.1 });
  });

  it("names a file that is none", () => {
    expect(() => readMap("size: 5", "lab.yaml")).toThrow("lab.yaml: the file is no JSON");
    expect(() => readMap("[]", "a.json")).toThrow("a.json: the map is");
  });
});
