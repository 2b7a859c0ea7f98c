// Values of a process observed in part: a ring of 20 states, of which only state 0 is observed,
// with a reward in state 19. Least-squares temporal differences on a reservoir's states, and on the
// observation alone, beside the exact values.
import { Matrix, ReservoirComputer } from "spillway";
import { lstd } from "spillway/model";
import { RandomStream, seedKeys, solveSquare } from "spillway/numerics";

const [size, steps, discount, moves] = [20, 20_000, 0.9, 0.95];
// V(p) = r(p) + discount (.95 V(p + 1) + .05 V(p))
const equations = Matrix.zeros(size, size);
const reward = Matrix.zeros(size, 1);
for (let p = 0; p < size; p++) {
  equations.data[p * size + p] = 1 - discount * (1 - moves);
  equations.data[p * size + ((p + 1) % size)] = -discount * moves;
}
reward.data[size - 1] = 1;
const values = solveSquare(equations, reward)!.data;
console.log(`exact values: ${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`);

const draws = new RandomStream(seedKeys("ring").weights, 0);
const observed = new Float64Array(steps);
const rewards = new Float64Array(steps);
const exact = new Float64Array(steps);
for (let t = 0, state = 0; t < steps; t++) {
  observed[t] = state === 0 ? 1 : 0;
  rewards[t] = state === size - 1 ? 1 : 0;
  exact[t] = values[state]!;
  if (draws.uniform(0, t) < moves) state = (state + 1) % size;
}
/** Trained on the first half, scored on the second. */
function error(states: Matrix): string {
  const half = steps / 2;
  const readout = lstd({ discount }).fit(states.slice(0, half), rewards.subarray(0, half), { washout: 100 });
  const found = readout.predict(states.slice(half), undefined, { precision: "float64" });
  let sum = 0;
  for (let t = 0; t < half; t++) sum += (found.data[t]! - exact[half + t]!) ** 2;
  return Math.sqrt(sum / half).toFixed(3);
}
const errors: string[] = [];
for (const seed of [1, 2, 3, 4, 5]) {
  await using computer = await ReservoirComputer.create({ size: 60, spectralRadius: 0.95, leakRate: 1, connectionProbability: 1, seed });
  errors.push(error(await computer.run(observed)));
}
console.log(`error of values from 60 neurons, five seeds: ${errors.join(", ")}`);
console.log(`error of values from the observation alone: ${error(new Matrix(steps, 1, observed))}`);
