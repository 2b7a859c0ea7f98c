// An NvarForecaster as a model file and back: which tensors and notes it is made of.
import { resolve } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { calendarColumns } from "../../series/calendar.js";
import { getReadout, putReadout } from "../content.js";
import type { ClockNote } from "../forecaster/clock.js";
import {
  getBounds,
  getChoice,
  getLast,
  getStandardisation,
  putBounds,
  putChoice,
  putLast,
  putStandardisation,
} from "../forecaster/file.js";
import { encodeModelFile, type ModelFile } from "../model-file.js";
import { emptyContent, floats } from "../mutable-content.js";
import { stableJson } from "../stable-json.js";
import { TensorReader } from "../tensor-reader.js";
import type { NvarLast } from "./data.js";
import { NvarFeatures } from "./features.js";
import type { FittedNvar } from "./fit.js";
import { type NvarSettings, nvarTable } from "./options.js";
import type { NvarFit } from "./training.js";

/** All that a file holds. */
export interface NvarParts extends FittedNvar {
  readonly settings: NvarSettings;
  /** Undefined if it was trained without time stamps. */
  readonly time: ClockNote | undefined;
  /** The last row, by which missing values of those to come are held. */
  readonly last: NvarLast;
}

/**
 * Beside the readout (O x F): tensors `series.mean`, `series.deviation`, `held.lower` and
 * `held.upper` (D), `history` (L x D, z-scores), `known.mean` and `known.deviation` (K) if anything
 * is known beforehand; notes `nvar` with the settings, `bounds` and, of the time stamps, `time`. In
 * double-double `history.low`, `readout.weights.low`, `readout.intercept.low` and `last.low` too. Of a choice
 * what `putChoice` puts.
 */
export async function encodeNvar({ settings, fit, choice, time, last }: NvarParts): Promise<Uint8Array> {
  const { readout, low, features, scale, range, history } = fit;
  const content = emptyContent();
  const shape = [features.history, features.columns];
  putReadout(content, "", readout);
  putStandardisation(content.tensors, "series", scale);
  if (fit.knownScale) putStandardisation(content.tensors, "known", fit.knownScale);
  content.tensors["held.lower"] = floats(range.lower);
  content.tensors["held.upper"] = floats(range.upper);
  content.tensors["history"] = floats(history.high, shape);
  if (low && history.low) {
    content.tensors["history.low"] = floats(history.low, shape);
    content.tensors["readout.weights.low"] = floats(low.weights.data, [features.outputs, features.count]);
    content.tensors["readout.intercept.low"] = floats(low.intercept);
  }
  putChoice(content, choice);
  putLast(content, settings, last);
  putBounds(content, fit.bounds);
  if (settings.missing !== undefined && settings.missing !== "error" && last.low) content.tensors["last.low"] = floats(last.low);
  if (time) content.metadata["time"] = stableJson(time);
  content.metadata["nvar"] = stableJson(settings);
  return encodeModelFile("nvar", content);
}

/** @throws ModelFileError with the reason why the content is no NvarForecaster */
export async function decodeNvar(file: ModelFile, source: string): Promise<NvarParts> {
  const { parseClockNote } = await import("../schemas.js");
  const reader = new TensorReader(file, source);
  const settings = reader.check("nvar", () => resolve(nvarTable, reader.json("nvar") as object));
  const time = reader.hasNote("time") ? reader.check("time", () => parseClockNote(reader.json("time"))) : undefined;
  const calendar = settings.calendar ?? [];
  if (!time && calendar.length > 0) throw reader.error("it takes the calendar and has no note of its time");
  const known = reader.has("known.mean") ? reader.lengthOf("known.mean") : 0;
  if (known < calendarColumns(calendar))
    throw reader.error(`its tensor "known.mean" holds ${known} values; its calendar takes ${calendarColumns(calendar)}`);
  const features = reader.check("nvar", () => new NvarFeatures(settings, reader.lengthOf("series.mean"), known));
  const { count, outputs, columns, history: rows } = features;
  const readout = await getReadout(reader, "", count, 0);
  if (readout.outputSize !== outputs)
    throw reader.error(`its readout has ${readout.outputSize} outputs; by its description it takes ${outputs}`);
  const matrix = (name: string, r: number, c: number) => reader.matrix(name, r, c, "float64") as Matrix<Float64Array>;
  const vector = (name: string, length: number) => reader.vector(name, length, "float64") as Float64Array;
  const isExact = settings.arithmetic === "doubleDouble";
  const bounds = await getBounds(reader);
  if (bounds && bounds.length !== columns) throw reader.error(`its bounds are of ${bounds.length} columns and its series has ${columns}`);
  const fit: NvarFit = {
    bounds,
    features,
    readout,
    scale: getStandardisation(reader, "series", columns),
    knownScale: known > 0 ? getStandardisation(reader, "known", known) : undefined,
    range: { lower: vector("held.lower", columns), upper: vector("held.upper", columns) },
    history: { high: matrix("history", rows, columns).data, ...(isExact && { low: matrix("history.low", rows, columns).data }) },
    ...(isExact && {
      low: { weights: matrix("readout.weights.low", outputs, count), intercept: vector("readout.intercept.low", outputs) },
    }),
  };
  const choice = await getChoice(reader, columns);
  const last = {
    ...getLast(reader, settings, Matrix.zeros(0, columns), columns),
    low: reader.has("last.low") ? vector("last.low", columns) : undefined,
  };
  reader.finish();
  return { settings, fit, choice, time, last };
}
