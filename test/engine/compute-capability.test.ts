// The CUDA engine on devices older and newer than the one that it was measured on: every way of
// running gives the CPU's bits from sm_75 on, with or without clusters, asynchronous copies and
// much shared memory.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { GramAccumulator } from "../../src/readout/index.js";
import { accumulate } from "../../src/reservoir/engine/accumulate.js";
import type { Engine, EngineOptions } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { casesOf } from "../exhaustive.js";
import { bits, model, randomMatrix, randomReadout } from "./contract.js";

const everything = { inputSize: 2, noiseLevel: 0.01, feedback: { size: 1 }, bias: 0.1, seed: 3 } as const;
const dense = model({ ...everything, size: 140, storage: "dense", connectionProbability: 1 });
const sparse = model({ ...everything, size: 150, storage: "sparse", connectionProbability: 0.1, precision: "float64" });
const wide = model({ ...everything, size: 300, storage: "dense", connectionProbability: 1, spectralRadius: null });

/**
 * States of a run, what it leaves to train on, and outputs of a closed loop, unless the plan that was
 * named closes none.
 */
async function everyWay(engine: Engine, of: ReservoirModel, options: EngineOptions): Promise<readonly (Uint32Array | Float64Array)[]> {
  const session = await engine.open(of, options);
  const inputs = randomMatrix(6, 2, of.precision, 1);
  const teacher = randomMatrix(6, 1, of.precision, 2);
  const targets = randomMatrix(6, 1, "float64", 3);
  const states = Matrix.zeros(6, of.size, of.precision) as Matrix;
  await session.run({ inputs, teacher }, { into: states });
  const sink = new GramAccumulator({
    ...{ stateSize: of.size, inputSize: 2, outputSize: 1 },
    features: { state: "plain", input: true, squares: false },
  });
  await accumulate(session, { inputs, teacher }, { targets, washout: 1, sink });
  expect(sink.rows).toBe(5);
  const outputs = await session.generate({ readout: randomReadout(of, 1), steps: 3, inputs }).catch((error: unknown) => {
    if (options.plan === undefined || !String(error).includes("closes no loop")) throw error;
    return undefined;
  });
  await session.dispose();
  return [bits(states.data), sink.sums().gram.data, ...(outputs ? [bits(outputs.data)] : [])];
}

async function batch(engine: Engine, of: ReservoirModel, count: number): Promise<readonly Uint32Array[]> {
  const session = await engine.open(of);
  const states = await session.batch(
    Array.from({ length: count }, (_, b) => ({ inputs: randomMatrix(1 + (b % 3), 2, of.precision, b) })),
    {},
  );
  await session.dispose();
  return states.map(({ data }) => bits(data));
}

describe.each(casesOf(["7.5", "8.0", "8.6", "12.0"] as const, (each) => each === "7.5"))("compute capability %s", (capability) => {
  const device = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ capability, multiprocessors: 40 }) }) });
  afterAll(() => device.close());

  it.each([
    ["dense float32", dense],
    ["sparse float64", sparse],
  ])("runs, trains and closes the loop by every plan that it has: %s", async (_what, of) => {
    const plans = ["grid", "streamed", ...(Number(capability) >= 9 && of === dense ? ["cluster"] : [])];
    const expected = await everyWay(cpuEngine, of, {});
    for (const plan of plans) {
      const found = await everyWay(device, of, { plan });
      expect(found, plan).toEqual(expected.slice(0, plan === "grid" ? found.length : expected.length));
    }
    if (Number(capability) < 9) await expect(device.open(of, { plan: "cluster" })).rejects.toThrow('the plan "cluster" does not take');
  });

  it("runs batches and ensembles", async () => {
    for (const [of, count] of [
      [dense, 3],
      [sparse, 3],
      [wide, 20],
    ] as const)
      expect(await batch(device, of, count)).toEqual(await batch(cpuEngine, of, count));
  });
});
