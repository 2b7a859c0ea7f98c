// How a reservoir sees a sequence of any length as one vector of features, and what a readout of
// classes makes of it: where the states are, or on the host. It trains no readout of classes.
import { columnMeans, Matrix } from "@spillway/numerics";
import { ridge, SoftmaxReadout, type TrainedReadout } from "../../readout/index.js";
import { type AnyReservoirComputer, DeviceMatrix, type SummaryWork, type WorkOptions } from "../../reservoir/index.js";
import { onlyHost } from "../../reservoir/inputs.js";
import { groupThere, rowsOfGroups, stateGroup } from "../groups.js";
import { layerNormalised } from "../layer-norm.js";
import { type Driving, type HostSeries, type Levels, type MemberComputers, type Sequence, seriesOf, statisticsOf } from "../views.js";
import { statisticsThere } from "../views-there.js";
import { classShares } from "./class-readout.js";
import type { ClassifierSettings } from "./options.js";
import type { SaturationCount } from "./saturation.js";

/**
 * Shares of classes, B x K, and where they were made: by the name of the engine that had the
 * states, or "host".
 */
export interface SharesOn {
  readonly shares: Matrix<Float64Array>;
  readonly computedOn: string;
}

/** What runs sequences: a member's reservoirs, and its levels if the statistics count by some. */
export interface Member {
  readonly computers: MemberComputers;
  readonly levels?: Levels | undefined;
  /** What makes probabilities of its readout's outputs. */
  readonly factor?: number | undefined;
}

/** The cases for reservoirs on the host. @throws ArgumentError for one on a device */
export function hostSeries(driving: Driving): HostSeries {
  return seriesOf(driving).map((series) => series.map((one) => onlyHost(one, "a sequence")));
}

/**
 * B x F features of B sequences (T x C, any lengths), each run from the initial state. F is N for
 * "last" and "mean", 2N for "last+mean", C more of each kind with `input`; for "output" it is C (N
 * + 1), or C (N + C + 1) with `input`: weights channel by channel, then the intercepts; for
 * "statistics" see views.ts. Sums of a mean are taken in binary64 in rising order. With
 * `layerNorm` each row is normalised by itself.
 *
 * A reservoir with noise draws it by a sequence's index in its group. `saturation` is given the states
 * behind "output", and else last states or means.
 */
export async function represent(
  { computers, levels }: Member,
  given: Driving,
  settings: ClassifierSettings,
  work: WorkOptions,
  saturation?: SaturationCount,
): Promise<Matrix<Float64Array>> {
  const [computer] = computers;
  const features =
    settings.representation === "statistics"
      ? ((await statisticsThere(computers, given, settings, levels!, work)) ??
        (await statisticsOf(computers, hostSeries(given), settings, levels!, work)))
      : await inGroups(computer, given.inputs, settings, work, async (group, onProgress) => {
          const there = summarised(computer, group, settings, { ...work, onProgress });
          return there ? await there : onHost(computer, group, settings, work, saturation);
        });
  if (settings.representation !== "output")
    for (let b = 0; b < features.rows; b++) saturation?.add(features.row(b).subarray(0, computer.model.size));
  return settings.layerNorm ? layerNormalised(features) : features;
}

/** What a trained readout makes of sequences, group by group. */
export async function classify(
  member: Member,
  readout: TrainedReadout,
  given: Driving,
  settings: ClassifierSettings,
  work: WorkOptions,
): Promise<SharesOn> {
  const { layerNorm, representation } = settings;
  const [computer] = member.computers;
  const { factor } = member;
  const isSoftmax = readout instanceof SoftmaxReadout;
  const scaled = isSoftmax || representation !== "statistics" ? undefined : factor;
  const classes = { readout, layerNorm, shares: isSoftmax || scaled !== undefined ? "softmax" : "positive", factor: scaled } as const;
  let computedOn = "host";
  if (representation === "statistics") {
    const there = await statisticsThere(member.computers, given, settings, member.levels!, work, classes);
    if (there) return { shares: there, computedOn: computer.engine.name };
    return { shares: classShares(readout, await represent(member, given, settings, work), factor), computedOn };
  }
  const shares = await inGroups(computer, given.inputs, settings, work, async (group, onProgress) => {
    const there = summarised(computer, group, settings, { ...work, onProgress }, classes);
    if (there) {
      computedOn = computer.engine.name;
      return there;
    }
    const features = await onHost(computer, group, settings, work);
    return classShares(readout, layerNorm ? layerNormalised(features) : features);
  });
  return { shares, computedOn };
}

/** Runs groups of sequences, and puts the rows that each gives under one another. */
function inGroups(
  { model: { size, noiseLevel }, canSummarise }: AnyReservoirComputer,
  sequences: readonly Sequence[],
  { representation }: ClassifierSettings,
  { onProgress }: WorkOptions,
  rowsOf: (group: readonly Sequence[], onProgress: WorkOptions["onProgress"]) => Promise<Matrix<Float64Array>>,
): Promise<Matrix<Float64Array>> {
  const stays = canSummarise && representation !== "output" && noiseLevel === 0;
  return rowsOfGroups(sequences, size, stays ? groupThere : stateGroup, onProgress, (group, _, report) => rowsOf(group, report));
}

/**
 * Features or class scores computed on the device, without copying states back. Undefined if the
 * engine cannot.
 */
function summarised(
  computer: AnyReservoirComputer,
  group: readonly Sequence[],
  settings: ClassifierSettings,
  { signal, onProgress }: WorkOptions,
  classes?: SummaryWork["classes"],
): Promise<Matrix<Float64Array>> | undefined {
  const { representation, washout, input } = settings;
  if (representation === "output") return undefined;
  const which = { last: representation !== "mean", mean: representation !== "last", washout };
  const summarise = (given: Matrix<Float64Array>) => computer.summarise(group, { ...which, given, classes, signal, onProgress });
  if (!input || !computer.canSummarise) return summarise(Matrix.zeros(group.length, 0));
  const there = group.filter((one) => one instanceof DeviceMatrix);
  if (there.length === 0) return summarise(rowsOf((group as readonly Matrix[]).map((inputs) => statistics([inputs], settings))));
  return computer.statistics(there, which).then((made) => summarise(givenOf(group, made, settings))!);
}

async function onHost(
  computer: AnyReservoirComputer,
  given: readonly Sequence[],
  settings: ClassifierSettings,
  { signal }: WorkOptions,
  saturation?: SaturationCount,
): Promise<Matrix<Float64Array>> {
  const { representation, input, washout } = settings;
  const group = given.map((inputs) => onlyHost(inputs, "a sequence"));
  const states = await computer.batch(group, { keep: representation === "last" ? "last" : "all", signal });
  if (representation === "output") for (const x of states) saturation?.add(x.subarray(washout).data);
  return rowsOf(
    states.map((x, b) =>
      representation === "output" ? outputSpace(x, group[b]!, settings) : statistics(input ? [x, group[b]!] : [x], settings),
    ),
  );
}

/** Statistics of inputs, those of the ones on a device from what was made there, in their order. */
function givenOf(group: readonly Sequence[], made: Matrix<Float64Array>, settings: ClassifierSettings): Matrix<Float64Array> {
  let next = 0;
  return rowsOf(group.map((one) => (one instanceof Matrix ? statistics([one], settings) : made.row(next++))));
}

function rowsOf(rows: readonly Float64Array[]): Matrix<Float64Array> {
  const out = Matrix.zeros(rows.length, rows[0]!.length);
  rows.forEach((row, b) => {
    out.row(b).set(row);
  });
  return out;
}

/**
 * Last and mean of each series: of states and, if joined, of inputs. States may hold just the last
 * one if only that is asked for.
 */
function statistics(all: readonly Matrix[], { representation, washout }: ClassifierSettings): Float64Array {
  const parts: ArrayLike<number>[] = [];
  for (const series of all) {
    if (representation !== "mean") parts.push(series.row(series.rows - 1));
    if (representation !== "last") parts.push(columnMeans(series.subarray(washout)));
  }
  const out = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let next = 0;
  for (const part of parts) {
    out.set(part, next);
    next += part.length;
  }
  return out;
}

/**
 * The output space (F. M. Bianchi et al. 2021, "Reservoir computing approaches for representation
 * and classification of multivariate time series", IEEE TNNLS 32): the weights and intercepts of
 * the ridge readout u(t+1) = W [x(t), u(t)] + c of this sequence.
 */
function outputSpace(states: Matrix, inputs: Matrix, { washout, sequenceLambda, input }: ClassifierSettings): Float64Array {
  const { weights, intercept } = ridge({ lambda: sequenceLambda, solver: "auto", input }).fit(states.subarray(0, -1), inputs.subarray(1), {
    washout,
    inputs: inputs.subarray(0, -1),
  });
  const out = new Float64Array(weights.data.length + intercept.length);
  out.set(weights.data);
  out.set(intercept, weights.data.length);
  return out;
}
