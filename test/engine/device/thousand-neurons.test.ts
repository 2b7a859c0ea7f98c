// A thousand neurons by every plan that takes them, on as many multiprocessors as the GPU that the
// plans were made on: the sizes of tables and benches, a step or two of them on the simulated
// device.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { Matrix, type Precision } from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import { deviceEngine } from "../../../src/engine/cuda/index.js";
import type { EngineOptions } from "../../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { casesOf, exhaustive } from "../../exhaustive.js";
import { onHardware, openTestDevice, size } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { name } from "./engines.js";

const device = deviceEngine({
  name,
  open: () => (onHardware ? openTestDevice() : openDevice({ driver: simulatedDriver({ multiprocessors: 132 }) })),
});
afterAll(() => device.close());

const steps = size(500, 2, 20);

const described = (storage: "dense" | "sparse", precision: Precision): ReservoirModel =>
  model({
    ...{ size: 1000, inputSize: 2, leakRate: 0.3, seed: 1, storage, precision },
    connectionProbability: storage === "dense" ? 1 : 0.1,
    // Its radius is of no concern here, and takes longer than the steps.
    ...{ spectralRadius: null, inputScaling: 0.1 },
  });

async function stepped(engine: typeof cpuEngine, of: ReservoirModel, options: EngineOptions = {}): Promise<Uint32Array> {
  const session = await engine.open(of, options);
  const states = Matrix.zeros(steps, of.size, of.precision) as Matrix;
  await session.run({ inputs: randomMatrix(steps, 2, of.precision, 5) }, { into: states });
  await session.dispose();
  return bits(states.data);
}

describe("1000 neurons have the CPU's bits", () => {
  it.each(
    casesOf(
      [
        ["dense", "float32", "grid"],
        ["dense", "float32", "streamed"],
        ["dense", "float64", "grid"],
        ["sparse", "float32", "grid"],
        ["sparse", "float64", "grid"],
      ] as const,
      ([, precision, plan]) => precision === "float32" && plan === "grid",
    ),
  )('%s, %s, by the plan "%s"', async (storage, precision, plan) => {
    const of = described(storage, precision);
    expect(await stepped(device, of, { plan })).toEqual(await stepped(cpuEngine, of));
  });

  it.runIf(exhaustive)("dense, float32, in a batch", async () => {
    const of = described("dense", "float32");
    const run = async (engine: typeof cpuEngine) => {
      const session = await engine.open(of, { profile: true });
      const sequences = Array.from({ length: 16 }, (_, b) => ({ inputs: randomMatrix(size(50, 1, 4), 2, "float32", b) }));
      const states = await session.batch(sequences, {});
      const kernels = Object.keys(session.profile?.()?.device?.kernels ?? {});
      await session.dispose();
      if (engine === device) expect(kernels).toContain("reservoir_batch_16");
      return states.map(({ data }) => bits(data));
    };
    expect(await run(device)).toEqual(await run(cpuEngine));
  });
});
