// Registered kinds on the CPU: processor microseconds an input on one thread, in WebAssembly and by the step
// in JavaScript, whether all bits are equal, and NumPy on one thread in turn (kinds.py). Usage:
//   npx tsx bench/cpu/kinds.ts
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ReservoirComputer } from "../../src/index.js";
import type { RegisteredReservoirOptions } from "../../src/reservoir/index.js";
import { started } from "./children.mjs";
import { machine } from "./machine.mjs";

const rounds = 5;
const osc = { kind: "oscillator", steps: 2, seed: 1 } as const;
const affine = { kind: "stateAffine", seed: 1 } as const;
/** What the peer is told: sizes of one step. */
const cases: readonly [name: string, options: RegisteredReservoirOptions, rows: number, peer: string][] = [
  ["300 oscillators, mean field, float64", { ...osc, size: 300, coupling: "meanField", precision: "float64" }, 400, "mean 300 float64"],
  [
    "10,000 oscillators, mean field, float64",
    { ...osc, size: 10000, coupling: "meanField", precision: "float64" },
    40,
    "mean 10000 float64",
  ],
  ["300 oscillators, random, float32", { ...osc, size: 300 }, 200, "dense 300 float32"],
  ["1000 oscillators, random, float32", { ...osc, size: 1000 }, 40, "dense 1000 float32"],
  ["1000 oscillators, random, float64", { ...osc, size: 1000, precision: "float64" }, 20, "dense 1000 float64"],
  ["4000 oscillators, random, float32", { ...osc, size: 4000 }, 3, "dense 4000 float32"],
  ["1000 oscillators, a tenth of W, float32", { ...osc, size: 1000, connectionProbability: 0.1 }, 100, "sparse 1000 float32"],
  ["state-affine, 300 coordinates, float32", { ...affine, size: 300, precision: "float32" }, 400, "affine 300 2 0 float32"],
  ["state-affine, 300 coordinates, float64", { ...affine, size: 300 }, 400, "affine 300 2 0 float64"],
  ["4 qubits, float64", { ...affine, quantum: { qubits: 4 } }, 2000, "affine 63 3 40 float64"],
  ["5 qubits, float64", { ...affine, quantum: { qubits: 5 } }, 400, "affine 255 3 50 float64"],
  ["6 qubits, float64", { ...affine, quantum: { qubits: 6 } }, 20, "affine 1023 3 60 float64"],
];

const threads = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" };
const peer = started("python3", [join(import.meta.dirname, "kinds.py")], {
  env: { ...process.env, ...threads },
  stdio: ["pipe", "pipe", "inherit"],
});
const answers = createInterface(peer.stdout)[Symbol.asyncIterator]();
const answer = async (): Promise<string> => (await answers.next()).value as string;

console.log(
  `${machine().join("\n")}\nNode ${process.version}; ${await answer()}; processor time, one thread each, median of ${rounds} rounds in turn (least)\n`,
);
console.log("| reservoir | us an input | NumPy | NumPy / ours | in JavaScript | JavaScript / ours | bits |");
console.log("|---|---|---|---|---|---|---|");

async function micros(computer: ReservoirComputer<RegisteredReservoirOptions>, rows: number) {
  const inputs = Float64Array.from({ length: rows }, (_, t) => Math.sin(0.3 * t));
  computer.reset();
  const begun = process.cpuUsage();
  const { data } = await computer.run(inputs);
  const { user, system } = process.cpuUsage(begun);
  return { micros: (user + system) / rows, data };
}

const middle = (times: readonly number[]) => times.toSorted((a, b) => a - b)[(times.length - 1) >> 1]!;
const shown = (value: number) => (value < 100 ? value.toFixed(1) : value.toFixed(0));
const spread = (times: readonly number[]) => `${shown(middle(times))} (${shown(Math.min(...times))})`;

for (const [name, options, rows, told] of cases) {
  await using ours = await ReservoirComputer.create(options, { engine: "cpu" });
  await using plain = await ReservoirComputer.fromModel(ours.model, { engine: "reference" });
  const few = Math.max(1, Math.ceil(rows / 20));
  const expected = await micros(plain, few);
  const { data } = await micros(ours, few);
  const isEqual = expected.data.every((value, i) => Object.is(value, data[i]));
  await micros(ours, rows);
  const [here, there, slow]: [number[], number[], number[]] = [[], [], []];
  for (let k = 0; k < rounds; k++) {
    here.push((await micros(ours, rows)).micros);
    peer.stdin.write(`${told} ${rows}\n`);
    there.push(Number(await answer()));
    if (k < 3) slow.push((await micros(plain, few)).micros);
  }
  const ratio = (times: readonly number[]) => `${(middle(times) / middle(here)).toFixed(1)}x`;
  console.log(
    `| ${name} | ${spread(here)} | ${spread(there)} | ${ratio(there)} | ${shown(middle(slow))} | ${ratio(slow)} | ${isEqual ? "equal" : "DIFFERENT"} |`,
  );
}
peer.stdin.end();
