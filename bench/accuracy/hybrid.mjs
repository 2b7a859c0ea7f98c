// Hybrid forecasts of Lorenz-63: a model whose rho is wrong by a share e, the reservoir alone, and
// both together. Usage: node bench/accuracy/hybrid.mjs [draws, default 10] [first seed, default 1]
import { Forecaster, lorenz, Matrix, validPredictionTime } from "spillway";

const dt = 0.02;
const rows = 3000;
const starts = 10;
const apart = 500;
const steps = 1000;
const draws = Number(process.argv[2] ?? 10);
const first = Number(process.argv[3] ?? 1);
const shares = [0.001, 0.01, 0.1];
const settings = { horizon: 250, members: 1, reservoir: { size: 300, precision: "float64" }, choose: { starts: 10 } };

const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};
const shown = (values) =>
  `${median(values).toFixed(1).padStart(5)} (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;
/** M: one row later, by the same integrator with another rho. */
const wrong = (share) => (row) => lorenz(2, { initialState: [...row], dt, rho: 28 * (1 + share) }).row(1);

/** The median valid time of forecasts from the same starts. */
async function score(series, forecastFrom) {
  const times = [];
  for (let k = 0; k < starts; k++) {
    const at = rows + 200 + k * apart;
    const forecast = await forecastFrom(at);
    const target = series.subarray(at, at + steps);
    const reference = series.subarray(0, rows);
    times.push(validPredictionTime(target, forecast, { threshold: 0.4, reference, dt, lyapunovExponent: 0.9056 }).lyapunovTimes);
  }
  return median(times);
}

async function trained(series, options) {
  const forecaster = await Forecaster.fit(series.subarray(0, rows), { ...settings, ...options });
  try {
    return await score(series, (at) => forecaster.forecast(steps, { warmup: series.subarray(at - 200, at) }));
  } finally {
    await forecaster.dispose();
  }
}

console.log(
  `Lorenz-63, dt ${dt}, ${rows} rows to train on, N ${settings.reservoir.size}; Lyapunov times (.9056) to NRMSE .4 over all columns, median of\n` +
    `${starts} starts ${apart} rows apart in rows that follow; median of ${draws} draws of series and reservoir (least to most)`,
);
const found = new Map();
const note = (name, value) => found.set(name, [...(found.get(name) ?? []), value]);
for (let i = first; i < first + draws; i++) {
  const series = lorenz(rows + 200 + starts * apart + steps, { dt, discard: 1000, seed: `hybrid ${i}` });
  const reservoir = { ...settings.reservoir, seed: `hybrid ${i}` };
  note("reservoir alone", await trained(series, { reservoir }));
  for (const share of shares) {
    const model = wrong(share);
    const alone = (at) => {
      const out = Matrix.zeros(steps, 3);
      for (let t = 0; t < steps; t++) out.data.set(model(t === 0 ? series.row(at - 1) : out.row(t - 1)), 3 * t);
      return out;
    };
    note(`M alone, e ${share}`, await score(series, alone));
    for (const hybrid of ["input", "output", "both"])
      note(`hybrid ${hybrid}, e ${share}`, await trained(series, { reservoir, model, hybrid }));
  }
  process.stderr.write(`draw ${i}\n`);
}
for (const [name, values] of found) console.log(`  ${name.padEnd(24)} ${shown(values)}`);
for (const share of shares) {
  const own = found.get(`hybrid both, e ${share}`);
  const wins = own.filter((value, i) => value > Math.max(found.get("reservoir alone")[i], found.get(`M alone, e ${share}`)[i])).length;
  console.log(`e ${share}: both is better than the better of M and reservoir in ${wins} of ${draws} draws`);
}
