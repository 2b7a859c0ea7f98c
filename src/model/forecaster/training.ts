// How a Forecaster's readout is trained: rows stream from the reservoir into the trainer, or are
// kept if the trainer needs all of them at once.
import { ArgumentError } from "../../core/errors.js";
import { Matrix } from "../../numerics/index.js";
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
import { laggedInputs } from "./loop.js";

/** One series in the reservoir's own units: inputs T x I, targets T x O. */
export interface TrainingSeries {
  readonly inputs: Matrix;
  readonly targets: Matrix;
}

/** Which rows train, and how many rows of a series the readout sees beside the state. */
export interface RowOptions {
  readonly washout: number;
  readonly lags: number;
}

/** Rows run at a time if the readout sees lags. */
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
  const { lags } = rows;
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
  const inputSize = computer.model.inputSize + (lags > 0 ? (lags - 1) * outputSize : 0);
  const stream = trainer.stream?.({ stateSize, inputSize, outputSize });
  const readout = stream
    ? await fitStreamed(computer, stream, series, { washout, lags }, work)
    : await fitKept(computer, trainer, series, { washout, lags }, work);
  checkReadout({ ...computer.model, inputSize }, readout);
  if (readout.weights.rows !== outputSize)
    throw ArgumentError.shape(`the readout has ${readout.weights.rows} outputs for ${outputSize} targets; it takes one a target`);
  return asTrained(
    readout,
    series.reduce((sum, { targets }) => sum + targets.rows - washout, 0),
  );
}

async function fitStreamed(
  computer: AnyReservoirComputer,
  stream: TrainingStream,
  series: readonly TrainingSeries[],
  { washout, lags }: RowOptions,
  work: WorkOptions,
): Promise<LinearReadout> {
  const { sink } = stream;
  // An engine sums up for ridge where its states are; any other sink is given the states
  // themselves.
  const isOfSums = sink instanceof GramAccumulator || sink instanceof TriangularAccumulator;
  const seen = new SaturationCount();
  const taking: TrainingSink = isOfSums ? sink : watched(sink, seen);
  try {
    for (const { one, progress } of inTurn(series, work)) {
      computer.reset();
      if (lags > 0) await trainLagged(computer, one, taking, { washout, lags }, progress);
      else await computer.train(one.inputs, one.targets, taking, { ...progress, washout, teacher: teacherOf(computer, one) });
    }
    warnWhereSaturated(computer.model, isOfSums ? shareOfSums(sink) : seen.share);
    return stream.solve();
  } finally {
    stream.dispose?.();
  }
}

/** Hands states and lagged inputs to a sink, some rows at a time. */
async function trainLagged(
  computer: AnyReservoirComputer,
  { inputs, targets }: TrainingSeries,
  sink: TrainingSink,
  { washout, lags }: RowOptions,
  { signal, onProgress }: WorkOptions,
): Promise<void> {
  const rounded = roundedInputs(computer, inputs);
  for (let from = 0; from < inputs.rows; from += chunk) {
    const rows = rounded.subarray(from, from + chunk);
    const states = await computer.run(inputs.subarray(from, from + chunk), { signal });
    const seen = laggedInputs(rows, targets.cols, lags, columns(rounded.subarray(Math.max(0, from - lags), from), targets.cols));
    const skipped = Math.min(states.rows, Math.max(0, washout - from));
    if (skipped < states.rows)
      sink.add(states.subarray(skipped), seen.subarray(skipped), targets.subarray(from + skipped, from + states.rows));
    onProgress?.(from + rows.rows, inputs.rows);
  }
}

/** The same sink, with saturated states counted on their way. */
function watched(sink: TrainingSink, seen: SaturationCount): TrainingSink {
  return {
    features: sink.features,
    add(states, inputs, targets) {
      seen.add(states.data);
      sink.add(states, inputs, targets);
    },
  };
}

async function fitKept(
  computer: AnyReservoirComputer,
  trainer: Trainer,
  series: readonly TrainingSeries[],
  { washout, lags }: RowOptions,
  work: WorkOptions,
): Promise<LinearReadout> {
  const states: Matrix[] = [];
  const inputs: Matrix[] = [];
  for (const { one, progress } of inTurn(series, work)) {
    computer.reset();
    states.push(await computer.run(one.inputs, { ...progress, teacher: teacherOf(computer, one) }));
    const rounded = roundedInputs(computer, one.inputs);
    inputs.push(lags > 0 ? laggedInputs(rounded, one.targets.cols, lags) : rounded);
  }
  const seen = new SaturationCount();
  for (const each of states) seen.add(each.subarray(washout).data);
  warnWhereSaturated(computer.model, seen.share);
  return trainer.fit(
    states,
    series.map(({ targets }) => targets),
    { washout, inputs },
  );
}

/** The first columns of a matrix. */
function columns(matrix: Matrix, count: number): Matrix {
  if (matrix.cols === count) return matrix;
  const out = Matrix.zeros(matrix.rows, count);
  for (let t = 0; t < matrix.rows; t++) out.data.set(matrix.row(t).subarray(0, count), t * count);
  return out;
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
