// The dysts protocol by sweeps of closed loops: each of many candidates, seeds times settings, on
// all series at once, on any engine. Candidates are the same for every system.
import { sweepForecasts } from "spillway";
import { RandomStream, seedKeys } from "spillway/numerics";
import { drawnSettings, median, medians, neurons, scored, smape } from "./dysts-protocol.mjs";

/** Seeds of the weights that candidates are made of, with as many settings as it takes. */
const seedCount = 100;

/** Candidates of a repeat: settings by their washout, and the seeds that each of them is tried with. */
export function candidatesOf(repeat, count) {
  const seeds = Array.from({ length: Math.min(seedCount, Math.max(1, Math.round(Math.sqrt(count)))) }, (_, s) => `dysts ${repeat} ${s}`);
  const draws = new RandomStream(seedKeys(`dysts ${repeat}`).weights, 0);
  const groups = new Map();
  for (let i = 0; i < Math.round(count / seeds.length); i++) {
    const { washout, ...setting } = drawnSettings((n, low, high) => low + (high - low) * draws.uniform(n, i));
    groups.set(washout, [...(groups.get(washout) ?? []), setting]);
  }
  return { seeds, groups: [...groups].sort(([a], [b]) => a - b) };
}

/** z-scores by the first `rows` rows, as a column. */
function standardised(values, rows) {
  const training = values.slice(0, rows);
  const mean = training.reduce((sum, value) => sum + value, 0) / rows;
  const deviation = Math.sqrt(training.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rows) || 1;
  return { mean, deviation, z: Float64Array.from(values, (value) => (value - mean) / deviation) };
}

/**
 * Closed loops of all candidates on all series from the rows `starts`, each by a readout of all rows
 * before it; below 0 they count from the end. `take` gets the index of a series, the one of a
 * candidate, and its forecasts in units of the data, start after start.
 */
export async function sweepAll({ seeds, groups }, list, { starts, horizon, known, engine, precision }, take) {
  const scales = list.map((values) => standardised(values, Math.min(values.length, known)));
  let first = 0;
  let reason;
  for (const [washout, settings] of groups) {
    // The score of a member is where its forecasts are: the sweep then says whose they are.
    const slots = list.map(() => []);
    const result = await sweepForecasts({
      reservoir: { size: neurons, weightDistribution: "normal", radiusMethod: "circularLaw", precision },
      ...{ seeds, settings, washout, starts, horizon, engine, input: true, refit: true },
      series: scales.map(({ z }) => z),
      loss: (forecasts, _, s) => {
        const { mean, deviation } = scales[s];
        return slots[s].push(forecasts.data.map((z) => z * deviation + mean)) - 1;
      },
    });
    reason = result.engine.reason;
    for (const [s, { data }] of result.scores.entries())
      for (const [m, index] of data.entries()) if (!Number.isNaN(index)) take(s, first + m, slots[s][index]);
    first += seeds.length * settings.length;
  }
  return { candidates: first, reason };
}

/** Mean sMAPE after each cut, list x candidates; infinite without a score. */
export async function scoresOf(candidates, list, cuts, options) {
  const horizon = 30;
  // A series is as long as it is; cuts count from its end.
  const scores = list.map(() => []);
  const rows = Math.max(...list.map(({ length }) => length));
  const starts = cuts.map((rows) => -rows);
  const done = await sweepAll(candidates, list, { ...options, starts, horizon, known: rows }, (s, m, forecasts) => {
    const values = list[s];
    scores[s][m] = starts
      .toSorted((a, b) => a - b)
      .map((start, k) => smape(values.slice(values.length + start).slice(0, horizon), forecasts.subarray(k * horizon, (k + 1) * horizon)));
  });
  for (const each of scores) for (let m = 0; m < done.candidates; m++) each[m] ??= cuts.map(() => Number.POSITIVE_INFINITY);
  return { scores, reason: done.reason };
}

/** Forecasts of the rows from `fitted` on, list x candidates. */
export async function forecastsOf(candidates, list, fitted, options) {
  const forecasts = list.map(() => []);
  const whole = list.map((values) => values.slice(0, fitted + scored));
  await sweepAll(candidates, whole, { ...options, starts: [fitted], horizon: scored, known: fitted }, (s, m, made) => {
    forecasts[s][m] = Float32Array.from(made);
  });
  return forecasts;
}

/** How the scores of a candidate after several cuts become one. */
export const combinations = {
  mean: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  median,
  worst: (values) => Math.max(...values),
};

/** The candidates with a score, from best to worst. */
export function ranked(scores, combine) {
  const values = scores.map(combine);
  return Array.from(values.keys())
    .filter((m) => Number.isFinite(values[m]))
    .sort((a, b) => values[a] - values[b] || a - b);
}

/** The median of the forecasts of the first candidates that have one. */
export function combined(order, forecasts, count) {
  const kept = [];
  for (const m of order) {
    if (kept.length === count) break;
    if (forecasts[m]) kept.push(forecasts[m]);
  }
  return medians(kept);
}
