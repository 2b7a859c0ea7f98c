// Steps of state-affine systems (docs/numerics.md, rule 17), for binary32 and binary64.
// src/reservoir/state-affine/wasm.ts lays out what the entries are given.
import { panelProducts, permute, treeAddress } from "./panels";

/** Functions of an input s: u, u^2 and sqrt(u (1 - u)). */
const LINEAR = 0;
const SQUARE = 1;

// What `stateAffineModel` was given.
/** Coordinates of x, and those of an output, which is 0 without one. */
let size: i32 = 0;
let outputs: i32 = 0;
let inputSize: i32 = 0;
/** How many functions of each input there are; two bits of `functions` say which each is. */
let functionCount: i32 = 0;
let functions: u32 = 0;
let low: f64 = 0;
let width: f64 = 0;
/** Panels of the blocks of x' and of the output, and bytes to their second streams, or 0. */
let transition: usize = 0;
let transitionPanels: i32 = 0;
let transitionStream: usize = 0;
let transitionOffsets: usize = 0;
let output: usize = 0;
let outputPanels: i32 = 0;
let outputStream: usize = 0;
let outputOffsets: usize = 0;

// Parts of the scratch.
/** x as products read it, and its parts' length. */
let permuted: usize = 0;
let perPartial: i32 = 0;
let products: usize = 0;
let next: usize = 0;
/** The functions of the inputs. */
let gains: usize = 0;

/** Sets the model that this instance runs. The last four are addresses of parts of scratch. */
export function stateAffineModel(
  coordinates: i32,
  outputCount: i32,
  inputCount: i32,
  perInput: i32,
  functionBits: u32,
  least: f64,
  range: f64,
  matrix: usize,
  panels: i32,
  stream: usize,
  offsets: usize,
  outputMatrix: usize,
  panelsOfOutput: i32,
  streamOfOutput: usize,
  offsetsOfOutput: usize,
  permutedAddress: usize,
  productsAddress: usize,
  nextAddress: usize,
  gainsAddress: usize,
): void {
  size = coordinates;
  outputs = outputCount;
  inputSize = inputCount;
  functionCount = perInput;
  functions = functionBits;
  low = least;
  width = range;
  transition = matrix;
  transitionPanels = panels;
  transitionStream = stream;
  transitionOffsets = offsets;
  output = outputMatrix;
  outputPanels = panelsOfOutput;
  outputStream = streamOfOutput;
  outputOffsets = offsetsOfOutput;
  permuted = permutedAddress;
  perPartial = (coordinates + 31) >> 5;
  products = productsAddress;
  next = nextAddress;
  gains = gainsAddress;
}

// Exported to stay functions of their own: see reservoir.ts.
export function affinePanels32(w: usize, stream: usize, count: i32): void {
  if (stream == 0) panelProducts<f32>(w, w, permuted, products, treeAddress, size, perPartial, count, false, false);
  else panelProducts<f32>(w, w + stream, permuted, products, treeAddress, size, perPartial, count, true, false);
}
export function affinePanels64(w: usize, stream: usize, count: i32): void {
  if (stream == 0) panelProducts<f64>(w, w, permuted, products, treeAddress, size, perPartial, count, false, false);
  else panelProducts<f64>(w, w + stream, permuted, products, treeAddress, size, perPartial, count, true, false);
}

// @ts-ignore: decorator
@inline
function setGains<T extends number>(input: usize): void {
  let to = gains;
  for (let i: usize = 0; i < <usize>inputSize; i++) {
    const s = min<T>(<T>1, max<T>(<T>0, (load<T>(input + i * sizeof<T>()) - <T>low) / <T>width));
    for (let k = 0; k < functionCount; k++) {
      const which = (functions >> (2 * k)) & 3;
      store<T>(to, which == LINEAR ? s : which == SQUARE ? s * s : sqrt<T>(s * (<T>1 - s)));
      to += sizeof<T>();
    }
  }
}

/** The sum over blocks of `rows` products, each with its offsets, to `next`. */
// @ts-ignore: decorator
@inline
function combine<T extends number>(rows: i32, offsets: usize): void {
  const bytes = <usize>rows * sizeof<T>();
  const padded = (bytes + 15) & ~15;
  const terms = <usize>(inputSize * functionCount);
  for (let r: usize = 0; r < bytes; r += 16) {
    let sum = v128.add<T>(v128.load(products + r), v128.load(offsets + r));
    for (let k: usize = 1; k <= terms; k++) {
      const part = v128.add<T>(v128.load(products + k * bytes + r), v128.load(offsets + k * padded + r));
      sum = v128.add<T>(sum, v128.mul<T>(v128.load_splat<T>(gains + (k - 1) * sizeof<T>()), part));
    }
    v128.store(next + r, sum);
  }
}

/** `steps` steps: see KindWasm in src/reservoir/registered/wasm.ts. */
// @ts-ignore: decorator
@inline
function run<T extends number>(x: usize, inputs: usize, states: usize, steps: i32): void {
  const own = <usize>size * sizeof<T>();
  const rowBytes = outputs > 0 ? <usize>outputs * sizeof<T>() : own;
  // Behind an output, x is hidden.
  const hidden = outputs > 0 ? x + rowBytes : x;
  for (let t: usize = 0; t < <usize>steps; t++) {
    setGains<T>(inputs + t * <usize>inputSize * sizeof<T>());
    permute<T>(hidden, permuted, perPartial, 0, size, 1);
    if (outputs > 0) {
      if (sizeof<T>() == 4) affinePanels32(output, outputStream, outputPanels);
      else affinePanels64(output, outputStream, outputPanels);
      combine<T>(outputs, outputOffsets);
      memory.copy(states + t * rowBytes, next, rowBytes);
    }
    if (sizeof<T>() == 4) affinePanels32(transition, transitionStream, transitionPanels);
    else affinePanels64(transition, transitionStream, transitionPanels);
    combine<T>(size, transitionOffsets);
    memory.copy(hidden, next, own);
    if (outputs == 0) memory.copy(states + t * rowBytes, next, own);
  }
  if (outputs > 0) memory.copy(x, states + <usize>(steps - 1) * rowBytes, rowBytes);
}

export function stateAffine32(x: usize, inputs: usize, states: usize, steps: i32, _step: u32, _sequence: u32): void {
  run<f32>(x, inputs, states, steps);
}
export function stateAffine64(x: usize, inputs: usize, states: usize, steps: i32, _step: u32, _sequence: u32): void {
  run<f64>(x, inputs, states, steps);
}
