// Work that is distributed over devices, by the calls of its one thread: every device has something to do
// before the thread waits for any. Kernels are not run.
import { expect, it } from "vitest";
import { type Context, type Driver, type DriverCall, openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { limitChunks } from "../../src/engine/cuda/chunk-limit.js";
import { contextEngine, simulatedChunk } from "../../src/engine/cuda/index.js";
import { distributedEngine } from "../../src/reservoir/engine/distributed.js";
import type { Engine } from "../../src/reservoir/engine.js";
import { plainFeatures } from "../../src/reservoir/index.js";
import { model, randomMatrix } from "./contract.js";

const devices = [0, 1, 2];

/**
 * A call: its device by number, the turn of the event loop, and the kernel of a launch, the bytes of
 * a copy from the host, or those of host memory that is page-locked.
 */
interface Call {
  readonly device: number;
  readonly turn: number;
  readonly kernel?: string | undefined;
  readonly bytes?: number | undefined;
  readonly locked?: number | undefined;
}

/** The calls of `work` on an engine of several devices that launch nothing. */
async function callsOf(work: (engine: Engine) => Promise<unknown>): Promise<readonly Call[]> {
  const inner = simulatedDriver({ devices: devices.length, multiprocessors: 132, memoryBytes: 2 ** 28, launchBytes: 2 ** 20 });
  const calls: Call[] = [];
  const kernels = new Map<bigint, string>();
  const contexts: Context[] = [];
  let current: bigint | undefined;
  let turn = 0;
  const next = (): void => {
    turn++;
    turns = setImmediate(next);
  };
  let turns = setImmediate(next);
  const note = (name: DriverCall, values: readonly unknown[]): void => {
    const device = contexts.findIndex(({ core }) => core.handle === current);
    if (name === "cuCtxSetCurrent") current = values[0] as bigint;
    else if (name === "cuLaunchKernelEx") calls.push({ device, turn, kernel: kernels.get(values[1] as bigint) });
    else if (name === "cuMemcpyHtoDAsync") calls.push({ device, turn, bytes: values[2] as number });
    else if (name === "cuMemHostRegister") calls.push({ device, turn, locked: values[1] as number });
  };
  const driver: Driver = {
    library: inner.library,
    takesPtxOnly: true,
    has: () => true,
    resolve(name) {
      const call = inner.resolve(name) as (...values: unknown[]) => number;
      return ((...values: unknown[]) => {
        note(name, values);
        const status = name === "cuLaunchKernelEx" ? 0 : call(...values);
        if (name === "cuModuleGetFunction") kernels.set((values[0] as BigUint64Array)[0]!, values[2] as string);
        return status;
      }) as never;
    },
    callAsync(name, ...values) {
      note(name, values);
      return inner.callAsync(name, ...values);
    },
    addressOf: (view) => inner.addressOf(view),
    textAt: (address) => inner.textAt(address),
  };
  for (const device of devices) contexts.push(openDevice({ driver, device, onLeak: () => undefined }));
  try {
    const engines = contexts.map(contextEngine);
    // As many steps at once as for a small reservoir: the kernels are not run.
    for (const context of contexts) limitChunks(context, simulatedChunk, Number.POSITIVE_INFINITY);
    await work(distributedEngine("several", engines));
  } finally {
    clearImmediate(turns);
    for (const context of contexts) context.dispose();
  }
  return calls;
}

/**
 * The devices of launches of such kernels, in their order. No device waits for the event loop, and
 * so for another device, before its first one; no copy behind it is so large that it may wait.
 */
function checkedLaunches(calls: readonly Call[], kernel: RegExp): readonly number[] {
  const launches = calls.filter((call) => call.kernel !== undefined && kernel.test(call.kernel));
  const first = devices.map((device) => launches.find((launch) => launch.device === device)!);
  expect(new Set(first.map(({ turn }) => turn)).size).toBe(1);
  for (const [index, { device, bytes = 0 }] of calls.entries())
    if (index > calls.indexOf(first[device]!)) expect(bytes).toBeLessThanOrEqual(65_536);
  return launches.map(({ device }) => device);
}

it("a batch is launched on every device before the next chunk of any, in launches of many steps", async () => {
  const of = model({ size: 500, inputSize: 3, storage: "dense", connectionProbability: 0, spectralRadius: null });
  const inputs = randomMatrix(28, 3, "float32", 1);
  const calls = await callsOf(async (engine) => {
    const session = await engine.open(of);
    await session.batch(
      Array.from({ length: 528 * devices.length }, () => ({ inputs })),
      { keep: "last" },
    );
    await session.dispose();
  });
  expect(checkedLaunches(calls, /^reservoir_batch_/)).toEqual([...devices, ...devices]);
});

it("a batch whose states come to the host locks memory for one chunk of them, and not for each", async () => {
  const of = model({ size: 500, storage: "dense", connectionProbability: 0, spectralRadius: null });
  const locks = async (steps: number) => {
    const inputs = randomMatrix(steps, 1, "float32", 1);
    const calls = await callsOf(async (engine) => {
      const session = await engine.open(of);
      await session.batch(new Array(132 * devices.length).fill({ inputs }), {});
      await session.dispose();
    });
    expect(new Set(checkedLaunches(calls, /^reservoir_batch_/))).toEqual(new Set(devices));
    return calls.flatMap(({ locked }) => locked ?? []);
  };
  expect(await locks(80)).toEqual(await locks(40));
});

it("a second batch of a session locks no memory once more", async () => {
  const of = model({ size: 500, storage: "dense", connectionProbability: 0, spectralRadius: null });
  const sequences = new Array(132 * devices.length).fill({ inputs: randomMatrix(40, 1, "float32", 1) });
  const locks = async (batches: number) => {
    const calls = await callsOf(async (engine) => {
      const session = await engine.open(of);
      for (let k = 0; k < batches; k++) await session.batch(sequences, {});
      await session.dispose();
    });
    return calls.flatMap(({ locked }) => locked ?? []);
  };
  expect(await locks(3)).toEqual(await locks(1));
});

it("inputs of many short sequences come in few copies", async () => {
  const of = model({ size: 9, storage: "sparse", seed: 1, connectionProbability: 0.3 });
  const calls = await callsOf(async (engine) => {
    const session = await engine.open(of);
    const sequences = Array.from({ length: 100 * devices.length }, (_, k) => ({ inputs: randomMatrix(5, 1, "float32", k) }));
    await session.batch(sequences, { keep: "last" });
    await session.dispose();
  });
  checkedLaunches(calls, /ensemble/);
  const copies = calls.filter(({ bytes }) => bytes !== undefined);
  expect(copies.length).toBeLessThan(30 * devices.length);
});

it("an ensemble of many members is launched on every device before any is waited for", async () => {
  const of = model({ size: 4, storage: "dense" });
  const calls = await callsOf(async (engine) => {
    const ensemble = (await engine.device!.openEnsemble(new Array(2100 * devices.length).fill(of)))!;
    await ensemble.run({ inputs: randomMatrix(40, 1, "float32", 2) }, { keep: "last" });
    await ensemble.dispose();
  });
  expect(new Set(checkedLaunches(calls, /ensemble/))).toEqual(new Set(devices));
});

it("a sweep of many members is launched on every device before any is waited for", async () => {
  const of = model({ size: 4, storage: "dense" });
  const wide = ({ rows, cols, data }: Matrix) => new Matrix(rows, cols, Float64Array.from(data));
  const base = {
    ...{ model: of, draws: wide(of.weights as Matrix), inputDraws: wide(of.inputWeights) },
    biasDraws: Float64Array.from(of.bias),
  };
  const member = { base: 0, inputScaling: 1, bias: 1, leakRate: 0.3, noiseLevel: 0, lambda: 1e-3 };
  const members = Array.from({ length: 2100 * devices.length }, (_, m) => ({ ...member, factor: 1 + m / 1e6 }));
  const calls = await callsOf(
    (engine) =>
      engine.device!.evaluate({
        ...{ bases: [base], members },
        ask: {
          kind: "errors",
          ...{ inputs: randomMatrix(40, 1, "float32", 3), targets: randomMatrix(40, 1, "float64", 4) as Matrix<Float64Array> },
          ...{ washout: 5, trainRows: 30, features: plainFeatures, constant: true, take: () => undefined },
        },
      })!,
  );
  expect(new Set(checkedLaunches(calls, /^ensemble_(?!scale)/))).toEqual(new Set(devices));
});
