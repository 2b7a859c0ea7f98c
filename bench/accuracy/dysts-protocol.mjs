// The dysts forecasting benchmark (Gilpin 2021, arXiv 2110.05266): its data, its score, and a
// reservoir whose settings are drawn and scored on train series alone.
import { ReservoirComputer, ridge } from "spillway";
import { RandomStream, seedKeys } from "spillway/numerics";

/** Rows that are fitted, and rows that are scored after them. */
export const fitted = 150;
export const scored = 29;
const horizon = 30;
/** A candidate is fitted on all but so many rows of the train series, and forecasts the 30 after. */
export const leftOut = [30, 45, 60];
export const neurons = 200;

/** JSON in which numbers may be NaN. */
export const parseWithNaN = (text) => JSON.parse(text.replace(/(?<=[[,:\s])NaN(?=[\],\s}])/g, "null"));

/**
 * The series settings are chosen on: the train series, or rows 0 to 149 of the test series if that
 * has values that are missing (only PiecewiseCircuit).
 */
export function choosingSeries(train, test) {
  return train.every(Number.isFinite) ? train : test.slice(0, fitted);
}

/** 200 mean(|y - p| / (|y| + |p|)), from 0 to 200. */
export function smape(target, prediction) {
  return (
    (200 *
      target.reduce(
        (sum, y, t) => sum + (y === prediction[t] ? 0 : Math.abs(y - prediction[t]) / (Math.abs(y) + Math.abs(prediction[t]))),
        0,
      )) /
    target.length
  );
}

/**
 * Candidate k of a system in a repeat: settings from one stream, weights from a seed of their own.
 * Ranges and cuts were chosen on train series, of which rows 150 to 178 stood in for those of the
 * test series, after a first run with wider ranges and two cuts had shown a mean sMAPE of 55.9.
 */
export function candidate(system, repeat, k) {
  const draws = new RandomStream(seedKeys(`dysts ${repeat} ${system}`).weights, 0);
  const { lambda, washout, ...setting } = drawnSettings((n, low, high) => low + (high - low) * draws.uniform(n, k));
  const reservoir = { size: neurons, seed: `dysts ${repeat} ${k}`, weightDistribution: "normal", radiusMethod: "circularLaw" };
  return { reservoir: { ...reservoir, precision: "float64", ...setting }, lambda, washout };
}

/** Settings by draws n = 0, 1, ... that are uniform between two values. */
export function drawnSettings(uniform) {
  return {
    spectralRadius: uniform(0, 0.2, 1.35),
    inputScaling: 10 ** uniform(1, -0.6, 0.5),
    bias: uniform(2, 0.2, 1.6),
    leakRate: uniform(3, 0.2, 1),
    lambda: 10 ** uniform(4, -9, 0),
    washout: [5, 15, 30][Math.floor(uniform(5, 0, 3))],
  };
}

/**
 * Fits on rows 0 to `end` - 1 and goes on for `steps`, in z-scores; the loop is held to the range of
 * those rows, widened by half a deviation. Zeros, the mean, if the fit fails.
 */
function goOn(computer, { u, states }, end, steps, { lambda, washout }) {
  const out = new Float64Array(steps);
  const known = u.subarray(0, end);
  let readout;
  try {
    const inputs = u.subarray(0, end - 1);
    readout = ridge({ solver: "dual", lambda, input: true }).fit(states.subarray(0, end - 1), u.subarray(1, end), { inputs, washout });
  } catch (error) {
    if (error.code !== "numeric") throw error;
    return out;
  }
  const [low, high] = [Math.min(...known) - 0.5, Math.max(...known) + 0.5];
  computer.state = { values: states.row(end - 1), input: u.subarray(end - 1, end), output: [], step: end };
  let next = readout.predict(states.subarray(end - 1, end), [u[end - 1]]).data[0];
  for (let t = 0; t < steps; t++) {
    next = Math.min(Math.max(next, low), high);
    out[t] = next;
    if (t < steps - 1) next = readout.predict([computer.step([next])], [next]).data[0];
  }
  return out;
}

/** z-scores of a series and the states that they give, handed to `work`. */
async function withStates(settings, series, work) {
  const mean = series.reduce((sum, value) => sum + value, 0) / series.length;
  const deviation = Math.sqrt(series.reduce((sum, value) => sum + (value - mean) ** 2, 0) / series.length) || 1;
  const u = Float64Array.from(series, (value) => (value - mean) / deviation);
  const computer = await ReservoirComputer.create(settings.reservoir, { engine: "cpu" });
  try {
    const run = { u, states: await computer.run(u) };
    return work((end, steps) => goOn(computer, run, end, steps, settings).map((score) => score * deviation + mean));
  } finally {
    await computer.dispose();
  }
}

/** How a candidate does on the series that settings are chosen on: mean sMAPE after each cut. */
export function score(settings, series) {
  return withStates(settings, series, (goOnFrom) => {
    const cuts = leftOut.map((rows) => series.length - rows);
    return cuts.reduce((sum, cut) => sum + smape(series.slice(cut, cut + horizon), goOnFrom(cut, horizon)), 0) / cuts.length;
  });
}

/** The forecast of rows 150 to 178 of a test series. */
export function forecast(settings, test) {
  return withStates(settings, test.slice(0, fitted), (goOnFrom) => goOnFrom(fitted, scored));
}

/** The candidates of a system from best to worst, by their scores. */
export async function choose(system, repeat, series, candidates) {
  const tried = [];
  for (let k = 0; k < candidates; k++) {
    const settings = candidate(system, repeat, k);
    tried.push({ settings, score: await score(settings, series), k });
  }
  return tried.sort((a, b) => a.score - b.score || a.k - b.k);
}

/** The middle value of each column; the mean of two if there are as many on both sides. */
export function medians(rows) {
  return Array.from(rows[0], (_, t) => median(rows.map((row) => row[t])));
}

export function median(values) {
  const sorted = Array.from(values).sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}
