// The Forecaster's defaults on series of several columns, with NVAR among the members and without.
// Usage: npx tsx bench/accuracy/nvar-member.ts
// Data: SPILLWAY_DATA (../shared/data), folder series.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Forecaster, Matrix } from "../../src/index.js";
import { memberNames } from "../../src/model/forecaster/options.js";
import { fitStandardisation } from "../../src/model/standardisation.js";
import { lorenz, lorenz96 } from "../../src/tasks/index.js";

const starts = 8;
const file = join(process.env["SPILLWAY_DATA"] ?? "../shared/data", "series", "ETTh1.csv");
const lines = readFileSync(file, "utf8").trim().split(/\r?\n/).slice(4001, 6001);
const etth1 = Matrix.from(lines.map((line) => line.split(",").slice(1).map(Number)));
const sites = lorenz96(2600, { N: 8, dt: 0.05, discard: 2000, seed: 1 });
const three = lorenz(2600, { dt: 0.02, seed: 1 });

let state = 1;
function uniform(): number {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return ((state >>> 8) + 0.5) / 2 ** 24;
}
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

function noisy(series: Matrix, share: number): Matrix {
  const { deviation } = fitStandardisation([series]);
  const values = Float64Array.from(series.data, (value, i) => value + share * deviation[i % series.cols]! * normal());
  return new Matrix(series.rows, series.cols, values);
}

async function scored(series: Matrix, horizon: number, members: readonly (typeof memberNames)[number][]): Promise<string> {
  const from = Math.floor(0.8 * series.rows);
  const { deviation } = fitStandardisation([series]);
  const model = await Forecaster.fit(series.subarray(0, from), { horizon, members });
  let [squares, valid, at] = [0, 0, from];
  for (let k = 0; k < starts; k++) {
    const start = from + Math.floor((k * (series.rows - horizon - from)) / (starts - 1));
    if (start > at) await model.predict(series.subarray(at, start));
    at = start;
    const made = await model.forecast(horizon);
    let isValid = true;
    for (let t = 0; t < horizon; t++) {
      let error = 0;
      for (let c = 0; c < series.cols; c++) error += ((made.at(t, c) - series.at(start + t, c)) / deviation[c]!) ** 2;
      squares += error;
      isValid &&= Math.sqrt(error / series.cols) <= 0.5;
      if (isValid) valid++;
    }
  }
  const weights = model.choice!.members!.map(({ name, weights: [first] }) => `${name} ${first!.toFixed(2)}`);
  await model.dispose();
  const error = Math.sqrt(squares / (starts * horizon * series.cols));
  return `NRMSE ${error.toFixed(4)}, valid ${(valid / starts).toFixed(1)} of ${horizon}; ${weights.join(", ")}`;
}

for (const [name, series, horizon] of [
  ["Lorenz-96, 8 sites", sites, 40],
  ["Lorenz-63", three, 100],
  ["Lorenz-63, noise .05", noisy(three, 0.05), 100],
  ["ETTh1, seven columns", etth1, 24],
] as const) {
  console.log(`${name}\n  with NVAR: ${await scored(series, horizon, memberNames)}`);
  console.log(
    `  without: ${await scored(
      series,
      horizon,
      memberNames.filter((each) => each !== "nvar"),
    )}`,
  );
}
