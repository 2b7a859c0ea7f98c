// What a classifier's statistics cost a state: the kernel, and plain loops in one run. Usage:
//   npx tsx bench/cpu/statistics.ts

import { Matrix } from "../../packages/numerics/src/index.js";
import { levelsOf, writeStatistics } from "../../src/model/classifier/statistics.js";
import { plainStatistics } from "../../test/model/plain-statistics.js";

const rounds = 9;
console.log(`nanoseconds a state, float32, 3 levels, median of ${rounds} rounds in turn (least)`);
for (const [rows, size] of [
  [150, 100],
  [1000, 100],
  [1000, 400],
] as const) {
  const states = new Matrix(
    rows,
    size,
    Float32Array.from({ length: rows * size }, (_, i) => Math.tanh(Math.sin(i * 1.7) + Math.cos(i * i))),
  );
  const levels = levelsOf([states], 3);
  const out = new Float64Array(size * 12);
  const repeats = Math.ceil(1e7 / (rows * size));
  const time = (run: typeof writeStatistics): number => {
    const begun = performance.now();
    for (let k = 0; k < repeats; k++) run(states, levels, out);
    return ((performance.now() - begun) * 1e6) / (repeats * rows * size);
  };
  const all = Array.from({ length: rounds }, () => [time(plainStatistics), time(writeStatistics)] as const);
  const shown = (i: 0 | 1): string => {
    const times = all.map((pair) => pair[i]).toSorted((a, b) => a - b);
    return `${times[(rounds - 1) / 2]!.toFixed(1)} (${times[0]!.toFixed(1)})`;
  };
  console.log(`  ${rows} x ${size}: plain loops ${shown(0)}, kernel ${shown(1)}`);
}
