// Local reservoirs with shared weights on the Kuramoto-Sivashinsky equation of length 100: how long
// a forecast stays good. Usage:
//   node bench/accuracy/kuramoto-sivashinsky.mjs [neurons] [training rows] [lambda]
import { FieldForecaster, validPredictionTime } from "spillway";
import { kuramotoSivashinsky } from "spillway/tasks";

const [neurons = 2500, rows = 8000, lambda = 1e-6] = process.argv.slice(2).map(Number);
const [L, dt, exponent, starts, apart, steps, synchronise] = [100, 0.25, 0.09, 25, 100, 480, 60];

const series = kuramotoSivashinsky(rows + 200 + starts * apart + steps, { N: 256, L, dt, discard: 1000 });
const begun = performance.now();
const model = await FieldForecaster.fit(series.subarray(0, rows), {
  groups: 32,
  halo: 6,
  reservoir: {
    size: neurons,
    seed: 1,
    connectionProbability: 3 / neurons,
    inputConnectivity: 1 / 20,
    spectralRadius: 0.6,
    inputScaling: 0.5,
    bias: 0,
    leakRate: 1,
  },
  readout: { lambda, transform: "squareHalf" },
});
const seconds = (performance.now() - begun) / 1000;
const valid = [];
for (let i = 0; i < starts; i++) {
  const from = rows + 200 + i * apart;
  const forecast = await model.forecast(steps, { warmup: series.subarray(from - synchronise, from) });
  const options = { threshold: 0.5, norm: "perColumn", reference: series, dt, lyapunovExponent: exponent };
  valid.push(validPredictionTime(series.subarray(from, from + steps), forecast, options).lyapunovTimes);
}
valid.sort((a, b) => a - b);
console.log(
  `Kuramoto-Sivashinsky, L ${L}, 256 points, ETDRK4 step .0625, dt ${dt}: ${rows} rows, 32 groups, halo 6, shared weights,\n` +
    `N ${neurons}, degree 3, lambda ${lambda}, every second state squared; Lyapunov times (${exponent}) to NRMSE by column above .5,\n` +
    `${starts} starts ${apart} rows apart after the training part, ${synchronise} rows to synchronise: median ${valid[12].toFixed(2)} ` +
    `(${valid[0].toFixed(1)} to ${valid.at(-1).toFixed(1)}), fit ${seconds.toFixed(0)} s, all ${((performance.now() - begun) / 1000).toFixed(0)} s`,
);
await model.dispose();
