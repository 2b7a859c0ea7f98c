// Every whole number that users write has an upper bound, and a count that allocates or repeats is
// refused at a billion before any work.
import { describe, expect, it } from "vitest";
import { SpillwayError } from "../../packages/core/src/errors.js";
import type { JsonSchema } from "../../packages/core/src/options.js";
import { optionSections } from "../../scripts/option-tables.js";
import { echoStateIndex, kernelRank, memoryCapacity, mutualInformation } from "../../src/analysis/index.js";
import { Classifier, Forecaster, mackeyGlass, NvarForecaster, ReservoirComputer } from "../../src/index.js";
import { kFold } from "../../src/pipeline/index.js";
import { binSpikes, encode, intrinsicPlasticity, SpikePattern } from "../../src/spikes/index.js";

/**
 * Whole numbers of any sign (rows from the end of a series, ends of a range), and a device's
 * limits.
 */
const others = ["starts", "int", "limits"];

/** The schemas within a schema that take whole numbers without an upper bound. */
function unbounded(schema: JsonSchema): JsonSchema[] {
  const { type, maximum, exclusiveMaximum } = schema as Record<string, unknown>;
  const own = type === "integer" && (maximum ?? exclusiveMaximum) === undefined ? [schema] : [];
  const within = Object.values(schema).filter((value): value is JsonSchema => typeof value === "object" && value !== null);
  return [...own, ...within.flatMap(unbounded)];
}

const options = optionSections().flatMap(({ title, lines }) =>
  lines.flatMap((each) =>
    typeof each === "string" || others.includes(each[0]) ? [] : [[`${title}: ${each[0]}`, each[1].schema] as const],
  ),
);

describe("whole numbers", () => {
  it("are looked for in hundreds of options", () => expect(options.length).toBeGreaterThan(900));

  it.each(options.filter(([, schema]) => JSON.stringify(schema).includes('"integer"')))("have an upper bound: %s", (_, schema) => {
    expect(unbounded(schema)).toEqual([]);
  });
});

const billion = 1e9;
const series = Array.from({ length: 60 }, (_, t) => [Math.sin(t / 3)]);
const small = { reservoir: { size: 5 }, engine: "reference" } as const;
const pattern = new SpikePattern({ times: [1, 5], neurons: [0, 1] }, { durationMs: 10, neuronCount: 2 });
const computer = () => ReservoirComputer.create({ size: 5 }, { engine: "reference" });
const cases = ["a", "b", "a", "b"].map((_, k) => series.slice(k, k + 20));

/** Calls whose memory or time would grow with a count, each with a billion of it. */
const calls: Record<string, () => unknown> = {
  "neurons of a reservoir": () => ReservoirComputer.create({ size: billion, connectionProbability: 0.1 }),
  "neurons of a spiking reservoir": () => ReservoirComputer.create({ kind: "spiking", size: billion }),
  "inputs of a reservoir": () => ReservoirComputer.create({ size: 5, inputSize: billion }),
  "neurons of a population": () => ReservoirComputer.create({ kind: "network", populations: { E: { size: billion } }, projections: [] }),
  "members of a forecaster": () => Forecaster.fit(series, { ...small, members: billion }),
  "the horizon of a forecaster": () => Forecaster.fit(series, { ...small, horizon: billion }),
  "steps of a forecast": async () => (await Forecaster.fit(series, small)).forecast(billion),
  "lags of a forecaster": () => Forecaster.fit(series, { ...small, lags: billion }),
  "members of a classifier": () => Classifier.fit(cases, ["a", "b", "a", "b"], { ...small, members: billion }),
  "delays of NVAR": () => NvarForecaster.fit(series, { delays: billion }),
  folds: () => kFold(9, { folds: billion }),
  "bins of spikes": () => binSpikes(pattern, { bins: billion }),
  "bins of width next to none": () => binSpikes(pattern, { binMs: 1e-8 }),
  "neurons of an encoder": () => encode(series, { encoder: "population", frameMs: 10, neuronsPerChannel: billion } as never),
  surrogates: () => mutualInformation(series.flat(), series.flat(), { surrogates: billion }),
  "initial states": async () => echoStateIndex(await computer(), { initialStates: billion }),
  "delays of memory capacity": async () => memoryCapacity(await computer(), { maxDelay: billion }),
  "streams of a rank": async () => kernelRank(await computer(), { streams: billion }),
  "samples of a task": () => mackeyGlass(billion),
  "epochs of plasticity": async () => intrinsicPlasticity((await computer()).model, series, { epochs: billion }),
};

describe("a billion is refused at once, without the memory", () => {
  it.each(Object.entries(calls))(
    "%s",
    async (_, call) => {
      const before = process.memoryUsage.rss();
      const error = await (async () => call())().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SpillwayError);
      expect(process.memoryUsage.rss() - before).toBeLessThan(200e6);
    },
    60_000,
  );
});
