// `spillway classify`: the classes of new cases by a saved model.
import "../../index.js";
import { basename, extname, join } from "node:path";
import { tally } from "@spillway/core/text.js";
import { readBytes, writeFileAtomic } from "@spillway/io";
import { csvCell } from "@spillway/io/csv-writer.js";
import { kindOfPath } from "@spillway/io/files.js";
import { readNewCases } from "../../experiment/data/new-cases.js";
import { modelFileOf } from "../../experiment/runs/ahead.js";
import { Classifier, ModelFileError } from "../../model/index.js";
import { decodeModelFile } from "../../model/model-file.js";
import { Pipeline } from "../../pipeline/index.js";
import { type EngineSelection, selectionOf } from "../../reservoir/computer-options.js";
import { formatTable } from "../table.js";

/** What `spillway classify` takes. */
export interface ClassifyFlags extends EngineSelection {
  readonly out?: string;
  readonly json?: boolean;
  readonly import?: unknown;
}

/** Cases that are printed if a file has all of them. */
const printed = 100;

/** Names the classes, and gives what is printed. */
export async function classify(
  path: string,
  data: string,
  { out, json, signal, ...on }: ClassifyFlags & { readonly signal: AbortSignal },
): Promise<string> {
  const file = await modelFileOf(path);
  const isRun = file !== path && (await kindOfPath(join(path, "result.json"))) !== undefined;
  const { names, sequences, labels } = await readNewCases(data, isRun ? path : undefined);
  await using model = await opened(file, selectionOf(on));
  const classes = model.classes.map(String);
  const shares = await model.predictProba(sequences, { signal });
  const predicted = (await model.predict(sequences, { signal })).map(String);
  const cases = names.map((name, b) => ({
    case: name,
    class: predicted[b]!,
    probabilities: Object.fromEntries(classes.map((each, c) => [each, shares.at(b, c)])),
  }));
  const known = labels.length === names.length ? labels : undefined;
  const accuracy = known && predicted.filter((each, b) => each === known[b]).length / known.length;
  if (out !== undefined) {
    const heads = ["case", "class", ...classes.map((each) => `probability ${each}`)].map((head) => csvCell(head));
    const lines = cases.map((each) => [csvCell(each.case), csvCell(each.class), ...Object.values(each.probabilities)].join(","));
    await writeFileAtomic(out, `${[heads.join(","), ...lines].join("\n")}\n`);
  }
  if (json) return JSON.stringify({ model: file, classes, accuracy, ...(out !== undefined && { file: out }), cases }, undefined, 2);
  const shown = out === undefined ? cases : cases.slice(0, printed);
  const lines = shown.map((each) => [each.case, each.class, each.probabilities[each.class]!.toFixed(3)]);
  return [
    `${file}: ${tally(cases.length, "case")} of ${basename(data)}, ${classes.length} classes`,
    ...(accuracy === undefined ? [] : [`accuracy by the labels of the file: ${accuracy.toFixed(3)}`]),
    "",
    formatTable(["case", "class", "probability"], lines, [2]),
    ...(shown.length < cases.length ? [`... ${cases.length - shown.length} more`] : []),
    ...(out === undefined ? [] : ["", `classes: ${out}`]),
  ].join("\n");
}

/** The classifier of a file, or the pipeline. @throws FileError for another model */
async function opened(file: string, options: EngineSelection) {
  const { kind } = await decodeModelFile(await readBytes(file), file);
  if (kind === "pipeline") return Pipeline.load(file, options);
  if (kind === "classifier") return Classifier.load(file, options);
  throw new ModelFileError(
    file,
    `it holds a ${kind}, which names no classes${extname(file) === "" ? "" : "; spillway forecast goes on from rows"}`,
  );
}
