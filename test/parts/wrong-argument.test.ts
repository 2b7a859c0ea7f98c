// A field of one argument that is given in another: the error says where it belongs.
import { ReservoirComputer, ReservoirEnsemble } from "spillway";
import { runExperiment } from "spillway/experiment";
import { Classifier, Forecaster } from "spillway/model";
import { registerEngine, registerReservoirKind, registerTopology } from "spillway/reservoir";
import { LiquidStateMachine, SpikingNetwork } from "spillway/spikes";
import { describe, expect, it } from "vitest";

type Call = (description: object, options?: object) => Promise<unknown>;
const series = Array.from({ length: 60 }, (_, t) => Math.sin(t / 3));
const create = ReservoirComputer.create as Call;
const fit = ((options) => (Forecaster.fit as (data: object, options: object) => Promise<unknown>)(series, options)) as Call;
const classify = ((options) => (Classifier.fit as (...all: object[]) => Promise<unknown>)([series, series], ["a", "b"], options)) as Call;
const run = ((fields) => runExperiment({ name: "x", data: { task: "narma", length: 200 }, task: "predict", ...fields } as never)) as Call;
const second = "the second argument, beside the description";
const first = "the description, the first argument";

describe("a field of another argument", () => {
  it.each<[string, Call, object, object | undefined, string, string]>([
    ["create", create, { size: 5, engine: "cpu" }, undefined, "engine", second],
    ["create of a registered kind", create, { kind: "oscillator", size: 5, threads: 2 }, undefined, "threads", second],
    ["create of a liquid", create, { kind: "spiking", size: 5, threads: 2 }, undefined, "threads", second],
    ["create, the other way", create, { size: 5 }, { leakRate: 0.3 }, "leakRate", first],
    ["ensembles", ReservoirEnsemble.create as unknown as Call, [{ size: 5, engine: "cpu" }], undefined, "engine", second],
    ["liquids", LiquidStateMachine.create as Call, { size: 5, engine: "cpu" }, undefined, "engine", second],
    ["networks", SpikingNetwork.create as Call, { populations: {}, engine: "cpu" }, undefined, "engine", second],
    ["networks, the other way", SpikingNetwork.create as Call, { populations: {} }, { seed: 1 }, "seed", first],
    ["forecasters", fit, { reservoir: { size: 5 }, leakRate: 0.3 }, undefined, "leakRate", "reservoir"],
    ["a forecaster's readout", fit, { reservoir: { size: 5 }, lambda: 1 }, undefined, "lambda", "readout"],
    ["a forecaster's reservoir", fit, { reservoir: { size: 5, washout: 3 } }, undefined, "washout", "the options, beside reservoir"],
    ["classifiers", classify, { spectralRadius: 0.3 }, undefined, "spectralRadius", "reservoir"],
    ["experiments", run, { leakRate: 0.3 }, undefined, "leakRate", "reservoir"],
    ["an experiment's reservoir", run, { reservoir: { size: 5, engine: "cpu" } }, undefined, "reservoir.engine", "the top of the file"],
    ["an experiment's readout", run, { lambda: 1 }, undefined, "lambda", "readout"],
    ["an experiment's data", run, { options: {} }, undefined, "options", "data"],
  ])("is named with its own by %s", async (_, call, description, options, field, owner) => {
    await expect(call(description, options)).rejects.toMatchObject({
      code: "unknown-field",
      field,
      message: expect.stringContaining(`unknown field "${field}": it belongs to ${owner}`),
    });
  });

  it("that nothing knows is unknown as before", async () => {
    await expect(create({ size: 5, sedd: 1 })).rejects.toThrow('unknown field "sedd": did you mean "seed"?');
  });
});

describe("a part of one's own that is not what it has to be", () => {
  it("is refused by name: a kind without a step, a topology without a matrix, an engine without members", async () => {
    const part = { description: "Wrong.", options: {} };
    registerReservoirKind({
      ...part,
      name: "stepless",
      sizes: () => ({ states: 1, matrices: {} }),
      draw: () => ({ initial: [0], matrices: {} }),
      stepper: () => undefined as unknown as () => void,
    });
    await expect(create({ kind: "stepless", size: 1 })).rejects.toThrow('stepper of the kind "stepless" is missing; it takes a function');
    registerTopology({ ...part, name: "empty", expectedNonzeros: () => 1, build: () => undefined as never });
    await expect(create({ size: 5, topology: "empty" })).rejects.toThrow("the matrix of the topology empty is missing; it takes a sparse");
    registerEngine("hollow", async () => ({}) as never, { automatic: false });
    await expect(create({ size: 5 }, { engine: "hollow" })).rejects.toThrow(
      'load of "hollow" is {}; it takes a function that loads an engine',
    );
  });
});
