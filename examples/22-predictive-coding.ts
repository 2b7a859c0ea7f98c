// Predictive coding on a reservoir's states: a readout predicts the next value of a noisy series,
// and a filter weighs that prediction against what is then observed. Beside them the two errors alone.
import { Matrix, mackeyGlass, ReservoirComputer, ridge } from "spillway";
import { PredictiveCodingFilter } from "spillway/model";
import { RandomStream, seedKeys } from "spillway/numerics";

const [noise, washout, train, test] = [0.1, 200, 4000, 2000];
const truth = mackeyGlass(washout + train + test).data;
const draws = new RandomStream(seedKeys("noise").weights, 0);
const observed = Float64Array.from(truth, (value, t) => value + noise * draws.normal(0, t));

await using computer = await ReservoirComputer.create({ size: 200, inputScaling: 0.5, bias: 0.5, precision: "float64", seed: 1 });
const states = await computer.run(new Matrix(observed.length, 1, observed));
// The state after value t predicts value t + 1; training sees noisy values alone.
const end = washout + train;
const readout = ridge({ lambda: 1 }).fit(states.subarray(washout, end - 1), observed.subarray(washout + 1, end));
const predicted = readout.predict(states).data;
let residual = 0;
for (let t = washout + 1; t < end; t++) residual += (observed[t]! - predicted[t - 1]!) ** 2 / (train - 1);

// A prediction's errors are the residuals less what the noise of the value itself adds.
const filter = new PredictiveCodingFilter({
  transition: [[0]],
  observation: [[1]],
  processNoise: [[residual - noise ** 2]],
  observationNoise: [[noise ** 2]],
});
const errors = { "the observation": 0, "the readout's prediction": 0, "both, by the filter": 0 };
for (let t = end; t < truth.length; t++) {
  const { mean } = filter.correct([observed[t]!], [predicted[t - 1]!]);
  errors["the observation"] += (observed[t]! - truth[t]!) ** 2;
  errors["the readout's prediction"] += (predicted[t - 1]! - truth[t]!) ** 2;
  errors["both, by the filter"] += (mean[0]! - truth[t]!) ** 2;
}
for (const [name, sum] of Object.entries(errors)) console.log(`error of ${name}: ${Math.sqrt(sum / test).toFixed(4)}`);
