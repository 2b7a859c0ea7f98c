// Copies between a GPU and host memory: what each way of doing them reaches, and what calls that
// bring states to the host or take new weights along take because of it. GB/s, medians. Copies on
// the host run on Node's pool, so compare UV_THREADPOOL_SIZE=4 (the default), 8 and 16.
// Usage: npx tsx bench/gpu/transfers.ts [--only copies|calls]
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { HostMemory } from "../../packages/gpu/src/host-memory.js";
import { Matrix, RandomStream, type SparseMatrix, seedKeys } from "../../packages/numerics/src/index.js";
import { planMembers, runMembers } from "../../src/engine/cuda/ensemble/run.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { lockedMatrix } from "../../src/engine/cuda/locked-matrix.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { EngineSession } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";

const { values: flags } = parseArgs({ options: { only: { type: "string" } } });
const engine = cudaEngine(0);
const context = engine.context();
const stream = context.stream();
const host = new HostMemory();
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** The median of three, after some that warm up; `prepare` is not timed. */
async function milliseconds<T>(prepare: () => T, work: (prepared: T) => unknown, warmUps = 1): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < warmUps + 3; round++) {
    const prepared = prepare();
    const begin = performance.now();
    await work(prepared);
    if (round >= warmUps) times.push(performance.now() - begin);
  }
  return median(times);
}

const bytes = 256 * 2 ** 20;
const values = bytes / 4;
const fresh = () => new Float32Array(values);
const row = (name: string, rate: number, note = "") => console.log(`| ${name} | ${rate.toFixed(1)} | ${note} |`);

async function rate<T>(name: string, prepare: () => T, work: (prepared: T) => unknown, note?: string): Promise<void> {
  row(name, bytes / (await milliseconds(prepare, work)) / 1e6, note);
}

const bytesOf = (array: Float32Array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Copies in `threads` equal parts at a time. */
async function inThreads(to: Float32Array, from: Float32Array, threads: number): Promise<void> {
  const part = values / threads;
  const piece = (array: Float32Array, k: number) => bytesOf(array.subarray(k * part, (k + 1) * part));
  await Promise.all(Array.from({ length: threads }, (_, k) => host.copy(piece(to, k), piece(from, k))));
}

async function copies(): Promise<void> {
  const device = context.zeros("f32", values);
  const locked = context.pinned("f32", values);
  const from = fresh().fill(3);
  const warm = fresh().fill(1);
  console.log(`${bytes / 2 ** 20} MiB; fresh memory was never written before\n\n| copy | GB/s | |\n|---|---|---|`);
  await rate(
    "device to page-locked",
    () => 0,
    () => {
      stream.read(device, locked);
      return stream.done();
    },
  );
  await rate(
    "page-locked to device",
    () => 0,
    () => {
      stream.upload(device, locked);
      return stream.done();
    },
  );
  const direct = (array: Float32Array) => stream.copy2D(array, device, { columns: values, rows: 1 });
  await rate("device to plain, by the driver, warm", () => warm, direct);
  await rate("device to plain, by the driver, fresh", fresh, direct);
  await rate(
    "plain to device, by the driver",
    () => warm,
    (array) => {
      stream.upload(device, array);
      return stream.done();
    },
  );
  await rate(
    "page-lock fresh memory",
    () => 0,
    () => context.pinned("f32", values).dispose(),
  );
  await rate(
    "page-lock memory after advice of large pages and a write",
    () => {
      const array = fresh();
      host.willWrite(bytesOf(array));
      return array.fill(1);
    },
    (array) => {
      const first = Number((4096n - (context.core.driver.addressOf(array) % 4096n)) % 4096n);
      const whole = new Uint8Array(array.buffer, first, bytes - 8192);
      context.core.call("cuMemHostRegister", whole, whole.byteLength, 0);
      context.core.call("cuMemHostUnregister", whole);
    },
  );
  await rate("first write of fresh memory (fill)", fresh, (array) => array.fill(1));
  for (const [name, make] of [
    ["warm", () => warm],
    ["fresh", fresh],
    [
      "fresh, large pages",
      () => {
        const array = fresh();
        host.willWrite(bytesOf(array));
        return array;
      },
    ],
  ] as const) {
    await rate(`host to ${name}, set`, make, (array) => array.set(from));
    for (const threads of [1, 2, 4, 8, 16])
      await rate(`host to ${name}, ${threads} parts at a time`, make, (array) => inThreads(array, from, threads));
  }
  const separate = (length: number) => () => Array.from({ length: values / length }, () => new Float32Array(length));
  const partsOf = (arrays: readonly Float32Array[]) => arrays.map((array, k) => ({ start: k * array.length, array }));
  await rate(
    "toHost, one warm array",
    () => warm,
    (array) => stream.toHost(device, [{ start: 0, array }]),
  );
  await rate("toHost, one fresh array", fresh, (array) => stream.toHost(device, [{ start: 0, array }]));
  for (const length of [2 ** 15, 2 ** 17, 2 ** 20]) {
    const kept = separate(length)();
    for (const array of kept) array.fill(1);
    const size = `arrays of ${(4 * length) / 1024} KiB`;
    await rate(
      `toHost, warm ${size}`,
      () => kept,
      (arrays) => stream.toHost(device, partsOf(arrays)),
    );
    await rate(`toHost, fresh ${size}`, separate(length), (arrays) => stream.toHost(device, partsOf(arrays)));
    await rate(
      `toHost, fresh ${size} within one buffer`,
      () => {
        const all = fresh();
        host.willWrite(bytesOf(all));
        return Array.from({ length: values / length }, (_, k) => all.subarray(k * length, (k + 1) * length));
      },
      (arrays) => stream.toHost(device, partsOf(arrays)),
    );
    await rate(
      `fromHost, ${size}`,
      () => kept,
      (arrays) => stream.fromHost(device, partsOf(arrays)),
    );
  }
  await rate(
    "toHost, page-locked array",
    () => locked.array,
    (array) => stream.toHost(device, [{ start: 0, array }]),
  );
  await rate(
    "fromHost, one array",
    () => warm,
    (array) => stream.fromHost(device, [{ start: 0, array }]),
  );
  for (const owned of [device, locked]) owned.dispose();
}

function uniform(length: number, scale: number, seed: number): Float32Array {
  const random = new RandomStream(seedKeys(seed).weights, 77);
  return Float32Array.from({ length }, (_, i) => scale * (2 * random.uniform(0, i) - 1));
}

function reservoir(size: number, weights: Matrix | SparseMatrix): ReservoirModel {
  const config = resolveConfig({ size, connectionProbability: 0, spectralRadius: null, storage: "sparse", bias: 0.2 });
  return { ...buildModel(config), weights } as ReservoirModel;
}

/** Rows of as many entries each, at equal distances. */
function sparse(size: number, each: number): SparseMatrix {
  const columns = new Uint32Array(size * each);
  for (let r = 0; r < size; r++) {
    const offset = (r * 7919) % Math.floor(size / each);
    for (let k = 0; k < each; k++) columns[r * each + k] = offset + k * Math.floor(size / each);
  }
  const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => r * each);
  return { rows: size, cols: size, rowOffsets, columns, values: uniform(size * each, 1.2 * Math.sqrt(3 / each), 3) };
}

/** Microseconds a step and GB/s with new matrices, rows of a new or reused plain one, and of a page-locked one. */
async function threeWays(
  name: string,
  rows: number,
  size: number,
  steps: number,
  work: (into?: Matrix) => Promise<unknown>,
): Promise<void> {
  const given = (into?: Matrix) =>
    milliseconds(
      () => 0,
      () => work(into),
      3,
    );
  const locked = lockedMatrix(rows, size);
  const times = {
    new: await given(),
    "rows of a new one": await milliseconds(() => Matrix.zeros(rows, size, "float32") as Matrix, work, 3),
    "reused plain": await given(Matrix.zeros(rows, size, "float32") as Matrix),
    "page-locked": await given(locked),
  };
  locked.dispose();
  const cells = Object.values(times).map(
    (time) => `${((1000 * time) / steps).toFixed(1)} (${((4 * rows * size) / time / 1e6).toFixed(1)})`,
  );
  console.log(`| ${[name, ...cells].join(" | ")} |`);
}

/** Milliseconds of one call into page-locked memory, and of its phases by the device's clock. */
async function phases(
  name: string,
  rows: number,
  size: number,
  session: EngineSession,
  work: (into: Matrix) => Promise<unknown>,
): Promise<void> {
  const locked = lockedMatrix(rows, size);
  await work(locked);
  const sums = () => new Map((session.profile?.()?.phases ?? []).map(({ phase, milliseconds: sum }) => [phase, sum]));
  const before = sums();
  const begin = performance.now();
  await work(locked);
  const whole = performance.now() - begin;
  const each = [...sums()].map(([phase, sum]) => `${phase} ${(sum - (before.get(phase) ?? 0)).toFixed(2)}`);
  console.log(`\n${name}, page-locked, with profile: ${whole.toFixed(2)} ms; ${each.join(", ")}`);
  locked.dispose();
}

async function calls(): Promise<void> {
  console.log(
    "\nAll states to the host: microseconds a step (GB/s)\n\n| call | new matrices | rows of a new one | reused plain | page-locked |\n|---|---|---|---|---|",
  );
  const dense = reservoir(1024, new Matrix(1024, 1024, uniform(1024 * 1024, 1.2 * Math.sqrt(3 / 1024), 1)));
  const batches = [
    [1024, 100],
    [1024, 400],
    [256, 200],
  ] as const;
  const batchOf = (session: EngineSession, count: number, steps: number) => {
    const sequences = Array.from({ length: count }, (_, b) => ({ inputs: new Matrix(steps, 1, uniform(steps, 1, b)) }));
    return (into?: Matrix) =>
      session.batch(sequences, { into: into && sequences.map((_, b) => into.subarray(b * steps, (b + 1) * steps)) });
  };
  for (const [count, steps] of batches) {
    const session = await engine.open(dense);
    await threeWays(`batch N=1024, B=${count}, T=${steps}`, count * steps, 1024, steps, batchOf(session, count, steps));
    await session.dispose();
  }
  for (const [size, each, steps] of [
    [20_000, 100, 5000],
    [50_000, 100, 2000],
  ] as const) {
    const session = await engine.open(reservoir(size, sparse(size, each)));
    const inputs = new Matrix(steps, 1, uniform(steps, 1, 2));
    const onDevice = await milliseconds(
      () => 0,
      () => session.run({ inputs }, {}),
    );
    await threeWays(
      `N=${size}, ${each} entries a row; ${((1000 * onDevice) / steps).toFixed(1)} us if no state is kept`,
      steps,
      size,
      steps,
      (into) => session.run({ inputs }, { into: into ?? (Matrix.zeros(steps, size, "float32") as Matrix) }),
    );
    await session.dispose();
  }
  for (const [count, steps] of batches) {
    const session = await engine.open(dense, { profile: true });
    await phases(`batch N=1024, B=${count}, T=${steps}`, count * steps, 1024, session, batchOf(session, count, steps));
    await session.dispose();
  }
  const [size, count, steps] = [256, 1056, 1000];
  const base = reservoir(size, new Matrix(size, size, uniform(size * size, 0.1, 1)));
  const pool = uniform(size * size + 7 * count, 1.2 * Math.sqrt(3 / size), 1);
  const sequence = { inputs: new Matrix(steps, 1, uniform(steps, 1, 2)) };
  const members = Array.from({ length: count }, (_, r) => {
    const weights = new Matrix(size, size, pool.slice(7 * r, 7 * r + size * size));
    return { model: { ...base, weights, leakRate: base.leakRate.map(() => 0.2 + (r % 7) / 10) }, sequence, number: 0 };
  });
  const plan = planMembers(context, members)!;
  console.log(`\n${count} reservoirs N=${size}, new weights in each call\n\n| MiB a portion | ms | million steps/s |\n|---|---|---|`);
  for (const portion of [32, 64, 128, 1024]) {
    const run = () => runMembers(context, members, plan, { keep: "last", portionBytes: portion * 2 ** 20 });
    const time = await milliseconds(() => 0, run);
    console.log(`| ${portion}${portion === 64 ? " (default)" : ""} | ${time.toFixed(1)} | ${((count * steps) / time / 1000).toFixed(1)} |`);
  }
}

const pages = (() => {
  try {
    return readFileSync("/sys/kernel/mm/transparent_hugepage/enabled", "utf8").trim();
  } catch {
    return "unknown";
  }
})();
console.log(
  `${context.info.name}, ${availableParallelism()} cores, ${process.env["UV_THREADPOOL_SIZE"] ?? 4} threads in Node's pool, large pages: ${pages}\n`,
);
if (flags.only !== "calls") await copies();
if (flags.only !== "copies") await calls();
stream.dispose();
engine.close();
