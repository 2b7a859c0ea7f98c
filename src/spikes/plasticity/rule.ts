// What the rules that learn weights have in common. What they learn is each rule's own.
import { LearningRecord, type LearningStats } from "./learning-stats.js";
import type { PlasticityProfile } from "./profiles.js";
import { type LearnableWeights, Synapses } from "./synapses.js";

/** Weights that learn, and what can be said of the learning. */
export class PlasticityRule {
  readonly profile: PlasticityProfile;
  /** @internal */
  protected readonly synapses: Synapses;
  /** @internal */
  protected readonly record: LearningRecord;

  /** @internal The weights are copied. @throws ArgumentError on a weight that is not finite */
  protected constructor(weights: LearnableWeights, profile: PlasticityProfile) {
    this.profile = profile;
    this.synapses = new Synapses(weights);
    this.record = new LearningRecord(profile);
  }

  /**
   * The weights as they stand: a copy in the storage and precision that they came in, for a model
   * to be made with.
   */
  get weights(): LearnableWeights {
    return this.synapses.toWeights();
  }

  /** What the weights and the activity so far say of the learning. */
  get statistics(): LearningStats {
    return this.record.statistics(this.synapses.sizes);
  }

  /**
   * Whether the variance of the last `window` activities is below `threshold`; never before there
   * are so many.
   */
  hasLearningConverged(window: number, threshold: number): boolean {
    return this.record.hasConverged(window, threshold);
  }
}
