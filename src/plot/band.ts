// Bands around a line: what a forecast may be, as an area between two ends.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import { type Element, scatter } from "./elements.js";
import { formatShare } from "./format.js";
import { sameShape } from "./line.js";
import { predictionColour } from "./palette.js";

/** A band around a forecast, T x D, in which a share `level` of the values is expected. */
export interface PlottedBand {
  /** Between 0 and 1. */
  readonly level: number;
  readonly lower: MatrixLike;
  readonly upper: MatrixLike;
  /** What the legend calls it; default its share. */
  readonly name?: string | undefined;
}

/** A band whose ends are known to be as large as the forecast. */
export interface CheckedBand {
  readonly level: number;
  readonly lower: Matrix;
  readonly upper: Matrix;
  readonly name: string;
}

/** @throws ArgumentError if it is no band of this forecast */
export function checkedBand(band: PlottedBand, prediction: Matrix, name: string): CheckedBand {
  const takes = "an object with level, lower and upper";
  if (typeof band !== "object" || band === null) throw new ArgumentError(name, band, takes);
  const { level } = band;
  if (!(typeof level === "number" && level > 0 && level < 1)) throw new ArgumentError(`${name}.level`, level, "a number between 0 and 1");
  return {
    level,
    name: band.name ?? formatShare(level),
    lower: sameShape(band.lower, prediction, `${name}.lower`)[0],
    upper: sameShape(band.upper, prediction, `${name}.upper`)[0],
  };
}

/** One column of a band, and where it begins on the time axis. */
interface DrawnBand {
  readonly band: CheckedBand;
  readonly column: number;
  /** From 0 to 1: the inner of several bands are darker. */
  readonly strength: number;
  readonly start: number;
  readonly scale: number;
  readonly times?: readonly string[] | undefined;
  readonly maxPoints: number;
}

/**
 * A band as a plotly trace: an area for each stretch of finite ends. Of more than `maxPoints` rows,
 * neighbours share the widest of their ends.
 */
export function bandTrace(drawn: DrawnBand, more: Element): Element {
  const { band, column, strength, start, scale, times, maxPoints } = drawn;
  const rows: number[] = [];
  const ends: number[] = [];
  for (const stretch of stretches(band, column, Math.max(1, Math.ceil((2 * band.lower.rows) / Math.max(2, maxPoints))))) {
    const back = stretch.toReversed();
    rows.push(...stretch.map(({ row }) => row), ...back.map(({ row }) => row), stretch[0]!.row);
    ends.push(...stretch.map(({ low }) => low), ...back.map(({ high }) => high), Number.NaN);
  }
  const alpha = Math.round(30 + 50 * strength).toString(16);
  const color = `${predictionColour}${alpha}`;
  const x = times ? rows.map((row) => times[row]) : Float64Array.from(rows, (row) => (row + start) * scale);
  const style = { fill: "toself", fillcolor: color, line: { color, width: 0 }, hoverinfo: "skip" };
  return scatter("lines", band.name, { x, y: Float64Array.from(ends) }, { ...style, ...more });
}

interface Ends {
  readonly row: number;
  readonly low: number;
  readonly high: number;
}

function stretches({ lower, upper }: CheckedBand, column: number, every: number): Ends[][] {
  const found: Ends[][] = [[]];
  for (let row = 0; row < lower.rows; row += every) {
    let [low, high] = [Infinity, -Infinity];
    for (let t = row; t < Math.min(row + every, lower.rows); t++) {
      low = Math.min(low, lower.at(t, column));
      high = Math.max(high, upper.at(t, column));
    }
    if (Number.isFinite(low) && Number.isFinite(high)) found.at(-1)!.push({ row, low, high });
    else if (found.at(-1)!.length > 0) found.push([]);
  }
  return found.filter((stretch) => stretch.length > 0);
}
