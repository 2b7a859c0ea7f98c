// A plan that is asked for by its name: everything that a reservoir does runs by it, or is refused.
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { type ExperimentInput, type ExperimentRunOptions, runExperiment } from "../../../src/experiment/index.js";
import { Classifier, Forecaster, Matrix, ReservoirComputer, ridge } from "../../../src/index.js";
import { Pipeline } from "../../../src/pipeline/index.js";
import { processPattern, processPatterns, SpikePattern } from "../../../src/spikes/index.js";
import { exhaustive } from "../../exhaustive.js";
import { bits } from "../contract.js";

const launched = new Set<string>();
const context = openDevice({ driver: simulatedDriver({ onLaunch: ({ kernel }) => void launched.add(kernel) }) });
afterAll(() => context.dispose());
beforeEach(() => launched.clear());

/** The kernels that advance a reservoir, and nothing else, by plan. */
const steps = /^(leaky_integration|matvec_reservoir|grid_|cluster_|dense_step|sparse_step|reservoir_|batch_|ensemble_|integer_|q4k)/;
const stepsOf: Readonly<Record<string, RegExp>> = {
  named: /^(leaky_integration|matvec_reservoir)/,
  streamed: /^(dense|sparse)_step/,
  cluster: /^(cluster_|reservoir_cluster)/,
  grid: /^(grid_|reservoir_grid)/,
};

function expectOnly(plan: string, what: string): void {
  const used = [...launched].filter((kernel) => steps.test(kernel));
  expect(used.length, `${what} launches steps: ${[...launched]}`).toBeGreaterThan(0);
  expect(
    used.filter((kernel) => !stepsOf[plan]!.test(kernel)),
    what,
  ).toEqual([]);
  launched.clear();
}

const description = { size: 70, inputSize: 1, storage: "dense", feedback: null, seed: 3 } as const;
const series = Matrix.from(Array.from({ length: 14 }, (_, t) => [Math.sin(0.3 * t)]));
const patterns = [1, 2].map((first) =>
  SpikePattern.from(
    [first, first + 3, 12].map((timeMs) => ({ neuron: 0, timeMs })),
    { durationMs: 15, neuronCount: 1 },
  ),
);
const cases = [0, 1, 2, 3, 4, 5].map((k) => Matrix.from(Array.from({ length: 5 }, (_, t) => [Math.sin((0.2 + 0.4 * (k % 2)) * t + k)])));
const labels = [0, 1, 0, 1, 0, 1];

async function trained(of: ReservoirComputer) {
  const trainer = ridge();
  const sink = trainer.accumulator({ stateSize: of.model.size, inputSize: 1, outputSize: 1 });
  await of.train(series, series, sink, { washout: 3 });
  return trainer.solve(sink);
}

describe.each(Object.keys(stepsOf))("the plan %s", (plan) => {
  const create = () => ReservoirComputer.create(description, { context, plan });

  it("is what every way to run takes, with the bits of auto", async () => {
    await using computer = await create();
    await using plain = await ReservoirComputer.create(description, { context });
    expect(computer.engine.plan.details["plan"]).toBe(plan);
    launched.clear();
    const ways: Readonly<Record<string, (of: ReservoirComputer) => Promise<ArrayBufferView>>> = {
      run: async (of) => (await of.run(series)).data,
      step: async (of) => of.step([0.3]).slice(),
      batch: async (of) => (await of.batch([series, series, series])).at(-1)!.data,
      "batch, last states": async (of) => (await of.batch([series, series], { keep: "last" })).at(-1)!.data,
      train: async (of) => (await trained(of)).weights.data,
      generate: async (of) => (await of.generate(5, await trained(of))).data,
      processPattern: async (of) => processPattern(of, patterns[0]!, { stepMs: 1 }),
      processPatterns: async (of) => (await processPatterns(of, patterns, { stepMs: 1, state: "last", keep: "host" })).data,
    };
    for (const [what, way] of Object.entries(ways)) {
      computer.reset();
      plain.reset();
      const made = await way(computer).catch((error: unknown) => {
        // Not every kernel of the grid closes loops.
        expect([plan, what]).toEqual(["grid", "generate"]);
        expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining('the plan "grid" closes no loop') });
      });
      if (!made) continue;
      expectOnly(plan, what);
      expect(bits(made as Float32Array), what).toEqual(bits((await way(plain)) as Float32Array));
      launched.clear();
    }
  });

  it.runIf(exhaustive || plan === "named")("is what models take, and opened files", async () => {
    await using forecaster = await Forecaster.fit(series, { reservoir: description, washout: 5, context, plan });
    await forecaster.predict(series);
    expectOnly(plan, "Forecaster");
    await using classifier = await Classifier.fit(cases, labels, { reservoir: description, context, plan });
    await classifier.predict(cases);
    expectOnly(plan, "Classifier");
    await using pipeline = await new Pipeline({ reservoir: description }, { context, plan }).fit(cases, labels);
    await pipeline.predict(cases);
    expectOnly(plan, "Pipeline");
    await using loaded = await Classifier.fromBytes(await classifier.toBytes(), { context, plan });
    await loaded.predict(cases);
    expectOnly(plan, "Classifier.fromBytes");
  });
});

describe("an experiment", () => {
  const experiment = {
    name: "narma",
    data: { task: "narma", length: 40 },
    reservoir: { size: 20, storage: "dense" },
    task: { type: "predict" },
    split: { train: 30, test: 10 },
    washout: 5,
    outputs: { report: false, refit: false },
  } as const;

  it("runs by the plan of its options, or else of its file", async () => {
    const scored = async (source: ExperimentInput, options: ExperimentRunOptions) => {
      launched.clear();
      return (await runExperiment(source, options)).result;
    };
    const { scores } = await scored(experiment, { engine: "cpu" });
    expect((await scored(experiment, { context, plan: "named" })).scores).toEqual(scores);
    expectOnly("named", "options");
    const { config } = await scored({ ...experiment, plan: "named" }, { context });
    expectOnly("named", "file");
    expect(config.plan).toBe("named");
    await scored({ ...experiment, plan: "named" }, { context, plan: "streamed" });
    expectOnly("streamed", "options before the file");
    const { engine } = await scored({ ...experiment, engine: "reference" }, {});
    expect(engine?.name).toBe("reference");
  });

  it("refuses a plan that its model does not have", async () => {
    const refused = { code: "value", field: "plan", value: "named" };
    const task = { type: "forecast", horizon: 2 } as const;
    const nvar = {
      ...experiment,
      data: { task: "mackeyGlass", length: 200 },
      split: undefined,
      reservoir: undefined,
      washout: undefined,
      model: "nvar",
      task,
    } as const;
    await expect(runExperiment({ ...nvar, plan: "named" })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("model nvar"),
    });
    await expect(runExperiment(nvar, { context })).rejects.toMatchObject({ cause: { field: "context" } });
    await expect(runExperiment(experiment, { engine: "cpu", plan: "named" })).rejects.toMatchObject({ cause: { field: "plan" } });
  });
});

describe("a kind of reservoir with one way to run", () => {
  it.each([
    ["spiking", { kind: "spiking", size: 20, inputSize: 1, timeStep: 0.5 }],
    ["oscillator", { kind: "oscillator", size: 12 }],
  ] as const)("refuses the names of plans: %s", async (kind, options) => {
    for (const plan of ["named", "grid", "no such plan"])
      await expect(ReservoirComputer.create(options as never, { context, plan })).rejects.toMatchObject({
        code: "value",
        field: "plan",
        value: plan,
      });
    await expect(ReservoirComputer.create(options as never, { context, kernelSource: "nvrtc" })).rejects.toMatchObject({
      field: "kernelSource",
    });
    const computer = await ReservoirComputer.create(options as never, { context, plan: "auto" });
    expect(computer.config).toMatchObject({ kind });
    await computer.dispose();
  });
});
