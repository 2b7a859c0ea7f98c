export { type DetectionResult, PatternDetector, type PatternDetectorOptions } from "./detector.js";
export { poissonPattern } from "./generators.js";
export { type GeneratorOptions, type PatternType, patternTypes } from "./measure.js";
export { KuramotoOscillators, orderOf } from "./oscillators.js";
export { receiverOperatingCurve } from "./receiver-operating.js";
export type { DetectionStatistics } from "./statistics.js";
export { PatternTemplates } from "./templates.js";
export { patternMeasures } from "./types/index.js";
