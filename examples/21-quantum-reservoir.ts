// A quantum reservoir beside tanh neurons with as many features: NARMA-10 of random input, and how
// many random inputs each remembers. No engine knows of qubits: they are the matrices of a
// state-affine system.
import { type AnyReservoirOptions, narma, nrmse, ReservoirComputer, ridge } from "spillway";
import { memoryCapacity } from "spillway/analysis";
import { quantumReservoir } from "spillway/reservoir";

const [washout, train, test] = [200, 2000, 1000];
const { inputs, targets } = narma(washout + train + test, { seed: 1 });

async function compare(name: string, reservoir: AnyReservoirOptions) {
  await using computer = await ReservoirComputer.create(reservoir);
  const states = await computer.run(inputs);
  const end = washout + train;
  const readout = ridge({ lambda: 1e-10, solver: "qr" }).fit(states.subarray(washout, end), targets.subarray(washout, end));
  const error = nrmse(targets.subarray(end), readout.predict(states.subarray(end)));
  const { total } = await memoryCapacity(computer, { maxDelay: 40, length: 3000, heldOut: 2000 });
  console.log(`${name}: ${states.cols} features, NARMA-10 NRMSE ${error.toFixed(3)}, memory ${total.toFixed(1)}`);
}

// Inputs of NARMA lie in [0, 0.5]; the measure's lie in [-0.8, 0.8].
await compare("5 qubits", quantumReservoir({ qubits: 5, virtualNodes: 10, range: [-0.8, 0.8], seed: 1 }));
await compare("drawn state-affine", { kind: "stateAffine", size: 50, range: [-0.8, 0.8], seed: 1 });
const tanh = { size: 50, spectralRadius: 0.9, leakRate: 1, inputScaling: 0.1, bias: 0.2, connectionProbability: 1, seed: 1 } as const;
await compare("tanh neurons", { ...tanh, precision: "float64" });
