// Closed loops of the members of a sweep one after the other, for engines that have no better way.
// Bits are those of `DeviceAbilities.sweepForecasts`.
import { type FloatArray, Matrix } from "@spillway/numerics";
import type { ridge, TrainedReadout } from "../../readout/index.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import type { ForecastSeries, ForecastSweepWork, SweptForecasts } from "../../reservoir/engine/sweeps.js";
import { trunksOf } from "../../reservoir/engine/trunks.js";
import type { Engine, EnginePlan, EngineSession } from "../../reservoir/engine.js";
import { evaluateReadout, writeFeatures } from "../../reservoir/features.js";
import { addMeasurements, type EngineProfile } from "../../reservoir/profile.js";
import type { Base } from "../../reservoir/swept.js";
import { buildModel } from "../../reservoir/weights.js";
import { WorkPacer } from "../../reservoir/work.js";
import { solved } from "./one-by-one.js";

type Trainer = ReturnType<typeof ridge>;

/** What `DeviceAbilities.sweepForecasts` gives, one member after the other. */
export async function forecastsOneByOne(
  engine: Engine,
  work: ForecastSweepWork,
  configOf: (member: number) => ReservoirConfig,
  bases: readonly Base[],
  trainers: ReadonlyMap<number, Trainer>,
): Promise<SweptForecasts> {
  const { members, series, horizon, signal } = work;
  const rows = series.reduce((sum, { starts }) => sum + starts.at(-1)!, 0);
  const pacer = new WorkPacer(work, members.length * rows);
  const measured: EngineProfile[] = [];
  let done = 0;
  for (const { member, places } of trunksOf(members)) {
    const model = buildModel(configOf(places[0]!), {}, bases[member.base]!.drawn);
    const ladder = places.map((place) => trainers.get(members[place]!.lambda)!);
    const session = await engine.open(model, { profile: work.profile });
    try {
      for (const [s, each] of series.entries()) {
        const made = places.map(() => new Float64Array(each.starts.length * horizon * each.rows.cols));
        try {
          await forecastFrom(session, work, each, ladder, made, signal);
        } catch (error) {
          if (!(error instanceof NonFiniteStateError)) throw error;
          for (const out of made) out.fill(Number.NaN);
        }
        for (const [l, place] of places.entries()) work.take(s, place, made[l]!);
        done += places.length * each.starts.at(-1)!;
        if (pacer.due()) await pacer.pause(done);
      }
      measured.push(...[session.profile?.()].filter((each) => each !== undefined));
    } finally {
      await session.dispose();
    }
  }
  pacer.finish();
  const first = engine.plan(bases[0]!.model);
  const plan: EnginePlan = { ...first, summary: `${members.length} reservoirs one after the other, the first: ${first.summary}` };
  return { plan, ...(work.profile ? { profile: addMeasurements(measured) } : {}) };
}

/** Forecasts of one series by a ladder of readouts, each into its array. */
async function forecastFrom(
  session: EngineSession,
  { washout, refit, horizon }: ForecastSweepWork,
  { rows, targets, starts, lower, upper }: ForecastSeries,
  ladder: readonly Trainer[],
  made: readonly Float64Array[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { size, precision } = session.model;
  const inputSize = rows.cols;
  const sink = ladder[0]!.accumulator({ stateSize: size, inputSize, outputSize: inputSize });
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
        readouts = ladder.map((trainer) => solved(() => trainer.solve(sink)));
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

/** One closed loop from the state that the session stands at, NaN from where it is not finite. */
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
