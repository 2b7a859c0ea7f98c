// `spillway forecast`: a saved model's forecasts, as a table, a file or JSON.
import "../../index.js";
import { tally } from "@spillway/core/text.js";
import { type Ahead, forecastAhead } from "../../experiment/runs/ahead.js";
import { type AheadOptions, aheadTable } from "../../experiment/runs/ahead-options.js";
import type { WrittenForecast } from "../../experiment/runs/forecasts-file.js";
import { longOf } from "../flag.js";
import { inFlags } from "../in-flags.js";
import { type Progress, reportTo } from "../progress.js";
import { formatTable } from "../table.js";

/** What `spillway forecast` takes. */
export interface ForecastFlags extends Omit<AheadOptions, "onProgress" | "signal"> {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly import?: unknown;
}

const flags = Object.fromEntries(Object.keys(aheadTable).map((name) => [name, longOf(name)]));

/** Work that is over before shows no progress. */
const quickMs = 500;

/** Lines that are printed if a file has all of them. */
const printed = 100;

/** Forecasts, and gives what is printed. */
export async function forecast(
  path: string,
  { json, quiet: _, signal, progress, ...options }: ForecastFlags & { readonly signal: AbortSignal; readonly progress: Progress },
): Promise<string> {
  const report = reportTo(progress);
  let [share, isShown] = [0, false];
  const show = () => report(share, 1, "forecast");
  // A forecast that is made at once shows none.
  const timer = setTimeout(() => {
    isShown = true;
    show();
  }, quickMs);
  const onProgress = (done: number, total: number) => {
    share = done / total;
    if (isShown) show();
  };
  try {
    const ahead = await forecastAhead(path, { ...options, signal, onProgress });
    progress.end();
    const lines = ahead.forecasts.flatMap((one) => linesOf(one, ahead));
    if (json) return JSON.stringify(asJson(ahead, lines, options.out), undefined, 2);
    return describe(ahead, lines, options.out);
  } catch (error) {
    throw inFlags(error, flags);
  } finally {
    clearTimeout(timer);
    progress.end();
  }
}

/** A value of a forecast, with its bands. */
interface Line {
  readonly group?: string | undefined;
  readonly step: number;
  readonly time: string;
  readonly column: string;
  readonly prediction: number;
  readonly bands: readonly { readonly level: number; readonly lower: number; readonly upper: number }[];
  readonly quantiles?: readonly { readonly level: number; readonly value: number }[];
}

function linesOf({ group, row, times, prediction, band, more = [], quantiles }: WrittenForecast, { names, levels }: Ahead): Line[] {
  const { rows, cols, data } = prediction;
  const bands = band ? [band, ...more] : [];
  return Array.from({ length: rows * cols }, (_, i) => {
    const h = Math.floor(i / cols);
    return {
      ...(group !== undefined && { group }),
      step: h + 1,
      time: times?.[h] ?? String(row + h),
      column: names[i % cols]!,
      prediction: data[i]!,
      bands: bands.map(({ lower, upper }, k) => ({ level: levels[k]!, lower: lower.data[i]!, upper: upper.data[i]! })),
      ...(quantiles && { quantiles: quantiles.map(({ level, values }) => ({ level, value: values.data[i]! })) }),
    };
  });
}

function asJson({ path, kind, steps, after, trainedTo, scoredFrom, unused }: Ahead, forecasts: readonly Line[], out: string | undefined) {
  return { model: path, kind, steps, after, trainedTo, scoredFrom, unused, ...(out !== undefined && { file: out }), forecasts };
}

function describe(
  { path, steps, forecasts, levels, beyond, after, unused, ...about }: Ahead,
  lines: readonly Line[],
  out: string | undefined,
): string {
  const shown = out === undefined ? lines : lines.slice(0, printed);
  const hasGroups = shown.some(({ group }) => group !== undefined);
  const many = levels.length > 1;
  const ends = levels.flatMap((level) => (many ? [`lower ${level}`, `upper ${level}`] : ["lower", "upper"]));
  const shares = shown[0]?.quantiles?.map(({ level }) => `quantile ${level}`) ?? [];
  const heads = [...(hasGroups ? ["group"] : []), "time", "column", "prediction", ...ends, ...shares];
  const figures = [...ends, ...shares].map((_, k) => k + (hasGroups ? 4 : 3));
  const valuesOf = ({ prediction, bands, quantiles = [] }: Line) => [
    prediction,
    ...bands.flatMap(({ lower, upper }) => [lower, upper]),
    ...quantiles.map(({ value }) => value),
  ];
  const columns = [...new Set(shown.map(({ column }) => column))];
  const figureOf = new Map(columns.map((name) => [name, figuresOf(shown.filter(({ column }) => column === name).flatMap(valuesOf))]));
  const cells = shown.map((line) => [
    ...(hasGroups ? [line.group ?? ""] : []),
    ...[line.time, line.column],
    ...valuesOf(line).map(figureOf.get(line.column)!),
  ]);
  const percent = levels.map((level) => `${Number((100 * level).toFixed(1))} %`).join(" and ");
  const of = forecasts.length > 1 ? ` of ${forecasts.length} series` : "";
  const title = `${path}: ${steps} row${steps === 1 ? "" : "s"}${of}${after === undefined ? "" : ` after ${after}`}${percent === "" ? "" : `, bands of ${percent}`}`;
  const { trainedTo, scoredFrom } = about;
  const scored = scoredFrom === undefined ? "" : `; its scores are of rows from ${scoredFrom} on, by a model of the rows before`;
  return [
    title,
    ...(trainedTo === undefined ? [] : [`trained on rows up to ${trainedTo}${scored}`]),
    ...(unused.length > 0 ? [`columns that the model does not take: ${unused.join(", ")}`] : []),
    "",
    formatTable(heads, cells, [hasGroups ? 3 : 2, ...figures]),
    ...(beyond === undefined ? [] : [`no bands: they reach as far as the model's horizon, ${tally(beyond, "step")}`]),
    ...(shown.length < lines.length ? [`... ${lines.length - shown.length} more`] : []),
    ...(out === undefined ? [] : ["", `forecasts: ${out}`]),
  ].join("\n");
}

/**
 * Writes values with as many decimals each: six digits of the largest, fewer if all are shorter.
 */
function figuresOf(values: readonly number[]): (value: number) => string {
  const short = values.filter(Number.isFinite).map((value) => String(Number(value.toPrecision(6))));
  const decimals = Math.max(0, ...short.map((text) => text.split(".")[1]?.length ?? 0));
  const largest = Math.max(...short.map((text) => Math.abs(Number(text))));
  const most = Math.max(0, 5 - Math.floor(Math.log10(largest)));
  const isPlain = largest < 1e15 && !short.some((text) => text.includes("e"));
  return (value) => {
    if (!Number.isFinite(value)) return "";
    return isPlain ? value.toFixed(Math.min(decimals, most)) : String(Number(value.toPrecision(6)));
  };
}
