// Quantum reservoirs beside tanh reservoirs of as many features, by the protocol of Fujii and
// Nakajima 2017: NARMA of orders 2 to 20 of a smooth input. Also the memory of random input. Usage:
//   node bench/accuracy/quantum.mjs [networks, default 3]
import { Matrix, ReservoirComputer, ridge } from "spillway";
import { memoryCapacity } from "spillway/analysis";
import { quantumReservoir } from "spillway/reservoir";

const networks = Number(process.argv[2] ?? 3);
const [total, washout, train] = [5000, 1000, 3000];
const orders = [2, 5, 10, 15, 20];
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The input in [0, .2] of 120 steps before the first row and of every row. */
const smooth = Float64Array.from({ length: total + 120 }, (_, k) => {
  const wave = (period) => Math.sin((2 * Math.PI * period * k) / 100);
  return 0.1 * (wave(2.11) * wave(3.73) * wave(4.11) + 1);
});

function narma(order) {
  const y = new Float64Array(smooth.length);
  for (let t = order; t < y.length; t++) {
    const before = y.subarray(t - order, t).reduce((a, b) => a + b, 0);
    y[t] =
      order === 2
        ? 0.4 * y[t - 1] + 0.4 * y[t - 1] * y[t - 2] + 0.6 * smooth[t - 1] ** 3 + 0.1
        : 0.3 * y[t - 1] + 0.05 * y[t - 1] * before + 1.5 * smooth[t - order] * smooth[t - 1] + 0.1;
  }
  return y.subarray(120);
}

const inputs = new Matrix(
  total,
  1,
  smooth.slice(120).map((s) => s / 0.2),
);
const targets = orders.map(narma);
const wanted = new Matrix(
  total,
  orders.length,
  Float64Array.from({ length: total * orders.length }, (_, i) => targets[i % orders.length][Math.floor(i / orders.length)]),
);

/** sum of e^2 / sum of y^2 of each order over the test rows. */
function errorsOf(features) {
  const readout = ridge({ lambda: 0, solver: "qr" }).fit(
    features.subarray(washout, washout + train),
    wanted.subarray(washout, washout + train),
  );
  const test = wanted.subarray(washout + train);
  const made = readout.predict(features.subarray(washout + train));
  return orders.map((_, c) => {
    let [error, all] = [0, 0];
    for (let t = 0; t < test.rows; t++) {
      error += (test.at(t, c) - made.at(t, c)) ** 2;
      all += test.at(t, c) ** 2;
    }
    return error / all;
  });
}

function row(name, features, found, seconds) {
  const middle = orders.map((_, c) => median(found.map((errors) => errors[c])));
  const note = seconds === undefined ? "" : `  ${seconds.toFixed(1)} s a network`;
  console.log(
    `${name.padEnd(34)}${String(features).padStart(4)}  ${middle.map((error) => error.toExponential(1).padStart(8)).join("")}${note}`,
  );
}

async function reservoirs(name, describe) {
  const found = [];
  let features = 0;
  const began = performance.now();
  for (let seed = 0; seed < networks; seed++) {
    const computer = await ReservoirComputer.create(describe(seed));
    features = computer.model.size;
    found.push(errorsOf(await computer.run(inputs)));
    await computer.dispose();
  }
  row(name, features, found, (performance.now() - began) / 1000 / networks);
}

const delayed = (count) =>
  new Matrix(
    total,
    count,
    Float64Array.from({ length: total * count }, (_, i) => smooth[Math.max(0, 120 + Math.floor(i / count) - (i % count))] / 0.2),
  );
const quantum = (qubits, virtualNodes) => (seed) => quantumReservoir({ qubits, virtualNodes, range: [0, 1], seed });
const tanh = (size) => (seed) => ({
  size,
  spectralRadius: 0.9,
  leakRate: 1,
  connectionProbability: 1,
  inputScaling: 0.5,
  bias: 0.2,
  precision: "float64",
  seed,
});
const affine = (size) => (seed) => ({ kind: "stateAffine", size, range: [0, 1], seed });

console.log(
  `NARMA of a smooth input, NMSE = sum of e^2 / sum of y^2, washout ${washout}, train ${train}, test ${total - washout - train},`,
);
console.log(`least squares; medians of ${networks} networks, seeds 0 to ${networks - 1}`);
console.log(
  `${"".padEnd(34)}features${orders
    .map((order) => String(order).padStart(8))
    .join("")
    .slice(2)}`,
);
row("input alone", 1, [errorsOf(inputs)]);
row("20 delayed inputs", 20, [errorsOf(delayed(20))]);
await reservoirs("5 qubits, V = 1", quantum(5, 1));
await reservoirs("5 qubits, V = 10", quantum(5, 10));
await reservoirs("6 qubits, V = 10", quantum(6, 10));
await reservoirs("drawn state-affine, n = 50", affine(50));
for (const size of [20, 50, 60, 100]) await reservoirs(`tanh, N = ${size}`, tanh(size));

console.log(`\nmemory of random input (sum over delays 0 to 40), mean of ${networks} networks`);
const memory = { maxDelay: 40, firstDelay: 0, amplitude: 1, washout: 500, length: 5000, heldOut: 2000 };
async function capacity(name, describe) {
  const found = [];
  for (let seed = 0; seed < networks; seed++) found.push((await memoryCapacity(describe(seed), { ...memory, seed })).total);
  console.log(
    `${name.padEnd(34)}${(found.reduce((a, b) => a + b) / networks).toFixed(2)}  (${found.map((each) => each.toFixed(2)).join(", ")})`,
  );
}
for (const [nodes, tau] of [
  [1, 1],
  [10, 1],
  [10, 4],
  [10, 16],
])
  await capacity(`5 qubits, V = ${nodes}, tau ${tau}`, (seed) => quantumReservoir({ qubits: 5, virtualNodes: nodes, tau, seed }));
for (const size of [20, 50]) await capacity(`tanh, N = ${size}`, (seed) => ({ ...tanh(size)(seed), inputScaling: 0.1, bias: 0 }));
