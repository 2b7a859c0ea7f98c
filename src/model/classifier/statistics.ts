// What each neuron did over a sequence, in a few numbers: the features of a classifier's
// "statistics". docs/numerics.md, rule 10, has the order of sums. It runs no reservoir.
import { Matrix } from "@spillway/numerics";
import { allocateRegions, float64View, type Regions } from "@spillway/numerics/linear-algebra/memory.js";

/** Statistics of a neuron that need no level. */
const plain = 6;

/** Bytes of states that are looked at together. */
const partBytes = 2 ** 28;

/** How many numbers a neuron has with so many levels. */
export function statisticsPerNeuron(levels: number): number {
  return plain + 2 * levels;
}

/**
 * Writes statistics of the states x(1) ... x(T) of N neurons, N values of each:
 *
 * - mean, 1/T sum x(t)
 * - deviation, sqrt(max(0, 1/T sum x(t)^2 - mean^2))
 * - largest, smallest, last
 * - change, 1/T sum over t > 1 of |x(t) - x(t-1)|
 * - above, N values for each level h: 1/T times the number of t with x(t) > h
 * - crossings, N values for each level h: 1/T times the number of t > 1 with x(t) > h unlike
 *   x(t-1) > h
 *
 * Sums are binary64, in rising t from 0. `levels` is Q x N and `out` takes N (6 + 2 Q) values.
 * Shares above levels are ROCKET's proportions of positive values (Dempster, Petitjean and Webb
 * 2020, Data Min. Knowl. Disc. 34). The kernel is assembly/statistics.ts.
 */
export function writeStatistics(states: Matrix, levels: Matrix<Float64Array>, out: Float64Array, part = partBytes): void {
  const { rows, cols: size } = states;
  const bytes = states.data.BYTES_PER_ELEMENT;
  const most = Math.max(4, Math.floor(part / (rows * bytes)));
  const statistics = statisticsPerNeuron(levels.rows);
  for (let first = 0; first < size; first += most) {
    const count = Math.min(most, size - first);
    const memory = memoryFor({
      states: rows * count * bytes,
      levels: levels.rows * count * 8,
      out: statistics * count * 8,
      packed: rows * 48,
    });
    const { at, exports } = memory;
    const view = new (bytes === 4 ? Float32Array : Float64Array)(memory.memory.buffer, at.states, rows * count);
    copyColumns(states, first, count, view);
    copyColumns(levels, first, count, float64View(memory, at.levels, levels.rows * count));
    const run = bytes === 4 ? exports.statistics32 : exports.statistics64;
    run(at.states, rows, count, at.levels, levels.rows, at.out, at.packed);
    const made = float64View(memory, at.out, statistics * count);
    for (let k = 0; k < statistics; k++) out.set(made.subarray(k * count, (k + 1) * count), k * size + first);
  }
}

/** Columns of a matrix, one row after the other. */
function copyColumns({ rows, cols, data }: Matrix, first: number, count: number, into: Float32Array | Float64Array): void {
  if (count === cols) into.set(data);
  else for (let t = 0; t < rows; t++) into.set(data.subarray(t * cols + first, t * cols + first + count), t * count);
}

/** Bytes up to which memory is kept for the next sequence. */
const keptBytes = 2 ** 26;

type Sizes = Readonly<Record<"states" | "levels" | "out" | "packed", number>>;
let kept: { readonly sizes: Sizes; readonly memory: Regions<keyof Sizes> } | undefined;

function memoryFor(sizes: Sizes): Regions<keyof Sizes> {
  const names = Object.keys(sizes) as (keyof Sizes)[];
  if (kept && names.every((name) => kept!.sizes[name] >= sizes[name])) return kept.memory;
  const memory = allocateRegions("the statistics of a sequence", sizes, "cut the sequence into shorter ones");
  if (names.reduce((sum, name) => sum + sizes[name], 0) <= keptBytes) kept = { sizes, memory };
  return memory;
}

/** About a hundred rows of a sequence, evenly spaced: every k-th, k = max(1, floor(T / 100)). */
export function someRows(states: Matrix): Matrix {
  const step = Math.max(1, Math.floor(states.rows / 100));
  const kept = Matrix.zeros(Math.ceil(states.rows / step), states.cols);
  for (let k = 0; k < kept.rows; k++) kept.row(k).set(states.row(k * step));
  return kept;
}

/**
 * Levels of each column that part its n values into shares of one size, Q x N: level k of 1 ... Q
 * is value floor(k n / (Q + 1)) of the sorted ones, counted from 0.
 */
export function levelsOf(samples: readonly Matrix[], count: number): Matrix<Float64Array> {
  const size = samples[0]!.cols;
  const out = Matrix.zeros(count, size);
  const values = new Float64Array(samples.reduce((sum, { rows }) => sum + rows, 0));
  for (let r = 0; r < size; r++) {
    let n = 0;
    for (const { rows, data } of samples) for (let t = 0; t < rows; t++) values[n++] = data[t * size + r]!;
    values.sort();
    for (let k = 1; k <= count; k++) out.data[(k - 1) * size + r] = values[Math.floor((k * n) / (count + 1))]!;
  }
  return out;
}
