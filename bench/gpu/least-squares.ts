// Least squares in double-double, and ridge regression by it: seconds on a device and on the host,
// with whether all bits are equal.
// Usage: npx tsx bench/gpu/least-squares.ts

import { openDevice } from "../../packages/gpu/src/index.js";
import { type DoubleDoubles, ddLeastSquares } from "../../packages/numerics/src/double-double-rows.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { DeviceDoubleDouble, leastSquaresOnDevice } from "../../src/engine/cuda/least-squares.js";
import { ridge } from "../../src/readout/index.js";

using context = openDevice();
console.log(`${context.info.name}\n\n| rows | columns | device s | host s | bits |\n|---|---|---|---|---|`);

const draws = new RandomStream(seedKeys("least squares").weights, 0);
const columns = (count: number, rows: number, from: number): DoubleDoubles[] =>
  Array.from({ length: count }, (_, c) => ({
    high: Float64Array.from({ length: rows }, (_, r) => draws.uniform(r, from + c) - 0.5),
    low: new Float64Array(rows),
  }));
const copies = (all: readonly DoubleDoubles[]) => all.map(({ high, low }) => ({ high: high.slice(), low: low.slice() }));

await leastSquaresOnDevice(context, columns(2, 10, 0), columns(1, 10, 2));
for (const [rows, features] of [
  [4000, 100],
  [4000, 364],
] as const) {
  const [x, y] = [columns(features, rows, 0), columns(3, rows, features)];
  let start = performance.now();
  const there = await leastSquaresOnDevice(context, x, y);
  const seconds = (performance.now() - start) / 1000;
  start = performance.now();
  const solve = ddLeastSquares(copies(x), copies(y));
  let solved = solve.next();
  while (!solved.done) solved = solve.next();
  const onHost = (performance.now() - start) / 1000;
  const isEqual = JSON.stringify(there) === JSON.stringify(solved.value);
  console.log(`| ${rows} | ${features} | ${seconds.toFixed(3)} | ${onHost.toFixed(2)} | ${isEqual ? "equal" : "DIFFERENT"} |`);
}

console.log("\n| ridge: rows | features | device s | host s | bits |\n|---|---|---|---|---|");
using blas = new DeviceDoubleDouble(context);
const matrix = (rows: number, cols: number, from: number) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, i) => draws.uniform(i, from) - 0.5),
  );
for (const [rows, features] of [
  [5000, 50],
  [5000, 200],
  [2000, 400],
] as const) {
  const [states, targets] = [matrix(rows, features, 1000), matrix(rows, 1, 1001)];
  const timed = (options: { readonly blas?: DeviceDoubleDouble }) => {
    const start = performance.now();
    const { weights } = ridge({ solver: "doubleDouble", lambda: 1e-10, ...options }).fit(states, targets);
    return { seconds: (performance.now() - start) / 1000, bits: Buffer.from(weights.data.buffer) };
  };
  const [there, here] = [timed({ blas }), timed({})];
  const bits = there.bits.equals(here.bits) ? "equal" : "DIFFERENT";
  console.log(`| ${rows} | ${features} | ${there.seconds.toFixed(3)} | ${here.seconds.toFixed(2)} | ${bits} |`);
}
