// Phase oscillators forecast the Lorenz system: 300 of them, with and without coupling, beside tanh
// neurons with as many features. Times are Lyapunov times until the error passes 0.4.
import { Forecaster, type ForecasterOptions, lorenz, validPredictionTime } from "spillway";

const [dt, exponent, starts] = [0.02, 0.9056, 8];
const series = lorenz(9200, { dt, discard: 1000 });

async function forecasts(name: string, reservoir: ForecasterOptions["reservoir"], readout: ForecasterOptions["readout"]) {
  const times: number[] = [];
  await using forecaster = await Forecaster.fit(series.subarray(0, 5200), { reservoir, readout, washout: 200 });
  for (let from = 5500; times.length < starts; from += 350) {
    const made = await forecaster.forecast(900, { warmup: series.subarray(from - 300, from) });
    const { lyapunovTimes } = validPredictionTime(series.subarray(from, from + 900), made, { dt, lyapunovExponent: exponent });
    times.push(lyapunovTimes!);
  }
  times.sort((a, b) => a - b);
  const middle = (times[starts / 2 - 1]! + times[starts / 2]!) / 2;
  console.log(`${name}: ${middle.toFixed(1)} (${times[0]!.toFixed(1)} to ${times.at(-1)!.toFixed(1)})`);
}

const oscillators = {
  kind: "oscillator",
  size: 300,
  coupling: "meanField",
  strength: 0.457,
  frequencySpread: 0.166,
  gain: 0.162,
  inputs: "one",
  harmonics: 2,
  precision: "float64",
  seed: 1,
} as const;
await forecasts("300 oscillators, 1200 features", oscillators, { lambda: 1e-8, solver: "qr" });
await forecasts("the same, uncoupled", { ...oscillators, strength: 0 }, { lambda: 1e-8, solver: "qr" });
const tanh = { size: 600, spectralRadius: 0.6, leakRate: 1, bias: 0.5, inputScaling: 0.2, precision: "float64", seed: 1 } as const;
await forecasts("600 tanh neurons and their squares", tanh, { lambda: 1e-8, solver: "qr", transform: "squares" });
