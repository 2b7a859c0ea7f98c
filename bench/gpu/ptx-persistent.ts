// Reservoirs run by kernels that the builder made, beside those of CUDA C++ in the same run: the
// same weights, drive and leak, all states kept, times by events, and every bit of every state
// compared. Usage: npx tsx bench/gpu/ptx-persistent.ts
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { packRows } from "../../src/engine/cuda/persistent/pack.js";
import { choices } from "../../src/engine/cuda/plan.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import { spinLimitOf } from "../../src/engine/cuda/spin-limit.js";
import type { Parameter } from "../../src/gpu/index.js";
import { Matrix, RandomStream, seedKeys } from "../../src/numerics/index.js";
import { generateKernel, type KernelType, persistentPlaces } from "../../src/ptx/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";

const engine = cudaEngine(0);
const context = engine.context();
const stream = context.stream();
const [start, end] = [context.event(), context.event()];
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const leakRate = 0.3;

function uniform(length: number, scale: number, seed: number): Float32Array<ArrayBuffer> {
  const random = new RandomStream(seedKeys(seed).weights, 77);
  return Float32Array.from({ length }, (_, i) => scale * (2 * random.uniform(0, i) - 1));
}

function reservoir(size: number, density: number): ReservoirModel {
  const config = resolveConfig({ size, connectionProbability: 0, spectralRadius: null, storage: "sparse", leakRate, inputSize: 1 });
  const scale = 1.2 * Math.sqrt(3 / (size * density));
  if (density === 1) return { ...buildModel(config), weights: new Matrix(size, size, uniform(size * size, scale, 1)) };
  const random = new RandomStream(seedKeys(2).weights, 78);
  const rowOffsets = new Uint32Array(size + 1);
  const columns: number[] = [];
  for (let r = 0; r < size; r++) {
    for (let c = 0; c < size; c++) if (random.uniform(r, c) < density) columns.push(c);
    rowOffsets[r + 1] = columns.length;
  }
  const weights = { rows: size, cols: size, rowOffsets, columns: Uint32Array.from(columns), values: uniform(columns.length, scale, 3) };
  return { ...buildModel(config), weights };
}

/**
 * Microseconds a step, the median of 7 launches after one that warms up, each from the zero state.
 */
function micros(steps: number, reset: () => void, launch: (round: number) => void): number {
  const times: number[] = [];
  for (let round = 0; round < 8; round++) {
    reset();
    start.record(stream);
    launch(round);
    end.record(stream);
    end.sync();
    if (round > 0) times.push((1000 * end.elapsedSince(start)) / steps);
  }
  return median(times);
}

async function compare(
  label: string,
  size: number,
  density: number,
  steps: number,
  types: (longest: number) => KernelType[],
): Promise<void> {
  const model = reservoir(size, density);
  const { weights } = model;
  const isSparse = "rowOffsets" in weights;
  const longest = isSparse
    ? weights.rowOffsets.reduce((most, to, r) => (r > 0 ? Math.max(most, to - weights.rowOffsets[r - 1]!) : most), 0)
    : 0;
  using drive = context.upload(uniform(size * steps, 0.5, 4));
  using state = context.zeros("f32", size);
  using states = context.zeros("f32", size * steps);
  let expected: Float32Array | undefined;
  const place = { engine: "cuda", device: context.info, memory: context.memoryInfo().free };
  let theirs = Number.NaN;
  for (const { loop: plan } of choices(shapeOf(model), place, { kernelSource: "shipped" })) {
    const loop = await plan.open(context, model, {});
    if (!loop) continue;
    theirs = micros(
      steps,
      () => stream.fill(state),
      () => loop.enqueue(stream, { steps, firstStep: 0, sequence: 0, drive, state, states }),
    );
    loop.check();
    expected = context.read(states);
    console.log(`${label}: CUDA C++ (${loop.name}) ${theirs.toFixed(3)} us a step`);
    loop.dispose();
    break;
  }
  const { values, columns } = isSparse
    ? packRows(weights, longest)
    : { values: weights.data as Float32Array<ArrayBuffer>, columns: new Uint32Array(1) };
  using deviceValues = context.upload(values);
  using deviceColumns = context.upload(columns);
  using leak = context.upload(new Float32Array(size).fill(leakRate));
  using report = context.zeros("u64", 1);
  for (const type of types(longest)) {
    const kernel = generateKernel(type, { target: "sm_90" });
    using module = context.load(kernel.ptx);
    const signature = kernel.parameters.map(({ type: scalar, element }) =>
      element === undefined ? scalar : element === "b64" ? "u64*" : `${element}*`,
    );
    const handle = module.kernel(kernel.name, signature as Parameter[]);
    using places = context.zeros("u32", type.kind === "persistentGrid" ? persistentPlaces(type) : 1);
    const buffers: Record<string, unknown> = {
      weights: deviceValues,
      values: deviceValues,
      columns: deviceColumns,
      leak,
      drive,
      state,
      states,
      places,
      report,
    };
    const config = {
      grid: kernel.grid,
      block: kernel.block,
      shared: kernel.dynamicSharedBytes,
      cooperative: kernel.cooperative,
      ...(kernel.cluster > 1 ? { cluster: kernel.cluster } : {}),
    };
    stream.fill(states, 0xff);
    const time = micros(
      steps,
      () => stream.fill(state),
      (round) => {
        const scalars: Record<string, unknown> = { steps, generation: round * steps, spinLimit: BigInt(spinLimitOf()) };
        stream.launch(handle, config, ...(kernel.parameters.map(({ name }) => buffers[name] ?? scalars[name]) as never[]));
      },
    );
    const stalled = context.read(report)[0];
    const got = context.read(states);
    const bits = (array: Float32Array): Int32Array => new Int32Array(array.buffer, array.byteOffset, array.length);
    const [a, b] = [bits(got), bits(expected!)];
    const different = a.reduce((count, word, k) => count + (word === b[k] ? 0 : 1), 0);
    const verdict = different === 0 && stalled === 0n ? "every bit equal" : `${different} states DIFFER, report ${stalled}`;
    console.log(
      `  ${JSON.stringify(type)}: ${time.toFixed(3)} us a step, ${((100 * time) / theirs).toFixed(0)}% of CUDA C++ (bar 110%), ${verdict}`,
    );
  }
}

console.log(`${context.info.name}, float32, portable arithmetic, all states kept`);
const cluster = (size: number): KernelType => ({ kind: "persistentCluster", size });
const grid = (size: number, longestRow?: number): KernelType => ({
  kind: "persistentGrid",
  size,
  ...(longestRow === undefined ? {} : { longestRow }),
});
await compare("dense N=256", 256, 1, 8000, () => [cluster(256), grid(256)]);
await compare("dense N=512", 512, 1, 4000, () => [cluster(512), grid(512)]);
await compare("dense N=1000", 1000, 1, 8000, () => [grid(1000)]);
await compare("dense N=2000", 2000, 1, 2000, () => [grid(2000)]);
await compare("sparse N=1000, p=0.1", 1000, 0.1, 8000, (longest) => [grid(1000, longest)]);
for (const owned of [stream, start, end]) owned.dispose();
engine.close();
