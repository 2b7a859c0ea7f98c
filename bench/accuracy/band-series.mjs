// The seven series on which bands are judged, with the horizon and the lags of an autoregression.

import { Matrix, RandomStream, seedKeys } from "spillway/numerics";
import { lorenz, readCsv } from "spillway/series";

const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/series`;
const vega = "node_modules/vega-datasets/data";
const column = async (path, name, more = {}) => (await readCsv(path, { columns: [name], missing: "interpolate", ...more })).matrix;

function differenced({ data }, lag) {
  return Matrix.from(Float64Array.from({ length: data.length - lag }, (_, t) => data[t + lag] - data[t]));
}

function noisyLorenz() {
  const { data } = lorenz(3400, { dt: 0.05 });
  const x = Float64Array.from({ length: data.length / 3 }, (_, t) => data[3 * t]);
  const noise = new RandomStream(seedKeys("noise").weights, 0);
  const sd = deviationOf(x);
  return Matrix.from(x.map((value, t) => value + 0.05 * sd * noise.normal(0, t)));
}

export function deviationOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/** Their names, horizons, orders and seasons, if they have any. */
export async function bandSeries() {
  const co2 = await column(`${vega}/co2-concentration.csv`, "CO2", { text: ["Date"] });
  return [
    { name: "load", horizon: 24, order: 192, series: await column(`${folder}/made-load.csv`, "load_mw"), season: [24, 168] },
    { name: "RTE", horizon: 24, order: 192, series: await column(`${folder}/load_rte.csv`, 1), season: [24, 168] },
    { name: "ETTh1", horizon: 24, order: 192, series: await column(`${folder}/ETTh1.csv`, "OT"), season: [24, 168] },
    { name: "CO2, yearly difference", horizon: 12, order: 24, series: differenced(co2.subarray(69), 12), season: 12 },
    { name: "Seattle", horizon: 7, order: 30, series: await column(`${vega}/seattle-weather.csv`, "temp_max") },
    { name: "sunspots", horizon: 24, order: 48, series: await column(`${folder}/monthly-sunspots.csv`, 1), season: 132 },
    { name: "Lorenz x, 5 % noise", horizon: 50, order: 50, series: noisyLorenz() },
  ];
}
