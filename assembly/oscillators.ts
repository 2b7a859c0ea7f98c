// Steps of coupled phase oscillators (docs/numerics.md, rule 15), for binary32 and binary64.
// src/oscillators/wasm.ts lays out what the entries are given: vectors over oscillators are padded
// to whole panels of rows, and W_in lies input by input.
import { panelProducts, permute, reversedBits3, splat, treeAddress } from "./panels";
import { philoxBlock, philoxWord } from "./philox";
import { cosF64x2 } from "./vector-math";

/** Kinds of coupling. */
const DENSE = 0;
const SPARSE = 1;

// What `oscillatorModel` was given.
let size: i32 = 0;
/** Bytes of a vector over oscillators. */
let row: usize = 0;
let inputSize: i32 = 0;
let coupling: i32 = 0;
/** Panels or slices of W, and the most columns of a partial sum. */
let parts: i32 = 0;
let perPartial: i32 = 0;
let weights: usize = 0;
let sliceOffsets: usize = 0;
let sliceColumns: usize = 0;
let sliceRows: usize = 0;
let omega: usize = 0;
let drive: usize = 0;
let driveCosine: usize = 0;
let inputWeights: usize = 0;
let isField: bool = false;
let pull: f64 = 0;
let stepLength: f64 = 0;
let halfStep: f64 = 0;
let meanGain: f64 = 0;
let noiseScale: f64 = 0;
let noiseKey0: u32 = 0;
let noiseKey1: u32 = 0;
let substeps: i32 = 0;
let harmonics: i32 = 0;
/** 1 if R is one more state. */
let order: i32 = 0;

// Vectors of the scratch.
let cosines: usize = 0;
let sines: usize = 0;
let stageCosines: usize = 0;
let stageSines: usize = 0;
let p: usize = 0;
let q: usize = 0;
let fieldX: usize = 0;
let fieldY: usize = 0;
let force: usize = 0;
let noise: usize = 0;
/** 32 partial sums. */
let partials: usize = 0;
/** (s, c) of every oscillator, in the order in which products read them. */
let pairs: usize = 0;

/** W s and W c for all panels. */
// @ts-ignore: decorator
@inline
function pairPanels<T extends number>(): void {
  panelProducts<T>(weights, q, pairs, p, treeAddress, size, perPartial, parts, false, true);
}

/**
 * W s and W c for all slices: two vectors of rows of similar length, entry by entry, as in
 * reservoir.ts.
 */
// @ts-ignore: decorator
@inline
function pairSlices<T extends number>(): void {
  const lanes: usize = 16 / sizeof<T>();
  const xy = pairs;
  let w = weights;
  let c = sliceColumns;
  for (let slice: usize = 0; slice < <usize>parts; slice++) {
    const bounds = sliceOffsets + (slice << 2);
    const length = load<i32>(bounds, 4) - load<i32>(bounds);
    let top = treeAddress;
    for (let i = 0; i < 8; i++) {
      let a0 = i64x2.splat(0);
      let a1 = a0;
      let b0 = a0;
      let b1 = a0;
      for (let n = (length - reversedBits3(i) + 7) >> 3; n > 0; n--) {
        const w0 = v128.load(w);
        const w1 = v128.load(w, 16);
        const low0 = pairsAt<T>(xy, c);
        const high0 = pairsAt<T>(xy, c + 2 * lanes);
        c += 4 * lanes;
        const low1 = pairsAt<T>(xy, c);
        const high1 = pairsAt<T>(xy, c + 2 * lanes);
        c += 4 * lanes;
        a0 = v128.add<T>(a0, v128.mul<T>(w0, firstOfPairs<T>(low0, high0)));
        b0 = v128.add<T>(b0, v128.mul<T>(w0, secondOfPairs<T>(low0, high0)));
        a1 = v128.add<T>(a1, v128.mul<T>(w1, firstOfPairs<T>(low1, high1)));
        b1 = v128.add<T>(b1, v128.mul<T>(w1, secondOfPairs<T>(low1, high1)));
        w += 32;
      }
      for (let m = i; m & 1; m >>= 1) {
        top -= 64;
        a0 = v128.add<T>(v128.load(top), a0);
        a1 = v128.add<T>(v128.load(top, 16), a1);
        b0 = v128.add<T>(v128.load(top, 32), b0);
        b1 = v128.add<T>(v128.load(top, 48), b1);
      }
      v128.store(top, a0);
      v128.store(top, a1, 16);
      v128.store(top, b0, 32);
      v128.store(top, b1, 48);
      top += 64;
    }
    const rows = sliceRows + ((slice * 2 * lanes) << 2);
    for (let lane: usize = 0; lane < 2 * lanes; lane++) {
      const at = <usize>load<u32>(rows + (lane << 2)) * sizeof<T>();
      const from = treeAddress + lane * sizeof<T>();
      store<T>(p + at, load<T>(from));
      store<T>(q + at, load<T>(from, 32));
    }
  }
}

/** A vector of pairs, two in binary32 and one in binary64, whose columns stand at `columns`. */
// @ts-ignore: decorator
@inline
function pairsAt<T extends number>(xy: usize, columns: usize): v128 {
  const first = xy + (<usize>load<u32>(columns) << 1);
  if (sizeof<T>() == 8) return v128.load(first);
  return v128.load64_lane(xy + (<usize>load<u32>(columns, 4) << 1), v128.load64_zero(first), 1);
}

// @ts-ignore: decorator
@inline
function firstOfPairs<T extends number>(low: v128, high: v128): v128 {
  return sizeof<T>() == 4 ? v128.shuffle<i32>(low, high, 0, 2, 4, 6) : v128.shuffle<i64>(low, high, 0, 2);
}

// @ts-ignore: decorator
@inline
function secondOfPairs<T extends number>(low: v128, high: v128): v128 {
  return sizeof<T>() == 4 ? v128.shuffle<i32>(low, high, 1, 3, 5, 7) : v128.shuffle<i64>(low, high, 1, 3);
}

/** The sum of a value of each oscillator, four of the vectors of partial sums at a time. */
// @ts-ignore: decorator
@inline
function total<T extends number>(values: usize): T {
  const whole = values + <usize>(size & ~31) * sizeof<T>();
  for (let part: usize = 0; part < 32 * sizeof<T>(); part += 64) {
    let a0 = i64x2.splat(0);
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    for (let k = values + part; k < whole; k += 32 * sizeof<T>()) {
      a0 = v128.add<T>(a0, v128.load(k));
      a1 = v128.add<T>(a1, v128.load(k, 16));
      a2 = v128.add<T>(a2, v128.load(k, 32));
      a3 = v128.add<T>(a3, v128.load(k, 48));
    }
    v128.store(partials + part, a0);
    v128.store(partials + part, a1, 16);
    v128.store(partials + part, a2, 32);
    v128.store(partials + part, a3, 48);
  }
  const rest = <usize>(size & 31) * sizeof<T>();
  for (let k: usize = 0; k < rest; k += sizeof<T>()) store<T>(partials + k, load<T>(partials + k) + load<T>(whole + k));
  for (let half: usize = 16 * sizeof<T>(); half >= sizeof<T>(); half >>= 1)
    for (let k: usize = 0; k < half; k += sizeof<T>()) store<T>(partials + k, load<T>(partials + k) + load<T>(partials + half + k));
  return load<T>(partials);
}

/** Writes a value for every oscillator. */
// @ts-ignore: decorator
@inline
function fill<T extends number>(target: usize, value: T): void {
  const all = sizeof<T>() == 4 ? f32x4.splat(<f32>value) : f64x2.splat(<f64>value);
  for (let r: usize = 0; r < row; r += 16) v128.store(target + r, all);
}

/** p and q at a state. */
// @ts-ignore: decorator
@inline
function couple<T extends number>(c: usize, s: usize): void {
  if (coupling == DENSE) {
    permute<T>(s, pairs, perPartial, 0, size, 2);
    permute<T>(c, pairs + sizeof<T>(), perPartial, 0, size, 2);
    if (sizeof<T>() == 4) oscillatorPanels32();
    else oscillatorPanels64();
  } else if (coupling == SPARSE) {
    for (let k: usize = 0; k < <usize>size * sizeof<T>(); k += sizeof<T>()) {
      store<T>(pairs + 2 * k, load<T>(s + k));
      store<T>(pairs + 2 * k + sizeof<T>(), load<T>(c + k));
    }
    if (sizeof<T>() == 4) oscillatorSlices32();
    else oscillatorSlices64();
  } else {
    fill<T>(p, <T>meanGain * total<T>(s));
    fill<T>(q, <T>meanGain * total<T>(c));
  }
}

/** The field that pulls while an input lasts. */
// @ts-ignore: decorator
@inline
function setField<T extends number>(input: usize): void {
  for (let r: usize = 0; r < row; r += 16) {
    let sum = v128.load(drive + r);
    let w = inputWeights + r;
    for (let k: usize = 0, end = <usize>inputSize * sizeof<T>(); k < end; k += sizeof<T>()) {
      sum = v128.add<T>(sum, v128.mul<T>(v128.load(w), v128.load_splat<T>(input + k)));
      w += row;
    }
    v128.store(fieldX + r, sum);
  }
  const factor = f64x2.splat(pull);
  const at = partials;
  for (let r: usize = 0; r < row; r += 2 * sizeof<T>()) {
    const phase = sizeof<T>() == 4 ? f64x2.promote_low_f32x4(v128.load64_zero(fieldX + r)) : v128.load(fieldX + r);
    if (isField) {
      storeRounded<T>(fieldX + r, f64x2.mul(factor, phase));
      continue;
    }
    v128.store(at, cosF64x2(phase, at), 16);
    storeRounded<T>(fieldX + r, f64x2.mul(factor, v128.load(at)));
    storeRounded<T>(fieldY + r, f64x2.mul(factor, v128.load(at, 16)));
  }
  if (isField) memory.copy(fieldY, driveCosine, row);
}

/** Stores two binary64 values, rounded to T. */
// @ts-ignore: decorator
@inline
function storeRounded<T extends number>(at: usize, values: v128): void {
  if (sizeof<T>() == 4) v128.store64_lane(at, f32x4.demote_f64x2_zero(values), 0);
  else v128.store(at, values);
}

/** Four random bytes of each oscillator. */
// @ts-ignore: decorator
@inline
function drawNoise<T extends number>(step: u32, sequence: u32, substep: u32): void {
  for (let i = 0; i < size; i += 4) {
    philoxBlock(noiseKey0, noiseKey1, step, <u32>(i >> 2), sequence, substep);
    for (let lane = 0; lane < 4; lane++) {
      const word = philoxWord(lane);
      const sum = <i32>((word & 255) + ((word >> 8) & 255) + ((word >> 16) & 255) + (word >> 24)) - 510;
      store<T>(noise + <usize>(i + lane) * sizeof<T>(), <T>(noiseScale * <f64>sum));
    }
  }
}

/** (omega + c (p + X)) - s (q + Y) of the vector of oscillators at r. */
// @ts-ignore: decorator
@inline
function forceAt<T extends number>(c: v128, s: v128, r: usize): v128 {
  const along = v128.mul<T>(c, v128.add<T>(v128.load(p + r), v128.load(fieldX + r)));
  const across = v128.mul<T>(s, v128.add<T>(v128.load(q + r), v128.load(fieldY + r)));
  return v128.sub<T>(v128.add<T>(v128.load(omega + r), along), across);
}

/** Stores (c, s) turned by d. */
// @ts-ignore: decorator
@inline
function storeTurned<T extends number>(c: v128, s: v128, d: v128, toC: usize, toS: usize): void {
  const one = splat<T>(1);
  const m = v128.mul<T>(v128.mul<T>(splat<T>(0.5), d), v128.add<T>(one, v128.div<T>(v128.mul<T>(d, d), splat<T>(12))));
  const square = v128.mul<T>(m, m);
  const around = v128.add<T>(one, square);
  const a = v128.div<T>(v128.sub<T>(one, square), around);
  const b = v128.div<T>(v128.add<T>(m, m), around);
  const x = v128.sub<T>(v128.mul<T>(c, a), v128.mul<T>(s, b));
  const y = v128.add<T>(v128.mul<T>(c, b), v128.mul<T>(s, a));
  const length = v128.sqrt<T>(v128.add<T>(v128.mul<T>(x, x), v128.mul<T>(y, y)));
  v128.store(toC, v128.div<T>(x, length));
  v128.store(toS, v128.div<T>(y, length));
}

/** From the state to the stage between. */
// @ts-ignore: decorator
@inline
function firstStage<T extends number>(): void {
  const h = splat<T>(stepLength);
  for (let r: usize = 0; r < row; r += 16) {
    const c = v128.load(cosines + r);
    const s = v128.load(sines + r);
    const k = forceAt<T>(c, s, r);
    v128.store(force + r, k);
    const d = v128.add<T>(v128.mul<T>(h, k), v128.load(noise + r));
    storeTurned<T>(c, s, d, stageCosines + r, stageSines + r);
  }
}

/** From the state to the next one, by the mean of the forces at it and at the stage between. */
// @ts-ignore: decorator
@inline
function secondStage<T extends number>(): void {
  const half = splat<T>(halfStep);
  for (let r: usize = 0; r < row; r += 16) {
    const k = forceAt<T>(v128.load(stageCosines + r), v128.load(stageSines + r), r);
    const d = v128.add<T>(v128.mul<T>(half, v128.add<T>(v128.load(force + r), k)), v128.load(noise + r));
    storeTurned<T>(v128.load(cosines + r), v128.load(sines + r), d, cosines + r, sines + r);
  }
}

// Exported to stay functions of their own: see reservoir.ts.
export function oscillatorPanels32(): void {
  pairPanels<f32>();
}
export function oscillatorPanels64(): void {
  pairPanels<f64>();
}
export function oscillatorSlices32(): void {
  pairSlices<f32>();
}
export function oscillatorSlices64(): void {
  pairSlices<f64>();
}
export function oscillatorField32(input: usize): void {
  setField<f32>(input);
}
export function oscillatorField64(input: usize): void {
  setField<f64>(input);
}
export function oscillatorStage32(second: bool): void {
  if (second) secondStage<f32>();
  else firstStage<f32>();
}
export function oscillatorStage64(second: bool): void {
  if (second) secondStage<f64>();
  else firstStage<f64>();
}

/** Harmonics 1, 2, ... of the state, and R if it is asked for, to a row of states. */
// @ts-ignore: decorator
@inline
function storeStates<T extends number>(target: usize): void {
  const bytes = <usize>size * sizeof<T>();
  memory.copy(target, cosines, bytes);
  memory.copy(target + bytes, sines, bytes);
  let c = cosines;
  let s = sines;
  for (let m = 1; m < harmonics; m++) {
    for (let r: usize = 0; r < row; r += 16) {
      const x = v128.load(cosines + r);
      const y = v128.load(sines + r);
      const cm = v128.load(c + r);
      const sm = v128.load(s + r);
      v128.store(p + r, v128.sub<T>(v128.mul<T>(cm, x), v128.mul<T>(sm, y)));
      v128.store(q + r, v128.add<T>(v128.mul<T>(sm, x), v128.mul<T>(cm, y)));
    }
    c = p;
    s = q;
    target += 2 * bytes;
    memory.copy(target, p, bytes);
    memory.copy(target + bytes, q, bytes);
  }
  if (order == 0) return;
  const x = total<T>(cosines);
  const y = total<T>(sines);
  store<T>(target + 2 * bytes, sqrt<T>(x * x + y * y) / <T>size);
}

/**
 * Sets the model that this instance runs. `scratch` holds ten vectors of `rowBytes` + 16 bytes, 32
 * values and the pairs.
 */
export function oscillatorModel(
  count: i32,
  rowBytes: usize,
  inputCount: i32,
  couplingKind: i32,
  partCount: i32,
  matrix: usize,
  offsets: usize,
  columns: usize,
  rows: usize,
  frequencies: usize,
  drives: usize,
  cosineOfDrives: usize,
  inputMatrix: usize,
  fieldInput: i32,
  pullStrength: f64,
  h: f64,
  half: f64,
  gain: f64,
  noiseFactor: f64,
  key0: u32,
  key1: u32,
  heunSteps: i32,
  harmonicCount: i32,
  withOrder: i32,
  scratch: usize,
): void {
  size = count;
  row = rowBytes;
  inputSize = inputCount;
  coupling = couplingKind;
  parts = partCount;
  perPartial = (count + 31) >> 5;
  weights = matrix;
  sliceOffsets = offsets;
  sliceColumns = columns;
  sliceRows = rows;
  omega = frequencies;
  drive = drives;
  driveCosine = cosineOfDrives;
  inputWeights = inputMatrix;
  isField = fieldInput != 0;
  pull = pullStrength;
  stepLength = h;
  halfStep = half;
  meanGain = gain;
  noiseScale = noiseFactor;
  noiseKey0 = key0;
  noiseKey1 = key1;
  substeps = heunSteps;
  harmonics = harmonicCount;
  order = withOrder;
  // A slice's lanes without a row write behind the last one.
  const apart = rowBytes + 16;
  cosines = scratch;
  sines = cosines + apart;
  stageCosines = sines + apart;
  stageSines = stageCosines + apart;
  p = stageSines + apart;
  q = p + apart;
  fieldX = q + apart;
  fieldY = fieldX + apart;
  force = fieldY + apart;
  noise = force + apart;
  partials = noise + apart;
  pairs = partials + 256;
}

/** All Heun steps of `steps` inputs: see KindWasm in src/reservoir/registered/wasm.ts. */
// @ts-ignore: decorator
@inline
function run<T extends number>(x: usize, inputs: usize, states: usize, steps: i32, step: u32, sequence: u32): void {
  const bytes = <usize>size * sizeof<T>();
  // What is behind the last oscillator stays finite.
  fill<T>(cosines, <T>1);
  fill<T>(sines, <T>0);
  memory.copy(cosines, x, bytes);
  memory.copy(sines, x + bytes, bytes);
  const width: usize = 2 * bytes * <usize>harmonics + <usize>order * sizeof<T>();
  for (let t = 0; t < steps; t++) {
    const input = inputs + <usize>t * <usize>inputSize * sizeof<T>();
    if (sizeof<T>() == 4) oscillatorField32(input);
    else oscillatorField64(input);
    for (let n = 0; n < substeps; n++) {
      if (noiseScale != 0) drawNoise<T>(step + <u32>t, sequence, <u32>n);
      couple<T>(cosines, sines);
      if (sizeof<T>() == 4) oscillatorStage32(false);
      else oscillatorStage64(false);
      couple<T>(stageCosines, stageSines);
      if (sizeof<T>() == 4) oscillatorStage32(true);
      else oscillatorStage64(true);
    }
    storeStates<T>(states + <usize>t * width);
  }
  memory.copy(x, states + <usize>(steps - 1) * width, width);
}

export function oscillators32(x: usize, inputs: usize, states: usize, steps: i32, step: u32, sequence: u32): void {
  run<f32>(x, inputs, states, steps, step, sequence);
}
export function oscillators64(x: usize, inputs: usize, states: usize, steps: i32, step: u32, sequence: u32): void {
  run<f64>(x, inputs, states, steps, step, sequence);
}
