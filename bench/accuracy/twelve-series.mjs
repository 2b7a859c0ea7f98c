// The twelve series that forecasts are compared on, and how they are scored: the last fifth tests,
// from up to 50 starts; NRMSE is the root mean square error over the deviation of the training part.
// Data: SPILLWAY_DATA (../shared/data) and vega-datasets.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lorenz, mackeyGlass } from "../../dist/api/series.js";

const folder = join(process.env.SPILLWAY_DATA ?? "../shared/data", "series");
if (!existsSync(folder)) throw new Error(`there is no folder ${folder}; SPILLWAY_DATA says where the series are`);
const vega = "node_modules/vega-datasets/data";

function column(path, name) {
  const [head, ...rows] = readFileSync(path, "utf8").trim().split(/\r?\n/);
  const cells = (line) => line.split(",").map((cell) => cell.replaceAll('"', ""));
  const at = cells(head).indexOf(name);
  return rows.map((row) => (cells(row)[at] === "" ? Number.NaN : Number(cells(row)[at])));
}

/** Straight lines over missing values. */
function interpolated(values) {
  const out = values.slice();
  for (let i = 0; i < out.length; i++) {
    if (!Number.isNaN(out[i])) continue;
    let end = i;
    while (Number.isNaN(out[end])) end++;
    for (let k = i; k < end; k++) out[k] = out[i - 1] + ((out[end] - out[i - 1]) * (k - i + 1)) / (end - i + 1);
  }
  return out;
}

const difference = (values, rows) => values.slice(rows).map((value, t) => value - values[t]);
const deviation = (values) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
};
const first = (matrix) => Array.from({ length: matrix.rows }, (_, t) => matrix.data[t * matrix.cols]);
export const mackey = (seed) => Array.from(mackeyGlass(6000, { seed }).data);
export const lorenzX = (seed) => first(lorenz(6000, { dt: 0.02, seed }));
/** White noise of a share of the deviation, of a fixed stream. */
function noisy(values, share) {
  let state = 1;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const scale = share * deviation(values);
  return values.map((value) => value + scale * Math.sqrt(-2 * Math.log(uniform() + 2 ** -33)) * Math.cos(2 * Math.PI * uniform()));
}

const load = interpolated(column(join(folder, "made-load.csv"), "load_mw"));
const rte = column(join(folder, "load_rte.csv"), "y");
/** Values, horizon, seasons that are told, order of the autoregression, seasons of the naive forecasts, first hour. */
export const all = {
  mg: { values: mackey("bench"), horizon: 84, order: 100 },
  lorenzx: { values: lorenzX("bench"), horizon: 100, order: 50 },
  lorenzx5: { values: noisy(lorenzX("bench"), 0.05), horizon: 50, order: 50 },
  "co2, difference": { values: difference(column(join(vega, "co2-concentration.csv"), "CO2"), 12), horizon: 12, season: 12, order: 24 },
  "air, log, difference": {
    values: difference(column(join(folder, "AirPassengers.csv"), "#Passengers").map(Math.log), 12),
    horizon: 12,
    season: 12,
    order: 13,
  },
  seattle: { values: column(join(vega, "seattle-weather.csv"), "temp_max"), horizon: 7, season: 7, order: 30 },
  sunspots: { values: column(join(folder, "monthly-sunspots.csv"), "Sunspots"), horizon: 24, season: 132, order: 48 },
  load: { values: load.slice(-10000), horizon: 24, season: 168, order: 192, hour: load.length - 10000, start: "2022-01-01T00:00Z" },
  "load, weekly difference": { values: difference(load.slice(-10000), 168), horizon: 24, season: 168, order: 192 },
  rte: { values: rte.slice(-10000), horizon: 24, season: 168, order: 192, hour: rte.length - 10000, start: "2017-01-01T00:00Z" },
  "rte, weekly difference": { values: difference(rte.slice(-10000), 168), horizon: 24, season: 168, order: 192 },
  etth1: {
    values: column(join(folder, "ETTh1.csv"), "OT").slice(4400, 14400),
    horizon: 24,
    season: 168,
    order: 192,
    hour: 4400,
    start: "2016-07-01T00:00Z",
  },
};

/** Starts of the test part, and the error of forecasts from them. */
export function testing({ values, horizon }) {
  const from = Math.floor(values.length * 0.8);
  const count = Math.min(50, values.length - horizon - from + 1);
  const starts = Array.from({ length: count }, (_, k) => from + Math.floor((k * (values.length - horizon - from)) / (count - 1)));
  const scale = deviation(values.slice(0, from));
  const error = async (forecastAt) => {
    let squares = 0;
    for (const at of starts) {
      const forecast = await forecastAt(at);
      for (let h = 0; h < horizon; h++) squares += (forecast[h] - values[at + h]) ** 2;
    }
    return Math.sqrt(squares / (starts.length * horizon)) / scale;
  };
  return { from, error };
}
