// Local reservoirs with shared weights on the Kuramoto-Sivashinsky equation of length 100: how long
// a forecast stays good. Every seed has a series and a network of its own; lambda is chosen by
// forecasts inside the training rows, of a network of the same size: what suits a small one can run
// away in a large one. Usage:
//   node bench/accuracy/kuramoto-sivashinsky.mjs [neurons] [training rows] [seed ...] [--lambda 1e-6]
// With --lambda nothing is chosen, which takes a third of the time.
import { parseArgs } from "node:util";
import { FieldForecaster, validPredictionTime } from "spillway";
import { kuramotoSivashinsky } from "spillway/series";

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { lambda: { type: "string" } } });
const [neurons = 2000, rows = 4000, ...given] = positionals.map(Number);
const fixed = flags.lambda === undefined ? undefined : Number(flags.lambda);
const seeds = given.length > 0 ? given : [1, 2, 3];
const [L, dt, exponent, apart, steps, synchronise, starts] = [100, 0.25, 0.09, 100, 480, 60, 25];
const choose = { lambdas: [1e-7, 1e-6, 1e-5, 1e-4], starts: 8, loss: "validTime" };

/** Lyapunov times of forecasts from starts, sorted. */
async function validTimes(model, series, first) {
  const valid = [];
  for (let from = first; valid.length < starts; from += apart) {
    const forecast = await model.forecast(steps, { warmup: series.subarray(from - synchronise, from) });
    const options = { threshold: 0.5, norm: "perColumn", reference: series, dt, lyapunovExponent: exponent };
    valid.push(validPredictionTime(series.subarray(from, from + steps), forecast, options).lyapunovTimes);
  }
  return valid.sort((a, b) => a - b);
}

console.log(
  `Kuramoto-Sivashinsky, L ${L}, 256 points, ETDRK4 step .0625, dt ${dt}: ${rows} rows, 32 groups, halo 6, shared weights, N ${neurons},\n` +
    `degree 3, every second state squared; Lyapunov times (${exponent}) to NRMSE by column above .5, ${synchronise} rows to synchronise`,
);
for (const seed of seeds) {
  const initialState = Array.from({ length: 256 }, (_, k) => {
    const angle = (2 * Math.PI * k) / 256;
    return Math.cos((seed + 1) * angle) * (1 + Math.sin((seed % 3) * angle + seed));
  });
  const series = kuramotoSivashinsky(rows + 200 + starts * apart + steps, { N: 256, L, dt, discard: 1000, initialState });
  const training = series.subarray(0, rows);
  const begun = performance.now();
  const reservoir = {
    ...{ size: neurons, seed, connectionProbability: 3 / neurons, inputConnectivity: 1 / 20 },
    ...{ spectralRadius: 0.6, inputScaling: 0.5, bias: 0, leakRate: 1 },
  };
  const readout = { transform: "squareHalf", ...(fixed !== undefined && { lambda: fixed }) };
  const options = { groups: 32, halo: 6, reservoir, readout, ...(fixed === undefined && { horizon: 300, choose }) };
  const model = await FieldForecaster.fit(training, options);
  const lambda = fixed ?? model.choice.kept[0].lambda;
  const fitted = (performance.now() - begun) / 1000;
  const valid = await validTimes(model, series, rows + 200);
  await model.dispose();
  const all = (performance.now() - begun) / 1000;
  console.log(
    `seed ${seed}: lambda ${lambda}${fixed === undefined ? ` of ${choose.lambdas.join(", ")}` : ""}; ${starts} starts ${apart} rows apart after the training rows: median ` +
      `${valid[12].toFixed(2)} (${valid[0].toFixed(1)} to ${valid.at(-1).toFixed(1)}); choice and fit ${fitted.toFixed(0)} s, all ${all.toFixed(0)} s`,
  );
}
