// A profile when the driver refuses its events: the error is the driver's, what was taken is given
// back, and the next reservoir runs.
import { describe, expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { type DriverCall, openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import type { Engine } from "../../src/reservoir/engine.js";
import { exhaustive } from "../exhaustive.js";
import { bits, model, randomMatrix } from "./contract.js";

const of = model({ size: 10, inputSize: 3, storage: "dense", seed: 1 });
const inputs = randomMatrix(12, 3, "float32", 2);

/** Runs three chunks, a step and a batch with a profile. */
async function profiled(engine: Engine): Promise<Uint32Array> {
  const session = await engine.open(of, { plan: "streamed", profile: true });
  try {
    const states = Matrix.zeros(12, 10, "float32");
    await session.run({ inputs }, { into: states });
    session.step(inputs.row(0) as Float32Array);
    await session.batch([{ inputs }, { inputs: inputs.subarray(0, 5) }], {});
    session.profile!();
    return bits(states.data);
  } finally {
    await session.dispose();
  }
}

const engineOver = (driver: FaultyDriver) =>
  deviceEngine({ name: "sim", open: () => openDevice({ driver, onLeak: () => undefined }), stepsPerChunk: 5 });

describe("an event of a profile that the driver refuses", async () => {
  const healthy = new FaultyDriver(simulatedDriver());
  const engine = engineOver(healthy);
  const expected = await profiled(engine);
  const uses = new Map(healthy.uses);
  engine.close();
  const calls: DriverCall[] = ["cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime", "cuEventDestroy"];

  it.each(calls)("%s", async (call) => {
    const count = uses.get(call)!;
    for (const use of new Set(exhaustive ? [1, 2, Math.ceil(count / 2), count] : [count])) {
      const driver = new FaultyDriver(simulatedDriver({ memoryBytes: 2 ** 22 }), [{ call, use, code: 400 }]);
      const broken = engineOver(driver);
      const error = await profiled(broken).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const where = `${call}, use ${use}`;
      if (error !== undefined) expect(String(error), where).toMatch(/CUDA_ERROR_|cu[A-Z]/);
      const left = broken
        .context()
        .held()
        .filter(({ kind }) => kind !== "module");
      expect(left, where).toEqual([]);
      // How often an event is asked for depends on time: a use that has not come yet would come
      // now.
      if ((driver.uses.get(call) ?? 0) >= use) expect(await profiled(broken), where).toEqual(expected);
      broken.close();
    }
  });
});
