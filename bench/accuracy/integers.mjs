// Forecasters in integers beside those in binary32: the same reservoirs, seeds and training, no
// setting chosen on the test rows.
//   node bench/accuracy/integers.mjs
import { Matrix } from "spillway";
import { Forecaster } from "spillway/model";
import { henon, lorenz, mackeyGlass, narma, rossler } from "spillway/series";

const [train, test, ahead] = [2000, 1000, 50];
const seeds = [1, 2, 3, 4, 5];
const kinds = [
  ["binary32", {}],
  ["integers, W in 16 bits", { arithmetic: "integer" }],
  ["integers, W in 8 bits", { arithmetic: "integer", weightPrecision: "int8" }],
];
const rows = train + test;
const column = ({ rows, cols, data }, c) => Matrix.from(Array.from({ length: rows }, (_, t) => [data[t * cols + c]]));
const driven = narma(rows, { order: 10, seed: 1 });
const series = [
  ["Mackey-Glass", { series: Matrix.from(mackeyGlass(rows, { seed: 1 })) }],
  ["Lorenz, x y z", { series: lorenz(rows) }],
  ["Rössler, x", { series: column(rossler(rows), 0) }],
  ["Hénon, x", { series: column(henon(rows), 0) }],
  ["NARMA-10", { inputs: Matrix.from(driven.inputs), targets: Matrix.from(driven.targets) }],
];

/** Root mean square error over the deviation of the truth, over all columns. */
function nrmse(said, truth) {
  const { rows, cols } = truth;
  let sum = 0;
  for (let c = 0; c < cols; c++) {
    let [mean, error, deviation] = [0, 0, 0];
    for (let t = 0; t < rows; t++) mean += truth.data[t * cols + c] / rows;
    for (let t = 0; t < rows; t++) {
      error += (said.data[t * cols + c] - truth.data[t * cols + c]) ** 2;
      deviation += (truth.data[t * cols + c] - mean) ** 2;
    }
    sum += error / deviation / cols;
  }
  return Math.sqrt(sum);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const spread = (values) =>
  values.length === 0
    ? ""
    : `${median(values).toPrecision(3)} (${Math.min(...values).toPrecision(2)} to ${Math.max(...values).toPrecision(2)})`;

console.log(`| series | arithmetic | NRMSE of one step | NRMSE of ${ahead} steps, closed loop |`);
console.log("|---|---|---|---|");
for (const [name, data] of series)
  for (const [kind, options] of kinds) {
    const [one, many] = [[], []];
    for (const seed of seeds) {
      const reservoir = { size: 200, seed, ...options };
      const cut = (from, to) => Object.fromEntries(Object.entries(data).map(([key, each]) => [key, each.subarray(from, to)]));
      const model = await Forecaster.fit(data.series ? data.series.subarray(0, train) : cut(0, train), { reservoir });
      if (data.series) many.push(nrmse(await model.forecast(ahead), data.series.subarray(train, train + ahead)));
      const inputs = (data.series ?? data.inputs).subarray(train, data.series ? rows - 1 : rows);
      if (data.series) await model.warmUp(data.series.subarray(0, train));
      one.push(nrmse(await model.predict(inputs), (data.series ?? data.targets).subarray(data.series ? train + 1 : train, rows)));
      await model.dispose();
    }
    console.log(`| ${name} | ${kind} | ${spread(one)} | ${spread(many)} |`);
  }
