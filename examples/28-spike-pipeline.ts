// A classification pipeline from spikes to classes, and its confusions as a picture. It runs on the
// first GPU, or on the simulated device if there is none, with the same classes.
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { accuracy } from "spillway";
import { probe } from "spillway/gpu";
import { Pipeline } from "spillway/model";
import { plotConfusion, toHtml } from "spillway/plot";
import { confusionMatrix } from "spillway/series";
import { jitterPattern, poissonPattern } from "spillway/spikes";

const names = ["north", "east", "south", "west"];
const originals = names.map((seed) => poissonPattern({ seed, neuronCount: 12, durationMs: 60, rateHz: 60 }));
const labels = Array.from({ length: 48 }, (_, b) => names[b % 4]!);
const patterns = labels.map((_, b) => jitterPattern(originals[b % 4]!, { standardDeviationMs: 12, seed: b }));

const settings = { encoder: { type: "pattern", binMs: 4 }, reservoir: { size: 60 } } as const;
await using pipeline = new Pipeline(settings, { engine: probe().available ? "cuda" : "sim" });
await pipeline.fit(patterns.slice(0, 24), labels.slice(0, 24));
const found = (await pipeline.predict(patterns.slice(24))).map(String);
const counts = confusionMatrix(labels.slice(24), found, names).counts.map((row) => [...row]);
console.log(`${(100 * accuracy(labels.slice(24), found)).toFixed(0)} % of ${found.length} right, picture: ${tmpdir()}/spike-pipeline.html`);
const figure = plotConfusion(counts, names);
writeFileSync(`${tmpdir()}/spike-pipeline.html`, await toHtml(figure, { title: "Spikes to classes" }));
