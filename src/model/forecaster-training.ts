// How a Forecaster's readout is trained: rows stream from the reservoir into the trainer, or are kept where the trainer goes over them
// again.
import { ArgumentError } from "../core/errors.js";
import { Matrix } from "../numerics/index.js";
import { type RidgeOptions, ridge, type TrainedReadout } from "../readout/index.js";
import { type AnyReservoirComputer, checkFinite, type WorkOptions } from "../reservoir/index.js";
import { SaturationCount, shareOfSums, warnWhereSaturated } from "./saturation.js";

/** One series in the reservoir's own units: inputs T x I, targets T x O. */
export interface TrainingSeries {
  readonly inputs: Matrix;
  readonly targets: Matrix;
}

/** Runs every series from the initial state, with its targets forced where there is feedback, and solves for the readout. */
export async function trainReadout(
  computer: AnyReservoirComputer,
  options: RidgeOptions,
  series: readonly TrainingSeries[],
  washout: number,
  work: WorkOptions,
): Promise<TrainedReadout> {
  series.forEach(({ targets }, s) => {
    if (washout < targets.rows) return;
    const where = series.length > 1 ? `sequences[${s}]` : "the series";
    throw ArgumentError.shape(`washout is ${washout} and ${where} gives ${targets.rows} rows to train on; set a washout below that`, {
      field: "washout",
      value: washout,
    });
  });
  const goesOverRows = options.solver === "dual" || options.solver === "auto" || options.selection === "leaveOneOut";
  return goesOverRows ? fitKept(computer, options, series, washout, work) : fitStreamed(computer, options, series, washout, work);
}

async function fitStreamed(
  computer: AnyReservoirComputer,
  options: RidgeOptions,
  series: readonly TrainingSeries[],
  washout: number,
  work: WorkOptions,
): Promise<TrainedReadout> {
  const trainer = ridge(options);
  const { size, inputSize } = computer.model;
  const sink = trainer.accumulator({ stateSize: size, inputSize, outputSize: series[0]!.targets.cols });
  try {
    for (const { one, progress } of inTurn(series, work)) {
      computer.reset();
      await computer.train(one.inputs, one.targets, sink, { ...progress, washout, teacher: teacherOf(computer, one) });
    }
    warnWhereSaturated(computer.model, shareOfSums(sink));
    return trainer.solve(sink);
  } finally {
    sink.dispose();
  }
}

async function fitKept(
  computer: AnyReservoirComputer,
  options: RidgeOptions,
  series: readonly TrainingSeries[],
  washout: number,
  work: WorkOptions,
): Promise<TrainedReadout> {
  const states: Matrix[] = [];
  const inputs: Matrix[] = [];
  for (const { one, progress } of inTurn(series, work)) {
    computer.reset();
    states.push(await computer.run(one.inputs, { ...progress, teacher: teacherOf(computer, one) }));
    inputs.push(roundedInputs(computer, one.inputs));
  }
  const seen = new SaturationCount();
  for (const each of states) seen.add(each.subarray(washout).data);
  warnWhereSaturated(computer.model, seen.share);
  return ridge(options).fit(
    states,
    series.map(({ targets }) => targets),
    { washout, inputs },
  );
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
