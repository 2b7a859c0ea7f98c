export { type Detection, type DetectionResult, PatternDetector, type PatternDetectorOptions } from "./detector.js";
export { poissonPattern } from "./generators.js";
export { type GeneratorOptions, type PatternMeasure, type PatternScore, type PatternType, patternTypes } from "./measure.js";
export { KuramotoOscillators, type OrderParameter, type OscillatorOptions, orderOf } from "./oscillators.js";
export { type OperatingPoint, type ReceiverOperatingCurve, receiverOperatingCurve } from "./receiver-operating.js";
export type { DetectionStatistics, TypeStatistics } from "./statistics.js";
export { PatternTemplates, type TemplateMatch, type TemplateOptions, type TemplateShape } from "./templates.js";
export { patternMeasures } from "./types/index.js";
