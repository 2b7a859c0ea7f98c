// A map of measures in the lab: the file that `spillway analyse` wrote, and the settings of a
// point.

import { ArgumentError } from "@spillway/core/errors.js";
import { qualityMapFromJson } from "../analysis/map/json.js";
import type { QualityMap } from "../analysis/map/options.js";
import { cutToRange, type LabSettings, type NumericSetting, ranges } from "./settings.js";

/** The largest file that is read: a map of 65,536 points with every measure is a sixth of it. */
export const mostMapBytes = 64 * 2 ** 20;

/** Reads a file's text. @throws ArgumentError that names the file and what is wrong with it */
export function readMap(text: string, name: string): QualityMap {
  try {
    return qualityMapFromJson(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "the file is no JSON" : (error as Error).message;
    throw ArgumentError.because(`${name}: ${reason}`, { field: name });
  }
}

/**
 * The settings of a point: what the map's reservoir and axes say of the sliders, the rest as it is.
 * A number beyond a slider's range is cut to it.
 */
export function settingsAt({ reservoir, x, y }: QualityMap, column: number, row: number, settings: LabSettings): LabSettings {
  const said: Readonly<Record<string, unknown>> = { ...reservoir, [x.parameter]: x.values[column], [y.parameter]: y.values[row] };
  const taken = Object.keys(ranges).flatMap((name) => {
    const value = said[name];
    return typeof value === "number" ? [[name as NumericSetting, value] as const] : [];
  });
  return cutToRange({ ...settings, ...Object.fromEntries(taken) });
}
