// What is measured of a reservoir beside its running: state hash, forecast, spectrum, memory.

import { ArgumentError } from "@spillway/core/errors.js";
import { memoryCapacity, spectrum } from "../analysis/index.js";
import { nrmse } from "../metrics/index.js";
import { Forecaster } from "../model/index.js";
import type { OwnDrive } from "./own-data.js";
import { shownRows } from "./own-data.js";
import { type LabSettings, readoutOf, reservoirOf } from "./settings.js";
import { type Drive, driveOf, hashedSteps, stateHash } from "./signal.js";

/** One measure, by its kind. */
export type Measure =
  | { readonly kind: "hash"; readonly hash: string }
  | {
      readonly kind: "forecast";
      readonly truth: Float64Array;
      readonly forecast: Float64Array;
      readonly score: number;
      /**
       * Steps until the error first passes 0.4 standard deviations of the truth: the usual bound of
       * a valid prediction.
       */
      readonly follows: number;
      readonly free: boolean;
    }
  | { readonly kind: "spectrum"; readonly re: Float64Array; readonly im: Float64Array; readonly radius: number }
  | { readonly kind: "memory"; readonly curve: Float64Array; readonly total: number };

/** The names of the measures, in the order of their cost. */
export const measureNames = ["hash", "forecast", "spectrum", "memory"] as const;

/** What is measured: the settings, and a series of the user's own in place of their signal. */
export interface Measured {
  readonly settings: LabSettings;
  readonly own?: OwnDrive | undefined;
}

const trainingRows = 2000;
/** Eigenvalues of a larger matrix take seconds. */
export const largestSpectrum = 400;

/** Takes a measure. @throws Error with a sentence if the reservoir or the data do not allow it */
export function measure(kind: Measure["kind"], { settings, own }: Measured): Promise<Measure> {
  switch (kind) {
    case "hash":
      return stateHash(settings, undefined, own && driveOf(settings, hashedSteps, own).input).then((hash) => ({ kind, hash }));
    case "forecast":
      return forecast(settings, driveOf(settings, trainingRows + shownRows, own), own?.trainingRows ?? trainingRows);
    case "spectrum":
      return eigenvalues(settings);
    case "memory":
      return memory(settings);
  }
}

async function eigenvalues(settings: LabSettings): Promise<Measure> {
  if (settings.size > largestSpectrum) throw ArgumentError.because(`Eigenvalues are shown up to ${largestSpectrum} neurons.`);
  const { re, im, radius } = (await spectrum(reservoirOf(settings))).weights;
  return { kind: "spectrum", re, im, radius };
}

async function memory(settings: LabSettings): Promise<Measure> {
  const maxDelay = Math.min(100, 2 * settings.size);
  const length = Math.max(1500, 3 * settings.size);
  const options = { maxDelay, length, heldOut: 1000, solver: "cholesky", lambda: 1e-8 } as const;
  return { kind: "memory", ...(await memoryCapacity(reservoirOf(settings), options)) };
}

/** The free-running forecast of a series, or the prediction of a target from its input. */
async function forecast(settings: LabSettings, { input, target, free }: Drive, rows: number): Promise<Measure> {
  const data = free ? input.subarray(0, rows) : { inputs: input.subarray(0, rows), targets: target.subarray(0, rows) };
  const washout = Math.min(100, Math.floor(rows / 4));
  await using forecaster = await Forecaster.fit(data, {
    reservoir: reservoirOf(settings),
    readout: readoutOf(settings),
    washout,
    standardise: false,
  });
  const truth = (free ? input : target).subarray(rows, Math.min(input.rows, rows + shownRows));
  const predicted = free ? await forecaster.forecast(truth.rows) : await forecaster.predict(input.subarray(rows, rows + truth.rows));
  const [a, b] = [truth.column(0) as Float64Array, predicted.column(0) as Float64Array];
  const bound = 0.4 * deviationOf(a);
  const lost = a.findIndex((value, t) => !(Math.abs(value - b[t]!) <= bound));
  return { kind: "forecast", truth: a, forecast: b, score: nrmse(truth, predicted), follows: lost < 0 ? a.length : lost, free };
}

function deviationOf(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
