// Drawing W and measuring its spectral radius on the device, beside the circular law, and beside
// the host if that is a matter of seconds, with whether the bits are equal. Whole calls from
// JavaScript, the transfers and the host's look for components included. First, radii of many dense
// blocks at once, beside one core of the host; with --dense nothing else.
// Usage: npx tsx bench/gpu/spectrum.ts [--no-host] [--dense]
import { createHash } from "node:crypto";
import { Matrix, matrixSpectralRadius, type SparseMatrix, SpectralRadiusError, seedKeys } from "../../packages/numerics/src/index.js";
import { type DenseBlock, denseEigenvalues, modulus } from "../../packages/numerics/src/spectrum/dense.js";
import { isDenseBlock, radiusParts } from "../../packages/numerics/src/spectrum/radius.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { modelOf } from "../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { drawWeights } from "../../src/reservoir/recurrent-weights.js";
import { drawnMatrix, unscaledDraws } from "../../src/reservoir/weight-draws.js";

const engine = cudaEngine(0);
const withHost = !process.argv.includes("--no-host");
const krylov = { method: "krylov" } as const;
console.log(`${engine.context().info.name}; seed 1, uniform weights\n`);

async function timed<T>(work: () => T | Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
}

const row = (...cells: (string | number | undefined)[]) =>
  console.log(`| ${cells.map((cell) => (typeof cell === "number" ? cell.toFixed(2) : (cell ?? ""))).join(" | ")} |`);
const head = (...cells: string[]) => {
  row(...cells);
  console.log(`|${"---|".repeat(cells.length)}`);
};
const whole = (value: number) => value.toLocaleString("en");
const compared = (equal: boolean | undefined) => (equal === undefined ? "" : equal ? "equal" : "DIFFERENT");

/** By the host's QR algorithm; balancing and scaling change nothing a second time. */
function denseBlockRadius({ n, ld, values, exponent }: DenseBlock): number {
  const forEach = (visit: (row: number, column: number, value: number) => void) =>
    values.forEach((value, p) => {
      if (value !== 0) visit(Math.floor(p / ld), p % ld, value);
    });
  const { re, im } = denseEigenvalues({ size: n, forEach });
  return re.reduce((most, x, i) => Math.max(most, modulus(x, im[i]!)), 0) * 2 ** exponent;
}

const hash = ({ columns, values }: SparseMatrix): string =>
  createHash("sha256").update(new Uint8Array(columns.slice().buffer)).update(new Uint8Array(values.slice().buffer)).digest("hex");

const described = (size: number, perRow: number, rest: Partial<ReservoirOptions> = {}): ReservoirOptions => ({
  ...{ size, connectionProbability: perRow / (size - 1), seed: 1, ...rest },
});
const named = (size: number, perRow: number) => `${whole(size)} neurons, ${whole(perRow)} a row`;
const draw = (size: number, perRow: number) =>
  engine.device!.drawSparse(unscaledDraws(resolveConfig(described(size, perRow)), seedKeys(1)));

const blocksOf = (size: number, count: number) =>
  Array.from({ length: count }, (_, seed) =>
    radiusParts(drawWeights(resolveConfig({ size, connectionProbability: 0.1, seed })).matrix, "dense"),
  )
    .flat()
    .filter(isDenseBlock);
await engine.device.denseRadii(blocksOf(100, 8));
head("radii of dense blocks at once", "blocks", "device s", "host s", "bits");
for (const [size, count] of [
  ...[64, 100, 200, 300].flatMap((n) => [[n, 77] as const, [n, 1000] as const]),
  ...[[200, 8] as const, [512, 8] as const, [512, 132] as const],
]) {
  const blocks = blocksOf(size, count);
  const [radii, seconds] = await timed(() => engine.device.denseRadii(blocks));
  const isOnHost = withHost && count < 1000;
  const [expected, hostSeconds] = isOnHost ? await timed(() => blocks.map(denseBlockRadius)) : [];
  const equal = expected?.every((radius, b) => radius === radii![b]);
  row(`${size} rows`, whole(count), seconds, hostSeconds, compared(equal));
}
if (process.argv.includes("--dense")) process.exit();

console.log();
await draw(1000, 10);
head("drawn in CSR form and brought to the host", "connections", "device s", "host s", "bits");
for (const perRow of [10, 100]) {
  const [there, seconds] = await timed(() => draw(200_000, perRow));
  const [here, hostSeconds] = withHost ? await timed(() => drawWeights(resolveConfig(described(200_000, perRow))).matrix) : [];
  const equal = here && hash(there) === hash(here as SparseMatrix);
  row(named(200_000, perRow), whole(there.values.length), seconds, hostSeconds, compared(equal));
}

console.log();
head("drawn, scaled and run where it is", "radius", "connections", "s to make", "s to open", "us a step", "kernel");
for (const [label, options] of [
  ["20,000 dense neurons, bfloat16", described(20_000, 19_999, { weightPrecision: "bfloat16", radiusMethod: "krylov" })],
  [named(200_000, 10), described(200_000, 10)],
  [named(200_000, 1000), described(200_000, 1000)],
] as const) {
  const [model, seconds] = await timed(async () => (await modelOf(options, engine)) as ReservoirModel);
  const [session, open] = await timed(() => engine.open(model));
  const inputs = new Matrix(512, 1, new Float32Array(512).fill(0.5));
  await session.run({ inputs }, {});
  const [, run] = await timed(() => session.run({ inputs }, {}));
  const { nonzeros, kernel } = session.plan.details;
  const radius = `${model.measuredRadius.toFixed(4)}, ${model.radiusMethod}`;
  row(label, radius, whole(Number(nonzeros ?? model.size ** 2)), seconds, open, (1e6 * run) / 512, String(kernel));
  await session.dispose();
}

console.log();
head("spectral radius by a Krylov iteration", "radius", "over the circular law", "device s", "host s", "bits");
async function line(label: string, law: number, onDevice: () => Promise<number>, onHost?: () => number): Promise<void> {
  try {
    const [found, seconds] = await timed(onDevice);
    const [expected, hostSeconds] = onHost && withHost ? await timed(onHost) : [];
    row(label, found.toFixed(9), (found / law).toFixed(5), seconds, hostSeconds, compared(expected && expected === found));
  } catch (error) {
    if (!(error instanceof SpectralRadiusError)) throw error;
    row(label, `residual ${error.residual.toExponential(1)} after ${error.restarts} restarts`);
  }
}
for (const weightPrecision of ["bfloat16", "full"] as const) {
  const model = (await modelOf(described(20_000, 19_999, { weightPrecision }), engine)) as ReservoirModel;
  const label = `20,000 dense neurons, ${weightPrecision === "full" ? "float32" : weightPrecision}, scaled to 0.95 by the circular law`;
  const { draws, config } = model;
  await line(label, 0.95, async () => (await engine.device!.spectralRadius(drawnMatrix({ draws: draws!, config }), krylov)).radius);
}
for (const [size, perRow, host] of [
  [3000, 2999, true],
  [20_000, 50, true],
  [200_000, 10, false],
  [200_000, 100, false],
] as const) {
  if (host && !withHost) continue;
  const matrix = perRow === size - 1 ? drawWeights(resolveConfig(described(size, perRow))).matrix : await draw(size, perRow);
  const law = matrixSpectralRadius(matrix, { method: "circularLaw" }).radius;
  const onDevice = async () => (await engine.device!.spectralRadius(matrix, krylov)).radius;
  await line(named(size, perRow), law, onDevice, host ? () => matrixSpectralRadius(matrix, krylov).radius : undefined);
}
engine.close();
