// What a classifier does with states on a device, in portable arithmetic: statistics of each
// sequence's states, and from features the shares of the classes. The same bits as src/model on the
// host.
import type { PtxKernel, Value } from "../builder/index.js";
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, readShape, refusal } from "./generated-kernel.js";
import type { Shapes } from "./shapes.js";
import type { Condition, Double, Doubles, Index } from "./value-types.js";

/** From features to shares of classes. */
export type ClassSharesShape = Shapes["classShares"];

export const stateStatisticsName = ({ type = "f32", levels }: Pick<Shapes["stateStatistics"], "type" | "levels">): string =>
  `${levels === undefined ? "state" : "all"}_statistics_${type}`;
export const classSharesName = ({ shares = "softmax" }: Pick<ClassSharesShape, "shares">): string => `class_shares_${shares}`;

export const layerNormEpsilon = 1e-5;

const threads = 128;

/**
 * Adds the states of a chunk of steps to the statistics of their sequences: row p = places[b] of
 * the features (rows of `features` numbers in binary64) gets the last state of sequence b and the
 * mean of its states from row `washout` on, summed in rising order; the row is zeros before the
 * first chunk. With Q `levels` (Q x N) it gets all statistics of docs/numerics.md, rule 10, N of
 * each, in the order of writeStatistics of src/model/classifier/statistics.ts.
 *
 * Sequence b has lengths[p] states in all; those of steps [from, to) begin `pitch` numbers after
 * those of sequence b - 1. Arguments: states, pitch, from, to, washout, lengths, places, features,
 * and levels, if there are any.
 * @throws ArgumentError, PtxBuildError
 */
export function stateStatistics(shape: Shapes["stateStatistics"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const read = readShape("stateStatistics", "state_statistics", shape);
  const { size, type = "f32", features, last = true, mean = true, levels, sequences = 1 } = read;
  const name = stateStatisticsName(shape);
  const least = size * (levels === undefined ? Number(last) + Number(mean) : 6 + 2 * levels);
  if (least === 0) throw refusal(name, "last", last, "true, unless mean is true");
  if (features < least) {
    const what = levels === undefined ? "last and mean" : `statistics with ${levels} levels`;
    throw refusal(name, "features", features, `at least ${least}, as many as ${what} of ${size} numbers`);
  }
  return generate({ name, grid: [sequences, ceilDiv(size, threads)], block: [threads] }, options, (k) => {
    const states = k.pointer(type, "states");
    const [pitch, from, to, washout] = ["pitch", "from", "to", "washout"].map((each) => k.parameter("u32", each)) as Index[];
    const [lengths, places] = [k.pointer("u32", "lengths"), k.pointer("u32", "places")];
    const rows = k.pointer("f64", "features");
    const heights = levels ? k.pointer("f64", "levels") : undefined;
    const sequence = k.blockIndex();
    const column = k.mad(k.special("ctaid", "y"), threads, k.threadIndex());
    const sequenceRow = k.load(k.at(places, sequence));
    const length = k.load(k.at(lengths, sequenceRow));
    const end = k.min(to!, length);
    k.if(k.and(k.compare("lt", column, size), k.compare("lt", from!, end)), () => {
      const own = k.at(k.atBytes(states, k.mulWide(k.mul(sequence, type === "f32" ? 4 : 8), pitch!)), column);
      const state = (step: Index): Double => {
        const value: Value<"f32" | "f64"> = k.load(k.at(own, k.sub(step, from!), size), { readOnly: true });
        return value.type === "f64" ? (value as Double) : k.convert("f64", value);
      };
      const row = k.at(k.at(rows, sequenceRow, features), column);
      const ends = k.compare("eq", end, length);
      const first = k.max(from!, washout!);
      const count = k.convert("f64", k.sub(length, washout!), "rn");
      if (levels !== undefined) {
        const level = (q: number) => k.load(k.at(heights!, column).plus(q * size), { readOnly: true });
        const isFirst = k.compare("le", from!, washout!);
        k.if(k.compare("lt", first, end), () => allStatistics(k, { row, state, level, first, end, isFirst, ends, count, size, levels }));
        return;
      }
      if (last) k.if(ends, () => k.store(row, state(k.sub(end, 1))));
      if (mean) {
        const mine = row.plus(last ? size : 0);
        const sum = k.variable("f64", k.load(mine));
        k.for("u32", { from: first, to: end, unroll: 4 }, (step) => k.assign(sum, k.add(sum, state(step))));
        k.store(mine, k.select(ends, k.div(sum, count), sum));
      }
    });
  });
}

/** One neuron's states of a chunk, and its numbers of the row of features. */
interface OwnStates {
  readonly row: Doubles;
  readonly state: (step: Index) => Double;
  readonly level: (q: number) => Double;
  readonly first: Index;
  readonly end: Index;
  /** Whether nothing was added before. */
  readonly isFirst: Condition;
  /** Whether nothing is added later. */
  readonly ends: Condition;
  readonly count: Double;
  readonly size: number;
  readonly levels: number;
}

/** Levels that one pass over the states counts by. */
const levelsOfPass = 4;

/** Until the last chunk the row holds sums and counts. Four levels take a pass of states. */
function allStatistics(k: PtxKernel, own: OwnStates): void {
  const { row, state, first, end, isFirst, ends, count, size, levels } = own;
  const at = (s: number) => row.plus(s * size);
  const start = state(first);
  const zero = k.constant("f64", 0);
  const later = k.not(isFirst);
  const before = k.variable("f64", start);
  k.if(later, () => k.assign(before, k.load(at(4))));
  const countersFrom = (from: number): LevelCounter[] => {
    const counters = Array.from({ length: Math.min(levelsOfPass, levels - from) }, (_, q) => levelCounter(k, own, from + q));
    k.if(later, () => {
      for (const { load } of counters) load();
    });
    for (const { begin } of counters) begin(before);
    return counters;
  };
  const pass = (add: (x: Double) => void) => k.for("u32", { from: first, to: end, unroll: 4 }, (step) => add(state(step)));
  for (let q = levelsOfPass; q < levels; q += levelsOfPass) {
    const counters = countersFrom(q);
    pass((x) => {
      for (const { add } of counters) add(x);
    });
    for (const { store } of counters) store();
  }
  const [sum, squares, change] = [k.variable("f64", zero), k.variable("f64", zero), k.variable("f64", zero)];
  const [largest, smallest] = [k.variable("f64", start), k.variable("f64", start)];
  k.if(later, () => {
    for (const [s, value] of [sum, squares, largest, smallest, undefined, change].entries()) if (value) k.assign(value, k.load(at(s)));
  });
  const counters = levels > 0 ? countersFrom(0) : [];
  pass((x) => {
    k.assign(sum, k.add(sum, x));
    k.assign(squares, k.add(squares, k.mul(x, x)));
    k.assign(change, k.add(change, k.abs(k.sub(x, before))));
    k.assign(largest, k.max(largest, x));
    k.assign(smallest, k.min(smallest, x));
    for (const { add } of counters) add(x);
    k.assign(before, x);
  });
  const mean = k.div(sum, count);
  const variance = k.sub(k.div(squares, count), k.mul(mean, mean));
  const deviation = k.sqrt(k.select(k.compare("le", variance, 0), zero, variance));
  k.store(at(0), k.select(ends, mean, sum));
  k.store(at(1), k.select(ends, deviation, squares));
  k.store(at(2), largest);
  k.store(at(3), smallest);
  k.store(at(4), before);
  k.store(at(5), k.select(ends, k.div(change, count), change));
  for (const { store } of counters) store();
}

type LevelCounter = ReturnType<typeof levelCounter>;

/** Counts of one level: of states above it, and of crossings. */
function levelCounter(k: PtxKernel, { row, level, ends, count, size, levels }: OwnStates, q: number) {
  const height = level(q);
  const [one, none] = [k.constant("u32", 1), k.constant("u32", 0)];
  const addresses = [6 + q, 6 + levels + q].map((s) => row.plus(s * size));
  const isAbove = (x: Double) => k.select(k.compare("gt", x, height), one, none);
  const counts = addresses.map(() => k.variable("u32", none));
  const was = k.variable("u32", none);
  return {
    load(): void {
      for (const [n, address] of addresses.entries()) k.assign(counts[n]!, k.convert("u32", k.load(address)));
    },
    /** @param before the state before the first that is added */
    begin: (before: Double): void => k.assign(was, isAbove(before)),
    add(x: Double): void {
      const is = isAbove(x);
      k.assign(counts[0]!, k.add(counts[0]!, is));
      k.assign(counts[1]!, k.add(counts[1]!, k.xor(is, was)));
      k.assign(was, is);
    },
    store(): void {
      counts.forEach((number, n) => {
        const made = k.convert("f64", number, "rn");
        k.store(addresses[n]!, k.select(ends, k.div(made, count), made));
      });
    },
  };
}

/**
 * Shares of K classes from rows of features: scores s_k = W_k . f + b_k in the order of
 * docs/numerics.md, rule 10, where f is the row, after a layer norm (f - mean) / sqrt(variance +
 * 1e-5) if it is asked for, as the readout sees it. Softmax gives exp(s_k - max) / sum; "positive"
 * gives max(s_k, 0) / sum, or 1 for the first largest score if none is above 0. All in binary64.
 * Arguments: features, weights (K x F), intercept (K), shares (rows x K), and if `scaled` a factor.
 * @throws ArgumentError, PtxBuildError
 */
export function classShares(shape: ClassSharesShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const {
    features,
    classes,
    transform = "plain",
    layerNorm = false,
    shares = "softmax",
    scaled = false,
    rows = 1,
  } = readShape("classShares", "class_shares", shape);
  const name = classSharesName({ shares });
  return generate({ name, grid: [rows], block: [threads] }, options, (k) => {
    const [given, weights, intercept, out] = ["features", "weights", "intercept", "shares"].map((each) => k.pointer("f64", each)) as [
      Doubles,
      ...Doubles[],
    ];
    const factor = scaled ? k.parameter("f64", "factor") : undefined;
    const row = k.at(given, k.blockIndex(), features);
    const own = k.at(out!, k.blockIndex(), classes);
    const feature = layerNorm ? normalised(k, row, features) : (index: Index) => k.load(k.at(row, index), { readOnly: true });
    const count = transform === "squares" ? 2 * features : features;
    k.for("u32", { from: k.warpIndex(), to: classes, step: threads / 32 }, (at) => {
      const ofClass = k.at(weights!, at, count);
      const product = (index: Index): Double =>
        k.mul(k.load(k.at(ofClass, index), { readOnly: true }), transformed(k, feature, index, features, transform));
      const score = k.add(warpSum(k, count, product), k.load(k.at(intercept!, at), { readOnly: true }));
      k.store(k.at(own, at), factor ? k.mul(score, factor) : score, { where: k.compare("eq", k.and(k.threadIndex(), 31), 0) });
    });
    k.barrier();
    if (shares === "softmax") softmaxOf(k, own, classes);
    else positiveOf(k, own, classes);
  });
}

type Feature = (index: Index) => Double;

function normalised(k: PtxKernel, row: Doubles, features: number): Feature {
  const load: Feature = (index) => k.load(k.at(row, index), { readOnly: true });
  const mean = k.div(warpSum(k, features, load), features);
  const centred: Feature = (index) => k.sub(load(index), mean);
  const squares = warpSum(k, features, (index) => {
    const value = centred(index);
    return k.mul(value, value);
  });
  const deviation = k.sqrt(k.add(k.div(squares, features), layerNormEpsilon));
  return (index) => k.div(centred(index), deviation);
}

function transformed(k: PtxKernel, feature: Feature, index: Index, count: number, transform: string): Double {
  if (transform === "plain") return feature(index);
  const squared = transform === "squares" ? k.compare("ge", index, count) : k.compare("ne", k.and(index, 1), 0);
  const value = feature(transform === "squares" ? k.select(squared, k.sub(index, count), index) : index);
  return k.select(squared, k.mul(value, value), value);
}

/** Runs `change` on each of a row's numbers, one a thread. */
function eachClass(k: PtxKernel, row: Doubles, classes: number, change: (x: Double, at: Index) => Double) {
  k.for("u32", { from: k.threadIndex(), to: classes, step: threads }, (at) => k.store(k.at(row, at), change(k.load(k.at(row, at)), at)));
}

/** Every thread looks through the whole row by itself: there are few classes. */
function largestOf(k: PtxKernel, row: Doubles, classes: number) {
  const largest = k.variable("f64", Number.NEGATIVE_INFINITY);
  const index = k.variable("u32", 0);
  k.for("u32", { from: 0, to: classes }, (at) => {
    const score = k.load(k.at(row, at));
    const above = k.compare("gt", score, largest);
    k.assign(largest, k.select(above, score, largest));
    k.assign(index, k.select(above, at, index));
  });
  return { largest, index };
}

function softmaxOf(k: PtxKernel, row: Doubles, classes: number): void {
  const { largest } = largestOf(k, row, classes);
  k.barrier();
  eachClass(k, row, classes, (score) => portableExpOfNegative(k, k.sub(score, largest)));
  k.barrier();
  const sum = risingSum(k, row, classes);
  k.barrier();
  eachClass(k, row, classes, (x) => k.div(x, sum));
}

function positiveOf(k: PtxKernel, row: Doubles, classes: number): void {
  const { index } = largestOf(k, row, classes);
  k.barrier();
  eachClass(k, row, classes, (score) => k.select(k.compare("gt", score, 0), score, k.constant("f64", 0)));
  k.barrier();
  const sum = risingSum(k, row, classes);
  k.barrier();
  const one = k.constant("f64", 1);
  const some = k.compare("gt", sum, 0);
  eachClass(k, row, classes, (x, at) => k.select(some, k.div(x, sum), k.select(k.compare("eq", at, index), one, k.constant("f64", 0))));
}

// Portable arithmetic in binary64 (docs/numerics.md, rules 1, 8 and 10): none fused, in one order.

/** E of rule 8, from degree 0 up: (e^r - 1 - r) / r^2. */
const expTail = [
  0.5, 0.16666666666666666, 0.041666666666666706, 0.008333333333333269, 0.0013888888888865742, 0.00019841269841474671,
  2.4801587360626592e-5, 2.755731893278914e-6, 2.7557243790959107e-7, 2.5052289442474558e-8, 2.0923899565540267e-9, 1.6029159577883632e-10,
];
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard gives Math.LOG2E only approximately
const log2e = 1.4426950408889634;
const ln2High = 0.6931471805598903;
const ln2Low = 5.497923018708371e-14;
const roundingShift = 6755399441055744;

/** 2^n for -1023 < n < 1024. */
function powerOfTwo(k: PtxKernel, n: Value<"s32">): Double {
  return k.join("f64", k.constant("u32", 0), k.shl(k.reinterpret("u32", k.add(n, 1023)), 20));
}

/** exp(x) of rule 8 for x up to 0: +0 if it is below -746; NaN for NaN. */
function portableExpOfNegative(k: PtxKernel, x: Double): Double {
  const n = k.sub(k.add(k.mul(x, log2e), roundingShift), roundingShift);
  const a = k.sub(x, k.mul(n, ln2High));
  const b = k.mul(n, ln2Low);
  const r = k.sub(a, b);
  const start: Double = k.constant("f64", expTail.at(-1)!);
  const e = expTail.slice(0, -1).reduceRight<Double>((sum, coefficient) => k.add(k.mul(sum, r), coefficient), start);
  const tail = k.sub(k.mul(k.mul(r, r), e), b);
  const one = k.constant("f64", 1);
  const sum = k.add(a, one);
  const mantissa = k.add(sum, k.add(k.add(k.sub(one, sum), a), tail));
  const whole = k.convert("s32", n, "rzi");
  const half = k.shr(whole, 1);
  const result = k.mul(k.mul(mantissa, powerOfTwo(k, half)), powerOfTwo(k, k.sub(whole, half)));
  return k.select(k.compare("lt", x, -746), k.constant("f64", 0), result);
}

function shuffled(k: PtxKernel, value: Double, distance: number): Double {
  const [low, high] = k.split("b32", value);
  return k.join("f64", k.shuffle("bfly", low, distance), k.shuffle("bfly", high, distance));
}

/** The sum of `count` terms in the order of rule 1, in all lanes, which must come here. */
function warpSum(k: PtxKernel, count: number, term: (index: Index) => Double): Double {
  const partial = k.variable("f64", 0);
  k.for("u32", { from: k.and(k.threadIndex(), 31), to: count, step: 32 }, (index) => k.assign(partial, k.add(partial, term(index))));
  return [16, 8, 4, 2, 1].reduce<Double>((sum, distance) => k.add(sum, shuffled(k, sum, distance)), partial);
}

/** The sum of `count` numbers in rising order from +0, as one thread has it. */
function risingSum(k: PtxKernel, from: Doubles, count: number): Double {
  const sum = k.variable("f64", 0);
  k.for("u32", { from: 0, to: count }, (index) => k.assign(sum, k.add(sum, k.load(k.at(from, index)))));
  return sum;
}
