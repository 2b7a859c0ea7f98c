// Model files that were changed, exported: C and a WebAssembly module come of them, or a sentence,
// and the module gives the numbers of the model.
import { ArgumentError } from "../../../packages/core/src/errors.js";
import { FileError } from "../../../packages/io/src/index.js";
import { Classifier, Forecaster, NonFiniteStateError } from "../../../src/index.js";
import { toC, toWasm } from "../../../src/model/index.js";
import { decodeModelFile } from "../../../src/model/model-file.js";
import type { FuzzFormat } from "../format.js";
import { corpus, changed as mutate } from "./model.js";

const options = { engine: "reference", source: "a.model" } as const;

async function hostOf(model: Forecaster | Classifier) {
  const { module, host } = await toWasm(model);
  const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
  return load(module);
}

async function read(input: Uint8Array): Promise<void> {
  const { kind } = await decodeModelFile(input, "a.model");
  if (kind === "forecaster") {
    await using model = await Forecaster.fromBytes(input, options);
    if (model.computer.model.size > 1000) return;
    await toC(model);
    const host = await hostOf(model);
    if (host.about.outside !== 0) return;
    const { data } = await model.forecast(2);
    same(host.forecast(2).flat(), Array.from(data));
  } else if (kind === "classifier") {
    await using model = await Classifier.fromBytes(input, options);
    await toC(model);
    const host = await hostOf(model);
    const one = Array.from({ length: 9 }, (_, t) => new Array<number>(host.about.channels).fill(Math.sin(t)));
    const { data } = await model.predictProba([one]);
    same(host.classify(one)?.shares ?? [], Array.from(data));
  }
}

function same(found: readonly number[], expected: readonly number[]): void {
  if (String(found) !== String(expected)) throw new Error(`the module gives ${found}, and the model ${expected}`);
}

export default { corpus, read, mutate, errors: [FileError, ArgumentError, NonFiniteStateError], testCases: 150 } satisfies FuzzFormat;
