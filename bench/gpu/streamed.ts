// The plans of a launch a step, "streamed" (one fused kernel) and "named" (matvec_reservoir and
// leaky_integration), beside the device's own copy rate, and beside cuSPARSE and cuBLAS through
// PyTorch in the same run (if python3 has torch). Times are of whole runs from JavaScript, drive
// and the look for states that are not finite included; states stay on the device.
// Usage: npx tsx bench/gpu/streamed.ts [TEXT...], for the cases whose names have one of these texts, without peers
import { spawnSync } from "node:child_process";
import { Matrix, seedKeys } from "../../packages/numerics/src/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import type { ReservoirConfig } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { modelOf } from "../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { undrawnMatrix, unscaledDraws } from "../../src/reservoir/weight-draws.js";
import { filled, modelWith } from "./filled-models.js";

const engine = cudaEngine(0);
const context = engine.context();
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

type Fields = Pick<ReservoirConfig, "weightPrecision" | "arithmetic">;

/** A model whose dense W the device draws, scaled to a radius of about 0.9. */
function drawnThere(size: number, fields: Partial<Fields>): ReservoirModel {
  const config = resolveConfig({ size, connectionProbability: 1, storage: "dense", ...fields });
  const draws = { ...unscaledDraws(config, seedKeys(1)), factor: 0.9 / Math.sqrt(size / 3) };
  return { ...modelWith(size, undrawnMatrix(size), fields), draws };
}

const dense = (size: number, fields: Partial<Fields> = {}): ReservoirModel =>
  modelWith(size, new Matrix(size, size, filled(size * size, 1 / size)), fields);

/** A model whose W the device draws and scales. */
async function drawn(size: number): Promise<ReservoirModel> {
  const start = performance.now();
  const model = (await modelOf({ size, connectionProbability: 1, weightPrecision: "bfloat16", seed: 1 }, engine)) as ReservoirModel;
  const seconds = (performance.now() - start) / 1000;
  console.log(`(the radius of ${size} dense neurons on the device: ${model.measuredRadius.toFixed(3)} in ${seconds.toFixed(1)} s)`);
  return model;
}

/** Every row has `perRow` entries in columns spread over the whole. */
function sparse(size: number, perRow: number, fields: Partial<Fields> = {}): ReservoirModel {
  const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => r * perRow);
  const columns = new Uint32Array(size * perRow);
  const stride = size / perRow;
  let state = 7;
  for (let r = 0, p = 0; r < size; r++)
    for (let m = 0; m < perRow; m++, p++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      columns[p] = Math.floor(m * stride + (state / 2 ** 32) * Math.floor(stride));
    }
  return modelWith(size, { rows: size, cols: size, rowOffsets, columns, values: filled(size * perRow, 1 / perRow) }, fields);
}

/** Median microseconds of a step over five runs, after one that warms up. */
async function measure(
  model: ReservoirModel,
  steps: number,
  plan: string,
): Promise<{ microseconds: number; bytes: number; modelled: number }> {
  const session = await engine.open(model, { plan });
  try {
    const inputs = new Matrix(steps, 1, filled(steps, 1));
    const times: number[] = [];
    for (let round = 0; round < 6; round++) {
      const start = performance.now();
      await session.run({ inputs }, {});
      if (round > 0) times.push((1000 * (performance.now() - start)) / steps);
    }
    const { bytesPerStep, modelledMicrosecondsPerStep } = session.plan.details;
    return { microseconds: median(times), bytes: Number(bytesPerStep), modelled: Number(modelledMicrosecondsPerStep) };
  } finally {
    await session.dispose();
  }
}

/** Bytes read and written a second by a copy of 2 GiB on the device. */
function copyRate(): number {
  const length = 2 ** 31;
  const [from, to] = [context.zeros("u8", length), context.zeros("u8", length)];
  const stream = context.stream();
  const [start, end] = [context.event(), context.event()];
  const rates: number[] = [];
  for (let round = 0; round < 11; round++) {
    start.record(stream);
    stream.copy(to, from);
    end.record(stream);
    stream.sync();
    if (round > 0) rates.push((2 * length) / (end.elapsedSince(start) / 1000));
  }
  for (const owned of [from, to, start, end, stream]) owned.dispose();
  return median(rates);
}

const copy = copyRate();
const { name } = context.info;
console.log(`${name}: a copy on the device reads and writes ${(copy / 1e12).toFixed(3)} TB/s; float32 states, one input\n`);

const only = process.argv.slice(2);
const peers = spawnSync(only.length === 0 ? "python3" : "true", [new URL("streamed_peers.py", import.meta.url).pathname], {
  encoding: "utf8",
});
const theirs = (peers.status === 0 && only.length === 0 ? JSON.parse(peers.stdout) : {}) as Record<string, number | string>;
if (peers.status !== 0) console.log(`no PyTorch beside it: ${peers.stderr.trim().split("\n").at(-1)}\n`);

console.log("| case | us/step | bytes of W a step | TB/s | share of the copy rate | modelled us | peer us (the product alone) | ratio |");
console.log("|---|---|---|---|---|---|---|---|");
const named = ", named kernels";
const cases: readonly (readonly [string, () => ReservoirModel | Promise<ReservoirModel>, number])[] = [
  ["dense N=1000", () => dense(1000), 8000],
  [`dense N=1000${named}`, () => dense(1000), 8000],
  [`dense N=4096${named}`, () => dense(4096), 4000],
  [`dense N=16384${named}`, () => dense(16384), 640],
  ["sparse N=1000, 100 a row", () => sparse(1000, 100), 8000],
  [`sparse N=1000, 100 a row${named}`, () => sparse(1000, 100), 8000],
  [`sparse N=10000, 1000 a row${named}`, () => sparse(10_000, 1000), 8000],
  ["dense N=4096", () => dense(4096), 4000],
  ["dense N=8192", () => dense(8192), 2000],
  ["dense N=16384", () => dense(16384), 640],
  ["dense N=32768", () => dense(32768), 192],
  ["dense N=32768, fast", () => drawnThere(32768, { arithmetic: "fast" }), 192],
  ["dense N=32768, bfloat16 weights", () => drawnThere(32768, { weightPrecision: "bfloat16" }), 384],
  ["dense N=32768, bfloat16 weights, fast", () => drawnThere(32768, { weightPrecision: "bfloat16", arithmetic: "fast" }), 384],
  ["dense N=32768, int8 weights", () => drawnThere(32768, { weightPrecision: "int8", arithmetic: "fast" }), 768],
  ["dense N=32768, q4_k weights", () => drawnThere(32768, { weightPrecision: "q4_k", arithmetic: "fast" }), 1280],
  ["dense N=100000, bfloat16 weights, drawn on the device", () => drawn(100_000), 64],
  ["dense N=100000, q4_k weights, drawn on the device", () => drawnThere(100_000, { weightPrecision: "q4_k", arithmetic: "fast" }), 192],
  ["sparse N=10000, 1000 a row", () => sparse(10_000, 1000), 8000],
  ["sparse N=10000, 1000 a row, fast", () => sparse(10_000, 1000, { arithmetic: "fast" }), 8000],
  ["sparse N=50000, 500 a row", () => sparse(50_000, 500), 4000],
  ["sparse N=100000, 100 a row", () => sparse(100_000, 100), 4000],
  ["sparse N=200000, 10 a row", () => sparse(200_000, 10), 4000],
];
for (const [label, make, steps] of cases) {
  if (only.length > 0 && !only.some((text) => label.includes(text))) continue;
  const { microseconds, bytes, modelled } = await measure(await make(), steps, label.endsWith(named) ? "named" : "streamed");
  const rate = bytes / (microseconds / 1e6);
  const peer = theirs[label.replace(named, "")];
  const beside = typeof peer === "number" ? `${peer.toFixed(1)} | ${(peer / microseconds).toFixed(2)}x` : "| ";
  console.log(
    `| ${label} | ${microseconds.toFixed(2)} | ${bytes.toLocaleString("en")} | ${(rate / 1e12).toFixed(2)} | ${((100 * rate) / copy).toFixed(1)} % | ${modelled.toFixed(1)} | ${beside} |`,
  );
}
if (theirs["about"]) console.log(`\npeers: ${theirs["about"]}`);
engine.close();
