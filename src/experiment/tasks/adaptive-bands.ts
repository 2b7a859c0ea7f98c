// Bands of a test part's forecasts that follow what earlier ones missed: each knows the rows before
// its start and no later one.
import type { Matrix } from "@spillway/numerics";
import { bandScale, type MeasuredErrors } from "../../model/forecaster/bands.js";
import { AdaptiveConformal, type Band, type FittedTransforms, type TransformedSeries } from "../../series/index.js";
import type { StartPoint } from "./forecast-baselines.js";
import type { Outcome } from "./scores.js";

/** The bands of one share. */
export interface AdaptedBands {
  /** Of the forecast from each start of the test part. */
  readonly tested: readonly Band[];
  /** The band of a forecast from the end of a series on. */
  atEnd(series: { readonly whole: TransformedSeries; readonly group: string | undefined }, prediction: Matrix): Band;
}

/**
 * Bands by `AdaptiveConformal`, which begins with the errors that are measured in the training
 * rows. Each series, or part of one, is followed by itself.
 */
export function adaptedBands(
  starts: readonly StartPoint[],
  outcomes: readonly Outcome[],
  errorsOf: (group: string | undefined) => MeasuredErrors,
  transforms: readonly FittedTransforms[],
  level: number,
): AdaptedBands {
  const tested: Band[] = [];
  const ends = new Map<TransformedSeries, (prediction: Matrix) => Band>();
  const followed = (group: string | undefined) => {
    const measured = errorsOf(group);
    const { errors, forward, back } = bandScale(measured, transforms);
    const adaptive = new AdaptiveConformal(errors, measured.horizon, { level });
    const around = (at: number, prediction: Matrix) => {
      const { lower, upper } = adaptive.band(at, forward(prediction));
      return back(lower, upper);
    };
    const reveal = (row: number, values: Matrix) => adaptive.reveal(row, forward(values).data);
    return { around, reveal };
  };
  for (const whole of new Set(starts.map((start) => start.whole))) {
    const own = [...starts.keys()].filter((k) => starts[k]!.whole === whole).sort((a, b) => starts[a]!.at - starts[b]!.at);
    const { around, reveal } = followed(starts[own[0]!]!.group);
    let known = 0;
    const revealTo = (end: number, until: number) => {
      for (; known < end; known++) {
        const holds = own.slice(0, until).findLast((k) => starts[k]!.at <= known);
        const target = holds === undefined ? undefined : outcomes[holds]!.target;
        const step = holds === undefined ? 0 : known - starts[holds]!.at;
        if (target && step < target.rows) reveal(known, target.subarray(step, step + 1));
      }
    };
    for (const [i, k] of own.entries()) {
      const { at } = starts[k]!;
      revealTo(at, i);
      tested[k] = around(at, outcomes[k]!.prediction);
    }
    const last = own.at(-1)!;
    revealTo(starts[last]!.at + outcomes[last]!.target.rows, own.length);
    ends.set(whole, (prediction) => around(known, prediction));
  }
  return {
    tested,
    // A series without a forecast in the test part has no band to adapt.
    atEnd: ({ whole, group }, prediction) => ends.get(whole)?.(prediction) ?? followed(group).around(0, prediction),
  };
}
