// Run as a process of its own: opens the model files named on the command line and prints the bits
// of what they predict.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { loadModel, Matrix } from "../../src/index.js";

const bits = (data: Float64Array | Float32Array): string =>
  createHash("sha256")
    .update(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
    .digest("hex");

const [seriesPath, ...models] = process.argv.slice(2);
const bytes = readFileSync(seriesPath!);
const values = new Float64Array(new Uint8Array(bytes).buffer);
const series = new Matrix(values.length, 1, values);
const answers: Record<string, string> = {};
for (const path of models) {
  const model = await loadModel(path);
  const name = basename(path, ".safetensors");
  if (model.kind === "forecaster") answers[name] = bits((await model.forecaster.forecast(50)).data);
  if (model.kind === "classifier") answers[name] = bits((await model.classifier.predictProba([series, series.subarray(9)])).data);
  if (model.kind === "reservoir") answers[name] = bits((await model.computer.generate(50, model.readout!)).data);
}
process.stdout.write(JSON.stringify(answers));
