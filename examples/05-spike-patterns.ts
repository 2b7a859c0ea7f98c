// Ten spike patterns, jittered by 5 ms and with every fifth spike lost, told apart by a liquid and
// a ridge readout; raster and states go to a page.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accuracy, Matrix, ridge } from "spillway";
import { plotConfusion, plotSpikeRaster, plotStateHeatmap, reportHtml } from "spillway/plot";
import { confusionMatrix } from "spillway/series";
import { jitterPattern, LiquidStateMachine, rateEncode, type SpikePattern, thinPattern } from "spillway/spikes";

// Each template: Poisson spikes of 40 neurons at 20 Hz over 300 ms.
const classes = Array.from({ length: 10 }, (_, k) => `pattern ${k}`);
const levels = new Matrix(60, 40, new Float64Array(60 * 40).fill(1));
const rate = { frameMs: 5, minRateHz: 0, maxRateHz: 20, process: "poisson" } as const;
const templates = classes.map((name) => rateEncode(levels, { ...rate, seed: name }));

/** `count` noisy copies of every template, and which one each is of. */
function copies(count: number, seed: string): { patterns: SpikePattern[]; kinds: number[] } {
  const kinds = Array.from({ length: 10 * count }, (_, i) => i % 10);
  const patterns = kinds.map((k, i) => {
    const jittered = jitterPattern(templates[k]!, { standardDeviationMs: 5, seed: `${seed} ${i}` });
    return thinPattern(jittered, { dropProbability: 0.2, seed: `${seed} ${i}` });
  });
  return { patterns, kinds };
}

const train = copies(10, "train");
const test = copies(20, "test");
await using liquid = await LiquidStateMachine.create({ size: 300, inputSize: 40, stateTimeConstant: 100, seed: 1 });
const oneHot = Matrix.from(train.kinds.map((k) => classes.map((_, c) => Number(c === k))));
const readout = ridge({ lambda: 10, solver: "auto" }).fit(await liquid.processAll(train.patterns), oneHot);
const scores = readout.predict(await liquid.processAll(test.patterns));
const predicted = test.kinds.map((_, b) => scores.row(b).indexOf(Math.max(...scores.row(b))));
const share = accuracy(test.kinds, predicted);
console.log(`recognised: ${(100 * share).toFixed(1)} % of ${predicted.length} patterns`);

const shown = test.patterns[0]!;
const { counts } = confusionMatrix(test.kinds, predicted);
const figures = [
  plotSpikeRaster(shown, { title: "A noisy pattern" }),
  plotSpikeRaster(await liquid.spikes(shown), { title: "The liquid's spikes" }),
  plotStateHeatmap(await liquid.run(shown), { title: "Its filtered spikes" }),
  plotConfusion(
    counts.map((row) => [...row]),
    classes,
  ),
];
const page = join(mkdtempSync(join(tmpdir(), "spillway-")), "spike-patterns.html");
const section = { title: "Spike patterns", facts: [], scores: [{ metric: "accuracy", value: share }], figures };
writeFileSync(page, await reportHtml({ title: "Spike patterns", sections: [section] }));
console.log(`raster and states: ${page}`);
