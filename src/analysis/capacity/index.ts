// Information processing capacity: what functions of its past input a reservoir holds, by degree
// and delay. Memory capacity, held out, is in memory-capacity.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { gramBlockRows, inPrecision, Matrix, type PhiloxKey, type Precision, RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import type { MeasuresAsked, MeasuresFound, TargetProducts } from "../../reservoir/engine.js";
import type { AnyModel } from "../../reservoir/index.js";
import { series } from "../../reservoir/inputs.js";
import { WorkPacer } from "../../reservoir/work.js";
import { chiSquaredAbove } from "../chi-squared.js";
import { type AnyReservoirSource, streams, uniformInputs, withAnyReservoir } from "../source.js";
import { type Basis, basisOf } from "./basis.js";
import {
  type DegreeCapacity,
  type InformationCapacity,
  type InformationCapacityOptions,
  informationCapacityTable,
  type TargetCapacity,
} from "./options.js";
import { evaluatePolynomials, type Recurrence, recurrences } from "./polynomials.js";
import { type CentredSums, centred, type TargetGroup, TargetSums } from "./products.js";
import { type Targets, targetCount, targetsOf, termsOf } from "./targets.js";

/** Inputs drawn for the threshold. */
const surrogateCount = 200;

/** Where the draws of all surrogates come from: row s of a stream is surrogate s. */
function surrogateDraws(seed: Seed): { readonly key: PhiloxKey; readonly stream: number } {
  return { key: seedKeys(seed).weights, stream: streams.surrogateInputs };
}

/** One target a partition of each degree, its parts at delays 0, 1, 2, ... */
function partitionTargets(degrees: readonly number[]): { readonly targets: Targets; readonly degreeOf: number[] } {
  const all = degrees.flatMap((degree) => partitions(degree, degree).map((parts) => ({ degree, parts })));
  const terms = all.flatMap(({ parts }) => parts.map((degree, delay) => ({ degree, delay })));
  const first = new Uint32Array(all.length + 1);
  all.forEach(({ parts }, j) => {
    first[j + 1] = first[j]! + parts.length;
  });
  const targets = {
    count: all.length,
    first,
    termDegrees: Uint8Array.from(terms, ({ degree }) => degree),
    termDelays: Uint32Array.from(terms, ({ delay }) => delay),
  };
  return { targets, degreeOf: all.map(({ degree }) => degree) };
}

function partitions(n: number, most: number): number[][] {
  if (n === 0) return [[]];
  const out: number[][] = [];
  for (let part = Math.min(n, most); part > 0; part--) for (const rest of partitions(n - part, part)) out.push([part, ...rest]);
  return out;
}

/**
 * An input whose values are drawn from those of the real one, with replacement: of the same law,
 * and independent of the states. Made a few rows at a time.
 */
class SurrogateInput implements TargetGroup {
  readonly targets: Targets;
  values: readonly Float64Array[] = [];
  offset = 0;
  readonly #draws: RandomStream;
  readonly #number: number;

  constructor(targets: Targets, seed: Seed, number: number) {
    this.targets = targets;
    const { key, stream } = surrogateDraws(seed);
    this.#draws = new RandomStream(key, stream);
    this.#number = number;
  }

  /** Makes the values of rows `first` to `first + rows` of states. */
  prepare(u: Float64Array, steps: readonly Recurrence[], first: number, rows: number): void {
    const lags = steps.length - 1;
    const drawn = Float64Array.from({ length: rows + lags }, (_, t) => u[this.#draws.integer(this.#number, first + t, u.length)]!);
    this.values = evaluatePolynomials(steps, drawn);
    this.offset = lags - first;
  }
}

export type { DegreeCapacity, InformationCapacity, InformationCapacityOptions, TargetCapacity } from "./options.js";
export type { Polynomials } from "./polynomials.js";

/** How far the threshold by surrogates lies above the largest of them. */
const surrogateMargin = 1.2;

/**
 * What functions of its past input a linear readout can get from a reservoir's present state. Input
 * u(t) is independent; the targets are the products of orthogonal polynomials at different delays,
 *
 *     z(t) = P_d1(u(t - k1)) P_d2(u(t - k2)) ...        of degree d1 + d2 + ...
 *
 * With X the T x N states less their means, of rank r, and Q an orthonormal basis of what its
 * columns span (T x r),
 *
 *     C[z] = |Q^T z|^2 / (z^T z),        0 <= C <= 1,
 *
 * is the share of z that the best linear readout gives; no readout is trained. Over all targets
 * there are, the capacities of a reservoir that forgets its start add up to r. Degree 1 is memory;
 * what lies above is computed.
 *
 * A target that the reservoir knows nothing of gets about r / T by chance, T C then being
 * chi-squared with r degrees of freedom. So a capacity counts if it exceeds the quantile that none
 * of its degree's targets passes by chance with probability 1 - alpha, and of one that counts its
 * bias is taken away: C - (r / T)(1 - C). With `threshold: "surrogate"`, as in the literature, it
 * must exceed 1.2 times the largest of 200 random inputs, and counts as it is, as it does with a
 * number; that lets some noise in, and totals may pass the rank.
 *
 * Delay 0 is the newest input the state has seen. Take float64 for a reservoir that is nearly
 * linear: float32 rounds old inputs away, as {@link memoryCapacity} says. Cost: targets x T x N
 * products, in WebAssembly, and memory for targets x N sums; nothing grows with T but the input.
 * Sums are in the order of docs/numerics.md, rule 9, of products that are exact: targets keep 21
 * significant bits and states 32, which moves a capacity by some 1e-13.
 *
 * Source: J. Dambre, D. Verstraeten, B. Schrauwen and S. Massar 2012, "Information processing
 * capacity of dynamical systems", Scientific Reports 2, 514; the protocol of thresholds by
 * surrogates: T. Kubota, H. Takahashi and K. Nakajima 2021, "Unifying framework for information
 * processing in stochastically driven dynamical systems", Physical Review Research 3, 043135.
 * @throws ArgumentError for a reservoir with more inputs than one, for options, and for more than
 * two million targets
 */
export async function informationCapacity(
  source: AnyReservoirSource,
  options: InformationCapacityOptions = {},
): Promise<InformationCapacity> {
  const asked = resolve(informationCapacityTable, options);
  const { degrees, engine, seed, signal, onProgress } = asked;
  const targets = targetsOf(degrees);
  return withAnyReservoir(source, engine, async (computer) => {
    const { size, precision } = computer.model;
    const { inputs, washout, length, u, steps, values, tolerance } = drivenBy(asked, computer.model);
    const chance = partitionTargets(degrees.map(([degree]) => degree));
    const count = asked.threshold === "surrogate" ? surrogateCount : 0;
    const own = { targets, values, offset: washout };
    const there = computer.multiplyTargets({
      ...{ inputs: inPrecision(inputs, precision), washout, values, targets, signal, onProgress },
      surrogates: count === 0 ? undefined : { count, u, recurrences: steps, targets: chance.targets, ...surrogateDraws(seed) },
    });
    const surrogates = there ? [] : Array.from({ length: count }, (_, number) => new SurrogateInput(chance.targets, seed, number));
    const made = there ? undefined : new TargetSums(size, [own, ...surrogates]);
    try {
      if (made) await addStates(made);
      const sums = made ? made.finish() : ofProducts((await there)!, size + 1);
      return summary({
        ...capacitiesOf(sums, basisOf(sums.triangle, tolerance), targets.count + count * chance.targets.count),
        targets,
        degrees,
        length,
        alpha: asked.alpha,
        threshold: asked.threshold,
        precision,
        chanceDegrees: chance.degreeOf,
      });
    } finally {
      made?.dispose();
    }

    async function addStates(sums: TargetSums): Promise<void> {
      const pacer = new WorkPacer({ signal, onProgress }, length);
      if (washout > 0) await computer.run(inputs.subarray(0, washout), { signal, every: washout });
      for (let from = 0; from < length; from += gramBlockRows) {
        const rows = Math.min(gramBlockRows, length - from);
        const states = await computer.run(inputs.subarray(washout + from, washout + from + rows), { signal });
        for (const surrogate of surrogates) surrogate.prepare(u, steps, from, rows);
        for (const _ of sums.add(states)) if (pacer.due()) await pacer.pause(from);
      }
      pacer.finish();
    }
  });
}

/** Products that an engine made, L a target. */
function ofProducts({ products, squares, triangle }: TargetProducts, columns: number): CentredSums {
  return centred({
    ...{ triangle, squares },
    product: (j, out) => {
      out.set(products.subarray(j * columns, (j + 1) * columns));
      return out;
    },
  });
}

type Asked = Resolved<typeof informationCapacityTable>;

/** What a measurement takes of the reservoir. */
type Measurable = Pick<AnyModel, "size" | "inputSize" | "precision">;

/** What an engine is asked, and the total of what it finds. */
interface CapacityTask {
  readonly work: NonNullable<MeasuresAsked["capacity"]>;
  total(found: NonNullable<MeasuresFound["capacities"]>): number;
}

/**
 * What {@link informationCapacity} asks of a reservoir, for an engine that measures many at once,
 * and the total of what that finds.
 */
export function capacityTask(options: InformationCapacityOptions, model: Measurable): CapacityTask {
  const asked = resolve(informationCapacityTable, options);
  const { degrees, alpha, threshold } = asked;
  const { precision } = model;
  const targets = targetsOf(degrees);
  const { inputs, washout, length, values, tolerance } = drivenBy(asked, model);
  const common = { targets, degrees, length, alpha, threshold, precision, chanceDegrees: [] };
  return {
    work: { inputs: inPrecision(inputs, precision), washout, values, targets, tolerance },
    total: (found) => summary({ ...common, ...found }).total,
  };
}

/** The series and its polynomials, and what of the states counts. */
function drivenBy(asked: Asked, { size, inputSize, precision }: Measurable) {
  if (inputSize !== 1) throw new ArgumentError("inputSize", inputSize, "1: information processing capacity is about one input");
  const { amplitude, polynomials, degrees } = asked;
  const { tolerance = precision === "float32" ? size * 2 ** -23 : Math.sqrt(size * 2 ** -52) } = asked;
  const driven = seriesOf(asked, precision);
  const u = Float64Array.from(driven.inputs.data, (value) => value / amplitude);
  if (polynomials === "legendre") checkBounds(driven.inputs, amplitude);
  const steps = recurrences(polynomials, Math.max(...degrees.map(([degree]) => degree)), u);
  return { ...driven, u, steps, values: evaluatePolynomials(steps, u), tolerance };
}

/** The series, and how many of its rows are measured. */
function seriesOf(asked: Asked, precision: Precision): { inputs: Matrix; washout: number; length: number } {
  const { degrees, amplitude, seed, polynomials } = asked;
  const longest = Math.max(...degrees.map(([, delay]) => delay));
  const { washout = longest + 100 } = asked;
  if (washout < longest) throw new ArgumentError("washout", washout, `a whole number of at least ${longest}, the longest delay`);
  if (asked.inputs === undefined) {
    const rows = washout + asked.length;
    const inputs = polynomials === "hermite" ? normalInputs(seed, rows, amplitude) : uniformInputs(seed, "inputs", 0, rows, 1, amplitude);
    return { inputs, washout, length: asked.length };
  }
  const inputs = series(asked.inputs, "inputs", 1, "inputSize", precision);
  if (inputs.rows < washout + 2)
    throw new ArgumentError("inputs", `${inputs.rows} rows`, `at least ${washout + 2}: washout ${washout} and two to measure`, {
      code: "shape",
    });
  return { inputs, washout, length: inputs.rows - washout };
}

function normalInputs(seed: Seed, rows: number, deviation: number): Matrix<Float64Array> {
  const draws = new RandomStream(seedKeys(seed).weights, streams.inputs);
  const out = Matrix.zeros(rows, 1);
  for (let t = 0; t < rows; t++) out.data[t] = deviation * draws.normal(0, t);
  return out;
}

/**
 * @throws ArgumentError for an input beyond the interval on which Legendre's polynomials are
 * orthogonal
 */
function checkBounds({ data }: Matrix, amplitude: number): void {
  for (let t = 0; t < data.length; t++) {
    if (Math.abs(data[t]!) <= amplitude) continue;
    throw new ArgumentError(
      `inputs[${t}]`,
      data[t],
      `values from ${-amplitude} to ${amplitude}, the amplitude: give theirs, or polynomials "sample"`,
    );
  }
}

/** C of every column of the sums, and the rank. */
function capacitiesOf(sums: CentredSums, { values, vectors }: Basis, count: number): { rank: number; values: Float64Array } {
  const product = new Float64Array(vectors.cols);
  const directions = Array.from(values, (_, k) => vectors.row(k));
  const out = new Float64Array(count);
  for (let j = 0; j < count; j++) {
    sums.product(j, product);
    let squares = 0;
    for (let k = 0; k < values.length; k++) {
      const direction = directions[k]!;
      let dot = 0;
      for (let i = 0; i < product.length; i++) dot += direction[i]! * product[i]!;
      const along = dot / values[k]!;
      squares += along * along;
    }
    const square = sums.squares[j]!;
    out[j] = square > 0 ? squares / square : 0;
  }
  return { rank: values.length, values: out };
}

interface Measured {
  readonly rank: number;
  /** Of the targets, and then of the surrogates' ones. */
  readonly values: Float64Array;
  readonly targets: ReturnType<typeof targetsOf>;
  readonly degrees: Asked["degrees"];
  readonly length: number;
  readonly alpha: number;
  readonly threshold: Asked["threshold"];
  readonly precision: Precision;
  /** The degree of each target of a surrogate. */
  readonly chanceDegrees: readonly number[];
}

function summary(measured: Measured): InformationCapacity {
  const { rank, values, targets, degrees, precision } = measured;
  const capacities: TargetCapacity[] = [];
  let start = 0;
  const byDegree = degrees.map(([degree, longestDelay]): DegreeCapacity => {
    const count = targetCount(degree, longestDelay);
    const { threshold, bias } = thresholdOf(measured, degree, count);
    const byDelay = new Float64Array(longestDelay + 1);
    let counted = 0;
    let capacity = 0;
    let belowThreshold = 0;
    for (let j = start; j < start + count; j++) {
      const value = values[j]!;
      if (value <= threshold) {
        belowThreshold += value - (rank / measured.length) * (1 - value);
        continue;
      }
      const terms = termsOf(targets, j);
      const found = value - bias * (1 - value);
      counted++;
      capacity += found;
      byDelay[terms[0]![1]] = byDelay[terms[0]![1]]! + found;
      capacities.push({ terms, capacity: found });
    }
    start += count;
    return { degree, longestDelay, targets: count, counted, capacity, threshold, belowThreshold, byDelay };
  });
  capacities.sort((a, b) => b.capacity - a.capacity);
  const sum = (of: (degree: DegreeCapacity) => number) => byDegree.reduce((total, degree) => total + of(degree), 0);
  return {
    total: sum(({ capacity }) => capacity),
    rank,
    byDegree,
    capacities,
    belowThreshold: sum((degree) => degree.belowThreshold),
    precision,
  };
}

/** What a capacity of a degree must exceed, and the share r / T that chance adds to it. */
function thresholdOf(measured: Measured, degree: number, count: number): { threshold: number; bias: number } {
  const { rank, values, targets, length, alpha, threshold, chanceDegrees } = measured;
  if (typeof threshold === "number") return { threshold, bias: 0 };
  if (threshold === "chiSquared") return { threshold: rank === 0 ? 1 : chiSquaredAbove(alpha / count, rank) / length, bias: rank / length };
  let largest = 0;
  for (let j = targets.count; j < values.length; j++) {
    if (chanceDegrees[(j - targets.count) % chanceDegrees.length] === degree) largest = Math.max(largest, values[j]!);
  }
  return { threshold: surrogateMargin * largest, bias: 0 };
}
