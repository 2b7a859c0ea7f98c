// Spoken digits: WAV recordings become the spikes of a cochlea, those drive a liquid of 600 leaky
// integrate-and-fire neurons, a ridge readout names the digit. The recordings are those of the Free
// Spoken Digit Dataset, in the folder fsdd of SPILLWAY_DATA: index 0 to 4 test, 5 to 29 train.
// If they are absent, vowels made of two formants stand in for them.
import { existsSync } from "node:fs";
import { Matrix } from "spillway";
import { Pipeline, readWavFolder } from "spillway/model";

const folder = `${process.env["SPILLWAY_DATA"] ?? "../shared/data"}/fsdd`;
const hasRecordings = existsSync(folder);

/**
 * A vowel of 300 ms at 8 kHz: two formants over a voice whose pitch and formants vary a little from
 * one to the next.
 */
function vowel(first: number, second: number, k: number): Matrix {
  const change = 1 + 0.04 * Math.sin(7 * k);
  const samples = Float64Array.from({ length: 2400 }, (_, n) => {
    const phase = (2 * Math.PI * n) / 8000;
    const voice = 0.5 + 0.5 * Math.cos(phase * (110 + 30 * Math.cos(3 * k)));
    return 0.4 * voice ** 4 * (Math.sin(phase * first * change) + 0.5 * Math.sin((phase * second) / change));
  });
  return new Matrix(2400, 1, samples);
}

async function recordings(isTraining: boolean) {
  if (hasRecordings) return readWavFolder(folder, { keep: ({ index }) => Number(index) >= 5 === isTraining });
  const vowels = { a: [730, 1090], i: [270, 2290], u: [300, 870], e: [530, 1840] } as const;
  const labels = Array.from({ length: 80 }, (_, k) => (["a", "i", "u", "e"] as const)[k % 4]!);
  const sequences = labels.map((label, k) => vowel(vowels[label][0], vowels[label][1], isTraining ? k : k + 80));
  return { sequences, labels, sampleRate: 8000 };
}

const begun = performance.now();
const [train, test] = [await recordings(true), await recordings(false)];
const weight = { ee: 2.5, ei: 5, ie: 5, ii: 5 };
await using pipeline = new Pipeline({
  encoder: { type: "spikes", encoder: "cochlea", sampleRate: train.sampleRate, channels: 40, maxRateHz: 200, binMs: 1 },
  reservoir: {
    kind: "spiking",
    size: 600,
    stateTimeConstant: 400,
    synapses: { weight },
    input: { weight: 15, connectivity: 0.1 },
    seed: 0,
  },
  scaleFeatures: true,
  readout: { lambda: 30 },
});
await pipeline.fit(train.sequences, train.labels);
const { counts, labels } = await pipeline.confusion(test.sequences, test.labels);
const right = counts.reduce((sum, row, k) => sum + row[k]!, 0);
const what = hasRecordings ? "digits" : "vowels";
console.log(`${what}: ${((100 * right) / test.labels.length).toFixed(1)} % of ${test.labels.length}, trained on ${train.labels.length}`);
const line = (head: unknown, cells: readonly unknown[]) =>
  `${String(head).padStart(14)} ${cells.map((cell) => String(cell).padStart(4)).join("")}`;
console.log([line("spoken \\ heard", labels), ...counts.map((row, k) => line(labels[k], row))].join("\n"));
console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s from WAV files to the confusion matrix`);
