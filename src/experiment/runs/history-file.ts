// history.csv: the rows before the forecasts of forecasts.csv that a figure shows and that are not
// in that file as targets of an earlier start.
import { getOrMake } from "@spillway/core/maps.js";
import { csvCell } from "@spillway/io/csv-writer.js";
import { figure, type WrittenForecast } from "./forecasts-file.js";

/** The columns of the file; `group` may stand before them. */
export const historyColumns = ["start", "row", "time", "column", "value"] as const;

/**
 * Names the series that a forecast is part of: starts of one series share their rows, those of
 * independent series, whose start is no row, do not.
 */
export function seriesKey({ group, start, row }: Pick<WrittenForecast, "group" | "start" | "row">): string {
  return JSON.stringify([group, start === "last" || start === row ? "" : start]);
}

/** The rows before each forecast as CSV; undefined if there are none. */
export function formatHistory(forecasts: readonly WrittenForecast[], names: readonly string[]): string | undefined {
  const withGroup = forecasts.some(({ group }) => group !== undefined);
  const lines = [[...(withGroup ? ["group"] : []), ...historyColumns].join(",")];
  const known = new Map<string, Set<number>>();
  for (const forecast of forecasts) {
    const rows = getOrMake(known, seriesKey(forecast), () => new Set());
    const { group = "", start, row, before, target } = forecast;
    for (let i = 0; before && i < before.rows.rows; i++) {
      const at = row - before.rows.rows + i;
      if (rows.has(at)) continue;
      rows.add(at);
      const time = csvCell(before.times?.[i] ?? String(at));
      for (let c = 0; c < before.rows.cols; c++) {
        const cells = [start, at, time, csvCell(names[c] ?? `column ${c}`), figure(before.rows.at(i, c))];
        lines.push([...(withGroup ? [csvCell(group)] : []), ...cells].join(","));
      }
    }
    if (target) for (let h = 0; h < target.rows; h++) rows.add(row + h);
  }
  return lines.length > 1 ? `${lines.join("\n")}\n` : undefined;
}
