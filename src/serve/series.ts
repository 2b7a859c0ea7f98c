// Series as JSON has them, as kinds of options: what reads a request also describes it.
import { ArgumentError } from "../core/errors.js";
import { checked, given, type Kind, list, object, whole } from "../core/options.js";
import type { ForecasterPrefix } from "../model/index.js";
import type { Matrix, MatrixLike } from "../numerics/index.js";
import { checkFinite, filledSeries } from "../reservoir/inputs.js";
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

/** What a model sees first: a series, or an object of several. */
export function prefixKind(columns: { readonly inputs: number; readonly fedBack: number; readonly known: number }): Kind<ForecasterPrefix> {
  const { inputs, fedBack, known } = columns;
  const series = seriesOf(fedBack > 0 ? fedBack : inputs);
  const parts = object({
    ...(known > 0
      ? { series: given(series, "The series."), known: given(seriesOf(known), "What was known beforehand of each row.") }
      : {
          ...(inputs > 0 && { inputs: given(seriesOf(inputs), "What drives the model.") }),
          ...(fedBack > 0 && { targets: given(seriesOf(fedBack), "The true outputs, which are fed back.") }),
        }),
  });
  const takes = known > 0 || (inputs > 0 && fedBack > 0) ? parts.takes : `${series.takes}, or ${parts.takes}`;
  return {
    takes,
    schema: takes === parts.takes ? parts.schema : { anyOf: [series.schema, parts.schema] },
    read(value, field) {
      if (Array.isArray(value) && takes !== parts.takes) return series.read(value, field);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new ArgumentError(field, value, takes);
      return parts.read(value, field) as ForecasterPrefix;
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
