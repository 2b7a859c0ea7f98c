// Information processing capacity of many reservoirs on a device (kernels/information_capacity.cu):
// products of their states with targets, the directions of the states, and the share of each
// target, with the host's bits. Of each reservoir a rank and a number a target come to the host.
import type { Context, Parameter, Stream } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import type { MeasuresAsked, MeasuresFound } from "../../../reservoir/engine/measures.js";
import type { TargetTerms } from "../../../reservoir/engine.js";
import { type AnyArgument, type AnyKernel, type RealParameter, realKernel, realType, shippedKernel } from "../kernels.js";
import { elementBytes } from "../shape.js";
import type { SweptMembers } from "./swept-members.js";
import { chunksOf, factorKernel, factorShape, type LaunchShape, panelRows, reflectionColumns, sharedLimit, type Turn } from "./turn.js";
import type { Uploads } from "./uploads.js";

const file = "information_capacity";

/** Rows of a block of sums; targets and left columns of a tile, and threads for it. */
export const blockRows = 1024;
export const targetTile = 128;
const leftTile = 52;
/** Values of a row's tile in the kernel. */
const paddedTile = 56;
export const productThreads = 128;

/** Tiles of left columns, and values of a row of factors. */
export function leftTiles(lefts: number): { readonly tiles: number; readonly width: number } {
  const tiles = Math.ceil(lefts / leftTile);
  return { tiles, width: tiles * paddedTile };
}

/** The kernels of products, of one reservoir or of many. */
export function capacityKernels(context: Context, precision: Precision) {
  const real = (name: string, parameters: readonly RealParameter[]) =>
    realKernel(context, file, `capacity_${name}_${realType(precision)}`, precision, parameters);
  return {
    origin: real("origin", ["const real*", "i32", "i32", "f64*"]),
    rows: real("rows", ["const real*", "const f64*", "i32", "i32", "f64*"]),
    factors: real("factors", ["const real*", "const f64*", "i32", "i32", "f64*"]),
    products: binary64(context, "products", [
      ...(["const f64*", "i32", "i32", "const f64*", "i64", "i64"] as const),
      ...(["const u32*", "const u8*", "const u32*", "i32", "i32", "f64*", "f64*"] as const),
    ]),
    fold: binary64(context, "fold", ["const f64*", "i32", "i64", "f64*"]),
    factor: factorKernel(context),
  };
}

function binary64(context: Context, name: string, parameters: readonly Parameter[]): AnyKernel {
  return shippedKernel(context, file, `capacity_${name}`, parameters);
}

/** Terms of targets on the device. */
export function uploadTerms(memory: Uploads, stream: Stream, targets: TargetTerms) {
  const first = memory.take("u32", targets.count + 1, "first terms");
  const degrees = memory.take("u8", targets.termDegrees.length, "degrees of terms");
  const delays = memory.take("u32", targets.termDelays.length, "delays of terms");
  stream.upload(first, targets.first);
  stream.upload(degrees, targets.termDegrees);
  stream.upload(delays, targets.termDelays);
  return { first, degrees, delays };
}

/** P_0, P_1, ... of a series, one row each. */
export function uploadPolynomials(memory: Uploads, stream: Stream, values: readonly Float64Array[], pitch: number) {
  const polynomials = memory.take("f64", values.length * pitch, "polynomials");
  for (const [d, row] of values.entries()) stream.upload(polynomials.slice(d * pitch, (d + 1) * pitch), row);
  return polynomials;
}

type Asked = NonNullable<MeasuresAsked["capacity"]>;

/** Bytes that a reservoir takes besides its weights. */
export function capacityBytes(size: number, precision: Precision, { targets }: Asked): number {
  const lefts = size + 1;
  const { width } = leftTiles(lefts);
  const values = targets.count * (2 * lefts + 3) + blockRows * (width + lefts) + lefts * (2 * lefts + reflectionColumns) + 2 * size * lefts;
  return 8 * values + blockRows * size * elementBytes(precision);
}

/** Capacities of a wave's reservoirs by prefix, from their initial states. */
export async function capacitiesOf(
  context: Context,
  members: SweptMembers,
  { stream, wave, prepared, pause }: Turn,
  { inputs, washout, values, targets, tolerance }: Asked,
  own: Uploads,
): Promise<(prefix: number) => NonNullable<MeasuresFound["capacities"]>> {
  const { size, precision } = members.rowShape;
  const count = wave.prefixes.length;
  const lefts = size + 1;
  const square = lefts * lefts;
  const { tiles, width } = leftTiles(lefts);
  const kernels = capacityKernels(context, precision);
  const launch = (kernel: AnyKernel, config: LaunchShape, given: readonly AnyArgument[]) => stream.launch(kernel, config, ...given);
  const over = (each: number): LaunchShape => ({ grid: [Math.ceil(each / 1024), count], block: 256 });
  const states = own.real(count * blockRows * size, "states");
  const series = own.series(inputs, "inputs");
  const polynomials = uploadPolynomials(own, stream, values, inputs.rows);
  const terms = uploadTerms(own, stream, targets);
  const products = own.take("f64", count * targets.count * lefts, "products");
  const parts = own.take("f64", count * targets.count * lefts, "products of a block");
  const squares = own.take("f64", count * targets.count, "squares");
  const partSquares = own.take("f64", count * targets.count, "squares of a block");
  const origin = own.take("f64", count * size, "first states");
  const factors = own.take("f64", count * blockRows * width, "factors");
  const panels = own.take("f64", count * blockRows * lefts, "panels");
  const blockTriangles = own.take("f64", count * square, "triangles of a block");
  const triangles = own.take("f64", count * square, "triangles");
  const scratch = own.take("f64", count * reflectionColumns * lefts, "reflections");
  for (const filled of [products, squares, triangles]) stream.fill(filled);
  const reflect = (rows: AnyArgument, pitch: number, height: number, first: number, into: AnyArgument) =>
    launch(kernels.factor, factorShape(count), [rows, pitch, height, first, lefts, lefts, into, scratch]);
  const fold = (from: AnyArgument, each: number, to: AnyArgument) =>
    launch(kernels.fold, { grid: Math.min(65_535, Math.ceil((count * each) / 256)), block: 256 }, [from, 1, count * each, to]);
  for (const { from, to } of chunksOf([washout, inputs.rows], blockRows)) {
    const rows = to - from;
    members.run(stream, wave, prepared, series, states, from, to);
    if (from < washout) continue;
    if (from === washout) launch(kernels.origin, { grid: [1, count], block: 256 }, [states, rows, size, origin]);
    launch(kernels.factors, over(rows * width), [states, origin, rows, size, factors]);
    const grid = [Math.ceil(targets.count / targetTile) * tiles, count] as const;
    const wanted = [polynomials, inputs.rows, from, terms.first, terms.degrees, terms.delays, targets.count, 1];
    launch(kernels.products, { grid, block: productThreads }, [factors, rows, lefts, ...wanted, parts, partSquares]);
    fold(parts, targets.count * lefts, products);
    fold(partSquares, targets.count, squares);
    launch(kernels.rows, over(rows * lefts), [states, origin, rows, size, panels]);
    stream.fill(blockTriangles);
    for (let t = 0; t < rows; t += panelRows)
      reflect(panels.slice(t * lefts), blockRows * lefts, Math.min(panelRows, rows - t), 0, blockTriangles);
    for (let first = 0; first < lefts; first += panelRows)
      reflect(blockTriangles.slice(first * lefts), square, Math.min(panelRows, lefts - first), first, triangles);
    await pause();
  }
  const centre = binary64(context, "centre", ["const f64*", "const f64*", "i32", "i32", "f64*"]);
  launch(centre, over(targets.count * size), [products, triangles, targets.count, size, parts]);
  const held = 8 * size * (1 + (size | 1));
  const resident = held <= sharedLimit(context);
  const [lengths, directions] = [own.take("f64", count * size, "singular values"), own.take("f64", count * size * size, "directions")];
  const work = resident ? null : own.take("f64", count * size * size, "triangles that are turned");
  const ranks = own.take("i32", count, "ranks");
  const basis = binary64(context, "basis", ["const f64*", "i32", "f64", "f64*", "f64*", "f64*", "i32*", "i32"]);
  const turned = { grid: count, block: 32, shared: resident ? held : 8 * size };
  launch(basis, turned, [triangles, size, tolerance, lengths, directions, work, ranks, resident ? 1 : 0]);
  await pause();
  const shares = binary64(context, "shares", [
    ...(["const f64*", "const f64*", "const f64*", "const f64*", "const i32*", "i32", "i32", "f64*"] as const),
  ]);
  const grid = [Math.ceil(targets.count / 128), count] as const;
  launch(shares, { grid, block: 128 }, [parts, squares, lengths, directions, ranks, targets.count, size, partSquares]);
  const [found, ranksHere] = [await stream.download(partSquares), await stream.download(ranks)];
  const each = targets.count;
  return (prefix) => ({ rank: ranksHere[prefix]!, values: found.subarray(prefix * each, (prefix + 1) * each) });
}
