// Mackey-Glass, tau = 17, closed loop over 84 steps after the protocol of Jaeger 2001 (GMD report 148, section 6), and of Jaeger and Haas 2004 for N = 1000.
// One training series and twenty trial series serve all seeds, which draw the networks. The figure depends on them: with a training series and trial series
// of its own for each of 60 seeds, the median at N = 400 in float64 is 3.2e-4; with one training series and trials of their own 2.7e-4.
// Usage: node bench/accuracy/mackey-glass.mjs [n400 | n400-float32 | n1000 ...] (all without arguments).
import { mackeyGlass, Matrix, ReservoirComputer, ridge } from "spillway";

const trials = 20;
const washout = 1000;
const trainLength = 3000;
const teacherForced = 1000;
const horizon = 84;

const protocols = {
  n400: {
    title: "N=400, float64, qr, lambda 1e-16 (Jaeger 2001)",
    published: 2.8e-4,
    bar: 2.8e-4,
    seeds: 20,
    lambda: 1e-16,
    // Jaeger's update 0.604 x + 0.44 tanh(...) in the leaky form: the state is scaled, so the radius takes the factor .44 / .396.
    reservoir: { size: 400, leakRate: 0.396, spectralRadius: (0.79 * 0.44) / 0.396, connectionProbability: 0.0125, precision: "float64" },
    feedback: 0.56,
  },
  "n400-float32": {
    title: "N=400, float32, qr, lambda 1e-12",
    published: 2.8e-4,
    bar: 1.2e-3,
    seeds: 20,
    lambda: 1e-12,
    reservoir: { size: 400, leakRate: 0.396, spectralRadius: (0.79 * 0.44) / 0.396, connectionProbability: 0.0125, precision: "float32" },
    feedback: 0.56,
  },
  n1000: {
    title: "N=1000, float64, qr, lambda 1e-18 (after Jaeger and Haas 2004)",
    published: 10 ** -4.2,
    bar: 4e-5,
    seeds: 12,
    lambda: 1e-18,
    reservoir: { size: 1000, leakRate: 1, spectralRadius: 0.8, connectionProbability: 0.01, precision: "float64" },
    feedback: 1,
  },
};

/** tanh(y - 1) undone, on the original axis. */
const original = (value) => Math.atanh(Math.max(-1 + 1e-15, Math.min(1 - 1e-15, value))) + 1;

async function score(protocol, seed) {
  const options = { method: "euler", step: 0.1, dt: 1, squash: true, discard: 1000 };
  const train = mackeyGlass(trainLength, { ...options, seed: "train" });
  const computer = await ReservoirComputer.create({
    ...protocol.reservoir,
    inputSize: 1,
    inputDistribution: "bernoulli",
    inputConnectivity: 0.5,
    inputScaling: 0.14,
    feedback: { size: 1, scaling: protocol.feedback },
    seed,
  });
  const constant = (rows) => new Matrix(rows, 1, new Float64Array(rows).fill(0.2));
  const states = await computer.run(constant(trainLength), { teacher: train });
  const readout = ridge({ solver: "qr", lambda: protocol.lambda, intercept: false, input: true }).fit(states, train, {
    washout,
    inputs: constant(trainLength),
  });
  let squares = 0;
  let mean = 0;
  let square = 0;
  let count = 0;
  for (let trial = 0; trial < trials; trial++) {
    const test = mackeyGlass(teacherForced + horizon, { ...options, seed: `test ${trial}` });
    computer.reset();
    await computer.run(constant(teacherForced), { teacher: test.slice(0, teacherForced) });
    const forecast = await computer.generate(horizon, readout, { inputs: constant(horizon) });
    const error = original(forecast.at(horizon - 1, 0)) - original(test.at(teacherForced + horizon - 1, 0));
    squares += error * error;
    for (const value of test.data) {
      const y = original(value);
      mean += y;
      square += y * y;
      count++;
    }
  }
  await computer.dispose();
  mean /= count;
  return Math.sqrt(squares / trials / (square / count - mean * mean));
}

const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

const chosen = process.argv.slice(2);
for (const [name, protocol] of Object.entries(protocols)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const started = performance.now();
  const scores = [];
  for (let seed = 0; seed < protocol.seeds; seed++) scores.push(await score(protocol, seed));
  console.log(
    `${protocol.title}: seeds 0-${protocol.seeds - 1}, ${trials} trials each, ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
  console.log(`  NRMSE84 by seed: ${scores.map((value) => value.toExponential(2)).join(" ")}`);
  console.log(
    `  median ${median(scores).toExponential(2)} (bar ${protocol.bar.toExponential(1)}, published ${protocol.published.toExponential(1)})`,
  );
}
