// Pictures of small parts beside reservoirs for docs/images: double-double, values of a process,
// colouring, predictive coding, active inference. Usage: npx tsx scripts/gallery-parts.ts; npm run
// gallery makes them too.
import { writeFileSync } from "node:fs";
import { Matrix, mackeyGlass, ReservoirComputer, ridge } from "spillway";
import { ActiveInferenceAgent, lstd, PredictiveCodingFilter } from "spillway/model";
import { RandomStream, seedKeys, solveSquare } from "spillway/numerics";
import { type Figure, plotCurves, toSvg } from "spillway/plot";
import { colourGraph } from "spillway/reservoir";

const keep = (name: string, figure: Figure) => writeFileSync(`docs/images/${name}.svg`, toSvg(figure, { width: 640 }));

// Hilbert's matrix times a whole number, so that every element is exact; all weights are 1.
const sizes = Array.from({ length: 11 }, (_, k) => k + 2);
const digits = (solver: "doubleDouble" | "qr") =>
  sizes.map((n) => {
    let scale = 1;
    const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
    for (let d = 2; d < 2 * n; d++) scale *= d / divisor(scale, d);
    const rows = Matrix.zeros(n, n);
    const sums = new Float64Array(n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        rows.data[i * n + j] = scale / (i + j + 1);
        sums[i] = sums[i]! + scale / (i + j + 1);
      }
    const { weights } = ridge({ solver, lambda: 0, intercept: false }).fit(rows, sums);
    const worst = Math.max(...Array.from(weights.data, (w) => Math.abs(w - 1)));
    return Math.max(0, Math.min(16, -Math.log10(worst)));
  });
keep(
  "double-double",
  plotCurves(
    { "double-double": { x: sizes, y: digits("doubleDouble"), as: "both" }, "QR in binary64": { x: sizes, y: digits("qr"), as: "both" } },
    { title: "Least squares on Hilbert's matrix, lambda 0", xLabel: "rows and columns", yLabel: "right digits of the worst weight" },
  ),
);

// The ring of example 17: state 0 is observed, state 19 is rewarded.
const [size, steps, discount, moves] = [20, 20_000, 0.9, 0.95];
const equations = Matrix.zeros(size, size);
const reward = Matrix.zeros(size, 1);
for (let p = 0; p < size; p++) {
  equations.data[p * size + p] = 1 - discount * (1 - moves);
  equations.data[p * size + ((p + 1) % size)] = -discount * moves;
}
reward.data[size - 1] = 1;
const draws = new RandomStream(seedKeys("ring").weights, 0);
const observed = new Float64Array(steps);
const rewards = new Float64Array(steps);
const at = new Uint8Array(steps);
for (let t = 0, state = 0; t < steps; t++) {
  at[t] = state;
  observed[t] = state === 0 ? 1 : 0;
  rewards[t] = state === size - 1 ? 1 : 0;
  if (draws.uniform(0, t) < moves) state = (state + 1) % size;
}
/** Trained on the first half; the mean value found in each state of the second. */
function valuesBy(states: Matrix): number[] {
  const half = steps / 2;
  const readout = lstd({ discount }).fit(states.slice(0, half), rewards.subarray(0, half), { washout: 100 });
  const found = readout.predict(states.slice(half), undefined, { precision: "float64" }).data;
  return Array.from({ length: size }, (_, state) => {
    const there = Array.from(found).filter((_, t) => at[half + t] === state);
    return there.reduce((sum, value) => sum + value, 0) / there.length;
  });
}
await using ring = await ReservoirComputer.create({ size: 60, spectralRadius: 0.95, leakRate: 1, connectionProbability: 1, seed: 1 });
const byState = Array.from({ length: size }, (_, p) => p);
keep(
  "values",
  plotCurves(
    {
      exact: { x: byState, y: solveSquare(equations, reward)!.data },
      "60 neurons": { x: byState, y: valuesBy(await ring.run(observed)), as: "points" },
      "the observation alone": { x: byState, y: valuesBy(new Matrix(steps, 1, observed)), as: "points" },
    },
    { title: "Values of a ring whose state 0 is observed", xLabel: "state", yLabel: "value" },
  ),
);

// The Petersen graph of example 19: where its ten phases end.
const edges = [0, 1, 2, 3, 4].flatMap((i) => [[i, (i + 1) % 5] as const, [i, i + 5] as const, [i + 5, ((i + 2) % 5) + 5] as const]);
const { colours, cosines, sines } = await colourGraph({ vertices: 10, edges }, 3, { seed: 1 });
// In turns from -1/6 to 5/6, so that no gathering is cut in two.
const turns = Array.from(cosines, (c, i) => ((Math.atan2(sines[i]!, c) / (2 * Math.PI) + 1 + 1 / 6) % 1) - 1 / 6);
const vertices = (colour: number) => Array.from(turns.keys()).filter((i) => colours[i] === colour);
const gathered = (colour: number) => ({ x: vertices(colour), y: vertices(colour).map((i) => turns[i]!), as: "points" as const });
keep(
  "colouring",
  plotCurves(
    { "colour 0": gathered(0), "colour 1": gathered(1), "colour 2": gathered(2) },
    { title: "The Petersen graph in three colours", xLabel: "vertex", yLabel: "phase, turns" },
  ),
);

// Example 22 over the noise of the observation.
const [washout, train, test] = [200, 4000, 2000];
const end = washout + train;
const truth = mackeyGlass(end + test).data;
const noises = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3];
const errors = { "the observation": [] as number[], "the readout's prediction": [] as number[], "both, by the filter": [] as number[] };
for (const noise of noises) {
  const normal = new RandomStream(seedKeys("noise").weights, 0);
  const noisy = Float64Array.from(truth, (value, t) => value + noise * normal.normal(0, t));
  await using computer = await ReservoirComputer.create({ size: 200, inputScaling: 0.5, bias: 0.5, precision: "float64", seed: 1 });
  const states = await computer.run(noisy);
  const readout = ridge({ lambda: 1 }).fit(states.subarray(washout, end - 1), noisy.subarray(washout + 1, end));
  const predicted = readout.predict(states).data;
  let residual = 0;
  for (let t = washout + 1; t < end; t++) residual += (noisy[t]! - predicted[t - 1]!) ** 2 / (train - 1);
  const filter = new PredictiveCodingFilter({
    transition: [[0]],
    observation: [[1]],
    processNoise: [[residual - noise ** 2]],
    observationNoise: [[noise ** 2]],
  });
  const sums = [0, 0, 0];
  for (let t = end; t < truth.length; t++) {
    const { mean } = filter.correct([noisy[t]!], [predicted[t - 1]!]);
    for (const [k, value] of [noisy[t]!, predicted[t - 1]!, mean[0]!].entries()) sums[k]! += (value - truth[t]!) ** 2 / test;
  }
  for (const [k, list] of Object.values(errors).entries()) list.push(Math.sqrt(sums[k]!));
}
keep(
  "predictive-coding",
  plotCurves(Object.fromEntries(Object.entries(errors).map(([name, y]) => [name, { x: noises, y, as: "both" as const }])), {
    title: "Mackey-Glass with noise",
    xLabel: "deviation of the noise",
    yLabel: "error",
  }),
);

// The T-maze of example 23 over how often its cue is right. States: position (0 middle, 1 and 2 arms,
// 3 cue) x the arm with the reward.
const state = (position: number, arm: number) => 2 * position + arm;
const zeros = (rows: number) => Array.from({ length: rows }, () => new Array<number>(8).fill(0));
const transitions = Array.from({ length: 4 }, (_, to) => {
  const b = zeros(8);
  for (let from = 0; from < 4; from++) for (const arm of [0, 1]) b[state(from === 1 || from === 2 ? from : to, arm)]![state(from, arm)] = 1;
  return b;
});
/** The share of 1000 mazes in which the agent ends at the reward. */
function rewarded(right: number): number {
  const likelihood = zeros(5);
  for (const arm of [0, 1]) {
    likelihood[0]![state(0, arm)] = 1;
    for (const position of [1, 2]) likelihood[position - 1 === arm ? 2 : 1]![state(position, arm)] = 1;
    for (const told of [0, 1]) likelihood[3 + told]![state(3, arm)] = told === arm ? right : 1 - right;
  }
  const chances = new RandomStream(seedKeys("mazes").weights, 0);
  let found = 0;
  for (let maze = 0; maze < 1000; maze++) {
    const arm = chances.integer(0, maze, 2);
    const isRight = chances.uniform(2, maze) < right;
    const agent = new ActiveInferenceAgent({ likelihood, transitions, preferences: [0, -4, 2, 0, 0], prior: [0.5, 0.5, 0, 0, 0, 0, 0, 0] });
    agent.observe(0);
    for (let step = 0, position = 0; step < 2; step++) {
      const { action } = agent.plan();
      if (position === 0 || position === 3) position = action;
      agent.move(action);
      agent.observe(position === 0 ? 0 : position === 3 ? 3 + (isRight ? arm : 1 - arm) : position - 1 === arm ? 2 : 1);
      if (step === 1 && position - 1 === arm) found++;
    }
  }
  return found / 1000;
}
const reliable = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1];
keep(
  "active-inference",
  plotCurves(
    {
      "the cue's word": { x: [0.5, 1], y: [0.5, 1] },
      "a guess": { x: [0.5, 1], y: [0.5, 0.5] },
      "by expected free energy": { x: reliable, y: reliable.map(rewarded), as: "points" },
    },
    { title: "A T-maze with a cue", xLabel: "how often the cue is right", yLabel: "share of rewards" },
  ),
);
