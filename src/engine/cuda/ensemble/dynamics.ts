// Information dynamics of many reservoirs on a device (kernels/information_dynamics.cu):
// covariances of their states, and what neurons store and connections transfer, with the host's
// bits. Of each reservoir two means come to the host.
import type { Context } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import type { MeasuresAsked, MeasuresFound } from "../../../reservoir/engine/measures.js";
import { plainFeatures } from "../../../reservoir/features.js";
import { type AnyArgument, type AnyKernel, type RealParameter, realKernel, realType } from "../kernels.js";
import { elementBytes } from "../shape.js";
import { DeviceGrams, gramTiles, type RowShape } from "../training/gram.js";
import type { SweptMembers } from "./swept-members.js";
import { chunksOf, type LaunchShape, type Turn, weightArguments, weightParameters } from "./turn.js";
import type { Uploads } from "./uploads.js";

/** Rows of pairs of states that are held at a time. */
const pairRows = 1024;

const threads = 256;

type Asked = NonNullable<MeasuresAsked["dynamics"]>;

/** Rows of the states of a moment and of the one before. */
const pairShape = (size: number): RowShape => ({
  ...{ precision: "float64", size: 2 * size, inputSize: 0, outputs: 0, features: plainFeatures, constant: false },
});

/** Bytes that a reservoir takes besides its weights. */
export function dynamicsBytes(size: number, precision: Precision, { inputs, washout }: Asked): number {
  const sums = 2 * 64 * 64 * gramTiles(pairShape(size));
  return 8 * (sums + size * (2 * pairRows + size + 1)) + (inputs.rows - washout) * size * elementBytes(precision);
}

/** Mean storage and transfer of a wave's reservoirs by prefix, from their initial states. */
export async function dynamicsOf(
  context: Context,
  members: SweptMembers,
  { stream, wave, prepared, pause }: Turn,
  { inputs, washout }: Asked,
  own: Uploads,
): Promise<(prefix: number) => NonNullable<MeasuresFound["dynamics"]>> {
  const { size, precision } = members.rowShape;
  const count = wave.prefixes.length;
  const rows = inputs.rows - washout;
  const kernel = (name: string, parameters: readonly RealParameter[]): AnyKernel =>
    realKernel(context, "information_dynamics", `dynamics_${name}_${realType(precision)}`, precision, parameters);
  const launch = (of: AnyKernel, config: LaunchShape, given: readonly AnyArgument[]) => stream.launch(of, config, ...given);
  const grams = own.own(new DeviceGrams(context, pairShape(size), count));
  const states = own.real(count * rows * size, "states");
  const series = own.series(inputs, "inputs");
  for (const { from, to } of chunksOf([washout, inputs.rows], rows)) members.run(stream, wave, prepared, series, states, from, to);
  await pause();
  const means = own.take("f64", count * size, "means");
  const average = { grid: [Math.ceil(size / threads), count] as const, block: threads };
  launch(kernel("means", ["const real*", "i32", "i32", "f64*"]), average, [states, rows, size, means]);
  const pairs = own.take("f64", count * Math.min(pairRows, rows - 1) * 2 * size, "states of two moments");
  const pair = kernel("pairs", ["const real*", "const f64*", "i32", "i32", "i32", "i32", "f64*"]);
  grams.clear(stream);
  for (let first = 1; first < rows; first += pairRows) {
    const some = Math.min(pairRows, rows - first);
    const over = { grid: [Math.ceil((some * 2 * size) / 1024), count] as const, block: threads };
    launch(pair, over, [states, means, rows, first, some, size, pairs]);
    const where = { states: pairs, statePitch: some * 2 * size, inputs: null, inputPitch: 0, targets: pairs };
    grams.add(stream, { rows: some, ...where });
    await pause();
  }
  const all = own.take("f64", count * size * size, "transfers");
  const both = own.take("f64", 2 * count, "storage and transfer");
  const information = kernel("information", [
    ...weightParameters,
    ...(["const f64*", "const f64*", "i32", "i32", "f64*", "f64*"] as const),
  ]);
  const given = [...weightArguments(members, prepared), grams.sums, grams.totals, grams.tiles, size, all, both];
  launch(information, { grid: count, block: threads, shared: 24 * size }, given);
  const found = await stream.download(both);
  return (prefix) => ({ storage: found[2 * prefix]!, transfer: found[2 * prefix + 1]! });
}
