// Series as JSON has them, as kinds of options: what reads a request also describes it.
import { ArgumentError } from "../core/errors.js";
import { checked, given, type Kind, list, object, whole } from "../core/options.js";
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

/** What a model sees first: a series, or inputs and the outputs that are fed back. */
export function prefixKind(inputs: number, fedBack: number): Kind<{ readonly inputs?: Matrix; readonly teacher?: Matrix }> {
  const series = seriesOf(fedBack > 0 ? fedBack : inputs);
  const pair = object({
    ...(inputs > 0 && { inputs: given(seriesOf(inputs), "What drives the model.") }),
    ...(fedBack > 0 && { targets: given(seriesOf(fedBack), "The true outputs, which are fed back.") }),
  });
  const takes = `${series.takes}, or an object with the same under ${fedBack > 0 ? "targets" : "inputs"}`;
  return {
    takes,
    schema: { anyOf: [series.schema, pair.schema] },
    read(value, field) {
      if (Array.isArray(value)) {
        if (inputs > 0 && fedBack > 0)
          throw ArgumentError.because(`${field} is one series; this model takes inputs and targets`, { field });
        return { [fedBack > 0 ? "teacher" : "inputs"]: series.read(value, field) };
      }
      if (typeof value !== "object" || value === null) throw new ArgumentError(field, value, takes);
      const read = pair.read(value, field) as { readonly inputs?: Matrix; readonly targets?: Matrix };
      return { ...(read.inputs && { inputs: read.inputs }), ...(read.targets && { teacher: read.targets }) };
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
