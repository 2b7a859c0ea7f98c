// Figures beside their closed forms: phase oscillators that lock or shake in a bath, policy
// evaluation, Ising models in a transverse field, colourings, free energy, and Hilbert's matrix in
// double-double. Usage: node bench/accuracy/closed-forms.mjs
import { Matrix, ReservoirComputer, ridge } from "spillway";
import { ActiveInferenceAgent, lstd } from "spillway/model";
import { RandomStream, sampleTransverseField, seedKeys } from "spillway/numerics";
import { colourGraph } from "spillway/reservoir";

const row = (...cells) => console.log(`| ${cells.join(" | ")} |`);
const table = (...heads) => {
  console.log();
  row(...heads);
  row(...heads.map(() => "---"));
};
const fixed = (value, digits = 4) => value.toFixed(digits);

table("oscillators", "figure", "closed form");
const free = { kind: "oscillator", pull: 1e-30, gain: 0, inputSize: 0, precision: "float64" };
for (const strength of [1.2, 1.5, 2, 4]) {
  const lorentz = { coupling: "meanField", strength, frequencySpread: 0.5, frequencyDistribution: "lorentz", order: true };
  const computer = await ReservoirComputer.create({ ...free, ...lorentz, size: 2000, tau: 0.1, steps: 1, seed: 3 });
  await computer.run(Matrix.zeros(600, 0));
  const states = await computer.run(Matrix.zeros(400, 0));
  const mean = Array.from({ length: 400 }, (_, t) => states.at(t, 4000)).reduce((a, b) => a + b) / 400;
  row(`R of 2000, Kc = 1, K = ${strength}`, fixed(mean), fixed(Math.sqrt(1 - 1 / strength)));
}
for (const precision of ["float32", "float64"]) {
  const bath = { coupling: "meanField", strength: 0, frequencySpread: 0, pull: 1, gain: 0, noise: 0.001, tau: 0.5, steps: 5 };
  const computer = await ReservoirComputer.create({ kind: "oscillator", ...bath, size: 2000, seed: 2, precision });
  const bias = computer.model.matrices.bias.data;
  await computer.run(Matrix.zeros(20, 1));
  let sum = 0;
  for (let round = 0; round < 30; round++) {
    const states = (await computer.run(Matrix.zeros(4, 1))).row(3);
    for (let i = 0; i < 2000; i++) sum += (states[2000 + i] * Math.cos(bias[i]) - states[i] * Math.sin(bias[i])) ** 2;
  }
  row(`<x^2> k / kT, ${precision}`, fixed(sum / 60_000 / 0.001), "1");
}

table("Boyan's chain, 10,000 episodes", "weights", "exact -24, -16, -8, 0: largest error");
const draws = new RandomStream(seedKeys("policy").weights, 0);
const episodes = Array.from({ length: 10_000 }, (_, number) => {
  const [states, rewards] = [[], []];
  for (let position = 12, k = 0; position > 0; k++) {
    states.push([0, 1, 2, 3].map((anchor) => Math.max(0, 1 - Math.abs((12 - position) / 4 - anchor))));
    rewards.push(position === 1 ? -2 : -3);
    position -= position === 1 || draws.uniform(number, k) < 0.5 ? 1 : 2;
  }
  return { states, rewards };
});
for (const trace of [0, 0.4, 1]) {
  const { weights } = lstd({ discount: 1, lambda: 0, intercept: false, episodes: true, trace }).fit(
    episodes.map(({ states }) => states),
    episodes.map(({ rewards }) => rewards),
  );
  const error = Math.max(...[-24, -16, -8, 0].map((exact, f) => Math.abs(weights.data[f] - exact)));
  row(`trace ${trace}`, Array.from(weights.data, (weight) => fixed(weight, 3)).join(", "), fixed(error, 3));
}

table("ring of 8 spins, beta 2", "energy a spin", "exact for as many slices", "limit");
const ring = { spins: 8, couplings: Array.from({ length: 8 }, (_, i) => [i, (i + 1) % 8, 1]) };
for (const [transverseField, slices, exact, limit] of [
  [0.5, 16, -1.0583, -1.0546],
  [1, 8, -1.3061, -1.2555],
  [1, 16, -1.2687, -1.2555],
  [1, 32, -1.2588, -1.2555],
]) {
  const { energy, error } = await sampleTransverseField(ring, {
    beta: 2,
    transverseField,
    slices,
    sweeps: 2000,
    washout: 200,
    chains: 20,
    seed: 5,
  });
  row(`Gamma ${transverseField}, ${slices} slices`, `${fixed(energy / 8)} +- ${fixed(error / 8)}`, exact, limit);
}

table("colouring, 100 runs", "colours", "proper by phases alone", "after repairs", "repairs of random colours");
const cycle = (n) => ({ vertices: n, edges: Array.from({ length: n }, (_, i) => [i, (i + 1) % n]) });
const petersen = {
  vertices: 10,
  edges: [0, 1, 2, 3, 4].flatMap((i) => [
    [i, (i + 1) % 5],
    [i, i + 5],
    [i + 5, ((i + 2) % 5) + 5],
  ]),
};
const complete = (n) => ({ vertices: n, edges: Array.from({ length: n }, (_, b) => Array.from({ length: b }, (__, a) => [a, b])).flat() });
const mycielski = ({ vertices: n, edges }) => ({
  vertices: 2 * n + 1,
  edges: [
    ...edges.flatMap(([a, b]) => [
      [a, b],
      [a, b + n],
      [a + n, b],
    ]),
    ...Array.from({ length: n }, (_, i) => [n + i, 2 * n]),
  ],
});
async function share(graph, colours, options) {
  let proper = 0;
  for (let seed = 0; seed < 100; seed++) if ((await colourGraph(graph, colours, { seed, ...options })).conflicts === 0) proper++;
  return `${proper} %`;
}
for (const [name, graph, colours] of [
  ["Petersen", petersen, 3],
  ["cycle of 9", cycle(9), 3],
  ["myciel3", mycielski(cycle(5)), 4],
  ["K6", complete(6), 6],
  ["myciel4", mycielski(mycielski(cycle(5))), 5],
]) {
  const alone = await share(graph, colours, { repair: false });
  row(name, colours, alone, await share(graph, colours, { repair: true }), await share(graph, colours, { repair: true, steps: 0 }));
}

table("active inference: four outcomes of a chain of two states", "free energy", "-ln p(o)");
const agent = new ActiveInferenceAgent({
  likelihood: [
    [0.7, 0.1],
    [0.3, 0.9],
  ],
  transitions: [
    [
      [0.9, 0.2],
      [0.1, 0.8],
    ],
  ],
  preferences: [0, 0],
  prior: [0.6, 0.4],
});
let surprise = 0;
for (const outcome of [0, 1, 1, 0]) {
  agent.move(0);
  surprise += agent.observe(outcome).freeEnergy;
}
row("outcomes 0, 1, 1, 0", surprise, 3.322031772373127);

table("Hilbert 12 x 12 by ridge, lambda 0, weights 1", "solver", "largest error of a weight");
const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
let multiple = 1;
for (let k = 2; k < 24; k++) multiple = (multiple * k) / divisor(multiple, k);
const hilbert = Array.from({ length: 12 }, (_, i) => Array.from({ length: 12 }, (__, j) => multiple / (i + j + 1)));
const sums = hilbert.map((each) => [each.reduce((a, b) => a + b)]);
for (const solver of ["doubleDouble", "qr"]) {
  const { weights } = ridge({ solver, lambda: 0, intercept: false }).fit(hilbert, sums);
  row("", solver, Math.max(...Array.from(weights.data, (weight) => Math.abs(weight - 1))).toExponential(1));
}
