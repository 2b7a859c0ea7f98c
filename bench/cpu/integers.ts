// A step in integers on the CPU engine, beside a plain TypeScript loop over 16-bit arrays and
// beside binary32: microseconds a step, and the same states as the loop's. Usage:
//   npx tsx bench/cpu/integers.ts
import { cpus } from "node:os";
import { isSparse, Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { inputSteps, unit } from "../../src/reservoir/integer/step.js";
import { integerTanh } from "../../src/reservoir/integer/tanh.js";
import { integerRows } from "../../src/reservoir/integer/weights.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";

const rounds = 7;

/** The step of rule 18 as a loop over arrays, one neuron after the other. */
function plainLoop(model: ReservoirModel, inputs: Matrix): Float32Array {
  const { size, inputSize, weights } = model;
  const rows = integerRows(model);
  const sparse = isSparse(weights)
    ? { offsets: Int32Array.from(weights.rowOffsets), columns: Int32Array.from(weights.columns) }
    : undefined;
  const states = new Float32Array(inputs.rows * size);
  const driving = new Int32Array(inputSize);
  let x = new Int16Array(size);
  let next = new Int16Array(size);
  for (let t = 0; t < inputs.rows; t++) {
    for (let i = 0; i < inputSize; i++) driving[i] = inputSteps(inputs.data[t * inputSize + i]!);
    step(x, next);
    for (let r = 0; r < size; r++) states[t * size + r] = next[r]! / unit;
    [x, next] = [next, x];
  }
  return states;

  function step(before: Int16Array, after: Int16Array): void {
    for (let r = 0; r < size; r++) {
      let sum = 0;
      for (let i = 0; i < inputSize; i++) sum = (sum + Math.imul(rows.inputWeights[r * inputSize + i]!, driving[i]!)) | 0;
      sum = ((sum << 3) + rows.bias[r]!) | 0;
      if (sparse) {
        const end = sparse.offsets[r + 1]!;
        for (let p = sparse.offsets[r]!; p < end; p++) sum = (sum + Math.imul(rows.weights[p]!, before[sparse.columns[p]!]!)) | 0;
      } else {
        const first = r * size;
        for (let k = 0; k < size; k++) sum = (sum + Math.imul(rows.weights[first + k]!, before[k]!)) | 0;
      }
      const old = before[r]!;
      after[r] = old + ((Math.imul(rows.leakRate[r]!, integerTanh(sum >> rows.exponents[r]!) - old) + 16384) >> 15);
    }
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[(values.length - 1) / 2]!;

console.log(`${cpus()[0]!.model}, one thread, Node ${process.version}; microseconds a step, median of ${rounds} rounds in turn (least)\n`);
console.log("| reservoir | TypeScript loop | WebAssembly | ratio | binary32 | ratio |");
console.log("|---|---|---|---|---|---|");
for (const [name, options] of [
  ["200 neurons, sparse", { size: 200 }],
  ["200 neurons, dense", { size: 200, connectionProbability: 1 }],
  ["200 neurons, dense, 8 bits", { size: 200, connectionProbability: 1, weightPrecision: "int8" }],
  ["1000 neurons, sparse", { size: 1000 }],
  ["1000 neurons, dense", { size: 1000, connectionProbability: 1 }],
  ["1000 neurons, dense, 8 bits", { size: 1000, connectionProbability: 1, weightPrecision: "int8" }],
] as const satisfies readonly (readonly [string, ReservoirOptions])[]) {
  const integers = buildModel(resolveConfig({ ...options, seed: 1, arithmetic: "integer" }));
  const { weightPrecision: _, ...rest } = { weightPrecision: undefined, ...options };
  const floats = buildModel(resolveConfig({ ...rest, seed: 1 }));
  const steps = Math.max(200, Math.ceil(2e8 / options.size ** 2));
  const inputs = new Matrix(
    steps,
    1,
    Float32Array.from({ length: steps }, (_, t) => Math.sin(t * 0.3)),
  );
  const run = async (model: ReservoirModel): Promise<readonly [number, Float32Array]> => {
    const session = await cpuEngine.open(model);
    const into = Matrix.zeros(steps, model.size, "float32");
    const begun = performance.now();
    await session.run({ inputs }, { into });
    const took = performance.now() - begun;
    await session.dispose();
    return [took, into.data as Float32Array];
  };
  const loop = (): readonly [number, Float32Array] => {
    const begun = performance.now();
    const states = plainLoop(integers, inputs);
    return [performance.now() - begun, states];
  };
  const times: [number, number, number][] = [];
  for (let k = 0; k < rounds; k++) {
    const [plain, wasm, float] = [loop(), await run(integers), await run(floats)];
    if (!plain[1].every((value, i) => value === wasm[1][i])) throw new Error(`${name}: the states differ`);
    times.push([plain, wasm, float].map(([took]) => (1000 * took) / steps) as [number, number, number]);
  }
  const [plain, wasm, float] = ([0, 1, 2] as const).map((i) => times.map((row) => row[i]));
  const shown = (values: readonly number[]): string => `${median(values).toPrecision(3)} (${Math.min(...values).toPrecision(3)})`;
  const ratio = (values: readonly number[]): string => (median(values) / median(wasm!)).toFixed(1);
  console.log(`| ${name} | ${shown(plain!)} | ${shown(wasm!)} | ${ratio(plain!)} | ${shown(float!)} | ${ratio(float!)} |`);
}
