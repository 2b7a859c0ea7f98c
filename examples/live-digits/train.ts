// Spoken digits in a page: trains a classifier of the levels of a cochleagram, and writes it as one
// file for an AudioWorklet, with the page that listens. The recordings are those of the Free Spoken
// Digit Dataset, in the folder fsdd of SPILLWAY_DATA: recordings 5 to 29 of each digit and speaker.
//   npx tsx examples/live-digits/train.ts runs/live-digits
//   python3 -m http.server --directory runs/live-digits     then open http://localhost:8000
import { copyFileSync, mkdirSync } from "node:fs";
import { Pipeline, readWavFolder, saveWasm } from "spillway/model";

const [out = "runs/live-digits", last = "29"] = process.argv.slice(2);
const { sequences, labels, sampleRate } = await readWavFolder(`${process.env["SPILLWAY_DATA"] ?? "../shared/data"}/fsdd`, {
  keep: ({ index }) => Number(index) >= 5 && Number(index) <= Number(last),
});
const sound = { sampleRate, channels: 40 };
await using pipeline = await new Pipeline({ encoder: { type: "cochleagram", ...sound } }).fit(sequences, labels);
mkdirSync(out, { recursive: true });
copyFileSync(new URL("index.html", import.meta.url), `${out}/index.html`);
console.log((await saveWasm(out, pipeline.classifier, { name: "digits", sound })).join("\n"));
