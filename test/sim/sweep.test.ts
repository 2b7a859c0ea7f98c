// Every driver call failed at every use of it, on the simulated device: the error says which call
// and status, nothing stays held, and the next device opens and computes.
import { describe, expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import {
  type CudaError,
  type Driver,
  type DriverCall,
  driverCalls,
  losesContext,
  statusCodes,
  statusName,
} from "../../packages/gpu/src/index.js";
import { type SimulatedDriver, simulatedDriver } from "../../packages/sim/src/index.js";
import { exhaustive, inSample } from "../exhaustive.js";
import { everything, OlderDriver, WrongResult } from "./program.js";

const machine = () => simulatedDriver({ devices: 2, memoryBytes: 1 << 22, launchBytes: 1 << 24, multiprocessors: 8 });

/** A driver of today, and an older one; both of one simulated machine. */
const drivers: Record<string, (inner: SimulatedDriver) => Driver> = {
  current: (inner) => inner,
  older: (inner) => new OlderDriver(inner),
};

/** The errors of the driver within an error. */
function cudaErrors(error: unknown): CudaError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(cudaErrors);
  if (typeof error === "object" && error !== null && "suppressed" in error && "error" in error)
    return [...cudaErrors(error.error), ...cudaErrors(error.suppressed)];
  return typeof error === "object" && error !== null && "call" in error ? [error as CudaError] : [];
}

/**
 * Calls that give something back or wait for it: if one loses the context, nothing is left to
 * give back and nothing is told.
 */
const givesBack = (call: DriverCall) =>
  /Destroy|Free|Unload|Unregister|Release$|^cu(StreamSynchronize|CtxSynchronize|Event(Create|Record)|StreamWaitEvent|CtxSetCurrent)$/.test(
    call,
  );

/**
 * Statuses that a call gives in the ordinary course of things, which are acted on and are no error.
 */
const expected: Partial<Record<DriverCall, readonly number[]>> = {
  cuEventQuery: [600],
  cuStreamQuery: [600],
  cuCtxEnablePeerAccess: [704],
  // The end of the list of parameters.
  cuFuncGetParamInfo: [1],
};

/**
 * A download goes another way if the driver locks no memory for it; the pinned buffer, which is
 * the second, must be locked.
 */
const tolerated = (call: DriverCall, use: number) => call === "cuMemHostRegister" && use !== 2;

async function usesOf(make: (inner: SimulatedDriver) => Driver): Promise<ReadonlyMap<DriverCall, number>> {
  const inner = machine();
  const driver = new FaultyDriver(make(inner));
  await everything(driver);
  expect(inner.outstanding()).toEqual({});
  return driver.uses;
}

describe("the sweep", () => {
  it("uses every call of the binding", async () => {
    // A PTX image tells its parameters; and these are called for an error's sentence.
    const used = new Set<string>(["cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion", "cuFuncGetParamInfo"]);
    for (const make of Object.values(drivers)) for (const call of (await usesOf(make)).keys()) used.add(call);
    expect(Object.keys(driverCalls).filter((call) => !used.has(call))).toEqual([]);
  });

  for (const [name, make] of Object.entries(drivers)) {
    it(`of a ${name} driver`, async () => {
      const inner = machine();
      inner.resolve("cuInit")(0);
      const retain = inner.resolve("cuDevicePrimaryCtxRetain");
      const release = inner.resolve("cuDevicePrimaryCtxRelease");
      let rotation = 0;
      const next = () => statusCodes[rotation++ % statusCodes.length]!;
      for (const [call, count] of await usesOf(make)) {
        const uses = call === "cuDeviceGetAttribute" ? 2 : count;
        // In `npm test` the last use of each call, by one status in turn.
        for (let use = exhaustive ? 1 : uses; use <= uses; use++) {
          // An error of just the call, one that loses the context, and each of all others in turn.
          for (const code of exhaustive ? [400, 700, next()] : [next()]) {
            if (expected[call]?.includes(code)) continue;
            if (exhaustive && !inSample(0.25, name, call, use, code)) continue;
            const driver = new FaultyDriver(make(inner), [{ call, use, code }]);
            const where = `${call}, use ${use}, status ${code}`;
            // If everything can be given back, a second holder keeps the contexts: none of it goes
            // with them.
            const strict = !losesContext(code) && !givesBack(call) && call !== "cuStreamEndCapture";
            if (strict) for (const device of [0, 1]) retain(new BigUint64Array(1), device);
            let thrown: unknown;
            await everything(driver).catch((error: unknown) => {
              thrown = error;
            });
            // How often a wait looks depends on the time it takes.
            if ((driver.uses.get(call) ?? 0) < use) {
              if (strict) for (const device of [0, 1]) release(device);
              continue;
            }
            expect(thrown, where).not.toBeInstanceOf(WrongResult);
            if (thrown === undefined)
              expect((losesContext(code) && givesBack(call)) || (tolerated(call, use) && !losesContext(code)), where).toBe(true);
            else
              expect(
                cudaErrors(thrown).map((error) => `${error.status} from ${error.call}`),
                where,
              ).toContain(`${statusName(code)} from ${call}`);
            if (strict) {
              expect(inner.outstanding(), where).toEqual({ Context: 2 });
              for (const device of [0, 1]) release(device);
            }
            // A context that would not be released stays retained.
            if (call === "cuDevicePrimaryCtxRelease") for (const device of [0, 1]) release(device);
            expect(inner.outstanding(), where).toEqual({});
          }
          await everything(make(inner));
          expect(inner.outstanding(), `after ${call}, use ${use}`).toEqual({});
        }
      }
    });
  }
});
