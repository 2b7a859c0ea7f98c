// Trained forecasters, classifiers and detectors of anomalies as C99, to run where there is no
// JavaScript: one source and one header, which allocate nothing and take no library. Portable
// arithmetic, so the bits are Spillway's.
import { resolve } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { AnomalyDetector } from "../anomaly/detector.js";
import { Classifier } from "../classifier/classifier.js";
import { packageVersion } from "../version.js";
import { cClassifier } from "./classifier.js";
import type { Program } from "./constants.js";
import { cDetector } from "./detector.js";
import { cIntegers, isWhollyInteger } from "./integer.js";
import { type COptions, cTable } from "./options.js";
import { classifierParts, exportedParts } from "./parts.js";
import { cProgram } from "./program.js";
import { checkKind, type ExportedModel } from "./refuse.js";
import { sourceOf } from "./source.js";
import { checkName } from "./text.js";

export type { COptions } from "./options.js";

/** A model as C: what belongs into NAME.c and NAME.h. */
export interface CFiles {
  readonly source: string;
  readonly header: string;
}

/**
 * A trained model as C99, with the bits of this package (docs/numerics.md, rules 1 to 6 and 8 to
 * 10); the compiler must not contract or reorder arithmetic, which GCC and Clang are told in the
 * source. Rows go in and out in the units of the data, as doubles.
 *
 * A reservoir in integers (`arithmetic: "integer"`; rule 18) takes its steps in integers. A
 * forecaster of one such reservoir, whose readout sees the state alone, becomes C without a
 * floating-point number: rows are scores in 16 bits, which NAME_scores makes of fixed-point values.
 *
 * A forecaster: NAME_begin goes to its position, NAME_predict or NAME_observe takes the next
 * row, NAME_forecast runs the closed loop, as `predict` and `forecast` do. A combination of members
 * has no NAME_reset. A classifier:
 * NAME_classify gives the class of a sequence and the shares of all, as `predict` and
 * `predictProba` do.
 * A detector: NAME_update takes the next row. It continues from where the detector is now.
 * A reservoir with `arithmetic: "fast"` is written in portable arithmetic: the bits are those of
 * the engine "reference".
 * @throws NotFittedError; ArgumentError for a model of another kind, a name that C does not take,
 * or what C does not hold: spiking reservoirs and registered kinds, activations and transforms of
 * your own, a model of yours, and of classifiers the representation "output"
 */
export async function toC(model: ExportedModel, options: COptions = {}): Promise<CFiles> {
  checkKind(model);
  const name = checkName(resolve(cTable, options).name);
  const note = { name, version: packageVersion };
  if (model instanceof AnomalyDetector) return filesOf(cDetector(model.settings, model.state, note), name);
  if (model instanceof Classifier) return filesOf(cClassifier(await classifierParts(model), note), name);
  const parts = await exportedParts(model);
  const write = isWhollyInteger(parts) ? cIntegers : cProgram;
  return filesOf(write(parts, { ...note, calendar: model.calendar }), name);
}

const filesOf = (program: Program, name: string): CFiles => ({ source: sourceOf(program, name), header: program.header });

/**
 * Writes `toC()` to NAME.c and NAME.h in a folder, each whole or not at all (Node), and gives their
 * paths. @throws FileError, and what toC throws
 */
export async function saveC(folder: string, model: ExportedModel, options: COptions = {}): Promise<readonly string[]> {
  const { name } = resolve(cTable, options);
  const { source, header } = await toC(model, options);
  const paths = [`${folder}/${name}.h`, `${folder}/${name}.c`] as const;
  await writeFileAtomic(paths[0], header);
  await writeFileAtomic(paths[1], source);
  return paths;
}
