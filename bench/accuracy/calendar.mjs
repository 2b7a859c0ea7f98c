// What the calendar adds to a reservoir on hourly tables: 24-hour forecasts of load and temperature,
// beside ridge autoregression and the best naive forecast. Usage:
//   node bench/accuracy/calendar.mjs [seed ...]
// A table's last 10,000 hours (ETTh1: rows 4,400 to 14,399); the last fifth tests, from 50 starts at
// equal distances; lambda is chosen by closed-loop forecasts inside the training part. NRMSE divides
// by the standard deviation of the training part.
import { existsSync } from "node:fs";
import { Forecaster, Matrix, seasonalNaive } from "spillway";
import { fitAutoregression, readCsv, readTimes } from "spillway/series";

const seeds = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [3001, 3002, 3003];
const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/series`;
if (!existsSync(folder)) throw new Error(`no data in ${folder}: set SPILLWAY_DATA to the folder that holds series/`);
const tables = [
  { file: "made-load.csv", time: "timestamp", column: "load_mw", text: ["timestamp", "remark"] },
  { file: "load_rte.csv", time: "ds", column: "y" },
  { file: "ETTh1.csv", time: "date", column: "OT", rows: [4400, 14_400] },
];
const calendars = {
  "no calendar": undefined,
  "hour, weekday": ["hour", "weekday"],
  "hour, weekday, yearday": ["hour", "weekday", "yearday"],
};
const [horizon, starts, washout] = [24, 50, 100];
const settings = { bias: 0.5, leakRate: 0.3, inputScaling: 0.2, spectralRadius: 1, size: 300 };

/** The error of forecasts from every start, over the deviation of the training part. */
async function nrmse(series, train, forecast) {
  const span = series.rows - horizon - train;
  let sum = 0;
  for (let k = 0; k < starts; k++) {
    const at = train + Math.floor((k * span) / (starts - 1));
    const { data } = await forecast(at);
    for (let h = 0; h < horizon; h++) sum += (data[h] - series.data[at + h]) ** 2;
  }
  const known = series.data.subarray(0, train);
  const mean = known.reduce((total, value) => total + value, 0) / train;
  const deviation = Math.sqrt(known.reduce((total, value) => total + (value - mean) ** 2, 0) / train);
  return Math.sqrt(sum / (starts * horizon)) / deviation;
}

const shown = (value) => value.toFixed(3);
console.log(`NRMSE of ${horizon} steps from ${starts} starts, N = ${settings.size}, seeds ${seeds.join(", ")}`);
for (const { file, time, column, text = [time], rows } of tables) {
  const read = await readCsv(`${folder}/${file}`, { columns: [column], text, missing: "interpolate" });
  const [from, to] = rows ?? [read.matrix.rows - 10_000, read.matrix.rows];
  const series = new Matrix(to - from, 1, read.matrix.data.slice(from, to));
  const stamps = read.text[time].slice(from, to);
  const train = Math.round(0.8 * series.rows);
  const part = (start, end) => ({ series: series.subarray(start, end), times: stamps.slice(start, end) });
  readTimes(stamps);
  console.log(file);
  for (const [name, calendar] of Object.entries(calendars)) {
    const scores = [];
    const begun = performance.now();
    for (const seed of seeds) {
      const options = { reservoir: { ...settings, seed }, horizon, members: 1, lags: 0, washout, calendar };
      const forecaster = await Forecaster.fit(part(0, train), options);
      scores.push(await nrmse(series, train, (at) => forecaster.forecast(horizon, { warmup: part(at - 500, at) })));
      await forecaster.dispose();
    }
    const seconds = (performance.now() - begun) / 1000 / seeds.length;
    console.log(`  ${name.padEnd(24)} ${scores.map(shown).join(" ")}  (${seconds.toFixed(1)} s a seed)`);
  }
  const linear = fitAutoregression(series.subarray(0, train), { order: 192, horizon });
  const autoregression = await nrmse(series, train, (at) => linear.forecast(series.subarray(0, at), horizon));
  console.log(`  ${"ridge AR(192)".padEnd(24)} ${shown(autoregression)}`);
  for (const period of [1, 24, 168]) {
    const naive = await nrmse(series, train, (at) => seasonalNaive(series.subarray(0, at), { period, steps: horizon }));
    console.log(`  ${`naive (${period})`.padEnd(24)} ${shown(naive)}`);
  }
}
