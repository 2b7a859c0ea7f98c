// Spike-timing plasticity in a running liquid: patterns in, a liquid with learnt weights out. The
// rule itself is in ../plasticity.
import { type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import type { Matrix, SparseMatrix } from "@spillway/numerics";
import { ReservoirComputer, type SpikingModel, type WorkOptions } from "../../reservoir/index.js";
import { engineTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import { positive } from "../options.js";
import { checkPatterns, type SpikePattern } from "../pattern/pattern.js";
import { type SpikeTimingOptions, SpikeTimingPlasticity, spikeTimingTable } from "../plasticity/spike-timing.js";
import { stepsIn } from "../steps.js";
import { patternInputs } from "./inputs.js";
import { firedSteps } from "./process.js";
import { synapticWeights, withSynapticWeights } from "./weights.js";

/** The options of `learnSpikeTiming`. */
export const liquidLearningTable = {
  ...spikeTimingTable,
  ...workTable,
  /**
   * The size in mV that is 1 to the rule, whose profiles bound sizes between about 0.05 and 6.
   * Default the mean |w| of the liquid.
   */
  weightUnit: optional(positive("mV"), "The size that is 1 to the rule; left out, the mean |w| of the liquid."),
  /**
   * How often the liquid is given the weights that have been learnt by then, in ms; default 1000.
   */
  renewMs: option(positive("ms"), 1000, "How often the liquid is given the weights that have been learnt."),
  /** What runs the liquid, as in `LiquidStateMachine.create`; every engine learns the same bits. */
  engine: engineTable.engine,
};

/** The rule's options, and how it learns in the liquid. */
export interface LiquidLearningOptions extends SpikeTimingOptions, WorkOptions, InputOf<typeof liquidLearningTable> {}

/** A liquid after learning. */
export interface LearntLiquid {
  /**
   * The liquid with its learnt weights: it is opened by `LiquidStateMachine.fromModel` and saved
   * like any other.
   */
  readonly model: SpikingModel;
  /** The rule in its present state, for its statistics; its weights are in units of `weightUnit`. */
  readonly plasticity: SpikeTimingPlasticity;
  /** In mV. */
  readonly weightUnit: number;
}

/**
 * Runs patterns through a liquid one after the other, from the initial state of the first on and
 * without a break, and lets its recurrent weights learn by {@link SpikeTimingPlasticity} from what
 * its own neurons fire: dt is the time between two neurons' spikes, delays not counted. The rule
 * follows every step; the liquid is given its weights every `renewMs`, rounded to units of
 * 2^-fractionBits mV, with the delays that the synapses had. Input weights stay. A pattern that is
 * given twice is learnt from twice.
 * @throws ArgumentError on options that the rule does not take, or a pattern of another number of
 * neurons than the liquid has inputs; ArgumentError if learnt weights do not fit 32 bits;
 * WorkInterruptedError
 */
export async function learnSpikeTiming(
  model: SpikingModel,
  patterns: readonly SpikePattern[],
  options: LiquidLearningOptions = {},
): Promise<LearntLiquid> {
  const { weightUnit, renewMs, engine, signal, onProgress, ...rule } = resolve(liquidLearningTable, options);
  checkPatterns(patterns);
  const { timeStep } = model.config;
  const weights = synapticWeights(model);
  const unit = weightUnit ?? meanSize(weights);
  const renewSteps = Math.max(1, stepsIn(renewMs, timeStep));
  const plasticity = new SpikeTimingPlasticity(
    scaled(weights, (size) => size / unit),
    rule,
  );
  // The first model has every synapse there ever was: one that was too weak to be there comes back
  // with its delay.
  const learnt = () =>
    withSynapticWeights(
      model,
      scaled(plasticity.weights as SparseMatrix, (size) => size * unit),
    );
  let computer = await ReservoirComputer.fromModel(model, { engine });
  try {
    const inputs = patterns.map((pattern) => patternInputs(computer, pattern));
    const total = inputs.reduce((sum, { rows }) => sum + rows, 0);
    let t = 0;
    for (const pieces of inputs) {
      for (let from = 0; from < pieces.rows; ) {
        if (t > 0 && t % renewSteps === 0) computer = await renewed(computer, { ...learnt(), ringRows: model.ringRows }, engine);
        const piece: Matrix = pieces.subarray(from, Math.min(pieces.rows, from + renewSteps - (t % renewSteps)));
        for await (const fired of firedSteps(computer, piece, { signal })) plasticity.step(++t * timeStep, fired);
        from += piece.rows;
        onProgress?.(t, total);
      }
    }
  } finally {
    await computer.dispose();
  }
  return { model: patterns.length === 0 ? model : learnt(), plasticity, weightUnit: unit };
}

/** Another liquid that continues from the state of one, which is disposed. */
async function renewed(
  computer: ReservoirComputer<SpikingModel>,
  model: SpikingModel,
  engine: string | undefined,
): Promise<ReservoirComputer<SpikingModel>> {
  const next = await ReservoirComputer.fromModel(model, { engine });
  next.state = computer.state;
  await computer.dispose();
  return next;
}

/** The mean of |w|, in the order of the rows; 1 if there is no synapse. */
function meanSize({ values }: SparseMatrix): number {
  let sum = 0;
  for (const value of values) sum += Math.abs(value);
  return sum === 0 ? 1 : sum / values.length;
}

function scaled(weights: SparseMatrix, change: (weight: number) => number): SparseMatrix {
  return { ...weights, values: Float64Array.from(weights.values, change) };
}
