// An NvarForecaster as a model file and back: which tensors and notes it is made of.
import { Matrix } from "@spillway/numerics";
import { calendarColumns } from "../../series/calendar.js";
import { getReadout, putReadout } from "../content.js";
import { type CommonParts, getCommon, getStandardisation, putStandardisation } from "../forecaster/file.js";
import type { ModelFile } from "../model-file.js";
import { floats, type MutableContent } from "../mutable-content.js";
import { TensorReader } from "../tensor-reader.js";
import { NvarFeatures } from "./features.js";
import { type NvarSettings, nvarTable } from "./options.js";
import type { NvarFit } from "./training.js";

/** An NVAR forecaster, as its file holds it. */
export interface NvarParts extends CommonParts {
  readonly settings: NvarSettings;
  readonly fit: NvarFit;
}

/**
 * Beside the readout (O x F): tensors `series.mean`, `series.deviation`, `held.lower` and
 * `held.upper` (D), `history` (L x D, z-scores), `known.mean` and `known.deviation` (K) if anything
 * is known beforehand; notes `nvar` with the settings, `bounds` and, of the time stamps, `time`. In
 * double-double `history.low`, `readout.weights.low`, `readout.intercept.low` and `last.low` too. Of a
 * choice what `putChoice` puts.
 */
export function encodeNvar(content: MutableContent, fit: NvarFit, prefix = ""): void {
  const { readout, low, features, scale, range, history } = fit;
  const shape = [history.high.length / features.columns, features.columns];
  putReadout(content, prefix, readout);
  putStandardisation(content.tensors, `${prefix}series`, scale);
  if (fit.knownScale) putStandardisation(content.tensors, `${prefix}known`, fit.knownScale);
  content.tensors[`${prefix}held.lower`] = floats(range.lower);
  content.tensors[`${prefix}held.upper`] = floats(range.upper);
  content.tensors[`${prefix}history`] = floats(history.high, shape);
  if (low && history.low) {
    content.tensors[`${prefix}history.low`] = floats(history.low, shape);
    content.tensors[`${prefix}readout.weights.low`] = floats(low.weights.data, [features.outputs, features.count]);
    content.tensors[`${prefix}readout.intercept.low`] = floats(low.intercept);
  }
}

/** @throws ModelFileError with the reason why the content is no NvarForecaster */
export function decodeNvar(file: ModelFile, source: string): NvarParts {
  const reader = new TensorReader(file, source);
  const { settings, fit } = getNvar(reader, "");
  const { columns } = fit.features;
  const common = getCommon(reader, settings, Matrix.zeros(0, columns), columns);
  return { settings, fit: { ...fit, bounds: common.bounds }, ...common };
}

/** Polynomials with the prefix of their names; their bounds stand elsewhere. @throws ModelFileError */
export function getNvar(reader: TensorReader, prefix: string): { readonly settings: NvarSettings; readonly fit: Omit<NvarFit, "bounds"> } {
  const settings = reader.settings(`${prefix}nvar`, nvarTable);
  const calendar = settings.calendar ?? [];
  const known = reader.has(`${prefix}known.mean`) ? reader.lengthOf(`${prefix}known.mean`) : 0;
  if (known < calendarColumns(calendar))
    throw reader.error(`its tensor "known.mean" holds ${known} values; its calendar takes ${calendarColumns(calendar)}`);
  const features = reader.check(`${prefix}nvar`, () => new NvarFeatures(settings, reader.lengthOf(`${prefix}series.mean`), known));
  const { count, outputs, columns } = features;
  // None after a reset.
  const rows = reader.lengthOf(`${prefix}history`) === 0 ? 0 : features.history;
  const readout = getReadout(reader, prefix, count, 0);
  if (readout.outputSize !== outputs)
    throw reader.error(`its readout has ${readout.outputSize} outputs; by its description it takes ${outputs}`);
  const matrix = (name: string, r: number, c: number) => reader.matrix(`${prefix}${name}`, r, c, "float64") as Matrix<Float64Array>;
  const vector = (name: string, length: number) => reader.vector(`${prefix}${name}`, length, "float64") as Float64Array;
  const isExact = settings.arithmetic === "doubleDouble";
  const fit = {
    features,
    readout,
    scale: getStandardisation(reader, `${prefix}series`, columns),
    knownScale: known > 0 ? getStandardisation(reader, `${prefix}known`, known) : undefined,
    range: { lower: vector("held.lower", columns), upper: vector("held.upper", columns) },
    history: { high: matrix("history", rows, columns).data, ...(isExact && { low: matrix("history.low", rows, columns).data }) },
    ...(isExact && {
      low: { weights: matrix("readout.weights.low", outputs, count), intercept: vector("readout.intercept.low", outputs) },
    }),
  };
  return { settings, fit };
}
