// Maps as JSON: what `spillway analyse` writes beside its page, and the lab opens.
import { checkHas, isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { describe, Matrix } from "@spillway/numerics";
import type { ReservoirOptions } from "../../reservoir/index.js";
import { type MapAxis, type MapMeasure, mapMeasures, type QualityMap } from "./options.js";

/** A map as plain data. */
export interface QualityMapJson extends Omit<QualityMap, "values"> {
  /**
   * One table a measure, row by row as in the map; null for a value that is not finite.
   */
  readonly values: Readonly<
    Partial<Record<MapMeasure, { readonly rows: number; readonly cols: number; readonly data: readonly (number | null)[] }>>
  >;
}

/** A map as what `JSON.stringify` writes; numbers keep their bits. */
export function qualityMapToJson(map: QualityMap): QualityMapJson {
  checkHas("map", map, "a quality map", "values");
  const tables = Object.entries(map.values).map(([measure, { rows, cols, data }]) => {
    return [measure, { rows, cols, data: Array.from(data, (value) => (Number.isFinite(value) ? value : null)) }] as const;
  });
  return { ...map, values: Object.fromEntries(tables) };
}

/**
 * The map in what `JSON.parse` gave: of {@link qualityMapToJson}, or of the `analysis.json` of
 * `spillway analyse`, whose field `map` it is. Null becomes NaN.
 * @throws ArgumentError naming the field that is wrong
 */
export function qualityMapFromJson(json: unknown): QualityMap {
  if (!isObject(json)) throw new ArgumentError("the map", json, "an object with x, y and values");
  const map = isObject(json["map"]) ? json["map"] : json;
  if (!isObject(map["values"])) {
    const hint = isObject(json["measures"]) ? ": this analysis was made without a map (spillway analyse --map 24)" : "";
    throw new ArgumentError("values", map["values"], `an object with a table for each measure${hint}`);
  }
  const x = axisFrom(map["x"], "x");
  const y = axisFrom(map["y"], "y");
  const values = Object.entries(map["values"]).map(([measure, table]) => {
    if (!(mapMeasures as readonly string[]).includes(measure))
      throw new ArgumentError("values", measure, `measures of a map: ${mapMeasures.join(", ")}`);
    return [measure, tableFrom(table, measure, y.values.length, x.values.length)] as const;
  });
  if (values.length === 0) throw new ArgumentError("values", {}, "at least one measure");
  const { reservoir, engine, interrupted } = map;
  const isEngine = (value: unknown): value is QualityMap["engine"] =>
    isObject(value) && typeof value["name"] === "string" && typeof value["reason"] === "string";
  if (!isObject(reservoir)) throw new ArgumentError("reservoir", reservoir, "the description of a reservoir");
  return {
    reservoir: reservoir as ReservoirOptions,
    ...{ x, y, values: Object.fromEntries(values), interrupted: interrupted === true },
    engine: isEngine(engine) ? engine : { name: "unknown", reason: "" },
  };
}

function axisFrom(axis: unknown, name: string): MapAxis {
  if (!isObject(axis) || typeof axis["parameter"] !== "string" || !Array.isArray(axis["values"]))
    throw new ArgumentError(name, axis, "an axis: a parameter and its values");
  const { parameter, values } = axis as { parameter: string; values: readonly unknown[] };
  if (values.length === 0 || !values.every((value) => Number.isFinite(value)))
    throw new ArgumentError(`${name}.values`, values, "finite numbers, at least one");
  return { parameter, values: values as readonly number[] };
}

function tableFrom(table: unknown, measure: string, rows: number, cols: number): Matrix<Float64Array> {
  const data = isObject(table) ? table["data"] : undefined;
  if (!Array.isArray(data) || data.length !== rows * cols)
    throw new ArgumentError(`values.${measure}`, data ?? table, `${rows} x ${cols} values in \`data\`, row by row`);
  const wrong = data.findIndex((value) => value !== null && typeof value !== "number");
  if (wrong >= 0) throw new ArgumentError(`values.${measure}.data[${wrong}]`, describe(data[wrong]), "a number or null");
  const values = Float64Array.from(data, (value: number | null) => value ?? Number.NaN);
  return new Matrix(rows, cols, values);
}
