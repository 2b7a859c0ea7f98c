// Reservoirs in integers on a device: docs/numerics.md, rule 18.
import { afterAll, describe, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import type { ReservoirOptions } from "../../../src/reservoir/config.js";
import type { Engine, EngineOptions } from "../../../src/reservoir/engine.js";
import { onHardware } from "../../gpu/device/device.js";
import { bits, model, randomMatrix, randomReadout } from "../contract.js";
import { device } from "./engines.js";

const steps = onHardware ? 300 : 20;

const integer = (options: ReservoirOptions): ReservoirOptions => ({ seed: 4, arithmetic: "integer", ...options });

const shapes: readonly (readonly [string, ReservoirOptions])[] = [
  ["sparse, short rows", { size: 90, bias: 0.3 }],
  ["sparse, long rows, an odd number", { size: 131, connectionProbability: 0.5, storage: "sparse" }],
  ["sparse, long rows of 8 bits", { size: 130, connectionProbability: 0.5, storage: "sparse", weightPrecision: "int8" }],
  ["sparse in 8 bits, feedback", { size: 60, weightPrecision: "int8", feedback: { size: 2 }, inputSize: 2 }],
  ["dense, more than a load a row", { size: 257, connectionProbability: 1, inputSize: 40 }],
  [
    "dense in 8 bits, leak rates between two",
    { size: 70, connectionProbability: 1, weightPrecision: "int8", leakRate: { from: 1e-4, to: 1 } },
  ],
  ["one neuron", { size: 1, connectionProbability: 1, selfConnections: true }],
  ["no inputs", { size: 33, inputSize: 0, bias: 2, initialState: { distribution: "normal", scaling: 9 } }],
  ["far beyond radius 1", { size: 50, spectralRadius: 30 }],
];

afterAll(() => device.close());

describe.each(shapes)("a reservoir in integers on a device: %s", (_, options) => {
  const made = model(integer(options));
  // Beyond 8 inputs are cut.
  const sequence = (seed: number, rows = steps) => ({
    inputs: randomMatrix(rows, made.inputSize, "float32", seed, 12),
    ...(made.outputSize > 0 && { teacher: randomMatrix(rows, made.outputSize, "float32", seed + 1, 12) }),
  });
  const both = async <T>(work: (engine: Engine) => Promise<T>): Promise<readonly [T, T]> => [await work(device), await work(cpuEngine)];

  it("has the CPU's states, in chunks and one by one", async () => {
    const [there, here] = await both(async (engine) => {
      const session = await engine.open(made);
      const into = Matrix.zeros(steps, made.size, "float32");
      await session.run(sequence(3), { into });
      const one = session.step(randomMatrix(1, made.inputSize, "float32", 8).row(0)).slice();
      await session.dispose();
      return [bits(into.data), bits(one)];
    });
    expect(there).toEqual(here);
    expect(new Set(here[0]).size).toBeGreaterThan(made.size === 1 ? 4 : 50);
  });

  it("has the CPU's states of a batch, from W in shared memory", async () => {
    const sequences = [sequence(3, 5), sequence(5, 9), sequence(7, 1)];
    const [there, here] = await both(async (engine) => {
      const session = await engine.open(made);
      const states = await session.batch(sequences, {});
      await session.dispose();
      return states.map(({ data }) => bits(data));
    });
    expect(there).toEqual(here);
  });

  it.runIf(made.inputSize > 0)("has the CPU's closed loop", async () => {
    const outputs = made.outputSize || 1;
    const readout = randomReadout(made, outputs);
    const inputs =
      made.outputSize > 0 ? sequence(9).inputs : made.inputSize > 1 ? randomMatrix(steps, made.inputSize - 1, "float32", 9) : undefined;
    const [there, here] = await both(async (engine) => {
      const session = await engine.open(made);
      const into = Matrix.zeros(steps, made.size, "float32");
      await session.run(sequence(3, 4), {});
      const answers = await session.generate({ readout, steps, into, ...(inputs && { inputs }) });
      await session.dispose();
      return [bits(answers.data), bits(into.data)];
    });
    expect(there).toEqual(here);
  });
});

describe("an ensemble in integers on a device", () => {
  it.each([
    ["dense", { size: 45, connectionProbability: 1, feedback: {} }],
    ["sparse", { size: 70, bias: 0.2 }],
    ["dense in 8 bits, from memory", { size: 370, connectionProbability: 1, weightPrecision: "int8" }],
    ["sparse, from memory", { size: 370, connectionProbability: 0.5, storage: "sparse" }],
  ] as const satisfies readonly (readonly [string, ReservoirOptions])[])("has the CPU's states: %s", async (_, options) => {
    const models = [1, 2, 3].map((seed) => model(integer({ ...options, seed })));
    const rows = options.size > 300 ? 3 : steps;
    const feedback = "feedback" in options && { teacher: randomMatrix(rows, 1, "float32", 4, 12) };
    const sequences = models.map((_, k) => ({ inputs: randomMatrix(rows, 1, "float32", 7 + k, 12), ...feedback }));
    const ensemble = (await device.device.openEnsemble(models))!;
    const states = await ensemble.run(sequences, { keep: "all" });
    if (options.size < 300 || onHardware) expect(ensemble.plan.details["kernels"]).toMatch(/^ensemble_integer_/);
    await ensemble.dispose();
    for (const [k, each] of models.entries()) {
      const session = await cpuEngine.open(each);
      const into = Matrix.zeros(rows, each.size, "float32");
      await session.run(sequences[k]!, { into });
      await session.dispose();
      expect(bits(states[k]!.data)).toEqual(bits(into.data));
    }
  });
});

describe("integer arithmetic on a device", () => {
  const planned = (options: ReservoirOptions, engineOptions?: EngineOptions) => device.plan(model(integer(options)), engineOptions);

  it("says kernel and arithmetic in its plan", () => {
    const { summary, details } = planned({ size: 40, connectionProbability: 1, weightPrecision: "int8" });
    expect(summary).toMatch(/plan "streamed", dense, integers/);
    expect(details).toMatchObject({ plan: "streamed", kernel: "integer_dense_i8" });
  });

  it("is refused by plans that have none", () => {
    expect(() => planned({ size: 40 }, { plan: "named" })).toThrow(/the plan "named" does not take 40 neurons \(sparse, integers\)/);
    expect(() => planned({ size: 40 }, { plan: "grid" })).toThrow(/the plan "grid" does not take 40 neurons \(sparse, integers\)/);
    expect(() => planned({ size: 40 }, { kernelSource: "nvrtc" })).toThrow(/kernelSource "auto"|kernelSource is "nvrtc"/);
  });
});
