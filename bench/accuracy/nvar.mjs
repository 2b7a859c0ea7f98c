// NVAR: how long its forecasts of Lorenz-63 without noise stay good in either arithmetic, where that
// collapses, and Lorenz-96 with shared weights. Usage:
//   node bench/accuracy/nvar.mjs [lorenz-63 | lorenz-96]
import { NvarForecaster, validPredictionTime } from "spillway";
import { RandomStream, seedKeys } from "spillway/numerics";
import { lorenz96 } from "spillway/series";
import { doubleDouble, pairs, rows, start } from "./lorenz-exact.mjs";

const lyapunov = 0.9056;
const starts = [7, 13, 21, 34, 55, 89, 144];
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const shown = (values) => `${median(values).toFixed(1)} (${values.map((value) => value.toFixed(1)).join(" ")})`;
const upTo = (degree) => Array.from({ length: degree - 1 }, (_, i) => i + 2);
/** What becomes of exact rows ([high, low] a value) on their way to the model. */
const forms = {
  "double-double": doubleDouble,
  binary64: (list) => doubleDouble(list).high,
  binary32: (list) => doubleDouble(list).high.map((row) => row.map(Math.fround)),
};
const noisy = (size) => {
  const draws = new RandomStream(seedKeys("noise").weights, 0);
  let n = 0;
  return (list) => doubleDouble(list).high.map((row) => row.map((value) => value + size * draws.normal(0, n++)));
};

const made = new Map();
/** Training pairs .09 apart and the true rows of every start, made once for each step and count. */
function exactData(h, samples) {
  const key = `${h} ${samples}`;
  const dt = Number(h[0]) / Number(h[1]);
  const count = Math.ceil(62 / lyapunov / dt) + 1;
  if (!made.has(key))
    made.set(key, {
      dt,
      training: pairs(start(0, h), h, samples, Math.round(0.09 / dt)).pairs,
      truth: starts.map((seed) => rows(start(seed, h), h, count).rows),
    });
  return made.get(key);
}

async function lorenz63(degree, h, samples, { arithmetic = "float64", data = "binary64", form = forms[data], lambda = 0 }) {
  const { dt, training, truth } = exactData(h, samples);
  const begun = performance.now();
  const model = await NvarForecaster.fit(
    { sequences: training.map(form) },
    { delays: 1, degrees: upTo(degree), lambda, arithmetic, standardise: false, hold: false },
  );
  const seconds = (performance.now() - begun) / 1000;
  const valid = [];
  for (const series of truth) {
    const forecast = await model.forecast(series.length - 1, { warmup: form(series.slice(0, 1)) });
    const wrong = series.slice(1).findIndex((row, t) => row.some(([high], c) => !(Math.abs(forecast.at(t, c) - high) <= 0.25)));
    valid.push((wrong < 0 ? series.length : wrong) * dt * lyapunov);
  }
  const name = `degree ${degree}, dt ${dt}, ${model.readout.weights.cols + 1} features, ${samples} samples, ${arithmetic}, data ${data}`;
  console.log(`  ${name}${lambda > 0 ? `, lambda ${lambda}` : ""}: ${shown(valid)}  fit ${seconds.toFixed(1)} s`);
  return median(valid);
}

if (process.argv[2] !== "lorenz-96") {
  console.log(
    `Lorenz-63 without noise: Lyapunov times (${lyapunov}) to the first |error| above .25 in (x/25, y/30, (z-25)/25),\n` +
      `target the increment, lambda 0, training pairs .09 apart; median of ${starts.length} starts (each)`,
  );
  const hundredth = [1n, 100n];
  const half = [1n, 200n];
  await lorenz63(4, hundredth, 200, {});
  await lorenz63(8, hundredth, 330, {});
  const binary = await lorenz63(9, hundredth, 440, {});
  await lorenz63(8, hundredth, 330, { arithmetic: "doubleDouble", data: "double-double" });
  await lorenz63(11, half, 730, {});
  await lorenz63(11, half, 730, { arithmetic: "doubleDouble", data: "double-double" });
  const both = await lorenz63(12, half, 910, { arithmetic: "doubleDouble", data: "double-double" });
  console.log("where it collapses");
  await lorenz63(11, half, 730, { arithmetic: "doubleDouble", data: "binary64" });
  await lorenz63(8, hundredth, 330, { data: "binary32" });
  for (const size of [1e-10, 1e-6, 1e-3]) {
    for (const lambda of [0, size]) await lorenz63(4, hundredth, 200, { data: `with noise of ${size}`, form: noisy(size), lambda });
  }
  console.log(`bars: binary64 ${binary >= 30 ? "at least" : "BELOW"} 30, double-double ${both >= 54 ? "at least" : "BELOW"} 54`);
}

const exponent96 = 1.68;
if (process.argv[2] !== "lorenz-63") {
  console.log(
    `\nLorenz-96, 40 variables, F 8, dt .01 (Runge-Kutta 4, step .00125), shared weights; Lyapunov times (${exponent96}) to\n` +
      "NRMSE by column above .5, median of 25 starts 200 rows apart after the training part (least to most)",
  );
  for (const [neighbours, degree, training, lambda] of [
    [2, 2, 500, 1e-7],
    [2, 4, 1000, 1e-7],
    [3, 4, 1000, 1e-7],
    [4, 4, 2000, 1e-7],
  ]) {
    const series = lorenz96(training + 26 * 200 + 1500, { N: 40, discard: 2500, dt: 0.01, seed: "lorenz-96" });
    const begun = performance.now();
    const model = await NvarForecaster.fit(series.subarray(0, training), { delays: 1, degrees: upTo(degree), neighbours, lambda });
    const seconds = (performance.now() - begun) / 1000;
    const valid = [];
    for (let i = 1; i <= 25; i++) {
      const from = training + i * 200;
      const forecast = await model.forecast(1000, { warmup: series.subarray(from - 1, from) });
      const options = { threshold: 0.5, norm: "perColumn", reference: series, dt: 0.01, lyapunovExponent: exponent96 };
      valid.push(validPredictionTime(series.subarray(from, from + 1000), forecast, options).lyapunovTimes);
    }
    const spread = `(${Math.min(...valid).toFixed(1)} to ${Math.max(...valid).toFixed(1)})`;
    console.log(
      `  window ${2 * neighbours + 1}, degree ${degree}, ${model.readout.weights.cols + 1} features, ${training} rows: ` +
        `${median(valid).toFixed(2)} ${spread}  fit ${seconds.toFixed(1)} s`,
    );
  }
}
