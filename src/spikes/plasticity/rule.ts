// What the rules that learn weights have in common. What they learn is each rule's own.
import { checkWhole } from "@spillway/core/checks.js";
import { type LearningStats, learningStats, meanOf, remembered } from "./learning-stats.js";
import type { PlasticityProfile } from "./profiles.js";
import { type LearnableWeights, Synapses } from "./synapses.js";

/** Weights that learn, and what can be said of the learning. */
export class PlasticityRule {
  readonly profile: PlasticityProfile;
  /** @internal */
  protected readonly synapses: Synapses;
  /** @internal Changes of single weights so far. */
  protected updates = 0;
  readonly #activities: number[] = [];

  /** @internal The weights are copied. @throws ArgumentError on a weight that is not finite */
  protected constructor(weights: LearnableWeights, profile: PlasticityProfile) {
    this.profile = profile;
    this.synapses = new Synapses(weights);
  }

  /**
   * The weights as they are now: a copy in the storage and precision that they came in, for a model
   * to be made with.
   */
  get weights(): LearnableWeights {
    return this.synapses.toWeights();
  }

  /** What the weights and the activity so far say of the learning. */
  get statistics(): LearningStats {
    return learningStats(this.synapses.sizes, this.profile, this.updates, this.#activities);
  }

  /**
   * Whether the population variance of the last `window` activities (at most 1000) is below
   * `threshold`; never before there are so many.
   */
  hasLearningConverged(window: number, threshold: number): boolean {
    checkWhole("window", window, 2, remembered);
    if (this.#activities.length < window) return false;
    const recent = this.#activities.slice(-window);
    const mean = meanOf(recent);
    return meanOf(recent.map((value) => (value - mean) * (value - mean))) < threshold;
  }

  /** @internal Records the mean activity of one update. */
  protected recordActivity(value: number): void {
    this.#activities.push(value);
    if (this.#activities.length > 2 * remembered) this.#activities.splice(0, remembered);
  }
}
