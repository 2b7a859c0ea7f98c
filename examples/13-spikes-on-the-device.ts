// From spikes to classes without a state on the host: patterns in device memory are binned, run
// through a reservoir and a liquid, matched against templates and classified where they lie. It
// runs on the first GPU, or on the simulated device if there is none, with the same bits.
import { Classifier, ReservoirComputer } from "spillway";
import { binPatternsOnDevice, DeviceSpikePatterns, DeviceTemplates, openDevice, probe } from "spillway/gpu";
import "spillway/gpu";
import { jitterPattern, LiquidStateMachine, PatternTemplates, poissonPattern } from "spillway/spikes";

const [neuronCount, durationMs] = [8, 40];
const names = ["north", "east", "south", "west"];
const originals = names.map((seed) => poissonPattern({ seed, neuronCount, durationMs, rateHz: 120 }));
const labels = Array.from({ length: 24 }, (_, b) => names[b % 4]!);
const patterns = labels.map((_, b) => jitterPattern(originals[b % 4]!, { standardDeviationMs: 1, seed: b }));

const context = openDevice(probe().available ? 0 : "sim");
using spikes = DeviceSpikePatterns.upload(context, patterns); // your own kernel may fill these too
using bins = await binPatternsOnDevice(context, spikes, { binMs: 1 }); // 40 x 8 for each pattern

// A reservoir and a readout of classes: only the class scores come to the host.
const settings = {
  reservoir: { size: 80, seed: 1, inputScaling: 0.5 },
  representation: "last+mean",
  standardise: false,
  context,
} as const;
await using classifier = await Classifier.fit(bins.sequences.slice(0, 12), labels.slice(0, 12), settings);
const right = await classifier.score(bins.sequences.slice(12), labels.slice(12));
console.log(`a reservoir on ${context.info.name}: ${(100 * right).toFixed(0)} % right`);

// A liquid whose states stay on the device, and templates that are compared with them there.
await using liquid = await LiquidStateMachine.create({ size: 60, inputSize: neuronCount, seed: 1 }, { context });
const learnt = await liquid.processAll(originals);
using templates = new DeviceTemplates(context, new PatternTemplates(names, learnt, { bins: 1, channels: 60 }));
using states = await liquid.processAll(spikes, { keep: "device" }); // 24 x 60
const matches = await templates.matchVectors(states);
const matched = matches.filter(({ label }, b) => label === labels[b]).length / labels.length;
console.log(`a liquid and templates: ${(100 * matched).toFixed(0)} % right`);

// States as memory of the device, for your own kernels.
await using computer = await ReservoirComputer.create({ size: 80, inputSize: neuronCount, seed: 1 }, { context });
using all = await computer.batch(bins.sequences, { keep: "device" });
console.log(
  `${all.sequences.length} x ${all.sequences[0]!.rows} x ${all.sequences[0]!.cols} states at 0x${all.values.address.toString(16)}`,
);
