// The members of a sweep one after the other, for engines that have no better way; those that
// differ in lambda alone share their states and sums. Bits and errors are those of `DeviceAbilities.sweep`.
import { Matrix, type Precision } from "@spillway/numerics";
import { IllConditionedError, type RidgeAccumulator, type ridge, SingularFitError, type TrainedReadout } from "../../readout/index.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import type { SweepErrors, SweepWork } from "../../reservoir/engine/sweeps.js";
import { accumulate } from "../../reservoir/engine/training.js";
import { trunksOf } from "../../reservoir/engine/trunks.js";
import type { Engine, EnginePlan } from "../../reservoir/engine.js";
import { applyReadout } from "../../reservoir/features.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { addMeasurements, type EngineProfile, type PhaseName } from "../../reservoir/profile.js";
import type { Base } from "../../reservoir/swept.js";
import { buildModel } from "../../reservoir/weights.js";
import { WorkPacer } from "../../reservoir/work.js";

/** What `DeviceAbilities.sweep` gives, one member after the other. */
export async function oneByOne(
  engine: Engine,
  work: SweepWork,
  configOf: (member: number) => ReservoirConfig,
  bases: readonly Base[],
  trainers: ReadonlyMap<number, ReturnType<typeof ridge>>,
): Promise<SweepErrors> {
  const { members, inputs, targets, trainRows } = work;
  const pacer = new WorkPacer(work, members.length * inputs.rows);
  const squares = Matrix.zeros(members.length, targets.cols);
  const measured: EngineProfile[] = [];
  let done = 0;
  for (const { member, places } of trunksOf(members)) {
    const model = buildModel(configOf(places[0]!), {}, bases[member.base]!.drawn);
    const states = Matrix.zeros(inputs.rows - trainRows, model.size, model.precision) as Matrix;
    try {
      const first = trainers.get(member.lambda)!;
      const readouts = await overSums(engine, model, work, first, { states, measured }, (sink) =>
        places.map((place) => solved(() => trainers.get(members[place]!.lambda)!.solve(sink))),
      );
      const begun = performance.now();
      for (const [l, place] of places.entries()) addSquares(readouts[l], states, work, model.precision, squares.row(place));
      measured.push(onHost("score", begun));
    } catch (error) {
      if (!(error instanceof NonFiniteStateError)) throw error;
      for (const place of places) squares.row(place).fill(Number.NaN);
    }
    done += places.length;
    await pacer.pause(done * inputs.rows);
  }
  pacer.finish();
  const first = engine.plan(bases[0]!.model);
  const plan: EnginePlan = { ...first, summary: `${members.length} reservoirs one after the other, the first: ${first.summary}` };
  return { squares, plan, ...(work.profile ? { profile: addMeasurements(measured) } : {}) };
}

/** Squared errors of the rows after training, NaN without a readout. */
function addSquares(
  readout: TrainedReadout | undefined,
  states: Matrix,
  { inputs, targets, trainRows }: SweepWork,
  precision: Precision,
  sums: Float64Array,
): void {
  if (!readout) {
    sums.fill(Number.NaN);
    return;
  }
  const predicted = applyReadout(readout, states, inputs.subarray(trainRows), precision);
  const wanted = targets.subarray(trainRows).data;
  for (let i = 0; i < wanted.length; i++) {
    const error = predicted[i]! - wanted[i]!;
    const at = i % targets.cols;
    sums[at] = sums[at]! + error * error;
  }
}

/** A readout, or undefined if its lambda is too small for the factorisation. */
export function solved(solve: () => TrainedReadout): TrainedReadout | undefined {
  try {
    return solve();
  } catch (error) {
    if (error instanceof IllConditionedError || error instanceof SingularFitError) return undefined;
    throw error;
  }
}

function onHost(phase: PhaseName, begun: number): EngineProfile {
  return { phases: [{ phase, clock: "host", milliseconds: performance.now() - begun, pieces: 1 }] };
}

/** The readout of one member. */
export function retrain(
  engine: Engine,
  model: ReservoirModel,
  work: SweepWork,
  trainer: ReturnType<typeof ridge>,
): Promise<TrainedReadout> {
  return overSums(engine, model, work, trainer, {}, (sink) => trainer.solve(sink));
}

/**
 * What `solve` makes of the sums of a member's training rows. `states`, if they are given, take
 * those of the rows after training, and `measured` what it cost.
 */
async function overSums<Solved>(
  engine: Engine,
  model: ReservoirModel,
  { inputs, targets, washout, trainRows, signal, profile }: SweepWork,
  trainer: ReturnType<typeof ridge>,
  { states, measured = [] }: { readonly states?: Matrix; readonly measured?: EngineProfile[] },
  solve: (sink: RidgeAccumulator) => Solved,
): Promise<Solved> {
  const session = await engine.open(model, { profile });
  const sink: RidgeAccumulator = trainer.accumulator({ stateSize: model.size, inputSize: model.inputSize, outputSize: targets.cols });
  try {
    const rows = { targets: targets.subarray(0, trainRows), washout, sink, signal };
    await accumulate(session, { inputs: inputs.subarray(0, trainRows) }, rows);
    if (states) await session.run({ inputs: inputs.subarray(trainRows) }, { into: states, signal });
    const begun = performance.now();
    const made = solve(sink);
    measured.push(onHost("solve", begun), ...[session.profile?.()].filter((each) => each !== undefined));
    return made;
  } finally {
    sink.dispose();
    await session.dispose();
  }
}
