// Reads the folder of a run again: its result.json, checked field by field.
import { checkText } from "@spillway/core/checks.js";
import { join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import {
  text as anyText,
  anything,
  checked,
  choice,
  flag,
  given,
  type Kind,
  list,
  number,
  type OptionTable,
  object,
  option,
  optional,
  record,
  seed,
  tuple,
  whole,
} from "@spillway/core/options.js";
import { FileError, readText } from "@spillway/io";
import type { ExperimentResult } from "./result.js";

/** A number, or NaN for the null that stands for one that is not finite. */
const figure: Kind<number> = {
  ...number({ takes: "a finite number or null" }),
  read: (value, field) => (value === null ? Number.NaN : number({ takes: "a finite number or null" }).read(value, field)),
};
const scores = record(figure, "an object of figures");
const details = record(anything, "an object");
/** Values that a result has, by name; there may be more. */
const having = (kinds: Readonly<Record<string, Kind<unknown>>>, more: OptionTable = {}) =>
  object({ ...Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, given(kind, "")])), ...more }, undefined, "kept");

const scoreSummary = having(
  {
    metric: anyText(),
    value: figure,
    statistic: choice("median", "mean"),
    median: figure,
    quartiles: tuple<[number, number]>("two figures", [figure, figure]),
    mean: figure,
    sd: figure,
    seeds: whole({ atLeast: 1 }),
    better: choice("lower", "higher"),
    baselines: list(having({ name: anyText(), value: figure }), "a list of baselines"),
  },
  { unit: optional(anyText(), ""), published: optional(having({ value: number(), source: anyText() }), "") },
);
const seedResult = having({ seed, scores, baselines: record(scores, "an object of scores"), readout: details, timing: scores });
const bands = having(
  { sentence: anyText(), level: figure, calibratedOn: whole(), covered: figure, winkler: figure },
  { calibration: option(list(having({ level: figure, covered: figure }), "a list of levels"), [], "") },
);
const classScores = having({ precision: figure, recall: figure, f1: figure, support: whole() });
const label = checked<string | number>("a class", (value) => typeof value === "string" || typeof value === "number");
const counts = list(list(whole(), "a list of counts"), "a list of rows");
const bin = having({ confidence: figure, accuracy: figure, count: whole() });
const classes = having(
  {
    classes: list(having({ label, precision: figure, recall: figure, f1: figure, support: whole() }), "a list of classes"),
    macro: classScores,
    weighted: classScores,
    accuracy: figure,
    confusion: having({ labels: list(label, "a list of classes"), counts }),
  },
  { reliability: optional(having({ bins: list(bin, "a list of bins"), expectedCalibrationError: figure }), "") },
);
const verdict = having({
  sentence: anyText(),
  against: anyText(),
  rmse: figure,
  baselineRmse: figure,
  skill: figure,
  betterOn: whole(),
  starts: whole({ atLeast: 1 }),
  interval: tuple<[number, number]>("two figures", [figure, figure]),
  differs: flag,
  baselines: list(having({ name: anyText(), rmse: figure }), "a list of baselines"),
}, { oneSided: option(flag, false, "") });
const result = having(
  {
    format: choice("spillway-result"),
    formatVersion: checked("1", (value) => value === 1),
    name: anyText(),
    interrupted: flag,
    finished: anyText(),
    scores: list(scoreSummary, "a list of scores"),
    seeds: list(seedResult, "a list of seeds"),
    data: details,
    config: having({ name: anyText(), task: having({ type: anyText() }) }),
    timing: scores,
    versions: record(anyText(), "an object of versions"),
    machine: details,
    files: list(anyText(), "a list of names"),
  },
  {
    engine: optional(having({ name: anyText(), reason: anyText() }), ""),
    verdict: optional(verdict, ""),
    columns: optional(
      list(
        having(
          { column: anyText(), scores: list(scoreSummary, "a list of scores") },
          { verdict: optional(verdict, ""), covered: optional(figure, "") },
        ),
        "a list of columns",
      ),
      "",
    ),
    bands: optional(bands, ""),
    classes: optional(classes, ""),
  },
);

/**
 * Reads the result of a run from its folder, as `runExperiment` or `spillway run` wrote it. A score
 * that was not finite is NaN. Its model is opened by `loadModel` of `spillway/model`.
 * @param folder the run's folder, which holds result.json
 * @throws FileError if it cannot be read, or naming the field that is not one of a result
 */
export async function readRun(folder: string): Promise<ExperimentResult> {
  checkText("folder", folder);
  const path = join(folder, "result.json");
  const text = await readText(path);
  let source: unknown;
  try {
    source = JSON.parse(text);
  } catch (cause) {
    throw new FileError(path, "it is no JSON", "content", cause);
  }
  try {
    return result.read(source, "result") as unknown as ExperimentResult;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    throw new FileError(path, `it is no result of a run: ${error.message}`, "content", error);
  }
}
