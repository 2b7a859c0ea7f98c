// H. Jaeger 2001, "Short term memory in echo state networks", GMD report 152: the memory capacity
// of N units is at most N, linear units come close to it, and squashing costs memory. Reproduces
// the order of those three, for N = 20.
import "spillway";
import { memoryCapacity } from "spillway/analysis";

const size = 20;
const options = { maxDelay: 2 * size, length: 6000, heldOut: 4000, amplitude: 0.8, firstDelay: 0 } as const;
const common = { size, leakRate: 1, connectionProbability: 1, precision: "float64", seed: 1 } as const;

const linear = await memoryCapacity(
  { ...common, topology: "orthogonal", spectralRadius: 0.95, activation: "identity", inputScaling: 0.1 },
  options,
);
const weak = await memoryCapacity({ ...common, spectralRadius: 0.95, activation: "tanh", inputScaling: 0.1 }, options);
const strong = await memoryCapacity({ ...common, spectralRadius: 0.95, activation: "tanh", inputScaling: 2 }, options);

console.log(`bound: ${size}`);
console.log(`linear units, orthogonal weights: ${linear.total.toFixed(1)}`);
console.log(`tanh units, weak input:           ${weak.total.toFixed(1)}`);
console.log(`tanh units, strong input:         ${strong.total.toFixed(1)}`);
if (!(linear.total <= size * 1.01 && linear.total > weak.total && weak.total > strong.total))
  throw new Error("the order of the paper is not found");
