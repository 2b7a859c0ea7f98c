// The members of a sweep one after the other, for engines that have no better way. Bits and errors
// are those of `Engine.sweep`.
import { Matrix } from "../../numerics/index.js";
import { IllConditionedError, type RidgeAccumulator, type ridge, SingularFitError, type TrainedReadout } from "../../readout/index.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import type { SweepErrors, SweepWork } from "../../reservoir/engine/sweeps.js";
import { accumulate } from "../../reservoir/engine/training.js";
import type { Engine, EnginePlan } from "../../reservoir/engine.js";
import { applyReadout } from "../../reservoir/features.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { addMeasurements, type EngineProfile, type PhaseName } from "../../reservoir/profile.js";
import { buildModel } from "../../reservoir/weights.js";
import { WorkPacer } from "../../reservoir/work.js";
import type { Base } from "./bases.js";

/** What `Engine.sweep` gives, one member after the other. */
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
  for (const [m, { base, lambda }] of members.entries()) {
    const model = buildModel(configOf(m), {}, bases[base]!.drawn);
    const states = Matrix.zeros(inputs.rows - trainRows, model.size, model.precision) as Matrix;
    try {
      const readout = await retrain(engine, model, work, trainers.get(lambda)!, { states, measured });
      const rest = inputs.subarray(trainRows);
      const begun = performance.now();
      const predicted = applyReadout(readout, states, rest, model.precision);
      const wanted = targets.subarray(trainRows).data;
      for (let i = 0; i < wanted.length; i++) {
        const error = predicted[i]! - wanted[i]!;
        const at = m * targets.cols + (i % targets.cols);
        squares.data[at] = squares.data[at]! + error * error;
      }
      measured.push(onHost("score", begun));
    } catch (error) {
      if (!(error instanceof NonFiniteStateError || error instanceof IllConditionedError || error instanceof SingularFitError)) throw error;
      squares.row(m).fill(Number.NaN);
    }
    await pacer.pause((m + 1) * inputs.rows);
  }
  pacer.finish();
  const first = engine.plan(bases[0]!.model);
  const plan: EnginePlan = { ...first, summary: `${members.length} reservoirs one after the other, the first: ${first.summary}` };
  return { squares, plan, ...(work.profile ? { profile: addMeasurements(measured) } : {}) };
}

function onHost(phase: PhaseName, begun: number): EngineProfile {
  return { phases: [{ phase, clock: "host", milliseconds: performance.now() - begun, pieces: 1 }] };
}

/**
 * The readout of one member. `states`, if they are given, take those of the rows after training,
 * and `measured` what it cost.
 */
export async function retrain(
  engine: Engine,
  model: ReservoirModel,
  { inputs, targets, washout, trainRows, signal, profile }: SweepWork,
  trainer: ReturnType<typeof ridge>,
  { states, measured = [] }: { readonly states?: Matrix; readonly measured?: EngineProfile[] } = {},
): Promise<TrainedReadout> {
  const session = await engine.open(model, { profile });
  const sink: RidgeAccumulator = trainer.accumulator({ stateSize: model.size, inputSize: model.inputSize, outputSize: targets.cols });
  try {
    const rows = { targets: targets.subarray(0, trainRows), washout, sink, signal };
    await accumulate(session, { inputs: inputs.subarray(0, trainRows) }, rows);
    if (states) await session.run({ inputs: inputs.subarray(trainRows) }, { into: states, signal });
    const begun = performance.now();
    const readout = trainer.solve(sink);
    measured.push(onHost("solve", begun), ...[session.profile?.()].filter((each) => each !== undefined));
    return readout;
  } finally {
    sink.dispose();
    await session.dispose();
  }
}
