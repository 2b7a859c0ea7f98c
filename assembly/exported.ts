// A trained model that stands in the memory of its own module: forecasters and classifiers, in the
// order of docs/numerics.md, rules 1 to 5, 8 to 10 and 18. src/model/wasm lays the model out from
// address 65536 on, as words of 32 bits and arrays, and adds it to this module as data.
import { expF64x2, tanhF32x4, tanhF64x2 } from "./vector-math";

const base: usize = 65536;

/** Words of the header, in the order of `headerWords` in src/model/wasm/layout.ts. */
const enum Header {
  realBytes,
  integers,
  members,
  inputs,
  outputs,
  feedback,
  held,
  leastRows,
  mostRows,
  table,
  state,
  stateBytes,
  begin,
  reset,
  input,
  output,
  partial,
  next,
  features,
  driven,
  made,
  y,
  groups,
  groupCount,
  classes,
  views,
  levels,
  washout,
  representation,
  majority,
  heads,
  statistics,
  width,
  sequence,
}

/** Words of a member, or of a view of a classifier, in the order of `memberWords`. */
const enum Member {
  size,
  activation,
  weights,
  rowOffsets,
  columns,
  inputWeights,
  feedbackWeights,
  bias,
  leak,
  exponents,
  tanhTable,
  initial,
  features,
  squareHalf,
  squares,
  sees,
  lags,
  readout,
  intercept,
  loopReadout,
  loopIntercept,
  inputMean,
  inputDeviation,
  targetMean,
  targetDeviation,
  loopMean,
  loopDeviation,
  lower,
  upper,
  x,
  u,
  fed,
  recent,
  series,
  backward,
  ofInputs,
  stateLevels,
  inputLevels,
  stride,
}

/** Words of a classifier's readout. */
const enum Head {
  weights,
  intercept,
  features,
  softmax,
  factor,
  stride,
}

// @ts-ignore: decorator
@inline
function head(word: i32): i32 {
  return load<i32>(base + (<usize>word << 2));
}

// @ts-ignore: decorator
@inline
function at(record: usize, word: i32): i32 {
  return load<i32>(record + (<usize>word << 2));
}

// @ts-ignore: decorator
@inline
function get<T>(array: usize, i: i32): T {
  return load<T>(array + <usize>i * sizeof<T>());
}

// @ts-ignore: decorator
@inline
function put<T>(array: usize, i: i32, value: T): void {
  store<T>(array + <usize>i * sizeof<T>(), value);
}

/** A butterfly over partial sums. */
function butterfly<T>(partial: usize, count: i32): T {
  for (let half = count >> 1; half >= 1; half >>= 1)
    for (let l = 0; l < half; l++) put<T>(partial, l, get<T>(partial, l) + get<T>(partial, l + half));
  return get<T>(partial, 0);
}

/** A row times a vector by 32 partial sums. */
function product<T>(row: usize, x: usize, count: i32): T {
  const partial: usize = head(Header.partial);
  const full = count & ~31;
  const bytes = <usize>32 * sizeof<T>();
  for (let from: usize = 0; from < bytes; from += 128) {
    let a = v128.splat<T>(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    const end = row + <usize>full * sizeof<T>();
    for (let p = row, q = x; p < end; p += bytes, q += bytes) {
      a = v128.add<T>(a, v128.mul<T>(v128.load(p + from), v128.load(q + from)));
      b = v128.add<T>(b, v128.mul<T>(v128.load(p + from, 16), v128.load(q + from, 16)));
      c = v128.add<T>(c, v128.mul<T>(v128.load(p + from, 32), v128.load(q + from, 32)));
      d = v128.add<T>(d, v128.mul<T>(v128.load(p + from, 48), v128.load(q + from, 48)));
      e = v128.add<T>(e, v128.mul<T>(v128.load(p + from, 64), v128.load(q + from, 64)));
      f = v128.add<T>(f, v128.mul<T>(v128.load(p + from, 80), v128.load(q + from, 80)));
      g = v128.add<T>(g, v128.mul<T>(v128.load(p + from, 96), v128.load(q + from, 96)));
      h = v128.add<T>(h, v128.mul<T>(v128.load(p + from, 112), v128.load(q + from, 112)));
    }
    const to = partial + from;
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, d, 48);
    v128.store(to, e, 64);
    v128.store(to, f, 80);
    v128.store(to, g, 96);
    v128.store(to, h, 112);
  }
  for (let k = full; k < count; k++) put<T>(partial, k & 31, get<T>(partial, k & 31) + get<T>(row, k) * get<T>(x, k));
  return butterfly<T>(partial, 32);
}

/** Row r of a sparse W times x by 8 partial sums. */
function sparseProduct<T>(m: usize, r: i32, x: usize): T {
  const partial: usize = head(Header.partial);
  const weights: usize = at(m, Member.weights);
  const columns: usize = at(m, Member.columns);
  const from = get<i32>(at(m, Member.rowOffsets), r);
  const to = get<i32>(at(m, Member.rowOffsets), r + 1);
  for (let l = 0; l < 8; l++) put<T>(partial, l, 0);
  for (let p = from; p < to; p++) {
    const l = (p - from) & 7;
    put<T>(partial, l, get<T>(partial, l) + get<T>(weights, p) * get<T>(x, get<i32>(columns, p)));
  }
  return butterfly<T>(partial, 8);
}

// @ts-ignore: decorator
@inline
function tanhOf<T>(z: v128): v128 {
  return sizeof<T>() == 4 ? tanhF32x4(z) : tanhF64x2(z);
}

// @ts-ignore: decorator
@inline
function activate<T>(kind: i32, z: v128): v128 {
  if (kind == 0) return tanhOf<T>(z);
  if (kind == 1) return z;
  const zero = v128.splat<T>(0);
  if (kind == 2) return v128.andnot(z, v128.le<T>(z, zero));
  const half = v128.splat<T>(0.5);
  return v128.add<T>(half, v128.mul<T>(half, tanhOf<T>(v128.mul<T>(half, z))));
}

/** One step of a reservoir in floating point; vectors may write behind the last neuron. */
function advanceReal<T>(m: usize, x: usize, u: usize, fed: usize): void {
  const size = at(m, Member.size);
  const inputs = head(Header.inputs);
  const outputs = head(Header.outputs);
  const next: usize = head(Header.next);
  const driving: usize = at(m, Member.inputWeights);
  const feeding: usize = head(Header.feedback) ? <usize>at(m, Member.feedbackWeights) : 0;
  const weights: usize = at(m, Member.weights);
  const bias: usize = at(m, Member.bias);
  const leak: usize = at(m, Member.leak);
  const dense = at(m, Member.rowOffsets) == 0;
  for (let r = 0; r < size; r++) {
    let z = get<T>(bias, r);
    for (let i = 0; i < inputs; i++) z = z + get<T>(driving, r * inputs + i) * get<T>(u, i);
    z = z + (dense ? product<T>(weights + <usize>(r * size) * sizeof<T>(), x, size) : sparseProduct<T>(m, r, x));
    if (feeding) {
      let sum: T = 0;
      for (let o = 0; o < outputs; o++) sum = sum + get<T>(feeding, r * outputs + o) * get<T>(fed, o);
      z = z + sum;
    }
    put<T>(next, r, z);
  }
  const kind = at(m, Member.activation);
  const one = v128.splat<T>(1);
  for (let from: usize = 0, end = <usize>size * sizeof<T>(); from < end; from += 16) {
    const a = v128.load(leak + from);
    const kept = v128.mul<T>(v128.sub<T>(one, a), v128.load(x + from));
    v128.store(x + from, v128.add<T>(kept, v128.mul<T>(a, activate<T>(kind, v128.load(next + from)))));
  }
}

/** An input in steps of 2^-12, held within 16 bits. */
function inSteps(value: f32): i32 {
  const steps = Math.floor(<f64>value * 4096 + 0.5);
  return steps > -32767 ? (steps < 32767 ? <i32>steps : 32767) : -32767;
}

/** tanh by its table, in steps of 2^-15. */
function integerTanh(table: usize, z: i32): i32 {
  const size = z < -262143 || z > 262143 ? 262143 : z < 0 ? -z : z;
  const from = <i32>get<i16>(table, size >> 9);
  const to = <i32>get<i16>(table, (size >> 9) + 1);
  const value = from + (((to - from) * (size & 511) + 256) >> 9);
  return z < 0 ? -value : value;
}

/** One step of a reservoir in integers. */
function advanceIntegers(m: usize, x: usize, u: usize, fed: usize): void {
  const size = at(m, Member.size);
  const inputs = head(Header.inputs);
  const outputs = head(Header.feedback) ? head(Header.outputs) : 0;
  const next: usize = head(Header.next);
  const driven: usize = head(Header.driven);
  const weights: usize = at(m, Member.weights);
  const offsets: usize = at(m, Member.rowOffsets);
  const columns: usize = at(m, Member.columns);
  const table: usize = at(m, Member.tanhTable);
  const padded = (size + 7) & ~7;
  for (let i = 0; i < inputs; i++) put<i32>(driven, i, inSteps(get<f32>(u, i)));
  for (let o = 0; o < outputs; o++) put<i32>(driven, inputs + o, inSteps(get<f32>(fed, o)));
  for (let r = 0; r < size; r++) {
    let sum: i32 = 0;
    for (let i = 0; i < inputs; i++) sum += <i32>get<i16>(at(m, Member.inputWeights), r * inputs + i) * get<i32>(driven, i);
    for (let o = 0; o < outputs; o++) sum += <i32>get<i16>(at(m, Member.feedbackWeights), r * outputs + o) * get<i32>(driven, inputs + o);
    sum = sum * 8 + get<i32>(at(m, Member.bias), r);
    if (offsets == 0) {
      let sums = i32x4.splat(0);
      const row = weights + (<usize>(r * padded) << 1);
      for (let from: usize = 0, end = <usize>padded << 1; from < end; from += 16)
        sums = i32x4.add(sums, i32x4.dot_i16x8_s(v128.load(row + from), v128.load(x + from)));
      sum += i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
    } else {
      for (let p = get<i32>(offsets, r), end = get<i32>(offsets, r + 1); p < end; p++)
        sum += <i32>get<i16>(weights, p) * <i32>get<i16>(x, get<i32>(columns, p));
    }
    const before = <i32>get<i16>(x, r);
    const f = integerTanh(table, sum >> get<i32>(at(m, Member.exponents), r));
    put<i16>(next, r, <i16>(before + ((get<i32>(at(m, Member.leak), r) * (f - before) + 16384) >> 15)));
  }
  memory.copy(x, next, <usize>size << 1);
}

function advance<T>(m: usize, x: usize, u: usize, fed: usize): void {
  if (head(Header.integers)) advanceIntegers(m, x, u, fed);
  else advanceReal<T>(m, x, u, fed);
}

/** State i in binary64. */
// @ts-ignore: decorator
@inline
function stateOf<T>(x: usize, i: i32): f64 {
  return head(Header.integers) ? <f64>get<i16>(x, i) * 0.000030517578125 : <f64>get<T>(x, i);
}

/** y = W_out features + c, rounded to the model's precision. */
function answer<T>(m: usize, weights: usize, intercept: usize): void {
  const size = at(m, Member.size);
  const x: usize = at(m, Member.x);
  const features: usize = head(Header.features);
  const squareHalf = at(m, Member.squareHalf);
  const y: usize = head(Header.y);
  let k = 0;
  for (let i = 0; i < size; i++) {
    const value = stateOf<T>(x, i);
    put<f64>(features, k++, squareHalf && (i & 1) ? value * value : value);
  }
  if (at(m, Member.sees)) {
    const inputs = head(Header.inputs);
    const lagged = at(m, Member.lags) * head(Header.outputs);
    for (let i = 0; i < lagged; i++) put<f64>(features, k++, <f64>get<T>(at(m, Member.recent), i));
    for (let i = lagged > 0 ? head(Header.outputs) : 0; i < inputs; i++) put<f64>(features, k++, <f64>get<T>(at(m, Member.u), i));
  }
  if (at(m, Member.squares)) {
    for (let i = 0; i < size; i++) {
      const value = stateOf<T>(x, i);
      put<f64>(features, k++, value * value);
    }
  }
  for (let o = 0; o < head(Header.outputs); o++)
    put<T>(y, o, <T>(product<f64>(weights + (<usize>(o * k) << 3), features, k) + get<f64>(intercept, o)));
}

/** z-scores of columns `first` on, from `values`. */
function score<T>(to: usize, values: usize, m: usize, first: i32, count: i32): void {
  const mean: usize = at(m, Member.inputMean);
  const deviation: usize = at(m, Member.inputDeviation);
  for (let i = 0; i < count; i++)
    put<T>(to, first + i, <T>((get<f64>(values, i) - get<f64>(mean, first + i)) / get<f64>(deviation, first + i)));
}

/** Shifts a row into the last rows of the series, newest first. */
function push<T>(m: usize, row: usize): void {
  const lags = at(m, Member.lags);
  if (lags == 0) return;
  const outputs = head(Header.outputs);
  const recent: usize = at(m, Member.recent);
  const bytes = <usize>outputs * sizeof<T>();
  memory.copy(recent + bytes, recent, <usize>(lags - 1) * bytes);
  memory.copy(recent, row, bytes);
}

function copyRow<T>(to: usize, from: usize): void {
  memory.copy(to, from, <usize>head(Header.outputs) * sizeof<T>());
}

/** What member k says, in the units of the data. */
function restore<T>(k: i32, mean: usize, deviation: usize): void {
  const y: usize = head(Header.y);
  for (let o = 0; o < head(Header.outputs); o++)
    put<f64>(head(Header.made), o * head(Header.members) + k, <f64>get<T>(y, o) * get<f64>(deviation, o) + get<f64>(mean, o));
}

/** The middle of `count` values, which it sorts. */
function medianOf(values: usize, count: i32): f64 {
  for (let i = 1; i < count; i++) {
    const value = get<f64>(values, i);
    let j = i;
    for (; j > 0 && get<f64>(values, j - 1) > value; j--) put<f64>(values, j, get<f64>(values, j - 1));
    put<f64>(values, j, value);
  }
  const half = count >> 1;
  return count & 1 ? get<f64>(values, half) : (get<f64>(values, half - 1) + get<f64>(values, half)) / 2;
}

/** The median of each group's members, and then of the groups. */
function medians(): void {
  const members = head(Header.members);
  const groups: usize = head(Header.groups);
  const count = head(Header.groupCount);
  const made: usize = head(Header.made);
  const ofGroups: usize = head(Header.features);
  const values = ofGroups + (<usize>count << 3);
  for (let o = 0; o < head(Header.outputs); o++) {
    for (let g = 0; g < count; g++) {
      let n = 0;
      for (let k = 0; k < members; k++) if (get<i32>(groups, k) == g) put<f64>(values, n++, get<f64>(made, o * members + k));
      put<f64>(ofGroups, g, medianOf(values, n));
    }
    put<f64>(head(Header.output), o, medianOf(ofGroups, count));
  }
}

function countRow(): void {
  const state: usize = head(Header.state);
  const rows = load<i32>(state);
  if (rows < head(Header.mostRows)) store<i32>(state, rows + 1);
}

// @ts-ignore: decorator
@inline
function member(k: i32): usize {
  return <usize>head(Header.table) + (<usize>(k * Member.stride) << 2);
}

function predictRow<T>(wants: i32): void {
  for (let k = 0; k < head(Header.members); k++) {
    const m = member(k);
    score<T>(at(m, Member.u), head(Header.input), m, 0, head(Header.inputs));
    advance<T>(m, at(m, Member.x), at(m, Member.u), at(m, Member.fed));
    push<T>(m, at(m, Member.u));
    if (!wants) continue;
    answer<T>(m, at(m, Member.readout), at(m, Member.intercept));
    restore<T>(k, at(m, Member.targetMean), at(m, Member.targetDeviation));
    if (head(Header.feedback)) copyRow<T>(at(m, Member.fed), head(Header.y));
  }
  countRow();
  if (wants) medians();
}

function teachRow<T>(): void {
  const inputs = head(Header.inputs);
  const target = <usize>head(Header.input) + (<usize>inputs << 3);
  for (let k = 0; k < head(Header.members); k++) {
    const m = member(k);
    score<T>(at(m, Member.u), head(Header.input), m, 0, inputs);
    advance<T>(m, at(m, Member.x), at(m, Member.u), at(m, Member.fed));
    for (let o = 0; o < head(Header.outputs); o++)
      put<T>(
        at(m, Member.fed),
        o,
        <T>((get<f64>(target, o) - get<f64>(at(m, Member.targetMean), o)) / get<f64>(at(m, Member.targetDeviation), o)),
      );
  }
  countRow();
}

/** The last row of the series drives the reservoir, beside what is known of the next. */
function takePending<T>(m: usize, known: usize): void {
  const outputs = head(Header.outputs);
  copyRow<T>(at(m, Member.u), at(m, Member.fed));
  score<T>(at(m, Member.u), known, m, outputs, head(Header.inputs) - outputs);
  advance<T>(m, at(m, Member.x), at(m, Member.u), at(m, Member.fed));
}

function observeRow<T>(): void {
  const outputs = head(Header.outputs);
  const row: usize = head(Header.input);
  for (let k = 0; k < head(Header.members); k++) {
    const m = member(k);
    if (load<i32>(head(Header.state)) > 0) takePending<T>(m, row + (<usize>outputs << 3));
    score<T>(at(m, Member.fed), row, m, 0, outputs);
    push<T>(m, at(m, Member.fed));
  }
  countRow();
}

/** One step of a closed loop; 0 if an output is not finite. */
function loopStep<T>(observes: bool): i32 {
  const outputs = head(Header.outputs);
  const inputs = head(Header.inputs);
  const feedback = head(Header.feedback);
  const outside: usize = head(Header.input);
  const y: usize = head(Header.y);
  for (let k = 0; k < head(Header.members); k++) {
    const m = member(k);
    const x: usize = at(m, Member.x);
    const u: usize = at(m, Member.u);
    if (feedback) {
      score<T>(u, outside, m, 0, inputs);
      advance<T>(m, x, u, at(m, Member.fed));
    } else if (observes) takePending<T>(m, outside);
    answer<T>(m, at(m, Member.loopReadout), at(m, Member.loopIntercept));
    for (let o = 0; o < outputs; o++) {
      let value = <f64>get<T>(y, o);
      if (!(value - value == 0)) return 0;
      if (head(Header.held)) {
        const lower = get<f64>(at(m, Member.lower), o);
        const upper = get<f64>(at(m, Member.upper), o);
        if (value < lower) value = lower;
        if (value > upper) value = upper;
        put<T>(y, o, <T>value);
      }
    }
    push<T>(m, y);
    if (feedback || observes) copyRow<T>(at(m, Member.fed), y);
    else {
      copyRow<T>(u, y);
      score<T>(u, outside, m, outputs, inputs - outputs);
      advance<T>(m, x, u, at(m, Member.fed));
    }
    restore<T>(k, at(m, Member.loopMean), at(m, Member.loopDeviation));
  }
  medians();
  return 1;
}

/** Where values go in, a row at a time, in binary64. */
export function input(): usize {
  return head(Header.input);
}

/** Where outputs and shares come out, in binary64. */
export function output(): usize {
  return head(Header.output);
}

/** Where the state stands, and how many bytes it has. */
export function state(): usize {
  return head(Header.state);
}

export function stateBytes(): i32 {
  return head(Header.stateBytes);
}

/** To where the model was saved. */
export function begin(): void {
  memory.copy(head(Header.state), head(Header.begin), head(Header.stateBytes));
}

/** To the initial state. */
export function reset(): void {
  memory.copy(head(Header.state), head(Header.reset), head(Header.stateBytes));
}

/** Takes a row of inputs, and if `wants` is not 0 gives the prediction that it leads to. */
export function predict(wants: i32): void {
  if (head(Header.realBytes) == 4) predictRow<f32>(wants);
  else predictRow<f64>(wants);
}

/** Takes a row of inputs and behind it the true outputs, which are fed back. */
export function teach(): void {
  if (head(Header.realBytes) == 4) teachRow<f32>();
  else teachRow<f64>();
}

/** Takes a row of the series and behind it what was known of it. */
export function observe(): void {
  if (head(Header.realBytes) == 4) observeRow<f32>();
  else observeRow<f64>();
}

/** One step of the closed loop; 0 if too few rows were seen or an output is not finite. */
export function step(observes: i32): i32 {
  if (load<i32>(head(Header.state)) < head(Header.leastRows)) return 0;
  return head(Header.realBytes) == 4 ? loopStep<f32>(observes != 0) : loopStep<f64>(observes != 0);
}

/** Where a sequence goes in, row by row; nothing stands behind it. */
export function sequence(): usize {
  return head(Header.sequence);
}

// Arrays of a classifier's statistics, one behind the other.
const enum Statistic {
  sum,
  squares,
  change,
  before,
  largest,
  smallest,
  count,
}

// @ts-ignore: decorator
@inline
function statistic(which: i32): usize {
  return <usize>head(Header.statistics) + (<usize>(which * head(Header.width)) << 3);
}

/** Takes a value into the statistics of column i. */
function take(i: i32, x: f64, count: i32, levels: usize, isFirst: bool): void {
  if (isFirst) {
    put<f64>(statistic(Statistic.sum), i, 0);
    put<f64>(statistic(Statistic.squares), i, 0);
    put<f64>(statistic(Statistic.change), i, 0);
    put<f64>(statistic(Statistic.before), i, x);
    put<f64>(statistic(Statistic.largest), i, x);
    put<f64>(statistic(Statistic.smallest), i, x);
  }
  const before = get<f64>(statistic(Statistic.before), i);
  const change = x - before;
  put<f64>(statistic(Statistic.sum), i, get<f64>(statistic(Statistic.sum), i) + x);
  put<f64>(statistic(Statistic.squares), i, get<f64>(statistic(Statistic.squares), i) + x * x);
  put<f64>(statistic(Statistic.change), i, get<f64>(statistic(Statistic.change), i) + (change < 0 ? -change : change));
  if (x > get<f64>(statistic(Statistic.largest), i)) put<f64>(statistic(Statistic.largest), i, x);
  if (x < get<f64>(statistic(Statistic.smallest), i)) put<f64>(statistic(Statistic.smallest), i, x);
  const above = statistic(Statistic.count);
  const crossings = above + (<usize>(head(Header.levels) * head(Header.width)) << 3);
  for (let q = 0; q < head(Header.levels); q++) {
    const k = q * count + i;
    const level = get<f64>(levels, k);
    const is = x > level;
    if (isFirst) {
      put<f64>(above, k, 0);
      put<f64>(crossings, k, 0);
    }
    put<f64>(above, k, get<f64>(above, k) + (is ? 1 : 0));
    put<f64>(crossings, k, get<f64>(crossings, k) + (is != before > level ? 1 : 0));
  }
  put<f64>(statistic(Statistic.before), i, x);
}

/** The features of what was taken, from place f on; gives the place behind them. */
function give(count: i32, rows: i32, f: i32): i32 {
  const features: usize = head(Header.features);
  const n = <f64>rows;
  const kind = head(Header.representation);
  if (kind < 3) {
    if (kind != 1) for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.before), i));
    if (kind != 0) for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.sum), i) / n);
    return f;
  }
  for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.sum), i) / n);
  for (let i = 0; i < count; i++) {
    const mean = get<f64>(statistic(Statistic.sum), i) / n;
    const variance = get<f64>(statistic(Statistic.squares), i) / n - mean * mean;
    put<f64>(features, f++, variance > 0 ? sqrt<f64>(variance) : 0);
  }
  for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.largest), i));
  for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.smallest), i));
  for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.before), i));
  for (let i = 0; i < count; i++) put<f64>(features, f++, get<f64>(statistic(Statistic.change), i) / n);
  const levels = head(Header.levels);
  const above = statistic(Statistic.count);
  const crossings = above + (<usize>(levels * head(Header.width)) << 3);
  for (let k = 0; k < levels * count; k++) put<f64>(features, f++, get<f64>(above, k) / n);
  for (let k = 0; k < levels * count; k++) put<f64>(features, f++, get<f64>(crossings, k) / n);
  return f;
}

/** Value i of row t as a view sees it. */
function seen(v: usize, t: i32, i: i32): f64 {
  const inputs = head(Header.inputs);
  const first = member(0);
  const row = <usize>head(Header.sequence) + (<usize>(t * inputs) << 3);
  const mean: usize = at(first, Member.inputMean);
  const deviation: usize = at(first, Member.inputDeviation);
  const z = (get<f64>(row, i) - get<f64>(mean, i)) / get<f64>(deviation, i);
  if (at(v, Member.series) == 0) return z;
  const change = t == 0 ? 0 : z - (get<f64>(row, i - inputs) - get<f64>(mean, i)) / get<f64>(deviation, i);
  return (change - get<f64>(at(v, Member.inputMean), i)) / get<f64>(at(v, Member.inputDeviation), i);
}

/** The features of one view of the sequence, from place f on. */
function look<T>(v: usize, rows: i32, first: i32): i32 {
  const size = at(v, Member.size);
  const inputs = head(Header.inputs);
  const washout = head(Header.washout);
  const backward = at(v, Member.backward);
  const x: usize = at(v, Member.x);
  const u: usize = at(v, Member.u);
  const bytes = head(Header.integers) ? 2 : sizeof<T>();
  memory.copy(x, at(v, Member.initial), <usize>size * bytes);
  for (let s = 0; s < rows; s++) {
    const t = backward ? rows - 1 - s : s;
    for (let i = 0; i < inputs; i++) put<T>(u, i, <T>seen(v, t, i));
    advance<T>(v, x, u, 0);
    if (s >= washout) for (let i = 0; i < size; i++) take(i, stateOf<T>(x, i), size, at(v, Member.stateLevels), s == washout);
  }
  let f = give(size, rows - washout, first);
  if (!at(v, Member.ofInputs)) return f;
  for (let s = washout; s < rows; s++)
    for (let i = 0; i < inputs; i++)
      take(i, seen(v, backward ? rows - 1 - s : s, i), inputs, at(v, Member.inputLevels), s == washout);
  f = give(inputs, rows - washout, f);
  return f;
}

function largestOf(values: usize): i32 {
  let best = 0;
  for (let k = 1; k < head(Header.classes); k++) if (get<f64>(values, k) > get<f64>(values, best)) best = k;
  return best;
}

/** Shares of a readout's outputs, in place. */
function toShares(readout: usize, outputs: usize): void {
  const classes = head(Header.classes);
  let sum: f64 = 0;
  if (at(readout, Head.softmax)) {
    const factor = load<f64>(at(readout, Head.factor));
    for (let k = 0; k < classes; k++) put<f64>(outputs, k, get<f64>(outputs, k) * factor);
    const largest = get<f64>(outputs, largestOf(outputs));
    for (let k = 0; k < classes; k++) {
      const share = f64x2.extract_lane(expF64x2(f64x2.splat(get<f64>(outputs, k) - largest)), 0);
      put<f64>(outputs, k, share);
      sum = sum + share;
    }
    for (let k = 0; k < classes; k++) put<f64>(outputs, k, get<f64>(outputs, k) / sum);
    return;
  }
  const best = largestOf(outputs);
  for (let k = 0; k < classes; k++) {
    if (!(get<f64>(outputs, k) > 0)) put<f64>(outputs, k, 0);
    sum = sum + get<f64>(outputs, k);
  }
  if (sum > 0) for (let k = 0; k < classes; k++) put<f64>(outputs, k, get<f64>(outputs, k) / sum);
  else put<f64>(outputs, best, 1);
}

function classifyBy<T>(rows: i32): i32 {
  const classes = head(Header.classes);
  const members = head(Header.members);
  const views = head(Header.views);
  const shares: usize = head(Header.output);
  const outputs: usize = head(Header.made);
  const votes = outputs + (<usize>classes << 3);
  for (let k = 0; k < classes; k++) {
    put<f64>(shares, k, 0);
    put<f64>(votes, k, 0);
  }
  for (let m = 0; m < members; m++) {
    const readout = <usize>head(Header.heads) + (<usize>(m * Head.stride) << 2);
    let f = 0;
    for (let v = 0; v < views; v++) f = look<T>(member(m * views + v), rows, f);
    for (let k = 0; k < classes; k++) {
      const row = <usize>at(readout, Head.weights) + (<usize>(k * f) << 3);
      put<f64>(outputs, k, product<f64>(row, head(Header.features), f) + get<f64>(at(readout, Head.intercept), k));
    }
    toShares(readout, outputs);
    const best = largestOf(outputs);
    put<f64>(votes, best, get<f64>(votes, best) + 1);
    for (let k = 0; k < classes; k++) put<f64>(shares, k, get<f64>(shares, k) + get<f64>(outputs, k));
  }
  for (let k = 0; k < classes; k++) put<f64>(shares, k, get<f64>(shares, k) / <f64>members);
  if (!head(Header.majority)) return largestOf(shares);
  let most: f64 = 0;
  for (let k = 0; k < classes; k++) if (get<f64>(votes, k) > most) most = get<f64>(votes, k);
  for (let k = 0; k < classes; k++) put<f64>(outputs, k, get<f64>(votes, k) == most ? get<f64>(shares, k) : -1);
  return largestOf(outputs);
}

/** The class of a sequence; its shares go to `output`. -1 if the washout takes all rows. */
export function classify(rows: i32): i32 {
  if (rows <= head(Header.washout)) return -1;
  return head(Header.realBytes) == 4 ? classifyBy<f32>(rows) : classifyBy<f64>(rows);
}
