export { type IntrinsicPlasticityOptions, type IntrinsicPlasticityResult, intrinsicPlasticity } from "./intrinsic.js";
export { type LearningStats, learningStats } from "./learning-stats.js";
export {
  type PlasticityChoice,
  type PlasticityProfile,
  type PlasticityProfileName,
  plasticityProfile,
  plasticityProfiles,
} from "./profiles.js";
export { type OjaOptions, oja, type RateHebbianOptions, RateHebbianPlasticity } from "./rate-rules.js";
export { type SpikeTimingOptions, SpikeTimingPlasticity } from "./spike-timing.js";
export type { LearnableWeights } from "./synapses.js";
