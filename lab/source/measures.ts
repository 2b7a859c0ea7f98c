// What is measured beside the running reservoir, in a worker so that the views stay smooth: spectrum, memory, forecast, hash.
import { Forecaster, loadWasm, nrmse } from "../../src/lab/browser.js";
import { memoryCapacity, spectrum } from "../../src/analysis/index.js";
import { type LabSettings, reservoirOf } from "../../src/lab/settings.js";
import { signalOf, stateHash } from "../../src/lab/signal.js";

/** What the worker sends, one after the other. */
export type Measure =
  | { readonly kind: "hash"; readonly hash: string }
  | { readonly kind: "spectrum"; readonly re: Float64Array; readonly im: Float64Array; readonly radius: number; readonly method: string }
  | { readonly kind: "memory"; readonly curve: Float64Array; readonly total: number }
  | {
      readonly kind: "forecast";
      readonly truth: Float64Array;
      readonly forecast: Float64Array;
      readonly score: number;
      readonly follows: number;
      readonly free: boolean;
    }
  | { readonly kind: "failed"; readonly what: string; readonly message: string };

export interface MeasureRequest {
  readonly id: number;
  readonly settings: LabSettings;
}

const trainingRows = 2000;
const shownRows = 400;
/** Eigenvalues of a larger matrix take seconds. */
const largestSpectrum = 400;

let newest = 0;

addEventListener("message", ({ data }: MessageEvent<MeasureRequest>) => {
  newest = data.id;
  void measure(data);
});

/** Measures in the order of cost; a newer request ends an older one between two measures. */
async function measure({ id, settings }: MeasureRequest): Promise<void> {
  await loadWasm();
  const steps: readonly (readonly [string, () => Promise<Measure>])[] = [
    ["hash", async () => ({ kind: "hash", hash: await stateHash(settings) })],
    ["forecast", () => forecast(settings)],
    ["spectrum", () => eigenvalues(settings)],
    ["memory", () => memory(settings)],
  ];
  for (const [what, make] of steps) {
    // A turn of the event loop lets a newer request in.
    await new Promise((resume) => setTimeout(resume, 0));
    if (id !== newest) return;
    const result = await make().catch(
      (error: unknown): Measure => ({ kind: "failed", what, message: error instanceof Error ? error.message : String(error) }),
    );
    postMessage({ id, result });
  }
}

async function eigenvalues(settings: LabSettings): Promise<Measure> {
  if (settings.size > largestSpectrum) throw new Error(`shown up to ${largestSpectrum} neurons`);
  const { weights } = await spectrum(reservoirOf(settings));
  return { kind: "spectrum", re: weights.re, im: weights.im, radius: weights.radius, method: "dense" };
}

async function memory(settings: LabSettings): Promise<Measure> {
  const maxDelay = Math.min(100, 2 * settings.size);
  const length = Math.max(1500, 3 * settings.size);
  const { curve, total } = await memoryCapacity(reservoirOf(settings), {
    maxDelay,
    length,
    heldOut: 1000,
    solver: "cholesky",
    lambda: 1e-8,
  });
  return { kind: "memory", curve, total };
}

/** The free-running forecast of a series; of NARMA, whose input comes from outside, the prediction of its target. */
async function forecast(settings: LabSettings): Promise<Measure> {
  const { input, target } = signalOf(settings, trainingRows + shownRows);
  const reservoir = reservoirOf(settings);
  const free = settings.signal !== "narma";
  const data = free
    ? input.subarray(0, trainingRows)
    : { inputs: input.subarray(0, trainingRows), targets: target.subarray(0, trainingRows) };
  await using forecaster = await Forecaster.fit(data, { reservoir, readout: { lambda: 1e-7 }, washout: 100, standardise: false });
  const predicted = free ? await forecaster.forecast(shownRows) : await forecaster.predict(input.subarray(trainingRows));
  const truth = (free ? input : target).subarray(trainingRows);
  const [a, b] = [truth.column(0) as Float64Array, predicted.column(0) as Float64Array];
  // The series are z-scores, so an error of 0.4 is 0.4 standard deviations: the usual bound of a valid prediction.
  const lost = a.findIndex((value, t) => !(Math.abs(value - b[t]!) <= 0.4));
  return { kind: "forecast", truth: a, forecast: b, score: nrmse(truth, predicted), follows: lost < 0 ? a.length : lost, free };
}
