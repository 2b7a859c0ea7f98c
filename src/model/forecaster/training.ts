// How a Forecaster's readout is trained: rows stream from the reservoir into the trainer, or are
// kept if the trainer needs all of them at once.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import {
  asTrained,
  GramAccumulator,
  type TrainedReadout,
  type Trainer,
  type TrainingStream,
  TriangularAccumulator,
} from "../../readout/index.js";
import { type AnyReservoirComputer, checkFinite, type LinearReadout, type TrainingSink, type WorkOptions } from "../../reservoir/index.js";
import { checkReadout } from "../../reservoir/inputs.js";
import { SaturationCount, shareOfSums, warnWhereSaturated } from "../classifier/saturation.js";
import { columnsBetween } from "./data.js";
import { type ReadoutFeatures, readoutFeatureCount, readoutFeatureRows } from "./readout-features.js";

/** One series in the reservoir's own units: inputs T x I, targets T x O. */
export interface TrainingSeries {
  readonly inputs: Matrix;
  readonly targets: Matrix;
  /** T x O, what the user's model says of the rows, if the readout sees it. */
  readonly modelled?: Matrix | undefined;
}

/** Which rows train, and what of them the readout sees beside the state. */
export interface RowOptions {
  readonly washout: number;
  /** Undefined if it is what drives the reservoir. */
  readonly readoutFeatures: ReadoutFeatures | undefined;
}

/** Rows run at a time if the readout sees more than what drives the reservoir. */
const chunk = 1024;

/**
 * Runs every series from the initial state, with its targets forced if there is feedback, and
 * solves for the readout.
 */
export async function trainReadout(
  computer: AnyReservoirComputer,
  trainer: Trainer,
  series: readonly TrainingSeries[],
  rows: RowOptions,
  work: WorkOptions,
): Promise<TrainedReadout> {
  // Rows before the first lag train nothing.
  const { readoutFeatures } = rows;
  const lags = readoutFeatures?.lags ?? 0;
  const washout = Math.max(rows.washout, lags - 1);
  series.forEach(({ targets }, s) => {
    if (washout < targets.rows) return;
    const where = series.length > 1 ? `sequences[${s}]` : "the series";
    if (washout > rows.washout)
      throw ArgumentError.shape(`lags is ${lags} and ${where} gives ${targets.rows} rows to train on; take fewer lags`, {
        field: "lags",
        value: lags,
      });
    throw ArgumentError.shape(`washout is ${washout} and ${where} gives ${targets.rows} rows to train on; set a washout below that`, {
      field: "washout",
      value: washout,
    });
  });
  const outputSize = series[0]!.targets.cols;
  const { size: stateSize } = computer.model;
  const inputSize = readoutFeatures ? readoutFeatureCount(readoutFeatures) : computer.model.inputSize;
  const stream = trainer.stream?.({ stateSize, inputSize, outputSize });
  const readout = stream
    ? await fitStreamed(computer, stream, series, { washout, readoutFeatures }, work)
    : await fitKept(computer, trainer, series, { washout, readoutFeatures }, work);
  checkReadout({ ...computer.model, inputSize }, readout);
  if (readout.weights.rows !== outputSize)
    throw ArgumentError.shape(`the readout has ${readout.weights.rows} outputs for ${outputSize} targets; it takes one a target`);
  const count = series.reduce((sum, { targets }) => sum + targets.rows - washout, 0);
  return asTrained(readout, count);
}

async function fitStreamed(
  computer: AnyReservoirComputer,
  stream: TrainingStream,
  series: readonly TrainingSeries[],
  { washout, readoutFeatures }: RowOptions,
  work: WorkOptions,
): Promise<LinearReadout> {
  const { sink } = stream;
  // An engine sums up for ridge where its states are; any other sink is given the states
  // themselves.
  const isOfSums = sink instanceof GramAccumulator || sink instanceof TriangularAccumulator;
  const saturation = new SaturationCount();
  const taking: TrainingSink = isOfSums ? sink : watched(sink, saturation);
  try {
    for (const { one, progress } of inTurn(series, work)) {
      computer.reset();
      if (readoutFeatures) await trainWithFeatures(computer, one, taking, { washout, readoutFeatures }, progress);
      else await computer.train(one.inputs, one.targets, taking, { ...progress, washout, teacher: teacherOf(computer, one) });
    }
    const share = isOfSums ? shareOfSums(sink) : saturation.share;
    const given = series.map((one) => one.inputs);
    warnWhereSaturated(computer.model, share, given);
    return stream.solve();
  } finally {
    stream.dispose?.();
  }
}

/** Hands states and what the readout sees beside them to a sink, some rows at a time. */
async function trainWithFeatures(
  computer: AnyReservoirComputer,
  { inputs, targets, modelled }: TrainingSeries,
  sink: TrainingSink,
  { washout, readoutFeatures }: { readonly washout: number; readonly readoutFeatures: ReadoutFeatures },
  { signal, onProgress }: WorkOptions,
): Promise<void> {
  const rounded = roundedInputs(computer, inputs);
  const said = modelled && roundedInputs(computer, modelled);
  for (let from = 0; from < inputs.rows; from += chunk) {
    const rows = rounded.subarray(from, from + chunk);
    const states = await computer.run(inputs.subarray(from, from + chunk), { signal });
    const before = columnsBetween(rounded.subarray(Math.max(0, from - readoutFeatures.lags), from), 0, targets.cols);
    const features = readoutFeatureRows(readoutFeatures, rows, said?.subarray(from, from + chunk), before);
    const skipped = Math.min(states.rows, Math.max(0, washout - from));
    if (skipped < states.rows)
      sink.add(states.subarray(skipped), features.subarray(skipped), targets.subarray(from + skipped, from + states.rows));
    onProgress?.(from + rows.rows, inputs.rows);
  }
}

/** The same sink, with saturated states counted on their way. */
function watched(sink: TrainingSink, saturation: SaturationCount): TrainingSink {
  return {
    features: sink.features,
    add(states, inputs, targets) {
      saturation.add(states.data);
      sink.add(states, inputs, targets);
    },
  };
}

async function fitKept(
  computer: AnyReservoirComputer,
  trainer: Trainer,
  series: readonly TrainingSeries[],
  { washout, readoutFeatures }: RowOptions,
  work: WorkOptions,
): Promise<LinearReadout> {
  const states: Matrix[] = [];
  const inputs: Matrix[] = [];
  for (const { one, progress } of inTurn(series, work)) {
    computer.reset();
    states.push(await computer.run(one.inputs, { ...progress, teacher: teacherOf(computer, one) }));
    const rounded = roundedInputs(computer, one.inputs);
    inputs.push(
      readoutFeatures ? readoutFeatureRows(readoutFeatures, rounded, one.modelled && roundedInputs(computer, one.modelled)) : rounded,
    );
  }
  const saturation = new SaturationCount();
  for (const each of states) saturation.add(each.subarray(washout).data);
  const given = series.map((one) => one.inputs);
  warnWhereSaturated(computer.model, saturation.share, given);
  const targets = series.map(({ targets }) => targets);
  return trainer.fit(states, targets, { washout, inputs });
}

/** The inputs as the reservoir got them, for a readout that sees them. */
export function roundedInputs(computer: AnyReservoirComputer, inputs: Matrix): Matrix {
  if (computer.model.precision === "float64") return inputs;
  const rounded = new Matrix(inputs.rows, inputs.cols, Float32Array.from(inputs.data));
  checkFinite(rounded, "inputs", " (beyond float32; scale the data or take precision float64)");
  return rounded;
}

function teacherOf(computer: AnyReservoirComputer, { targets }: TrainingSeries): Matrix | undefined {
  return computer.model.outputSize > 0 ? targets : undefined;
}

/** The series one after the other, with progress counted over all of them. */
function* inTurn(series: readonly TrainingSeries[], { signal, onProgress }: WorkOptions) {
  const total = series.reduce((sum, { inputs }) => sum + inputs.rows, 0);
  let done = 0;
  for (const one of series) {
    const before = done;
    yield { one, progress: { signal, onProgress: onProgress && ((steps: number) => onProgress(before + steps, total)) } };
    done += one.inputs.rows;
  }
}
