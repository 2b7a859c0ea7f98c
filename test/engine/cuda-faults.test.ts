// The CUDA engine when the driver fails: any call at its first or last use. The error is the
// driver's, and all that the engine took is given back; if the device was not lost, the next
// reservoir runs on it.
import { describe, expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { type DriverCall, losesContext, openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import type { Engine } from "../../src/reservoir/engine.js";
import { casesOf } from "../exhaustive.js";
import { bits, model, randomMatrix, randomReadout } from "./contract.js";

const of = model({ size: 10, inputSize: 3, storage: "dense", seed: 1 });
const inputs = randomMatrix(12, 3, "float32", 2);
const readout = randomReadout(of, 2);

/** Opens a reservoir, runs it in three chunks, steps it, closes its loop and disposes it. */
async function everything(engine: Engine): Promise<Uint32Array> {
  const session = await engine.open(of, { plan: "streamed" });
  try {
    const states = Matrix.zeros(12, 10, "float32");
    await session.run({ inputs }, { into: states });
    session.step(inputs.row(0) as Float32Array);
    await session.generate({ readout, steps: 3, inputs: randomMatrix(3, 1, "float32", 3) });
    return bits(states.data);
  } finally {
    await session.dispose();
  }
}

const engineOver = (driver: FaultyDriver) =>
  deviceEngine({ name: "sim", open: () => openDevice({ driver, onLeak: () => undefined }), stepsPerChunk: 5 });

describe("a driver call that fails", async () => {
  const healthy = new FaultyDriver(simulatedDriver());
  const engine = engineOver(healthy);
  const expected = await everything(engine);
  engine.close();
  const uses = [...healthy.uses].filter(([call]) => !/^cuGetError|Query$|^cuDeviceGetAttribute$|^cuFuncGetParamInfo$/.test(call));

  it("is looked for in the calls that a reservoir makes", () => {
    expect(uses.length).toBeGreaterThan(25);
  });

  it.each(casesOf(uses, ([call]) => /^cu(LaunchKernelEx|GraphInstantiate)$/.test(call)))(
    "%s, of %i uses",
    async (call: DriverCall, count) => {
      for (const use of new Set([1, count])) {
        // An error of just the call at every one, and once one that loses the context.
        for (const code of use === count ? [400, 700] : [400]) {
          const inner = simulatedDriver({ memoryBytes: 2 ** 22 });
          const driver = new FaultyDriver(inner, [{ call, use, code }]);
          const broken = engineOver(driver);
          const error = await everything(broken).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          const where = `${call}, use ${use}, status ${code}`;
          if (error !== undefined) expect(String(error), where).toMatch(/CUDA_ERROR_|cu[A-Z]/);
          const context = code === 400 && error ? safely(() => broken.context()) : undefined;
          // A capture whose end was never made goes on, in a driver that is real too.
          if (context && !context.loss && call !== "cuStreamEndCapture") {
            const left = context.held().filter(({ kind }) => kind !== "module");
            expect(left, where).toEqual([]);
            expect(await everything(broken), where).toEqual(expected);
          }
          safely(() => broken.close());
          if (!losesContext(code)) continue;
          // A lost context is dropped, and what is opened next is new.
          expect(await everything(engineOver(new FaultyDriver(simulatedDriver()))), where).toEqual(expected);
        }
      }
    },
  );
});

describe("a device that is lost", () => {
  it("ends the session with the error that lost it, and is opened anew for the next", async () => {
    const driver = new FaultyDriver(simulatedDriver({ memoryBytes: 2 ** 22 }), [{ call: "cuLaunchKernelEx", use: 12, code: 700 }]);
    const engine = engineOver(driver);
    const session = await engine.open(of, { plan: "streamed" });
    await expect(session.run({ inputs }, {})).rejects.toThrow(/CUDA_ERROR_ILLEGAL_ADDRESS/);
    await expect(session.run({ inputs }, {})).rejects.toThrow(/context .*lost|unusable|ILLEGAL_ADDRESS/i);
    await session.dispose();
    const expected = await everything(engineOver(new FaultyDriver(simulatedDriver())));
    expect(await everything(engine)).toEqual(expected);
    engine.close();
  });
});

function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
