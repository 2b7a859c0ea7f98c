// Every driver call, failed at every use of it: the error names it, nothing stays held, and the
// next device opens.
import { describe, expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { type CudaError, type DriverCall, driverCalls, openDevice, statusName } from "../../packages/gpu/src/index.js";
import { exhaustive, inSample } from "../exhaustive.js";
import { FakeDriver, type FakeOptions } from "./fake-driver.js";

const ptx = ".version 6.3\n.target sm_70\n.visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 s) { ret; }";
const cubin = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0);
const parameters = ["f32*", "i32", "f32"] as const;

/** A driver of today, and one from before pools, `cuLaunchKernelEx` and `cuFuncGetParamInfo`. */
const drivers: Record<string, FakeOptions> = {
  current: { devices: 2, parameters: { scale: [8, 4, 4] } },
  old: { devices: 2, lacks: ["cuMemPoolCreate", "cuLaunchKernelEx", "cuFuncGetParamInfo"], attributes: { 115: 0, 120: 0 } },
};

/** Uses all of the binding, and gives back all that it makes. */
async function everything(driver: FaultyDriver, inner: FakeDriver): Promise<void> {
  using context = openDevice({ driver, onLeak: () => undefined });
  using other = openDevice({ driver, device: 1, onLeak: () => undefined });
  const modern = driver.has("cuLaunchKernelEx");
  using stream = context.stream({ priority: context.priorities.least });
  using module = context.load(ptx);
  using binary = context.load(cubin);
  module.global("table", "u8");
  const scale = module.kernel("scale", parameters);
  binary.kernel("scale", parameters).resources();
  using x = context.upload(new Float32Array(64));
  using halves = context.zeros("f16", 8);
  using ordered = context.alloc("u32", 8, { stream });
  stream.fill(halves, 0x3c00);
  stream.fill(ordered, 7);
  stream.launch(scale, { grid: 1, block: 32 }, x, 64, 2);
  stream.launch(scale, { grid: scale.maxCooperativeBlocks(32), block: 32, shared: 60_000, cooperative: true }, x, 64, 2);
  if (modern) {
    const config = { grid: 16, block: 32, cluster: 16 };
    scale.maxActiveClusters(config);
    stream.launch(scale, config, x, 64, 2);
  }
  using pinned = context.pinned("f32", 64);
  stream.upload(x, pinned);
  stream.read(x, pinned);
  stream.copy(x.slice(0, 8), x.slice(8, 16));
  stream.copy2D(x, pinned, { columns: 8, rows: 8 });
  using there = other.zeros("f32", 8);
  if (context.canAccess(other)) context.enableAccess(other);
  stream.copy(x.slice(0, 8), there);
  context.disableAccess(other);
  using start = context.event();
  using end = context.event();
  start.record(stream);
  using graph = stream.capture((s) => s.launch(scale, { grid: 1, block: 32 }, x, 64, 3));
  graph.update(stream, (s) => s.launch(scale, { grid: 2, block: 32 }, x, 64, 3));
  graph.upload(stream);
  if (graph.size === 3) graph.launch(stream);
  end.record(stream);
  using second = context.stream();
  second.wait(end);
  second.fill(x);
  end.sync();
  end.elapsedSince(start);
  void (end.ready && stream.ready);
  inner.pending = 3;
  await stream.done();
  inner.pending = 2 ** 31;
  await stream.done();
  await stream.download(x);
  context.read(x);
  context.memoryInfo();
  context.poolStatistics();
  context.trimPool();
  stream.sync();
}

/** The errors of the driver within an error. */
function cudaErrors(error: unknown): CudaError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(cudaErrors);
  if (typeof error === "object" && error !== null && "suppressed" in error && "error" in error)
    return [...cudaErrors(error.error), ...cudaErrors(error.suppressed)];
  return typeof error === "object" && error !== null && "code" in error ? [error as CudaError] : [];
}

/**
 * Calls whose failure is no error: the download goes without page-locking, and an error without the
 * driver's words.
 */
const tolerated = (call: DriverCall, use: number) => call === "cuMemHostRegister" && use > 1;

/** Calls whose many uses are alike. */
const alike: readonly DriverCall[] = ["cuDeviceGetAttribute", "cuEventQuery"];

/**
 * Calls that give something back: if one loses the context, nothing is left to give back and
 * nothing is told.
 */
const givesBack = (call: DriverCall) =>
  /Destroy|Free|Unload|Unregister|Release$|^cu(StreamSynchronize|CtxSynchronize|Event(Create|Record)|StreamWaitEvent|CtxSetCurrent)$/.test(
    call,
  );

async function usesOf(options: FakeOptions): Promise<ReadonlyMap<DriverCall, number>> {
  const inner = new FakeDriver(options);
  const driver = new FaultyDriver(inner);
  await everything(driver, inner);
  expect(inner.violations).toEqual([]);
  expect(inner.outstanding()).toEqual({});
  return driver.uses;
}

describe("the sweep", () => {
  it("uses every call of the binding", async () => {
    const used = new Set<string>(["cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion"]);
    for (const options of Object.values(drivers)) for (const call of (await usesOf(options)).keys()) used.add(call);
    expect(Object.keys(driverCalls).filter((call) => !used.has(call))).toEqual([]);
  });

  for (const [name, options] of Object.entries(drivers)) {
    // An error of the call alone, and one that loses the context.
    it.each([400, 700])(`every call of a ${name} driver, failing by status %d`, { timeout: 60_000 }, async (code) => {
      for (const [call, count] of await usesOf(options)) {
        const last = Math.min(count, alike.includes(call) ? 3 : count);
        for (let use = exhaustive ? 1 : last; use <= last; use++) {
          if (exhaustive && !inSample(0.25, name, call, use, code)) continue;
          const inner = new FakeDriver(options);
          const driver = new FaultyDriver(inner, [{ call, use, code }]);
          // If everything can be given back, a second holder keeps the context, so that none of
          // it goes with the context.
          const strict = code === 400 && !givesBack(call);
          if (strict) for (const device of [0, 1]) inner.resolve("cuDevicePrimaryCtxRetain")(new BigUint64Array(1), device);
          const where = `${call}, use ${use}`;
          let thrown: unknown;
          await everything(driver, inner).catch((error: unknown) => {
            thrown = error;
          });
          const errors = cudaErrors(thrown);
          // How often a wait looks depends on the time it takes.
          if ((driver.uses.get(call) ?? 0) < use) continue;
          if (tolerated(call, use) && code === 400) expect(thrown, where).toBeUndefined();
          else if (thrown === undefined) expect(code === 700 && givesBack(call), where).toBe(true);
          else
            expect(
              errors.map((error) => `${error.status} from ${error.call}`),
              where,
            ).toContain(`${statusName(code)} from ${call}`);
          expect(inner.violations, where).toEqual([]);
          if (strict) {
            expect(inner.outstanding(), where).toEqual({ retained: 2 });
            for (const device of [0, 1]) inner.resolve("cuDevicePrimaryCtxRelease")(device);
          }
          // What a context that would not be released holds, nobody can give back.
          if (call !== "cuDevicePrimaryCtxRelease") expect(inner.outstanding(), where).toEqual({});
          const next = new FaultyDriver(inner);
          inner.pending = 0;
          await everything(next, inner);
          expect(inner.violations, where).toEqual([]);
        }
      }
    });
  }
});
