// What a user gets wrong of an analysis: a sentence that names it, not a measure that left it out.
import { describe, expect, it } from "vitest";
import * as analysis from "../../src/analysis/index.js";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";

const reservoir = { size: 5, seed: 1 };
const series = Float64Array.from({ length: 60 }, (_, t) => ((t * 37) % 60) / 30);

const calls: Readonly<Record<string, (options: never) => unknown>> = {
  echoStateIndex: (options) => analysis.echoStateIndex(reservoir, options),
  kernelRank: (options) => analysis.kernelRank(reservoir, options),
  generalisationRank: (options) => analysis.generalisationRank(reservoir, options),
  lyapunovExponent: (options) => analysis.lyapunovExponent(reservoir, options),
  analyse: (options) => analysis.analyse(reservoir, options),
  qualityMap: (options) => analysis.qualityMap(reservoir, options),
  informationCapacity: (options) => analysis.informationCapacity(reservoir, options),
  lyapunovSpectrum: (options) => analysis.lyapunovSpectrum(reservoir, options),
  memoryCapacity: (options) => analysis.memoryCapacity(reservoir, options),
  spectralRadius: (options) => analysis.spectralRadius(reservoir, options),
  compare: (options) => analysis.compare(reservoir, series, ["cpu", "reference"], options),
  nearestNeighbourInformation: (options) => analysis.nearestNeighbourInformation(series, series, options),
  nearestNeighbourTransferEntropy: (options) => analysis.nearestNeighbourTransferEntropy(series, series, options),
  activeInformationStorage: (options) => analysis.activeInformationStorage(series, options),
  gaussianTransferEntropy: (options) => analysis.gaussianTransferEntropy(series, series, options),
  informationDynamics: (options) => analysis.informationDynamics(reservoir, options),
  mutualInformation: (options) => analysis.mutualInformation(series, series, options),
  informationFlow: (options) => analysis.informationFlow([], options),
  transferEntropy: (options) => analysis.transferEntropy(series, series, options),
};

describe("analyses", () => {
  it.each(Object.entries(calls))("%s refuses an option that there is not, and options that are no object", async (_, call) => {
    await expect((async () => call({ lenght: 10 } as never))()).rejects.toThrow('unknown field "lenght"');
    await expect((async () => call(null as never))()).rejects.toThrow("options is null; it takes an object of options");
  });

  it.each([
    analysis.echoStateIndex,
    analysis.analyse,
    analysis.qualityMap,
    analysis.informationCapacity,
    analysis.informationDynamics,
    analysis.kernelRank,
    analysis.memoryCapacity,
    analysis.lyapunovExponent,
    analysis.spectralRadius,
    analysis.spectrum,
  ] as readonly ((source: never) => Promise<unknown>)[])("%o refuses what is no reservoir", async (measure) => {
    for (const bad of [undefined, "cpu", 5])
      await expect(measure(bad as never)).rejects.toThrow(/^source is .*; it takes a description of a reservoir/);
  });

  it("take lists of numbers as series, and a Matrix for singular values", () => {
    expect(() => analysis.transferEntropy(undefined as never, series)).toThrow("source is missing; it takes a list of numbers");
    expect(() => analysis.nearestNeighbourInformation(series, 5 as never)).toThrow("y is 5; it takes a Matrix, a Float32Array");
    expect(() => analysis.singularValues([[1, 2]] as never)).toThrow("matrix is an array of 1; it takes a Matrix");
    expect(() => analysis.numericalRank(undefined as never, 0.1)).toThrow("values is missing; it takes a list of singular values");
  });

  it.each([Number.NaN, undefined, -1, "0.1"])("count no rank with a tolerance of %s", (tolerance) => {
    expect(() => analysis.numericalRank(Float64Array.of(2, 1), tolerance as never)).toThrow(/^tolerance is .*; it takes a finite number/);
  });

  it("take the spectral radius of a Matrix, not of lists", async () => {
    await expect(analysis.spectralRadius([[1]] as never)).rejects.toThrow("source is an array of 1; it takes a reservoir or a Matrix");
    const { signal } = new AbortController();
    expect((await analysis.spectralRadius(Matrix.from([[0.5]]), { signal, method: "dense" })).radius).toBe(0.5);
  });

  it("take an axis of a map with its parameter and its values", async () => {
    const map = (x: object) => analysis.qualityMap(reservoir, { x: x as analysis.MapAxis });
    await expect(map({ parameter: "leakRate" })).rejects.toMatchObject({ field: "x.values" });
    await expect(map({ values: [0.5] })).rejects.toMatchObject({ field: "x.parameter" });
  });
});
