// The eight types of pattern against Poisson noise of the same rate: area under the curve, hits and
// false alarms at the default threshold, on seeds that no threshold was chosen on. And ten
// templates under 5 ms of jitter with a fifth of the spikes missing.
import {
  jitterPattern,
  PatternTemplates,
  patternMeasures,
  patternTypes,
  poissonPattern,
  receiverOperatingCurve,
  thinPattern,
} from "spillway/spikes";

const sizes = [
  { neuronCount: 50, durationMs: 1000, rateHz: 20 },
  { neuronCount: 100, durationMs: 1000, rateHz: 10 },
  { neuronCount: 60, durationMs: 2000, rateHz: 15 },
];
let failed = false;
for (const size of sizes) {
  console.log(`${size.neuronCount} neurons, ${size.durationMs} ms, ${size.rateHz} Hz, 200 patterns of each kind`);
  for (const type of patternTypes) {
    const { score, generate, threshold } = patternMeasures[type];
    const seeds = Array.from({ length: 200 }, (_, i) => `bench ${i}`);
    const positives = seeds.map((seed) => score(generate({ seed, ...size })).score);
    const negatives = seeds.map((seed) => score(poissonPattern({ seed, ...size })).score);
    const { areaUnderCurve } = receiverOperatingCurve(positives, negatives);
    const share = (scores) => scores.filter((value) => value >= threshold).length / scores.length;
    failed ||= areaUnderCurve < 0.95 || share(negatives) > 0.02;
    console.log(
      `  ${type.padEnd(12)} area ${areaUnderCurve.toFixed(4)} (bar 0.95), hits ${(100 * share(positives)).toFixed(1)} %, ` +
        `false alarms ${(100 * share(negatives)).toFixed(1)} % (bar 2 %) at threshold ${threshold}`,
    );
  }
}
const originals = Array.from({ length: 10 }, (_, i) =>
  poissonPattern({ seed: `template ${i}`, neuronCount: 40, durationMs: 500, rateHz: 20 }),
);
const templates = PatternTemplates.learn(originals, { bins: 25, channels: 40, labels: originals.map((_, i) => String(i)) });
let right = 0;
for (const [i, pattern] of originals.entries()) {
  for (let k = 0; k < 200; k++) {
    const jittered = jitterPattern(pattern, { standardDeviationMs: 5, seed: `bench ${k}` });
    if (templates.match(thinPattern(jittered, { dropProbability: 0.2, seed: `bench ${k}` })).label === String(i)) right++;
  }
}
failed ||= right / 2000 < 0.98;
console.log(`templates: ${((100 * right) / 2000).toFixed(2)} % of 2000 right (bar 98 %)`);
if (failed) process.exitCode = 1;
