// Your own matrices: W from anywhere, dense or CSR, checked for shape and used as they are.
import { ReservoirComputer } from "spillway";

// A ring of five neurons that turns a pulse around: one input into neuron 0, no leak, linear.
const size = 5;
const weights = {
  rows: size,
  cols: size,
  rowOffsets: Uint32Array.from({ length: size + 1 }, (_, r) => r),
  columns: Uint32Array.from({ length: size }, (_, r) => (r + size - 1) % size),
  values: new Float64Array(size).fill(0.9),
};
const inputWeights = [[1], [0], [0], [0], [0]];
await using computer = await ReservoirComputer.create(
  { size, leakRate: 1, activation: "identity" },
  { matrices: { weights, inputWeights } },
);
const states = await computer.run([1, 0, 0, 0, 0, 0]);
for (const row of states.toArrays()) console.log(row.map((value) => value.toFixed(4)).join("  "));
