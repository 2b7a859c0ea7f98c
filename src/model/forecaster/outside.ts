// What comes from outside in a closed loop: inputs, or what is known beforehand.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import type { ForecastOptions } from "./call-options.js";
import type { Clock } from "./clock.js";
import { checkColumns, checkedSeries } from "./data.js";
import type { ForecastMember } from "./model.js";

/** What `forecast` is given of it. */
export interface Outside {
  readonly inputs: MatrixLike | undefined;
  readonly known: ForecastOptions["known"];
}

/** One row a step; undefined if nothing comes from outside. @throws ArgumentError */
export function outsideOf(member: ForecastMember, clock: Clock, { inputs: others, known }: Outside, steps: number): Matrix | undefined {
  const { preprocessing, columns, inputs, fedBack } = member;
  const first = fedBack > 0 ? 0 : columns;
  const inputSize = inputs + preprocessing.known;
  if (first > inputSize) {
    throw ArgumentError.shape(
      `a closed loop without feedback takes the ${first} outputs as inputs; this reservoir has ${inputSize} (inputSize)`,
    );
  }
  if (preprocessing.known > 0) {
    if (others !== undefined) throw ArgumentError.because("inputs was given; this forecaster takes known", { field: "inputs" });
    return clock.known(steps, known, preprocessing.known);
  }
  if (known !== undefined)
    throw ArgumentError.because("known was given; this forecaster was trained without known inputs", { field: "known" });
  const outside = others && checkedSeries(others, "inputs");
  if (!outside && inputSize > first) {
    throw ArgumentError.because(
      `inputs is missing; ${inputSize - first} of this reservoir's ${inputSize} inputs come from outside, one row a step`,
      { field: "inputs" },
    );
  }
  if (outside) {
    checkColumns(outside, "inputs", inputSize - first);
    if (outside.rows !== steps)
      throw ArgumentError.shape(`inputs has ${outside.rows} rows; ${steps} steps take as many`, { field: "inputs" });
  }
  return outside;
}
