// Forecaster with nothing set but data, horizon and season, beside naive forecasts and ridge
// autoregression, on twelve series. The last fifth of each tests, from up to 50 starts; NRMSE is the
// root mean square error over the deviation of the training part.
// Usage: node bench/accuracy/forecast.mjs [SERIES ...] [--seeds 5] [--first 5001] [--fresh 20] [--calendar] [--write]
// Data: SPILLWAY_DATA (../shared/data) and vega-datasets. --fresh: new series of Mackey-Glass and
// Lorenz-63 too. --calendar: the hours also with their time stamps, so that the calendar is tried.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Forecaster } from "../../dist/index.js";
import { fitAutoregression } from "../../dist/series/index.js";
import { lorenz, mackeyGlass } from "../../dist/tasks/index.js";

const { values: flags, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "5" },
    first: { type: "string", default: "5001" },
    fresh: { type: "string", default: "0" },
    calendar: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const folder = join(process.env.SPILLWAY_DATA ?? "../shared/data", "series");
if (!existsSync(folder)) throw new Error(`there is no folder ${folder}; SPILLWAY_DATA says where the series are`);
const vega = "node_modules/vega-datasets/data";

const lines = [];
function say(line = "") {
  console.log(line);
  lines.push(line);
}

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
const mackey = (seed) => Array.from(mackeyGlass(6000, { seed }).data);
const lorenzX = (seed) => first(lorenz(6000, { dt: 0.02, seed }));
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
const all = {
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

/** The stamps of the rows, from which the calendar becomes a candidate. */
function stamps({ hour, start, values }) {
  const begin = Date.parse(start);
  return values.map((_, t) => new Date(begin + 3.6e6 * (hour + t)).toISOString().slice(0, 16));
}

/** Starts of the test part, and the error of forecasts from them. */
function testing({ values, horizon }) {
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

async function forecaster(series, seed, times) {
  const { values, horizon, season } = series;
  const { from, error } = testing(series);
  const rows = (a, b) => Float64Array.from(values.slice(a, b));
  const begun = performance.now();
  const training = times ? { series: rows(0, from), times: times.slice(0, from) } : rows(0, from);
  const model = await Forecaster.fit(training, { horizon, season, reservoir: { seed } });
  const seconds = (performance.now() - begun) / 1000;
  let at = from;
  const score = await error(async (start) => {
    if (start > at) await model.predict(rows(at, start));
    at = start;
    return (await model.forecast(horizon)).data;
  });
  const { lambda } = model.choice.kept[0];
  const [{ lags }] = model.members;
  const chosen = [lambda, ...(lags > 0 ? [`${lags} lags`] : []), ...(model.calendar.length > 0 ? ["calendar"] : [])].join(", ");
  await model.dispose();
  return { score, seconds, chosen };
}

async function baselines(series) {
  const { values, horizon, season, order } = series;
  const { from, error } = testing(series);
  const mean = values.slice(0, from).reduce((sum, value) => sum + value, 0) / from;
  const naive = (period) => error((at) => Array.from({ length: horizon }, (_, h) => values[at - period + (h % period)]));
  const found = [
    ["persistence", await naive(1)],
    ["mean", await error(() => new Array(horizon).fill(mean))],
  ];
  for (const period of new Set([season, horizon === 24 && season === 168 ? 24 : undefined]))
    if (period !== undefined) found.push([`naive ${period}`, await naive(period)]);
  const fitted = fitAutoregression(Float64Array.from(values.slice(0, from)), { order, horizon });
  const ridge = await error((at) => fitted.forecast(Float64Array.from(values.slice(at - order, at)), horizon).data);
  return { naive: found.reduce((a, b) => (b[1] < a[1] ? b : a)), ridge };
}

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const show = (number) => number.toFixed(3);
const seeds = Array.from({ length: Number(flags.seeds) }, (_, k) => Number(flags.first) + k);
say(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, one thread; seeds ${seeds.join(", ")}`);
say();
say("| series | median | least to most | chosen | ridge AR | best naive | over the best | fit, s |");
say("|---|---|---|---|---|---|---|---|");
const medians = [];
const rows = Object.entries(all).flatMap(([name, series]) => [
  { name, series, counts: true },
  ...(flags.calendar && series.start ? [{ name: `${name}, calendar`, series, times: stamps(series), counts: false }] : []),
]);
for (const { name, series, times, counts } of rows) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const made = [];
  for (const seed of seeds) made.push(await forecaster(series, seed, times));
  const { naive, ridge } = await baselines(series);
  const scores = made.map(({ score }) => score);
  const median = middle(scores);
  if (counts) medians.push(median);
  const ratio = median / Math.min(ridge, naive[1]);
  say(
    `| ${name} | ${show(median)} | ${show(Math.min(...scores))} to ${show(Math.max(...scores))} | ${[...new Set(made.map((one) => one.chosen))].join("; ")} | ${show(ridge)} | ${show(naive[1])} (${naive[0]}) | ${ratio.toFixed(2)} | ${middle(made.map((one) => one.seconds)).toFixed(1)} |`,
  );
}
if (medians.length > 0) {
  say();
  say(
    `Geometric mean of the ${medians.length} medians without a calendar: ${Math.exp(medians.reduce((sum, value) => sum + Math.log(value), 0) / medians.length).toFixed(3)}.`,
  );
}
const fresh = Number(flags.fresh);
for (const [name, series, horizon] of fresh > 0
  ? [
      ["Mackey-Glass", mackey, 84],
      ["Lorenz x", lorenzX, 100],
    ]
  : []) {
  const scores = [];
  for (let k = 0; k < fresh; k++) scores.push((await forecaster({ values: series(`fresh ${k}`), horizon }, 6001 + k)).score);
  const sorted = scores.toSorted((a, b) => a - b);
  say();
  say(
    `${name}, ${fresh} fresh series, each with its own network: median ${middle(sorted).toPrecision(3)}, least ${sorted[0].toPrecision(3)}, most ${sorted.at(-1).toPrecision(3)}.`,
  );
}
if (flags.write) {
  const path = `bench/results/forecast-${new Date().toISOString().slice(0, 10)}.md`;
  const title = existsSync(path)
    ? ""
    : "# Forecaster's defaults on twelve series\n\nPrinted by `npm run bench:forecast`: nothing is set but data, horizon and season.\n";
  appendFileSync(path, `${title}\n${lines.join("\n")}\n`);
}
