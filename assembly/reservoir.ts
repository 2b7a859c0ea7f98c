// The time loop of a rate reservoir in portable arithmetic (docs/numerics.md, rules 1 to 6), for
// binary32 and binary64. One instance holds one reservoir: the host lays out the memory, sets the
// globals below, and calls run32 or run64.
import { tanhF32x4, tanhF64x2 } from "./vector-math";
import { barrier } from "./barrier";
import { panelProducts, permute, reversedBits3, splat, treeAddress, treeBytes } from "./panels";
import { philoxBlock, philoxWord } from "./philox";

/**
 * Address of the state x. A constant, which gathers fold into their offset. Must equal
 * `wasmReserved` of the host.
 */
export const stateAddress: usize = 65536;
/** Neurons, and neurons rounded up to whole panels and vectors. */
export let size: i32 = 0;
export let paddedSize: i32 = 0;
export let inputSize: i32 = 0;
export let outputSize: i32 = 0;

/**
 * Addresses. Vectors over neurons are padded; W_in and W_fb are stored input by input (I x padded
 * N).
 */
export let weights: usize = 0;
export let sliceOffsets: usize = 0;
export let sliceColumns: usize = 0;
export let sliceRows: usize = 0;
export let permutedState: usize = 0;
export let preactivation: usize = 0;
/**
 * Dense products: those of W, which are the pre-activations, behind those of O if there is an O.
 */
export let products: usize = 0;
export let inputWeights: usize = 0;
export let bias: usize = 0;
export let feedbackWeights: usize = 0;
export let leak: usize = 0;
export let keep: usize = 0;
/** What a step keeps, times `keep`: the state, or the first of the products, those of O. */
export let kept: usize = 0;

/** One chunk of the run: T x I inputs, T x O fed-back outputs, T x N states. */
export let inputs: usize = 0;
export let outputs: usize = 0;
export let states: usize = 0;

/** 0 dense panels, 1 slices with 16-bit column offsets, 2 slices with 32-bit ones. */
export let layout: i32 = 0;
/** The most columns of W that one of the 32 partial sums has. */
export let columnsPerPartial: i32 = 0;
/**
 * Bytes from the first stream of dense panels to the second, which holds the second half of each
 * panel's rows; 0 if there is one stream.
 */
export let secondStream: usize = 0;
/** 0 tanh, 1 identity, 2 relu, 3 sigmoid. */
export let activation: i32 = 0;

export let noiseLevel32: f32 = 0;
export let noiseLevel64: f64 = 0;
export let noiseKey0: u32 = 0;
export let noiseKey1: u32 = 0;
export let noiseStep: u32 = 0;
export let noiseSequence: u32 = 0;

/**
 * Threads that run this reservoir together, this one's number, and the address of their barrier.
 */
export let threads: i32 = 1;
export let thread: i32 = 0;
export let barrierAddress: usize = 0;

/** Dense W x for panels first to last; `split`: their rows lie in two streams. */
// @ts-ignore: decorator
@inline
function densePanels<T extends number>(first: i32, last: i32, split: bool): void {
  const w = weights + <usize>first * <usize>size * (split ? 48 : 96);
  const tree = treeAddress + <usize>thread * treeBytes;
  const z = products + <usize>first * 96;
  panelProducts<T>(w, w + secondStream, permutedState, z, tree, size, columnsPerPartial, last - first, split, false);
}

/**
 * Four (binary32) or two (binary64) states at 16-bit byte offsets packed in `offsets`, lowest
 * first.
 */
// @ts-ignore: decorator
@inline
function gather16<T extends number>(offsets: u64): v128 {
  const first = <usize>(<u32>offsets & 0xffff);
  const second = <usize>((<u32>offsets >> 16) & 0xffff);
  if (sizeof<T>() == 4) {
    const high = <u32>(offsets >> 32);
    let x = v128.load_zero<f32>(first, stateAddress);
    x = v128.load_lane<f32>(second, x, 1, stateAddress);
    x = v128.load_lane<f32>(<usize>(high & 0xffff), x, 2, stateAddress);
    return v128.load_lane<f32>(<usize>(high >> 16), x, 3, stateAddress);
  }
  return v128.load_lane<f64>(second, v128.load_zero<f64>(first, stateAddress), 1, stateAddress);
}

/** The same with 32-bit byte offsets at an address. */
// @ts-ignore: decorator
@inline
function gather32<T extends number>(offsets: usize): v128 {
  if (sizeof<T>() == 4) {
    let x = v128.load_zero<f32>(<usize>load<u32>(offsets), stateAddress);
    x = v128.load_lane<f32>(<usize>load<u32>(offsets, 4), x, 1, stateAddress);
    x = v128.load_lane<f32>(<usize>load<u32>(offsets, 8), x, 2, stateAddress);
    return v128.load_lane<f32>(<usize>load<u32>(offsets, 12), x, 3, stateAddress);
  }
  return v128.load_lane<f64>(<usize>load<u32>(offsets, 4), v128.load_zero<f64>(<usize>load<u32>(offsets), stateAddress), 1, stateAddress);
}

/**
 * Sparse W x for slices first to last. A slice is two vectors of rows of similar length (SELL: 8
 * rows in binary32, 4 in binary64), stored partial sum by partial sum in bit-reversed order, entry
 * by entry, lane = row. Rows are scattered to their positions at the end.
 */
// @ts-ignore: decorator
@inline
function sparseSlices<T extends number, Offset extends number>(first: i32, last: i32): void {
  const offsetStep = (<usize>32 / sizeof<T>()) * sizeof<Offset>();
  const tree = treeAddress + <usize>thread * treeBytes;
  const begin = <usize>load<u32>(sliceOffsets + (<usize>first << 2));
  let w = weights + (begin << 5);
  let c = sliceColumns + begin * offsetStep;
  for (let slice = first; slice < last; slice++) {
    const bounds = sliceOffsets + (<usize>slice << 2);
    const length = load<i32>(bounds, 4) - load<i32>(bounds);
    let top = tree;
    for (let i = 0; i < 8; i++) {
      let a = i64x2.splat(0);
      let b = a;
      for (let n = (length - reversedBits3(i) + 7) >> 3; n > 0; n--) {
        if (sizeof<Offset>() == 2) {
          if (sizeof<T>() == 4) {
            a = v128.add<T>(a, v128.mul<T>(v128.load(w), gather16<T>(load<u64>(c))));
            b = v128.add<T>(b, v128.mul<T>(v128.load(w, 16), gather16<T>(load<u64>(c, 8))));
          } else {
            const offsets = load<u64>(c);
            a = v128.add<T>(a, v128.mul<T>(v128.load(w), gather16<T>(offsets)));
            b = v128.add<T>(b, v128.mul<T>(v128.load(w, 16), gather16<T>(offsets >> 32)));
          }
        } else {
          a = v128.add<T>(a, v128.mul<T>(v128.load(w), gather32<T>(c)));
          b = v128.add<T>(b, v128.mul<T>(v128.load(w, 16), gather32<T>(c + (16 / sizeof<T>()) * 4)));
        }
        c += offsetStep;
        w += 32;
      }
      for (let m = i; m & 1; m >>= 1) {
        top -= 32;
        a = v128.add<T>(v128.load(top), a);
        b = v128.add<T>(v128.load(top, 16), b);
      }
      v128.store(top, a);
      v128.store(top, b, 16);
      top += 32;
    }
    const rows = sliceRows + <usize>slice * (32 / sizeof<T>()) * 4;
    for (let lane: usize = 0; lane < 32 / sizeof<T>(); lane++) {
      store<T>(preactivation + <usize>load<u32>(rows + (lane << 2)), load<T>(tree + lane * sizeof<T>()));
    }
  }
}

// The products are exported to stay functions of their own. V8 then optimises the loop that calls
// them once a step; it never optimises WebAssembly code that is already running.
export function densePanels32(first: i32, last: i32): void {
  densePanels<f32>(first, last, false);
}
export function densePanels64(first: i32, last: i32): void {
  densePanels<f64>(first, last, false);
}
export function splitPanels32(first: i32, last: i32): void {
  densePanels<f32>(first, last, true);
}
export function splitPanels64(first: i32, last: i32): void {
  densePanels<f64>(first, last, true);
}
export function sparseSlices32(first: i32, last: i32): void {
  sparseSlices<f32, u16>(first, last);
}
export function sparseSlices64(first: i32, last: i32): void {
  sparseSlices<f64, u16>(first, last);
}
export function wideSparseSlices32(first: i32, last: i32): void {
  sparseSlices<f32, u32>(first, last);
}
export function wideSparseSlices64(first: i32, last: i32): void {
  sparseSlices<f64, u32>(first, last);
}

/**
 * Copies the states of neurons first to last (multiples of 32) to where the dense product reads
 * them: partial sum by partial sum.
 */
// @ts-ignore: decorator
@inline
function permuteState<T extends number>(first: i32, last: i32): void {
  permute<T>(stateAddress, permutedState, columnsPerPartial, first, min(last, size), 1);
}

/** z = (drive + dot) + feedback, drive = b + W_in u, for neurons at byte offsets first to last. */
// @ts-ignore: decorator
@inline
function addDrive<T extends number>(input: usize, output: usize, first: usize, last: usize): void {
  const row = <usize>paddedSize * sizeof<T>();
  for (let r = first; r < last; r += 16) {
    let drive = v128.load(bias + r);
    let w = inputWeights + r;
    for (let i: usize = 0, end = <usize>inputSize * sizeof<T>(); i < end; i += sizeof<T>()) {
      drive = v128.add<T>(drive, v128.mul<T>(v128.load(w), v128.load_splat<T>(input + i)));
      w += row;
    }
    let z = v128.add<T>(drive, v128.load(preactivation + r));
    if (outputSize > 0) {
      let feedback = i64x2.splat(0);
      w = feedbackWeights + r;
      for (let k: usize = 0, end = <usize>outputSize * sizeof<T>(); k < end; k += sizeof<T>()) {
        feedback = v128.add<T>(feedback, v128.mul<T>(v128.load(w), v128.load_splat<T>(output + k)));
        w += row;
      }
      z = v128.add<T>(z, feedback);
    }
    v128.store(preactivation + r, z);
  }
}

/**
 * z += noiseLevel (2U - 1). One Philox block serves four neurons in binary32 and two in binary64.
 */
// @ts-ignore: decorator
@inline
function addNoise<T extends number>(step: u32, first: usize, last: usize): void {
  for (let r = first; r < last; r += 16) {
    philoxBlock(noiseKey0, noiseKey1, step, <u32>(r >> 4), noiseSequence, 0);
    const z = preactivation + r;
    if (sizeof<T>() == 4) {
      for (let lane: usize = 0; lane < 4; lane++) {
        const u = <f32>(philoxWord(<i32>lane) >> 8) * <f32>5.9604644775390625e-8;
        store<f32>(z + (lane << 2), load<f32>(z + (lane << 2)) + noiseLevel32 * (<f32>2 * u - <f32>1));
      }
    } else {
      for (let lane: usize = 0; lane < 2; lane++) {
        const high = <f64>(philoxWord(<i32>(lane << 1)) >> 5);
        const low = <f64>(philoxWord(<i32>(lane << 1) + 1) >> 6);
        const u = (high * 67108864 + low) * 1.1102230246251565e-16;
        store<f64>(z + (lane << 3), load<f64>(z + (lane << 3)) + noiseLevel64 * (2 * u - 1));
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function tanhVector<T extends number>(z: v128): v128 {
  return sizeof<T>() == 4 ? tanhF32x4(z) : tanhF64x2(z);
}

/** z = f(z). */
// @ts-ignore: decorator
@inline
function activate<T extends number>(first: usize, last: usize): void {
  const start = preactivation + first;
  const end = preactivation + last;
  if (activation == 0) {
    for (let z = start; z < end; z += 16) v128.store(z, tanhVector<T>(v128.load(z)));
  } else if (activation == 2) {
    for (let z = start; z < end; z += 16) v128.store(z, v128.max<T>(v128.load(z), i64x2.splat(0)));
  } else if (activation == 3) {
    const half = splat<T>(0.5);
    for (let z = start; z < end; z += 16) {
      v128.store(z, v128.add<T>(half, v128.mul<T>(half, tanhVector<T>(v128.mul<T>(half, v128.load(z))))));
    }
  }
}

/**
 * x = k x + a f(z), or k O x + a f(z), k = 1 - a for the leaky cell; kept and copied to the states.
 * Returns whether every new state is finite.
 */
// @ts-ignore: decorator
@inline
function integrate<T extends number>(row: usize, first: usize, last: usize): bool {
  const infinity = splat<T>(Infinity);
  let finite = i64x2.splat(-1);
  for (let r = first; r < last; r += 16) {
    const old = v128.mul<T>(v128.load(keep + r), v128.load(kept + r));
    const x = v128.add<T>(old, v128.mul<T>(v128.load(leak + r), v128.load(preactivation + r)));
    finite = v128.and(finite, v128.lt<T>(v128.abs<T>(x), infinity));
    v128.store(r, x, stateAddress);
    v128.store(row + r, x);
  }
  return i64x2.all_true(finite) && v128.bitmask<i8>(finite) == 0xffff;
}

/**
 * Runs `steps` steps: panels or slices firstPart to lastPart of the product and neurons firstRow to
 * lastRow (multiples of 32, or the end) belong to this thread. Returns the steps whose states are
 * all finite; the row after them holds the bad one.
 */
// @ts-ignore: decorator
@inline
function runSteps<T extends number>(steps: i32, firstPart: i32, lastPart: i32, firstRow: i32, lastRow: i32): i32 {
  const first = <usize>firstRow * sizeof<T>();
  const last = <usize>lastRow * sizeof<T>();
  const noisy = sizeof<T>() == 4 ? noiseLevel32 != 0 : noiseLevel64 != 0;
  for (let t = 0; t < steps; t++) {
    if (layout == 0 && secondStream == 0) {
      if (sizeof<T>() == 4) densePanels32(firstPart, lastPart);
      else densePanels64(firstPart, lastPart);
    } else if (layout == 0) {
      if (sizeof<T>() == 4) splitPanels32(firstPart, lastPart);
      else splitPanels64(firstPart, lastPart);
    } else if (layout == 1) {
      if (sizeof<T>() == 4) sparseSlices32(firstPart, lastPart);
      else sparseSlices64(firstPart, lastPart);
    } else {
      if (sizeof<T>() == 4) wideSparseSlices32(firstPart, lastPart);
      else wideSparseSlices64(firstPart, lastPart);
    }
    barrier(barrierAddress, threads);
    addDrive<T>(inputs + <usize>t * <usize>inputSize * sizeof<T>(), outputs + <usize>t * <usize>outputSize * sizeof<T>(), first, last);
    if (noisy) addNoise<T>(noiseStep + <u32>t, first, last);
    activate<T>(first, last);
    if (!integrate<T>(states + <usize>t * <usize>size * sizeof<T>(), first, last)) {
      if (threads == 1) return t;
      markBad(t);
    }
    if (layout == 0) permuteState<T>(firstRow, lastRow);
    barrier(barrierAddress, threads);
    if (threads > 1 && badStep() <= t) return badStep();
  }
  return steps;
}

export function run32(steps: i32, firstPart: i32, lastPart: i32, firstRow: i32, lastRow: i32): i32 {
  return runSteps<f32>(steps, firstPart, lastPart, firstRow, lastRow);
}
export function run64(steps: i32, firstPart: i32, lastPart: i32, firstRow: i32, lastRow: i32): i32 {
  return runSteps<f64>(steps, firstPart, lastPart, firstRow, lastRow);
}

/** Brings the dense product's copy of the state up to date after the host wrote to x. */
export function stateWritten(precision: i32): void {
  if (layout != 0) return;
  if (precision == 32) permuteState<f32>(0, size);
  else permuteState<f64>(0, size);
}

/**
 * The threads' common note of the first step with a state that is not finite, behind the barrier's
 * words.
 */
// @ts-ignore: decorator
@inline
function markBad(t: i32): void {
  store<i32>(barrierAddress + 192, t);
}
// @ts-ignore: decorator
@inline
function badStep(): i32 {
  return load<i32>(barrierAddress + 192);
}
