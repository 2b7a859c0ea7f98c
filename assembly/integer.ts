// The time loop of a reservoir in integers (docs/numerics.md, rule 18): products of 16 bits, sums
// of 32, which wrap around on their way and end within 32 bits. The host lays out the memory,
// writes the table of fields below and calls runInteger.

/** Addresses are byte offsets; vectors over neurons are padded to whole panels of 24. */
@unmanaged
class Fields {
  /** T x I and T x O binary32 of a chunk, and T x N states. */
  inputs: usize;
  outputs: usize;
  states: usize;
  /** x in 16 bits, then zeros up to a whole pair. */
  state: usize;
  /** Sums of W x, 32 bits. */
  sums: usize;
  /** W in pairs of columns, 4 rows a vector: panels of 6 vectors if dense, else slices of 2. */
  weights: usize;
  /** Of a sparse W: where each slice begins, in pairs; byte offsets of columns; rows of lanes. */
  sliceOffsets: usize;
  sliceColumns: usize;
  sliceRows: usize;
  /** Inputs and fed-back outputs of a step in pairs of 16 bits, and their weights, pair by pair. */
  driving: usize;
  drivingWeights: usize;
  /** b 2^e + 2^(e - 1), e and a 2^15 of each row, 32 bits each. */
  bias: usize;
  exponents: usize;
  leak: usize;
  /** tanh, 513 entries of 16 bits. */
  table: usize;
  size: i32;
  paddedSize: i32;
  inputSize: i32;
  outputSize: i32;
  /** Panels or slices. */
  parts: i32;
  /** 0 dense, 1 sparse. */
  layout: i32;
  /** 2 for weights of 16 bits, 1 for 8. */
  weightBytes: i32;
}

/** Four rows' weights of two columns. */
// @ts-ignore: decorator
@inline
function pairs(at: usize, narrow: bool): v128 {
  return narrow ? v128.load_ext<i8>(at) : v128.load(at);
}

/** Dense W x, a panel of 24 rows at a time. */
// @ts-ignore: decorator
@inline
function panels(fields: Fields, narrow: bool): void {
  const step: usize = narrow ? 8 : 16;
  const x = fields.state;
  const end = x + (<usize>((fields.size + 1) >> 1) << 2);
  let w = fields.weights;
  let out = fields.sums;
  for (let panel = fields.parts; panel > 0; panel--) {
    let a0 = i64x2.splat(0);
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    let a4 = a0;
    let a5 = a0;
    for (let k = x; k < end; k += 4) {
      const xk = v128.load32_splat(k);
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(pairs(w, narrow), xk));
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(pairs(w + step, narrow), xk));
      a2 = i32x4.add(a2, i32x4.dot_i16x8_s(pairs(w + 2 * step, narrow), xk));
      a3 = i32x4.add(a3, i32x4.dot_i16x8_s(pairs(w + 3 * step, narrow), xk));
      a4 = i32x4.add(a4, i32x4.dot_i16x8_s(pairs(w + 4 * step, narrow), xk));
      a5 = i32x4.add(a5, i32x4.dot_i16x8_s(pairs(w + 5 * step, narrow), xk));
      w += 6 * step;
    }
    v128.store(out, a0);
    v128.store(out, a1, 16);
    v128.store(out, a2, 32);
    v128.store(out, a3, 48);
    v128.store(out, a4, 64);
    v128.store(out, a5, 80);
    out += 96;
  }
}

/** Eight states of 16 bits at 16-bit byte offsets: two entries of each of four rows. */
// @ts-ignore: decorator
@inline
function gather(x: usize, offsets: usize): v128 {
  let low = load<u64>(offsets);
  let v = v128.load16_lane(x + <usize>(low & 0xffff), i64x2.splat(0), 0);
  v = v128.load16_lane(x + <usize>((low >> 16) & 0xffff), v, 1);
  v = v128.load16_lane(x + <usize>((low >> 32) & 0xffff), v, 2);
  v = v128.load16_lane(x + <usize>(low >> 48), v, 3);
  low = load<u64>(offsets, 8);
  v = v128.load16_lane(x + <usize>(low & 0xffff), v, 4);
  v = v128.load16_lane(x + <usize>((low >> 16) & 0xffff), v, 5);
  v = v128.load16_lane(x + <usize>((low >> 32) & 0xffff), v, 6);
  return v128.load16_lane(x + <usize>(low >> 48), v, 7);
}

/** Sparse W x: slices of eight rows of similar length, two entries of each at a time. */
// @ts-ignore: decorator
@inline
function slices(fields: Fields, narrow: bool): void {
  const step: usize = narrow ? 8 : 16;
  const x = fields.state;
  let w = fields.weights;
  let c = fields.sliceColumns;
  for (let slice: usize = 0; slice < <usize>fields.parts; slice++) {
    const bounds = fields.sliceOffsets + (slice << 2);
    let a = i64x2.splat(0);
    let b = a;
    for (let n = load<i32>(bounds, 4) - load<i32>(bounds); n > 0; n--) {
      a = i32x4.add(a, i32x4.dot_i16x8_s(pairs(w, narrow), gather(x, c)));
      b = i32x4.add(b, i32x4.dot_i16x8_s(pairs(w + step, narrow), gather(x, c + 16)));
      w += 2 * step;
      c += 32;
    }
    const rows = fields.sliceRows + (slice << 5);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows), a, 0);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 4), a, 1);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 8), a, 2);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 12), a, 3);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 16), b, 0);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 20), b, 1);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 24), b, 2);
    v128.store32_lane(fields.sums + <usize>load<u32>(rows, 28), b, 3);
  }
}

// Exported to stay functions of their own: see reservoir.ts.
export function integerPanels16(table: usize): void {
  panels(changetype<Fields>(table), false);
}
export function integerPanels8(table: usize): void {
  panels(changetype<Fields>(table), true);
}
export function integerSlices16(table: usize): void {
  slices(changetype<Fields>(table), false);
}
export function integerSlices8(table: usize): void {
  slices(changetype<Fields>(table), true);
}

/** u* of `count` values, in steps of 2^-12. */
// @ts-ignore: decorator
@inline
function drivingSteps(values: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const steps = floor<f64>(<f64>load<f32>(values + (i << 2)) * 4096 + 0.5);
    store<i16>(out + (i << 1), <i16>(<i32>max<f64>(-32767, min<f64>(32767, steps))));
  }
}

/** T[i] (512 - m) + T[i + 1] m in lane `lane`'s half-words, for positions i and m of 2^-9. */
// @ts-ignore: decorator
@inline
function tanhSteps(z: v128, table: usize): v128 {
  const size = i32x4.min_s(i32x4.abs(z), i32x4.splat((1 << 18) - 1));
  const offset = i32x4.shl(i32x4.shr_u(size, 9), 1);
  let ends = v128.load32_lane(table + <usize>i32x4.extract_lane(offset, 0), i64x2.splat(0), 0);
  ends = v128.load32_lane(table + <usize>i32x4.extract_lane(offset, 1), ends, 1);
  ends = v128.load32_lane(table + <usize>i32x4.extract_lane(offset, 2), ends, 2);
  ends = v128.load32_lane(table + <usize>i32x4.extract_lane(offset, 3), ends, 3);
  const m = v128.and(size, i32x4.splat(511));
  const shares = v128.or(i32x4.sub(i32x4.splat(512), m), i32x4.shl(m, 16));
  const value = i32x4.shr_s(i32x4.add(i32x4.dot_i16x8_s(ends, shares), i32x4.splat(256)), 9);
  return v128.bitselect(i32x4.neg(value), value, i32x4.lt_s(z, i64x2.splat(0)));
}

/** z and x' of all neurons, from their sums. */
// @ts-ignore: decorator
@inline
function integrate(fields: Fields, states: usize): void {
  const drivingEnd = fields.driving + (<usize>((fields.inputSize + fields.outputSize + 1) >> 1) << 2);
  const row = <usize>fields.paddedSize << 2;
  for (let r: usize = 0; r < <usize>fields.size << 2; r += 16) {
    let drive = i64x2.splat(0);
    let w = fields.drivingWeights + r;
    for (let u = fields.driving; u < drivingEnd; u += 4) {
      drive = i32x4.add(drive, i32x4.dot_i16x8_s(v128.load(w), v128.load32_splat(u)));
      w += row;
    }
    const sum = i32x4.add(i32x4.add(i32x4.shl(drive, 3), v128.load(fields.bias + r)), v128.load(fields.sums + r));
    const e = v128.load(fields.exponents + r);
    let z = i32x4.splat(i32x4.extract_lane(sum, 0) >> i32x4.extract_lane(e, 0));
    z = i32x4.replace_lane(z, 1, i32x4.extract_lane(sum, 1) >> i32x4.extract_lane(e, 1));
    z = i32x4.replace_lane(z, 2, i32x4.extract_lane(sum, 2) >> i32x4.extract_lane(e, 2));
    z = i32x4.replace_lane(z, 3, i32x4.extract_lane(sum, 3) >> i32x4.extract_lane(e, 3));
    const at = fields.state + (r >> 1);
    const x = v128.load_ext<i16>(at);
    const moved = i32x4.mul(v128.load(fields.leak + r), i32x4.sub(tanhSteps(z, fields.table), x));
    const next = i32x4.add(x, i32x4.shr_s(i32x4.add(moved, i32x4.splat(16384)), 15));
    v128.store64_lane(at, i16x8.narrow_i32x4_s(next, next), 0);
    v128.store(states + r, f32x4.mul(f32x4.convert_i32x4_s(next), f32x4.splat(0.000030517578125)));
  }
}

/** Runs `steps` steps of the reservoir that `table` describes. */
export function runInteger(table: usize, steps: i32): void {
  const fields = changetype<Fields>(table);
  const width = <usize>fields.inputSize << 1;
  for (let t: usize = 0; t < <usize>steps; t++) {
    if (fields.layout == 0) {
      if (fields.weightBytes == 2) integerPanels16(table);
      else integerPanels8(table);
    } else if (fields.weightBytes == 2) integerSlices16(table);
    else integerSlices8(table);
    drivingSteps(fields.inputs + t * (<usize>fields.inputSize << 2), fields.inputSize, fields.driving);
    drivingSteps(fields.outputs + t * (<usize>fields.outputSize << 2), fields.outputSize, fields.driving + width);
    integrate(fields, fields.states + t * (<usize>fields.size << 2));
  }
}
