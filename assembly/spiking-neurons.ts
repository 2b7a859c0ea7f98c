// What every spiking neuron does in a step: first potentials and currents go to scratch, then, if
// all are finite, thresholds and resets.

/**
 * The table of a network's fields that the host writes, in this order: addresses and numbers, 32
 * bits each, then the ones of 64 bits.
 */
@unmanaged
export class Fields {
  size: i32;
  /** Neurons rounded up to 32. Every list of neurons is this long. */
  paddedSize: i32;
  inputSize: i32;
  /** 0 leaky, 1 adaptive, 2 Izhikevich. */
  neuron: i32;
  /** Whether a spike takes `reset` off the potential. */
  subtracts: i32;
  ringRows: i32;
  noiseKey0: u32;
  noiseKey1: u32;
  backgroundChance: u32;
  backgroundWeight: i32;
  inputs: usize;
  states: usize;
  /** Filtered spikes. */
  state: usize;
  potential: usize;
  recovery: usize;
  excitatory: usize;
  inhibitory: usize;
  held: usize;
  /** ringRows rows of excitatory and then inhibitory input, 32-bit whole numbers. */
  ring: usize;
  nextPotential: usize;
  nextRecovery: usize;
  nextExcitatory: usize;
  nextInhibitory: usize;
  drive: usize;
  bias: usize;
  /** Column by column; 0 for none. */
  inputWeights: usize;
  /** exp(-dt / tau), or Izhikevich's dt a. */
  keep: usize;
  driveGain: usize;
  excitatoryGain: usize;
  inhibitoryGain: usize;
  threshold: usize;
  reset: usize;
  refractorySteps: usize;
  /** Of the threshold's rise, or Izhikevich's b. */
  recoveryKeep: usize;
  recoveryStep: usize;
  /** Neurons that fired, in rising order. */
  spikes: usize;
  /**
   * First segment of each source, and one more. A segment is a run of a source's synapses of one
   * delay.
   */
  segments: usize;
  /** The synapse after the last of each segment, and its delay. */
  segmentEnds: usize;
  segmentDelays: usize;
  /**
   * 64 bits each: the byte offset of the cell within a row of the ring, and above it the weight.
   */
  synapses: usize;
  /** The same from input channels; 0 for none. */
  inputSegments: usize;
  inputSegmentEnds: usize;
  inputSegmentDelays: usize;
  inputSynapses: usize;
  unit32: f32;
  excitatoryKeep32: f32;
  inhibitoryKeep32: f32;
  stateKeep32: f32;
  noiseScale32: f32;
  halfStep32: f32;
  unit64: f64;
  excitatoryKeep64: f64;
  inhibitoryKeep64: f64;
  stateKeep64: f64;
  noiseScale64: f64;
  halfStep64: f64;
}

// @ts-ignore: decorator
@inline
export function splat<T extends number>(value: f64): v128 {
  return sizeof<T>() == 4 ? f32x4.splat(<f32>value) : f64x2.splat(value);
}

/**
 * A vector of the ring's whole numbers as numbers of the precision; `r` is a byte offset in a list
 * of that precision.
 */
// @ts-ignore: decorator
@inline
export function arrived<T extends number>(cells: usize, r: usize): v128 {
  return sizeof<T>() == 4 ? f32x4.convert_i32x4_s(v128.load(cells + r)) : f64x2.convert_low_i32x4_s(v128.load64_zero(cells + (r >> 1)));
}

/** A mask of lanes of the precision: where the potential is held. */
// @ts-ignore: decorator
@inline
export function heldMask<T extends number>(held: usize, r: usize): v128 {
  if (sizeof<T>() == 4) return i32x4.gt_s(v128.load(held + r), i32x4.splat(0));
  return i64x2.extend_low_i32x4_s(i32x4.gt_s(v128.load64_zero(held + (r >> 1)), i32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function isAll(mask: v128): bool {
  return v128.bitmask<i8>(mask) == 0xffff;
}

/**
 * Writes the row of a step with a potential that is not finite: NaN for such neurons, else the
 * filtered spikes before the step.
 */
function writeBadRow<T extends number>(fields: Fields, row: usize): void {
  for (let r: usize = 0; r < <usize>fields.size * sizeof<T>(); r += sizeof<T>()) {
    const v = load<T>(fields.nextPotential + r);
    const u = load<T>(fields.nextRecovery + r);
    store<T>(row + r, isFinite<T>(v) && isFinite<T>(u) ? load<T>(fields.state + r) : <T>NaN);
  }
}

/** Potentials and currents after the step, before any reset. Returns whether all are finite. */
// @ts-ignore: decorator
@inline
export function advanceIntegrateAndFire<T extends number>(fields: Fields, arriving: usize, row: usize): bool {
  const unit = sizeof<T>() == 4 ? f32x4.splat(fields.unit32) : f64x2.splat(fields.unit64);
  const infinity = splat<T>(Infinity);
  const inhibitoryCells = arriving + (<usize>fields.paddedSize << 2);
  const end = <usize>fields.paddedSize * sizeof<T>();
  let finite = i64x2.splat(-1);
  for (let r: usize = 0; r < end; r += 16) {
    const e = v128.add<T>(v128.load(fields.excitatory + r), v128.mul<T>(arrived<T>(arriving, r), unit));
    const i = v128.add<T>(v128.load(fields.inhibitory + r), v128.mul<T>(arrived<T>(inhibitoryCells, r), unit));
    v128.store(fields.nextExcitatory + r, e);
    v128.store(fields.nextInhibitory + r, i);
    const before = v128.load(fields.potential + r);
    let v = v128.add<T>(v128.mul<T>(v128.load(fields.keep + r), before), v128.mul<T>(v128.load(fields.excitatoryGain + r), e));
    v = v128.add<T>(v, v128.mul<T>(v128.load(fields.inhibitoryGain + r), i));
    v = v128.add<T>(v, v128.mul<T>(v128.load(fields.driveGain + r), v128.load(fields.drive + r)));
    v = v128.bitselect(before, v, heldMask<T>(fields.held, r));
    finite = v128.and(finite, v128.lt<T>(v128.abs<T>(v), infinity));
    v128.store(fields.nextPotential + r, v);
  }
  if (isAll(finite)) return true;
  writeBadRow<T>(fields, row);
  return false;
}

/** Decays the currents and filters the spikes of one vector; writes the new filtered spikes. */
// @ts-ignore: decorator
@inline
function decayed<T extends number>(fields: Fields, row: usize, r: usize, fires: v128): void {
  const excitatoryKeep = sizeof<T>() == 4 ? f32x4.splat(fields.excitatoryKeep32) : f64x2.splat(fields.excitatoryKeep64);
  const inhibitoryKeep = sizeof<T>() == 4 ? f32x4.splat(fields.inhibitoryKeep32) : f64x2.splat(fields.inhibitoryKeep64);
  const stateKeep = sizeof<T>() == 4 ? f32x4.splat(fields.stateKeep32) : f64x2.splat(fields.stateKeep64);
  v128.store(fields.excitatory + r, v128.mul<T>(excitatoryKeep, v128.load(fields.nextExcitatory + r)));
  v128.store(fields.inhibitory + r, v128.mul<T>(inhibitoryKeep, v128.load(fields.nextInhibitory + r)));
  const x = v128.add<T>(v128.mul<T>(stateKeep, v128.load(fields.state + r)), v128.and(splat<T>(1), fires));
  v128.store(fields.state + r, x);
  v128.store(row + r, x);
}

/**
 * Appends the neurons of a vector that fired; returns the new count. Lanes beyond the last neuron
 * are left out.
 */
// @ts-ignore: decorator
@inline
function append<T extends number>(fields: Fields, count: i32, r: usize, fires: v128): i32 {
  let bits: i32 = sizeof<T>() == 4 ? i32x4.bitmask(fires) : i64x2.bitmask(fires);
  while (bits != 0) {
    const neuron = <i32>(r / sizeof<T>()) + ctz(bits);
    if (neuron < fields.size) {
      store<i32>(fields.spikes + (<usize>count << 2), neuron);
      count++;
    }
    bits &= bits - 1;
  }
  return count;
}

/** Thresholds, resets and decays. Returns how many neurons fired; their list is in `spikes`. */
// @ts-ignore: decorator
@inline
export function fireIntegrateAndFire<T extends number>(fields: Fields, row: usize): i32 {
  const isAdaptive = fields.neuron == 1;
  const subtracts = fields.subtracts != 0;
  const end = <usize>fields.paddedSize * sizeof<T>();
  let count = 0;
  for (let r: usize = 0; r < end; r += 16) {
    const v = v128.load(fields.nextPotential + r);
    let limit = v128.load(fields.threshold + r);
    if (isAdaptive) limit = v128.add<T>(limit, v128.load(fields.recovery + r));
    const fires = v128.andnot(v128.ge<T>(v, limit), heldMask<T>(fields.held, r));
    let reset = v128.load(fields.reset + r);
    if (subtracts) reset = v128.sub<T>(v, reset);
    v128.store(fields.potential + r, v128.bitselect(reset, v, fires));
    if (isAdaptive) {
      const kept = v128.mul<T>(v128.load(fields.recoveryKeep + r), v128.load(fields.recovery + r));
      v128.store(fields.recovery + r, v128.add<T>(kept, v128.and(v128.load(fields.recoveryStep + r), fires)));
    }
    decayed<T>(fields, row, r, fires);
    hold<T>(fields, r, fires);
    count = append<T>(fields, count, r, fires);
  }
  return count;
}

/** held = fires ? refractorySteps : max(held - 1, 0). */
// @ts-ignore: decorator
@inline
function hold<T extends number>(fields: Fields, r: usize, fires: v128): void {
  const zero = i32x4.splat(0);
  const one = i32x4.splat(1);
  if (sizeof<T>() == 4) {
    const fallen = i32x4.max_s(i32x4.sub(v128.load(fields.held + r), one), zero);
    v128.store(fields.held + r, v128.bitselect(v128.load(fields.refractorySteps + r), fallen, fires));
  } else {
    const half = r >> 1;
    const fallen = i32x4.max_s(i32x4.sub(v128.load64_zero(fields.held + half), one), zero);
    const mask = v128.shuffle<i32>(fires, fires, 0, 2, 0, 2);
    const held = v128.bitselect(v128.load64_zero(fields.refractorySteps + half), fallen, mask);
    v128.store_lane<u64>(fields.held + half, held, 0);
  }
}

/** ((((0.04 v) v + 5 v) + 140) - u) + I. */
// @ts-ignore: decorator
@inline
export function slope<T extends number>(v: v128, u: v128, current: v128): v128 {
  let p = v128.mul<T>(v128.mul<T>(splat<T>(0.04), v), v);
  p = v128.add<T>(v128.add<T>(p, v128.mul<T>(splat<T>(5), v)), splat<T>(140));
  return v128.add<T>(v128.sub<T>(p, u), current);
}

/** The same for Izhikevich neurons. */
// @ts-ignore: decorator
@inline
export function advanceIzhikevich<T extends number>(fields: Fields, arriving: usize, row: usize): bool {
  const unit = sizeof<T>() == 4 ? f32x4.splat(fields.unit32) : f64x2.splat(fields.unit64);
  const half = sizeof<T>() == 4 ? f32x4.splat(fields.halfStep32) : f64x2.splat(fields.halfStep64);
  const infinity = splat<T>(Infinity);
  const inhibitoryCells = arriving + (<usize>fields.paddedSize << 2);
  const end = <usize>fields.paddedSize * sizeof<T>();
  let finite = i64x2.splat(-1);
  for (let r: usize = 0; r < end; r += 16) {
    const e = v128.add<T>(v128.load(fields.excitatory + r), v128.mul<T>(arrived<T>(arriving, r), unit));
    const i = v128.add<T>(v128.load(fields.inhibitory + r), v128.mul<T>(arrived<T>(inhibitoryCells, r), unit));
    v128.store(fields.nextExcitatory + r, e);
    v128.store(fields.nextInhibitory + r, i);
    const current = v128.add<T>(v128.add<T>(e, i), v128.load(fields.drive + r));
    const before = v128.load(fields.potential + r);
    const u = v128.load(fields.recovery + r);
    const middle = v128.add<T>(before, v128.mul<T>(half, slope<T>(before, u, current)));
    const v = v128.add<T>(middle, v128.mul<T>(half, slope<T>(middle, u, current)));
    const difference = v128.sub<T>(v128.mul<T>(v128.load(fields.recoveryKeep + r), v), u);
    const next = v128.add<T>(u, v128.mul<T>(v128.load(fields.keep + r), difference));
    finite = v128.and(finite, v128.and(v128.lt<T>(v128.abs<T>(v), infinity), v128.lt<T>(v128.abs<T>(next), infinity)));
    v128.store(fields.nextPotential + r, v);
    v128.store(fields.nextRecovery + r, next);
  }
  if (isAll(finite)) return true;
  writeBadRow<T>(fields, row);
  return false;
}

// @ts-ignore: decorator
@inline
export function fireIzhikevich<T extends number>(fields: Fields, row: usize): i32 {
  const peak = splat<T>(30);
  const end = <usize>fields.paddedSize * sizeof<T>();
  let count = 0;
  for (let r: usize = 0; r < end; r += 16) {
    const v = v128.load(fields.nextPotential + r);
    const u = v128.load(fields.nextRecovery + r);
    const fires = v128.ge<T>(v, peak);
    v128.store(fields.potential + r, v128.bitselect(v128.load(fields.reset + r), v, fires));
    const raised = v128.add<T>(u, v128.load(fields.recoveryStep + r));
    v128.store(fields.recovery + r, v128.bitselect(raised, u, fires));
    decayed<T>(fields, row, r, fires);
    count = append<T>(fields, count, r, fires);
  }
  return count;
}
