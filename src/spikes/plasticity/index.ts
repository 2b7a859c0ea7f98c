export { intrinsicPlasticity } from "./intrinsic.js";
export { learningStats } from "./learning-stats.js";
export { type PlasticityProfileName, plasticityProfile, plasticityProfiles } from "./profiles.js";
export { oja, RateHebbianPlasticity } from "./rate-rules.js";
export { SpikeTimingPlasticity } from "./spike-timing.js";
