// H. Jaeger 2001, "The echo state approach to analysing and training recurrent neural networks",
// GMD report 148, section 6: the Mackey-Glass series, tau = 17, N = 400, closed loop, 3000 training
// steps. The report has NRMSE84 = 2.8e-4 for one network and one training series; here each of nine
// seeds draws a network, a training series and twenty trials, to show the spread too.
import { Matrix, mackeyGlass, ReservoirComputer, ridge } from "spillway";

const published = 2.8e-4;
const protocol = { method: "euler", step: 0.1, dt: 1, squash: true, discard: 1000 } as const;
const constant = (rows: number) => new Matrix(rows, 1, new Float64Array(rows).fill(0.2));
/** tanh(y - 1) undone: scores are in the series' own units. */
const original = (value: number) => Math.atanh(Math.max(-1 + 1e-15, Math.min(1 - 1e-15, value))) + 1;

const scores: number[] = [];
for (let seed = 0; seed < 9; seed++) {
  const train = mackeyGlass(3000, { ...protocol, seed: `train ${seed}` });
  // Jaeger's update 0.604 x + 0.44 tanh(...), in the leaky form: the radius takes the factor .44 /
  // .396.
  await using computer = await ReservoirComputer.create({
    size: 400,
    leakRate: 0.396,
    spectralRadius: (0.79 * 0.44) / 0.396,
    connectionProbability: 0.0125,
    inputSize: 1,
    inputDistribution: "bernoulli",
    inputConnectivity: 0.5,
    inputScaling: 0.14,
    feedback: { size: 1, scaling: 0.56 },
    precision: "float64",
    seed,
  });
  const states = await computer.run(constant(3000), { teacher: train });
  const readout = ridge({ lambda: 1e-16, solver: "qr" }).fit(states, train, { washout: 1000 });
  let squares = 0;
  const values: number[] = [];
  for (let trial = 0; trial < 20; trial++) {
    const series = mackeyGlass(1084, { ...protocol, seed: `trial ${seed}/${trial}` });
    computer.reset();
    await computer.run(constant(1000), { teacher: series.slice(0, 1000) });
    const free = await computer.generate(84, readout, { inputs: constant(84) });
    squares += (original(free.at(83, 0)) - original(series.at(1083, 0))) ** 2 / 20;
    values.push(...Array.from(series.data, original));
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  scores.push(Math.sqrt(squares / variance));
  console.log(`seed ${seed}: NRMSE84 ${scores.at(-1)!.toExponential(1)}`);
}
scores.sort((a, b) => a - b);
const [low, median, high] = [scores[2]!, scores[4]!, scores[6]!].map((score) => score.toExponential(1));
console.log(`median ${median}, quartiles ${low} and ${high}; published ${published.toExponential(1)}`);
