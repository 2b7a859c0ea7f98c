// Series as JSON has them, as kinds of options: what reads a request also describes it.
import { isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, given, type Kind, list, number, type OptionTable, object, optional, text, whole } from "@spillway/core/options.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import { checkFinite, filledSeries } from "@spillway/numerics/known-finite.js";
import type { ForecasterPrefix, TimedRows } from "../model/index.js";
import type { TimeGrid } from "../series/index.js";
import { stampsOnGrid, type WrittenStamps } from "../series/on-grid.js";
import { most } from "./limits.js";

const numbers = { type: "array", items: { type: "number" } };
const schema = {
  anyOf: [
    { type: "array", items: numbers, minItems: 1 },
    { ...numbers, minItems: 1 },
  ],
};

/** Rows of finite numbers, T x `columns`; a list of numbers is one column. */
export function seriesOf(columns: string | number): Kind<Matrix> {
  const takes = `rows of finite numbers, T x ${columns}`;
  return {
    takes,
    schema,
    read(value, field) {
      if (!Array.isArray(value)) throw new ArgumentError(field, value, takes);
      const matrix = filledSeries(value as MatrixLike, field);
      checkFinite(matrix, field);
      return matrix;
    },
  };
}

/** A time stamp in a request. */
export const stampKind: Kind<string | number> = checked(
  "a time stamp",
  (value) => (typeof value === "string" && value.length <= 64) || Number.isFinite(value),
  { type: ["string", "number"] },
);
const stamps = {
  times: optional(list(stampKind, "a list of time stamps, one a row"), "The time stamps of the rows."),
  start: optional(stampKind, "The time stamp of the first row; the others follow by the model's step."),
} satisfies OptionTable;

/**
 * Rows of known inputs, T x `columns`, one a step; with a grid, or rows with time stamps, of which
 * each step takes its own.
 */
export function knownKind(columns: number, grid: TimeGrid | undefined): Kind<MatrixLike | TimedRows> {
  const rows = seriesOf(columns);
  if (!grid) return rows;
  const timed = object({ values: given(rows, "The rows."), ...stamps });
  const takes = `${rows.takes}, or ${timed.takes}`;
  return {
    takes,
    schema: { anyOf: [rows.schema, timed.schema] },
    read(value, field) {
      if (Array.isArray(value)) return rows.read(value, field);
      if (typeof value !== "object" || value === null) throw new ArgumentError(field, value, takes);
      const { values, ...written } = timed.read(value, field) as { readonly values: Matrix } & WrittenStamps;
      const times = stampsOnGrid(written, grid, values.rows, field);
      return times ? { values, times } : values;
    },
  };
}

/** What a model sees first: a series, or an object of several. */
export function prefixKind(columns: {
  readonly inputs: number;
  readonly fedBack: number;
  readonly known: number;
  readonly grid?: TimeGrid | undefined;
}): Kind<ForecasterPrefix> {
  const { inputs, fedBack, known, grid } = columns;
  const series = seriesOf(fedBack > 0 ? fedBack : inputs);
  const parts = object({
    ...(known > 0 || grid
      ? {
          series: given(series, "The series."),
          ...(known > 0 && { known: given(seriesOf(known), "What was known beforehand of each row.") }),
          ...(grid && stamps),
        }
      : {
          ...(inputs > 0 && { inputs: given(seriesOf(inputs), "What drives the model.") }),
          ...(fedBack > 0 && { targets: given(seriesOf(fedBack), "The true outputs, which are fed back.") }),
        }),
  });
  const takes = known > 0 || (!grid && inputs > 0 && fedBack > 0) ? parts.takes : `${series.takes}, or ${parts.takes}`;
  return {
    takes,
    schema: takes === parts.takes ? parts.schema : { anyOf: [series.schema, parts.schema] },
    read(value, field) {
      if (Array.isArray(value) && takes !== parts.takes) return series.read(value, field);
      if (!isObject(value)) throw new ArgumentError(field, value, takes);
      const { times, start, ...prefix } = parts.read(value, field) as ForecasterPrefix & WrittenStamps & { readonly series?: Matrix };
      if (times === undefined && start === undefined) return prefix as ForecasterPrefix;
      return { ...prefix, times: stampsOnGrid({ times, start }, grid!, prefix.series!.rows, field) } as ForecasterPrefix;
    },
  };
}

/** Sequences, each a series; at most as many as one request takes. */
export const sequencesKind: Kind<readonly Matrix[]> = {
  ...list(seriesOf("C"), `a list of 1 to ${most.sequences} sequences, each rows of finite numbers, T x C`, 1),
  read(value, field) {
    if (!Array.isArray(value) || value.length < 1 || value.length > most.sequences) throw new ArgumentError(field, value, this.takes);
    return value.map((one, b) => seriesOf("C").read(one, `${field}[${b}]`));
  },
};

/** A number of steps whose outputs fit one answer. */
export function stepsOf(outputs: number): Kind<number> {
  return whole({ atLeast: 1, atMost: Math.max(1, Math.floor(most.values / Math.max(1, outputs))) });
}

/** Rows of numbers in an answer. */
export const rowsKind: Kind<readonly (readonly number[])[]> = list(
  checked("a row of numbers", (value) => Array.isArray(value), numbers) as Kind<readonly number[]>,
  "rows of numbers",
);

/** Time stamps in an answer. */
export const stampsKind: Kind<readonly string[]> = list(text(), "time stamps");

/** Shares of the values to come that bands hold. */
export const intervalsKind: Kind<readonly number[]> = list(number({ above: 0, below: 1 }), "a list of shares");

/** Levels of quantiles. */
export const levelsKind: Kind<readonly number[]> = list(number({ above: 0, below: 1 }), "a list of levels");

/** Quantiles in an answer. */
export const quantilesKind = list(
  object({
    level: given(number(), "The share of the values to come that lies below."),
    values: given(rowsKind, "The quantile, a row for each row."),
  }),
  "quantiles",
);

/** Bands in an answer. */
export const bandsKind = list(
  object({
    level: given(number(), "The share of the values to come that it holds."),
    lower: given(rowsKind, "The lower ends, a row for each row."),
    upper: given(rowsKind, "The upper ends."),
  }),
  "bands",
);
