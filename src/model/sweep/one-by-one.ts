// Readouts of an evaluation's members one after the other, for engines that have no better way;
// those that differ in lambda alone share their states and sums. Bits are those of
// `DeviceAbilities.evaluate`.
import { orError, orErrorLater } from "@spillway/core/errors.js";
import { type FloatArray, Matrix } from "@spillway/numerics";
import {
  IllConditionedError,
  type RidgeAccumulator,
  type RidgeTrainer,
  SingularFitError,
  type TrainedReadout,
} from "../../readout/index.js";
import { accumulate } from "../../reservoir/engine/accumulate.js";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import {
  type ErrorsAsk,
  type ForecastSeries,
  type ForecastsAsk,
  type PredictionsAsk,
  sharedPrefixes,
  stepsOf,
  type TrainedRows,
} from "../../reservoir/engine/evaluation.js";
import type { Engine, EnginePlan, EngineSession, Evaluated } from "../../reservoir/engine.js";
import type { HostEvaluation } from "../../reservoir/evaluate/evaluate.js";
import { applyReadout, evaluateReadout, writeFeatures } from "../../reservoir/features.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { addMeasurements, type EngineProfile, type PhaseName } from "../../reservoir/profile.js";
import { buildModel } from "../../reservoir/weights.js";
import { WorkPacer } from "../../reservoir/work.js";

/** A member, and the trainer of its lambda. */
interface PathMember {
  readonly member: number;
  readonly trainer: RidgeTrainer;
}

/** What the members of one reservoir are evaluated with. */
interface Pass {
  readonly session: EngineSession;
  /** They differ in lambda alone. */
  readonly path: readonly PathMember[];
  readonly signal: AbortSignal | undefined;
  /** Takes what the host measured of its own work. */
  readonly measured: EngineProfile[];
}

/** What `DeviceAbilities.evaluate` does, one reservoir after the other. */
export async function oneByOne(engine: Engine, work: HostEvaluation, trainers: ReadonlyMap<number, RidgeTrainer>): Promise<Evaluated> {
  const { bases, members, ask, signal, profile, configOf } = work;
  const steps = stepsOf(ask);
  const pacer = new WorkPacer(work, members.length * steps);
  const measured: EngineProfile[] = [];
  let done = 0;
  for (const prefix of sharedPrefixes(members)) {
    const model = buildModel(configOf(prefix.members[0]!), {}, bases[prefix.member.base]!.drawn);
    const path = prefix.members.map((member) => ({ member, trainer: trainers.get(members[member]!.lambda)! }));
    const session = await engine.open(model, { profile });
    try {
      const pass = { session, path, signal, measured };
      if (ask.kind === "forecasts")
        for (const [s, series] of ask.series.entries()) {
          await forecastSeries(pass, ask, series, s);
          if (pacer.due()) await pacer.pause(done + path.length * series.starts.at(-1)!);
        }
      else await answerRows(pass, ask);
      measured.push(...[session.profile?.()].filter((each) => each !== undefined));
    } finally {
      await session.dispose();
    }
    done += path.length * steps;
    await pacer.pause(done);
  }
  pacer.finish();
  const first = engine.plan(bases[0]!.model);
  const plan: EnginePlan = { ...first, summary: `${members.length} reservoirs one after the other, the first: ${first.summary}` };
  return { plan, ...(profile ? { profile: addMeasurements(measured) } : {}) };
}

/** The readout of one member. */
export async function retrain(
  engine: Engine,
  model: ReservoirModel,
  rows: TrainedRows,
  trainer: RidgeTrainer,
  signal: AbortSignal | undefined,
): Promise<TrainedReadout> {
  const session = await engine.open(model);
  try {
    return await overSums(session, rows, trainer, signal, async (sink) => trainer.solve(sink));
  } finally {
    await session.dispose();
  }
}

/** Errors or predictions of the rows after training. */
async function answerRows({ session, path, signal, measured }: Pass, ask: ErrorsAsk | PredictionsAsk): Promise<void> {
  const { inputs, trainRows } = ask;
  const { size, precision } = session.model;
  const states = Matrix.zeros(inputs.rows - trainRows, size, precision) as Matrix;
  const solve = () =>
    overSums(session, ask, path[0]!.trainer, signal, async (sink) => {
      await session.run({ inputs: inputs.subarray(trainRows) }, { into: states, signal });
      return onHost(measured, "solve", () => path.map(({ trainer }) => solved(() => trainer.solve(sink))));
    });
  const readouts = await orErrorLater(solve, NonFiniteStateError);
  onHost(measured, "score", () => {
    for (const [l, { member }] of path.entries()) {
      const readout = readouts instanceof Error ? undefined : readouts[l];
      const predicted = readout && applyReadout(readout, states, inputs.subarray(trainRows), precision);
      if (ask.kind === "predictions") ask.take(member, predicted && Float64Array.from(predicted));
      else ask.take(member, predicted && squaresOf(predicted, ask.targets.subarray(trainRows)));
    }
  });
}

/** Of each output the sum of its squared errors. */
function squaresOf(predicted: FloatArray, { data, cols }: Matrix<Float64Array>): Float64Array {
  const sums = new Float64Array(cols);
  for (let i = 0; i < data.length; i++) {
    const error = predicted[i]! - data[i]!;
    const at = i % cols;
    sums[at] = sums[at]! + error * error;
  }
  return sums;
}

/** A readout, or undefined if its lambda is too small for the factorisation. */
function solved(solve: () => TrainedReadout): TrainedReadout | undefined {
  const found = orError(solve, (error) => error instanceof IllConditionedError || error instanceof SingularFitError);
  return found instanceof Error ? undefined : found;
}

function onHost<Made>(measured: EngineProfile[], phase: PhaseName, work: () => Made): Made {
  const begun = performance.now();
  const made = work();
  measured.push({ phases: [{ phase, clock: "host", milliseconds: performance.now() - begun, pieces: 1 }] });
  return made;
}

/** What `solve` makes of the sums of a reservoir's training rows. */
async function overSums<Solved>(
  session: EngineSession,
  { inputs, targets, washout, trainRows }: TrainedRows,
  trainer: RidgeTrainer,
  signal: AbortSignal | undefined,
  solve: (sink: RidgeAccumulator) => Promise<Solved>,
): Promise<Solved> {
  const sink = trainer.accumulator({ stateSize: session.model.size, inputSize: inputs.cols, outputSize: targets.cols });
  try {
    const rows = { targets: targets.subarray(0, trainRows), washout, sink, signal };
    await accumulate(session, { inputs: inputs.subarray(0, trainRows) }, rows);
    return await solve(sink);
  } finally {
    sink.dispose();
  }
}

/** Forecasts of one series by the readouts of a lambda path. */
async function forecastSeries(pass: Pass, ask: ForecastsAsk, series: ForecastSeries, index: number): Promise<void> {
  const made = pass.path.map(() => new Float64Array(series.starts.length * ask.horizon * series.rows.cols));
  const failure = await orErrorLater(() => forecastFrom(pass, ask, series, made), NonFiniteStateError);
  if (failure) for (const out of made) out.fill(Number.NaN);
  for (const [l, { member }] of pass.path.entries()) ask.take(member, made[l]!, index);
}

async function forecastFrom(
  { session, path, signal }: Pass,
  { washout, refit, horizon }: ForecastsAsk,
  { rows, targets, starts, lower, upper }: ForecastSeries,
  made: readonly Float64Array[],
): Promise<void> {
  const { size, precision } = session.model;
  const inputSize = rows.cols;
  const sink = path[0]!.trainer.accumulator({ stateSize: size, inputSize, outputSize: inputSize });
  const length = horizon * inputSize;
  let readouts: (TrainedReadout | undefined)[] = [];
  session.reset();
  try {
    for (const [k, start] of starts.entries()) {
      const from = k === 0 ? 0 : starts[k - 1]!;
      // The target of the row before a start is not known at it.
      const states = Matrix.zeros(start - from, size, precision);
      await session.run({ inputs: rows.subarray(from, start) }, { into: states, signal });
      if (k === 0 || refit) {
        const first = Math.max(from, washout);
        const last = start - 1;
        if (first < last)
          sink.add(states.subarray(first - from, last - from), rows.subarray(first, last), targets.subarray(first + 1, last + 1));
        readouts = path.map(({ trainer }) => solved(() => trainer.solve(sink)));
      }
      const state = session.getState();
      for (const [l, readout] of readouts.entries()) {
        const out = made[l]!.subarray(k * length, (k + 1) * length);
        if (!readout) {
          out.fill(Number.NaN);
          continue;
        }
        session.setState(state);
        goOn(session, readout, rows.row(start - 1), lower.row(k), upper.row(k), out);
      }
      session.setState(state);
      if (refit && k + 1 < starts.length && start - 1 >= washout)
        sink.add(states.subarray(start - 1 - from), rows.subarray(start - 1, start), targets.subarray(start, start + 1));
    }
  } finally {
    sink.dispose();
  }
}

/** One closed loop from the state of the session, NaN from where it is not finite. */
function goOn(
  session: EngineSession,
  readout: TrainedReadout,
  before: FloatArray,
  lower: Float64Array,
  upper: Float64Array,
  out: Float64Array,
): void {
  const input = before.slice();
  const y = before.slice();
  const features = new Float64Array(readout.weights.cols);
  let values = session.getState().values;
  for (let at = 0; at < out.length; at += input.length) {
    writeFeatures(readout.features, values, input, features);
    evaluateReadout(readout, features, y);
    for (let o = 0; o < y.length; o++) {
      if (!Number.isFinite(y[o]!)) y[o] = Number.NaN;
      else if (y[o]! < lower[o]!) y[o] = lower[o]!;
      else if (y[o]! > upper[o]!) y[o] = upper[o]!;
      input[o] = y[o]!;
    }
    out.set(y, at);
    if (at + input.length < out.length) values = session.step(input);
  }
}
