// From spikes to classes on a GPU: 10,000 patterns x 200 bins x 50 channels through a reservoir of
// 500 neurons, binned, run and classified where they lie, beside the CPU engine, which is measured
// on a share of the patterns and scaled; and the types of the same patterns by PatternDetector, on
// the device and on the host, likewise scaled. --statistics takes the classifier's default features,
// of two reservoirs. About two minutes. Usage: npx tsx bench/gpu/spikes-to-class.ts [--statistics]
// [--device sim --patterns 40]
import { parseArgs } from "node:util";
import "../../src/index.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import "../../packages/sim/src/index.js";
import { Classifier, type Label } from "../../src/model/index.js";
import { binPatternsOnDevice, DeviceDetector, DeviceSpikePatterns } from "../../src/spikes/gpu/index.js";
import {
  binSpikes,
  jitterPattern,
  PatternDetector,
  type PatternDetectorOptions,
  poissonPattern,
  type SpikePattern,
} from "../../src/spikes/index.js";

const { values: flags } = parseArgs({
  options: {
    device: { type: "string", default: "0" },
    patterns: { type: "string", default: "10000" },
    size: { type: "string", default: "500" },
    bins: { type: "string", default: "200" },
    statistics: { type: "boolean", default: false },
  },
});
const [patternCount, size, bins] = [Number(flags.patterns), Number(flags.size), Number(flags.bins)];
const [channels, binMs, classCount] = [50, 1, 10];
const trainCount = Math.min(500, patternCount);
/** The CPU engine takes no more than this in one of its rounds. */
const cpuSeconds = 12;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function seconds(work: () => Promise<unknown>, rounds: number): Promise<number> {
  const taken: number[] = [];
  for (let k = 0; k <= rounds; k++) {
    const begun = performance.now();
    await work();
    if (k > 0) taken.push((performance.now() - begun) / 1000);
  }
  return median(taken);
}

const classes = Array.from({ length: classCount }, (_, k) => `class ${k}`);
const templates = classes.map((seed) => poissonPattern({ seed, neuronCount: channels, durationMs: bins * binMs, rateHz: 20 }));
// A hundred copies of each class are used again and again, which no step of the chain can tell.
const copies = Math.min(100, Math.ceil(patternCount / classCount));
const distinct = Array.from({ length: copies * classCount }, (_, b) =>
  jitterPattern(templates[b % classCount]!, { standardDeviationMs: 5, seed: b }),
);
const patterns: SpikePattern[] = Array.from({ length: patternCount }, (_, b) => distinct[b % distinct.length]!);
const labels: Label[] = patterns.map((_, b) => classes[b % classCount]!);

const context = openDevice(flags.device === "sim" ? "sim" : Number(flags.device));
const settings = {
  reservoir: { size, storage: "dense", seed: 1, inputScaling: 0.5 },
  ...(flags.statistics ? {} : ({ standardise: false, representation: "last+mean" } as const)),
} as const;
using spikes = DeviceSpikePatterns.upload(context, patterns);
using trainBins = await binPatternsOnDevice(context, patterns.slice(0, trainCount), { binMs });
const there = await Classifier.fit(trainBins.sequences, labels.slice(0, trainCount), { ...settings, context });

const predictThere = async () => {
  using inputs = await binPatternsOnDevice(context, spikes, { binMs });
  return await there.predict(inputs.sequences);
};
const predicted = await predictThere();
const right = predicted.filter((label, b) => label === labels[b]).length / patternCount;
const onDevice = await seconds(predictThere, 7);
const fromHost = await seconds(() => there.predict(patterns), 7);
const binning = await seconds(async () => (await binPatternsOnDevice(context, spikes, { binMs })).dispose(), 7);

// The same classifier on the CPU.
const here = await Classifier.fromBytes(await there.toBytes(), { engine: "cpu" });
const predictHere = (count: number) => here.predict(patterns.slice(0, count).map((pattern) => binSpikes(pattern, { binMs })));
const pilot = Math.min(20, patternCount);
const each = (await seconds(() => predictHere(pilot), 3)) / pilot;
const share = Math.max(pilot, Math.min(patternCount, Math.floor(cpuSeconds / 4 / each)));
const onHost = await seconds(() => predictHere(share), 3);
const cpu = (onHost * patternCount) / share;
const [mine, theirs] = [
  await there.predictProba(trainBins.sequences.slice(0, pilot)),
  await here.predictProba(patterns.slice(0, pilot).map((pattern) => binSpikes(pattern, { binMs }))),
];
const same = Buffer.compare(Buffer.from(mine.data.buffer), Buffer.from(theirs.data.buffer)) === 0;

console.log(
  `${context.info.name}, Node ${process.versions.node}; ${patternCount} patterns x ${bins} bins x ${channels} channels (${spikes.spikeCount} spikes), N=${size}, ${classCount} classes; medians of 7`,
);
console.log(`\n| from spikes to classes | milliseconds | CPU engine / this |\n|---|---|---|`);
const row = (name: string, value: number) => console.log(`| ${name} | ${(1000 * value).toFixed(1)} | ${(cpu / value).toFixed(1)} |`);
row("spikes on the device", onDevice);
row("patterns of the host, by the classifier", fromHost);
row(`CPU engine, one thread, scaled from ${share} of ${patternCount} patterns (median of 3)`, cpu);
console.log(
  `\nOf the first, binning takes ${(1000 * binning).toFixed(2)} ms. Computed on ${there.predictedOn?.join()}; ${(100 * right).toFixed(1)} % right; the same bits of shares as the CPU: ${same}; bar: 10 times the CPU engine.`,
);

// The types of the same patterns, with the bank of oscillators and without.
console.log(`\n| eight types in each pattern | milliseconds | host / this |\n|---|---|---|`);
let sameTypes = true;
for (const [name, options] of [
  ["with 128 oscillators", {}],
  ["without oscillators", { oscillators: false }],
] as const satisfies readonly (readonly [string, PatternDetectorOptions])[]) {
  using finder = new DeviceDetector(context, new PatternDetector(options));
  const detectThere = await seconds(() => finder.detectAll(spikes), 5);
  const detectorHere = new PatternDetector(options);
  const some = Math.min(patternCount, 40);
  const detectHere = (await seconds(async () => patterns.slice(0, some).map((pattern) => detectorHere.detect(pattern)), 3)) / some;
  const bits = (found: ReturnType<PatternDetector["detect"]>) => JSON.stringify([found.scores, found.coherence, found.detections]);
  const found = await finder.detectAll(patterns.slice(0, some));
  const equal = found.every((one, b) => bits(one) === bits(detectorHere.detect(patterns[b]!)));
  sameTypes &&= equal;
  const host = detectHere * patternCount;
  console.log(`| ${name}, spikes on the device | ${(1000 * detectThere).toFixed(1)} | ${(host / detectThere).toFixed(1)} |`);
  console.log(
    `| ${name}, host, one thread, scaled from ${some} of ${patternCount} patterns (median of 3) | ${(1000 * host).toFixed(1)} | 1.0 |`,
  );
}
console.log(`\nThe same bits as the host: ${sameTypes}.`);
if (!same || !sameTypes || (flags.device !== "sim" && cpu / onDevice < 10)) process.exitCode = 1;
await Promise.all([there.dispose(), here.dispose()]);
