// Forecaster with nothing set but data, horizon and season, beside naive forecasts and ridge
// autoregression, on twelve series. The last fifth of each tests, from up to 50 starts; NRMSE is the
// root mean square error over the deviation of the training part.
// Usage: node bench/accuracy/forecast.mjs [SERIES ...] [--seeds 5] [--first 5001] [--fresh 20] [--calendar] [--loop] [--write]
// Data: SPILLWAY_DATA (../shared/data) and vega-datasets. --fresh: new series of Mackey-Glass and
// Lorenz-63 too. --loop: members: ["loop"]. --calendar: the hours also with their time stamps, so that the calendar is tried.
import { appendFileSync, existsSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { fitAutoregression } from "../../dist/api/series.js";
import { Forecaster } from "../../dist/index.js";
import { all, lorenzX, mackey, testing } from "./twelve-series.mjs";

const { values: flags, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "5" },
    first: { type: "string", default: "5001" },
    fresh: { type: "string", default: "0" },
    calendar: { type: "boolean", default: false },
    loop: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const lines = [];
function say(line = "") {
  console.log(line);
  lines.push(line);
}

/** The stamps of the rows, from which the calendar becomes a candidate. */
function stamps({ hour, start, values }) {
  const begin = Date.parse(start);
  return values.map((_, t) => new Date(begin + 3.6e6 * (hour + t)).toISOString().slice(0, 16));
}

async function forecaster(series, seed, times) {
  const { values, horizon, season } = series;
  const { from, error } = testing(series);
  const rows = (a, b) => Float64Array.from(values.slice(a, b));
  const begun = performance.now();
  const training = times ? { series: rows(0, from), times: times.slice(0, from) } : rows(0, from);
  const model = await Forecaster.fit(training, { horizon, season, reservoir: { seed }, ...(flags.loop && { members: ["loop"] }) });
  const seconds = (performance.now() - begun) / 1000;
  let at = from;
  const score = await error(async (start) => {
    if (start > at) await model.predict(rows(at, start));
    at = start;
    return (await model.forecast(horizon)).data;
  });
  const { kept, members } = model.choice;
  const [{ lags }] = model.members;
  const chosen = members
    ? members.map(({ name, weights }) => `${name} ${weights[0].toFixed(2)}`).join(", ")
    : [kept[0].lambda, ...(lags > 0 ? [`${lags} lags`] : []), ...(model.calendar.length > 0 ? ["calendar"] : [])].join(", ");
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
    : "# Forecaster's defaults on twelve series\n\nPrinted by `node bench/accuracy/forecast.mjs`: nothing is set but data, horizon and season.\n";
  appendFileSync(path, `${title}\n${lines.join("\n")}\n`);
}
