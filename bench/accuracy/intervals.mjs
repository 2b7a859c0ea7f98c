// Bands of seven series: how much they cover, split and adaptive. Ridge autoregression forecasts, so
// that the bands are judged and not a reservoir. Usage: node bench/accuracy/intervals.mjs
// Fitted on the first 60 %, calibrated on the next 20 %, tested on the last 20 %; units of sd.
import { Matrix } from "spillway/numerics";
import { AdaptiveConformal, conformalOffsets, coverage, fitAutoregression, winklerScore } from "spillway/series";
import { bandSeries, deviationOf } from "./band-series.mjs";

const level = 0.9;
console.log("| series (H; starts to calibrate / test) | split by step: coverage, Winkler | adaptive: coverage, Winkler |\n|---|---|---|");
let worst = 0;
for (const { name, horizon, order, series } of await bandSeries()) {
  const [calibrating, testing] = [0.6, 0.8].map((share) => Math.floor(share * series.rows));
  const sd = deviationOf(series.data.subarray(0, testing));
  const z = Matrix.from(series.data.map((value) => value / sd));
  const startsIn = (from, to) => {
    const stride = Math.max(Math.floor(horizon / 2), Math.floor((to - from - horizon) / 82));
    return Array.from({ length: Math.floor((to - from - horizon) / stride) + 1 }, (_, k) => from + k * stride);
  };
  const model = fitAutoregression(z.subarray(0, calibrating), { order, horizon });
  const refitted = fitAutoregression(z.subarray(0, testing), { order, lambda: model.lambdas[0] });
  const calibration = startsIn(calibrating, testing);
  const errors = calibration.flatMap((at) => {
    const said = model.forecast(z.subarray(0, at), horizon).data;
    return Array.from(said, (value, h) => z.data[at + h] - value);
  });
  const scores = Matrix.from(Float64Array.from(errors));
  const offsets = conformalOffsets(scores, horizon, { level });
  const adaptive = new AdaptiveConformal(scores, horizon, { level });
  const starts = startsIn(testing, z.rows);
  const kept = { split: [], adaptive: [] };
  let known = testing;
  for (const at of starts) {
    for (; known < at; known++) adaptive.reveal(known, [z.data[known]]);
    const said = refitted.forecast(z.subarray(0, at), horizon);
    const moved = (ends) => Matrix.from(said.data.map((value, h) => value + ends.data[h]));
    kept.split.push({ at, lower: moved(offsets.lower), upper: moved(offsets.upper) });
    kept.adaptive.push({ at, ...adaptive.band(at, said) });
  }
  const judged = (bands) => {
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const of = (measure) => mean(bands.map(({ at, ...band }) => measure(z.subarray(at, at + horizon), band)));
    return [of(coverage), of((target, band) => winklerScore(target, band, level))];
  };
  const [split, followed] = [judged(kept.split), judged(kept.adaptive)];
  worst = Math.max(worst, Math.abs(followed[0] - level));
  const cell = (values) => values.map((value) => value.toFixed(3)).join(" ");
  console.log(`| ${name} (${horizon}; ${calibration.length}/${starts.length}) | ${cell(split)} | ${cell(followed)} |`);
}
console.log(`\nAdaptive bands of ${level * 100} %: at most ${(100 * worst).toFixed(1)} points off.`);
