// The time loop of a network of populations (docs/numerics.md, rule 13), for binary32 and binary64.
// The host lays out the memory, cuts the network into as many parts as there are threads, writes
// the tables below and has each thread call runNetwork32 or runNetwork64 for its part.
//
// A thread writes only lists of its own parts: states, ring, spikes. It reads those of others only
// behind a barrier, and only spikes: a part's spikes of a call are appended and never overwritten
// while the call lasts, so nothing that is read can change.
import { barrier } from "./barrier";
import { Liquid, addNoise, backgroundSpikes, inputDrive } from "./liquid";
import { philoxBlock, philoxWord } from "./philox";
import { expF32x4, expF64x2, logF32x4, logF64x2 } from "./vector-math";

/** What the threads of a network have in common, 32 bits each, in the order of the host. */
@unmanaged
class Team {
  /** N, the neurons of all parts: the first of the sources that are inputs. */
  size: i32;
  /** Threads that run now, and their barrier. */
  threads: i32;
  barrier: usize;
  /** Parts of the network, and their `Network` records, one after the other. */
  parts: i32;
  records: usize;
  /** Steps between two exchanges of spikes: at most the least delay between neurons, and 1. */
  period: i32;
  /** The row of the ring, and the counter, of the call's first step. */
  row: i32;
  firstStep: u32;
  /** Steps of a row of states; 0 if none are kept. */
  rowSteps: i32;
  /** Steps of the rows that were run in earlier calls. */
  stepsBefore: i32;
  /** The `Liquid` record of a network that has one, with one part; else 0. */
  liquid: usize;
}

/**
 * The fields of a part of a network, 32 bits each, in the order in which the host writes them.
 * Cells and the positions of lists are counted within the part, sources and spikes over the whole
 * network.
 */
@unmanaged
class Network {
  size: i32;
  /** Cells of a row of the ring: receptors times neurons. */
  cells: i32;
  ringRows: i32;
  cellBits: i32;
  key0: u32;
  key1: u32;
  populationCount: i32;
  /** `Population` records, one after the other. */
  populations: usize;
  potential: usize;
  recovery: usize;
  currents: usize;
  held: usize;
  ring: usize;
  filtered: usize;
  drive: usize;
  /** First positions of synapses; their delays and cells; their units, 16 bits without a sign or 32 with one; signs of sources. */
  offsets: usize;
  synapses: usize;
  units: usize;
  wideUnits: i32;
  signs: usize;
  /** Input spikes of each step of a call; 0 for none. */
  inputOffsets: usize;
  inputChannels: usize;
  /**
   * Spikes of a call: the first of each step and one more, and the neurons. The highest bit of a
   * step's end says that a potential is not finite after it.
   */
  spikeOffsets: usize;
  spikes: usize;
  spikeCapacity: i32;
  /** Addresses of the ring's rows from the next one on. */
  rowsAhead: usize;
  /** Filtered spikes behind each row of states, one row after the other. */
  states: usize;
  /** 2^-fractionBits, a number of the precision in 64 bits. */
  unit: f64;
}

/** Constants of a population: 32-bit words, and from `keep` on numbers of the precision in 64 bits. */
@unmanaged
class Population {
  first: i32;
  size: i32;
  /** 0 leaky, 1 adaptive, 2 Izhikevich, 3 adaptive exponential. */
  neuron: i32;
  subtracts: i32;
  refractorySteps: i32;
  hasState: i32;
  receptorCount: i32;
  /**
   * Of each receptor keep, gain and what it conducts, 64 bits each; whether it is alpha-shaped, 32
   * bits and 32 unused; then gain, feed and what it conducts of its rise.
   */
  receptors: usize;
  /** The receptor that spikes from outside reach; -1 for none. */
  backgroundReceptor: i32;
  backgroundUnits: i32;
  thresholdCount: i32;
  thresholds: usize;
  /** Whether the potential relaxes: populations with conductances, adaptive exponential neurons. */
  relaxes: i32;
  /** What makes a neuron's number in the part the one in the network. */
  shift: i32;
  keep: f64;
  threshold: f64;
  reset: f64;
  recoveryKeep: f64;
  recoveryStep: f64;
  stateKeep: f64;
  halfStep: f64;
  onset: f64;
  slope: f64;
  perSlope: f64;
  adaptationGain: f64;
  peakShare: f64;
  resetCurrent: f64;
  stepLoss: f64;
}

/** Bytes of a receptor. */
const receptorBytes: usize = 56;

// @ts-ignore: decorator
@inline
export function splat<T extends number>(value: f64): v128 {
  return sizeof<T>() == 4 ? f32x4.splat(<f32>value) : f64x2.splat(value);
}

/** A number of the precision that the host wrote into 64 bits, in every lane. */
// @ts-ignore: decorator
@inline
function numberOf<T extends number>(address: usize): v128 {
  return sizeof<T>() == 4 ? v128.load32_splat(address) : v128.load64_splat(address);
}

/**
 * A vector of the ring's whole numbers as numbers of the precision; `r` is a byte offset in a list
 * of that precision.
 */
// @ts-ignore: decorator
@inline
function arrived<T extends number>(cells: usize, r: usize): v128 {
  return sizeof<T>() == 4 ? f32x4.convert_i32x4_s(v128.load(cells + r)) : f64x2.convert_low_i32x4_s(v128.load64_zero(cells + (r >> 1)));
}

/** A mask of lanes of the precision: where the potential is held. */
// @ts-ignore: decorator
@inline
function heldMask<T extends number>(held: usize, r: usize): v128 {
  if (sizeof<T>() == 4) return i32x4.gt_s(v128.load(held + r), i32x4.splat(0));
  return i64x2.extend_low_i32x4_s(i32x4.gt_s(v128.load64_zero(held + (r >> 1)), i32x4.splat(0)));
}

/** ((((0.04 v) v + 5 v) + 140) - u) + I. */
// @ts-ignore: decorator
@inline
function slope<T extends number>(v: v128, u: v128, current: v128): v128 {
  let p = v128.mul<T>(v128.mul<T>(splat<T>(0.04), v), v);
  p = v128.add<T>(v128.add<T>(p, v128.mul<T>(splat<T>(5), v)), splat<T>(140));
  return v128.add<T>(v128.sub<T>(p, u), current);
}

// @ts-ignore: decorator
@inline
function exp<T extends number>(x: v128): v128 {
  return sizeof<T>() == 4 ? expF32x4(x) : expF64x2(x);
}

// @ts-ignore: decorator
@inline
function log<T extends number>(x: v128): v128 {
  return sizeof<T>() == 4 ? logF32x4(x) : logF64x2(x);
}

/** Lanes below `count`, as a mask of lanes of the precision. */
// @ts-ignore: decorator
@inline
function lanesBelow<T extends number>(count: i32): v128 {
  if (sizeof<T>() == 4) return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
  return i64x2.lt_s(i64x2(0, 1), i64x2.splat(count));
}

// @ts-ignore: decorator
@inline
function storeLanes<T extends number>(address: usize, value: v128, mask: v128, isWhole: bool): void {
  v128.store(address, isWhole ? value : v128.bitselect(value, v128.load(address), mask));
}

/** held = fires ? refractorySteps : max(held - 1, 0). */
// @ts-ignore: decorator
@inline
function holdLanes<T extends number>(held: usize, r: usize, fires: v128, refractory: v128, mask: v128, isWhole: bool): void {
  const zero = i32x4.splat(0);
  const one = i32x4.splat(1);
  if (sizeof<T>() == 4) {
    const fallen = i32x4.max_s(i32x4.sub(v128.load(held + r), one), zero);
    storeLanes<T>(held + r, v128.bitselect(refractory, fallen, fires), mask, isWhole);
  } else {
    const half = held + (r >> 1);
    const before = v128.load64_zero(half);
    const fallen = i32x4.max_s(i32x4.sub(before, one), zero);
    const after = v128.bitselect(refractory, fallen, v128.shuffle<i32>(fires, fires, 0, 2, 0, 2));
    v128.store_lane<u64>(half, isWhole ? after : v128.bitselect(after, before, v128.shuffle<i32>(mask, mask, 0, 2, 0, 2)), 0);
  }
}

/**
 * A step of an alpha-shaped current: its rise, which spikes jump, is behind all currents. Gives
 * what the potential gains.
 */
// @ts-ignore: decorator
@inline
function alphaInput<T extends number>(net: Network, constants: usize, currents: usize, input: v128, mask: v128, isWhole: bool): v128 {
  const rises = currents + <usize>net.cells * sizeof<T>();
  const keep = numberOf<T>(constants);
  const current = v128.load(currents);
  const rise = v128.add<T>(v128.load(rises), input);
  const raised = v128.add<T>(current, v128.mul<T>(numberOf<T>(constants + 40), rise));
  storeLanes<T>(currents, v128.mul<T>(keep, raised), mask, isWhole);
  storeLanes<T>(rises, v128.mul<T>(keep, rise), mask, isWhole);
  return v128.add<T>(v128.mul<T>(numberOf<T>(constants + 8), current), v128.mul<T>(numberOf<T>(constants + 32), rise));
}

let finite: v128 = i64x2.splat(-1);
let fired: i32 = 0;
/** Where the filtered spikes behind the present step go; 0 if they are not kept. */
let rowOfStates: usize = 0;

/** One vector of a population's neurons: what arrives, the potential, the spike, the decays. */
// @ts-ignore: decorator
@inline
function advanceVector<T extends number>(net: Network, pop: Population, arriving: usize, r: usize, mask: v128, isWhole: bool): void {
  const unit = numberOf<T>(changetype<usize>(net) + offsetof<Network>("unit"));
  const vector = <usize>net.size * sizeof<T>();
  const isIzhikevich = pop.neuron == 2;
  const before = v128.load(net.potential + r);
  let next = isIzhikevich ? splat<T>(0) : v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("keep")), before);
  for (let k = 0; k < pop.receptorCount; k++) {
    const constants = pop.receptors + <usize>k * receptorBytes;
    const currents = net.currents + <usize>k * vector + r;
    const cells = arriving + <usize>k * (<usize>net.size << 2);
    const input = v128.mul<T>(arrived<T>(cells, r), unit);
    if (load<i32>(constants, 24) != 0) {
      const added = alphaInput<T>(net, constants, currents, input, mask, isWhole);
      next = isIzhikevich && k == 0 ? added : v128.add<T>(next, added);
      continue;
    }
    const current = v128.add<T>(v128.load(currents), input);
    const added = v128.mul<T>(numberOf<T>(constants + 8), current);
    next = isIzhikevich && k == 0 ? current : v128.add<T>(next, added);
    storeLanes<T>(currents, v128.mul<T>(numberOf<T>(constants), current), mask, isWhole);
  }
  next = v128.add<T>(next, v128.load(net.drive + r));
  let fires: v128;
  const infinity = splat<T>(Infinity);
  if (isIzhikevich) {
    const u = v128.load(net.recovery + r);
    const half = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("halfStep"));
    const middle = v128.add<T>(before, v128.mul<T>(half, slope<T>(before, u, next)));
    const v = v128.add<T>(middle, v128.mul<T>(half, slope<T>(middle, u, next)));
    const difference = v128.sub<T>(v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryKeep")), v), u);
    const after = v128.add<T>(u, v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("keep")), difference));
    const isFinite = v128.and(v128.lt<T>(v128.abs<T>(v), infinity), v128.lt<T>(v128.abs<T>(after), infinity));
    finite = v128.and(finite, isWhole ? isFinite : v128.or(isFinite, v128.not(mask)));
    fires = v128.ge<T>(v, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("threshold")));
    storeLanes<T>(net.potential + r, v128.bitselect(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset")), v, fires), mask, isWhole);
    const raised = v128.add<T>(after, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryStep")));
    storeLanes<T>(net.recovery + r, v128.bitselect(raised, after, fires), mask, isWhole);
  } else {
    const isHeld = heldMask<T>(net.held, r);
    const v = v128.bitselect(before, next, isHeld);
    checkFinite<T>(v, mask, isWhole);
    let limit = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("threshold"));
    if (pop.neuron == 1) limit = v128.add<T>(limit, v128.load(net.recovery + r));
    fires = v128.andnot(v128.ge<T>(v, limit), isHeld);
    const reset = pop.subtracts != 0 ? v128.sub<T>(v, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset"))) : numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset"));
    storeLanes<T>(net.potential + r, v128.bitselect(reset, v, fires), mask, isWhole);
    if (pop.neuron == 1) {
      const kept = v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryKeep")), v128.load(net.recovery + r));
      const rise = v128.and(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryStep")), fires);
      storeLanes<T>(net.recovery + r, v128.add<T>(kept, rise), mask, isWhole);
    }
    holdLanes<T>(net.held, r, fires, i32x4.splat(pop.refractorySteps), mask, isWhole);
  }
  recordSpikes<T>(net, pop, r, fires, mask, isWhole);
}

// @ts-ignore: decorator
@inline
function checkFinite<T extends number>(v: v128, mask: v128, isWhole: bool): void {
  const isFinite = v128.lt<T>(v128.abs<T>(v), splat<T>(Infinity));
  finite = v128.and(finite, isWhole ? isFinite : v128.or(isFinite, v128.not(mask)));
}

/**
 * The same of neurons whose potential goes towards where currents and conductances draw it.
 */
// @ts-ignore: decorator
@inline
function relaxVector<T extends number>(net: Network, pop: Population, arriving: usize, r: usize, mask: v128, isWhole: bool): void {
  const unit = numberOf<T>(changetype<usize>(net) + offsetof<Network>("unit"));
  const vector = <usize>net.size * sizeof<T>();
  const before = v128.load(net.potential + r);
  let sum = splat<T>(0);
  let conductance = splat<T>(1);
  for (let k = 0; k < pop.receptorCount; k++) {
    const constants = pop.receptors + <usize>k * receptorBytes;
    const currents = net.currents + <usize>k * vector + r;
    const cells = arriving + <usize>k * (<usize>net.size << 2);
    const input = v128.mul<T>(arrived<T>(cells, r), unit);
    const conducts = load<u64>(constants, 16);
    if (load<i32>(constants, 24) != 0) {
      if (conducts != 0) conductance = v128.add<T>(conductance, v128.mul<T>(numberOf<T>(constants + 16), v128.load(currents)));
      const ofRise = load<u64>(constants, 48);
      const rises = currents + <usize>net.cells * sizeof<T>();
      if (ofRise != 0) conductance = v128.add<T>(conductance, v128.mul<T>(numberOf<T>(constants + 48), v128.add<T>(v128.load(rises), input)));
      const added = alphaInput<T>(net, constants, currents, input, mask, isWhole);
      sum = k == 0 ? added : v128.add<T>(sum, added);
      continue;
    }
    const current = v128.add<T>(v128.load(currents), input);
    const added = v128.mul<T>(numberOf<T>(constants + 8), current);
    sum = k == 0 ? added : v128.add<T>(sum, added);
    if (conducts != 0) conductance = v128.add<T>(conductance, v128.mul<T>(numberOf<T>(constants + 16), current));
    storeLanes<T>(currents, v128.mul<T>(numberOf<T>(constants), current), mask, isWhole);
  }
  sum = v128.add<T>(sum, v128.load(net.drive + r));
  const isHeld = heldMask<T>(net.held, r);
  const fires =
    pop.neuron == 3
      ? advanceExponential<T>(net, pop, r, before, sum, conductance, isHeld, mask, isWhole)
      : advanceRelaxing<T>(net, pop, r, before, sum, conductance, isHeld, mask, isWhole);
  holdLanes<T>(net.held, r, fires, i32x4.splat(pop.refractorySteps), mask, isWhole);
  recordSpikes<T>(net, pop, r, fires, mask, isWhole);
}

/** goal + (v - goal) exp(-pace conductance), goal = sum / conductance. */
// @ts-ignore: decorator
@inline
function relaxed<T extends number>(v: v128, goal: v128, share: v128): v128 {
  return v128.add<T>(goal, v128.mul<T>(v128.sub<T>(v, goal), share));
}

/** Leaky and adaptive neurons whose potential relaxes; gives those that fire. */
// @ts-ignore: decorator
@inline
function advanceRelaxing<T extends number>(
  net: Network,
  pop: Population,
  r: usize,
  before: v128,
  sum: v128,
  conductance: v128,
  isHeld: v128,
  mask: v128,
  isWhole: bool,
): v128 {
  const share = exp<T>(v128.neg<T>(v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("keep")), conductance)));
  const v = v128.bitselect(before, relaxed<T>(before, v128.div<T>(sum, conductance), share), isHeld);
  checkFinite<T>(v, mask, isWhole);
  const recovery = v128.load(net.recovery + r);
  let limit = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("threshold"));
  if (pop.neuron == 1) limit = v128.add<T>(limit, recovery);
  const fires = v128.andnot(v128.ge<T>(v, limit), isHeld);
  const reset = pop.subtracts != 0 ? v128.sub<T>(v, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset"))) : numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset"));
  storeLanes<T>(net.potential + r, v128.bitselect(reset, v, fires), mask, isWhole);
  if (pop.neuron == 1) {
    const kept = v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryKeep")), recovery);
    const rise = v128.and(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryStep")), fires);
    storeLanes<T>(net.recovery + r, v128.add<T>(kept, rise), mask, isWhole);
  }
  return fires;
}

/**
 * Adaptive exponential neurons: half a step towards where they are drawn, a step of the exponential
 * alone, and half a step again; what is left behind a spike goes on from the reset potential.
 */
// @ts-ignore: decorator
@inline
function advanceExponential<T extends number>(
  net: Network,
  pop: Population,
  r: usize,
  before: v128,
  drawn: v128,
  conductance: v128,
  isHeld: v128,
  mask: v128,
  isWhole: bool,
): v128 {
  const keep = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("keep"));
  const peak = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("threshold"));
  const one = splat<T>(1);
  const adaptationKeep = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryKeep"));
  const adaptationGain = numberOf<T>(changetype<usize>(pop) + offsetof<Population>("adaptationGain"));
  const recovery = v128.load(net.recovery + r);
  const w = v128.add<T>(v128.mul<T>(adaptationKeep, recovery), v128.mul<T>(adaptationGain, before));
  const sum = v128.sub<T>(drawn, w);
  const goal = v128.div<T>(sum, conductance);
  const half = exp<T>(v128.neg<T>(v128.mul<T>(v128.mul<T>(splat<T>(0.5), keep), conductance)));
  const start = relaxed<T>(before, goal, half);
  const height = v128.mul<T>(v128.sub<T>(v128.min<T>(start, peak), numberOf<T>(changetype<usize>(pop) + offsetof<Population>("onset"))), numberOf<T>(changetype<usize>(pop) + offsetof<Population>("perSlope")));
  const rise = exp<T>(height);
  const share = v128.mul<T>(keep, rise);
  const toPeak = v128.sub<T>(one, v128.mul<T>(rise, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("peakShare"))));
  const isBelow = v128.gt<T>(toPeak, share);
  const swung = v128.sub<T>(start, v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("slope")), log<T>(v128.sub<T>(one, share))));
  const end = v128.bitselect(relaxed<T>(swung, goal, half), peak, isBelow);
  const reaches = v128.not(v128.lt<T>(end, peak));
  const fires = v128.andnot(reaches, isHeld);
  let v = v128.bitselect(before, end, isHeld);
  let raised = splat<T>(0);
  if (v128.any_true(fires)) {
    const rest = v128.sub<T>(one, v128.div<T>(v128.max<T>(splat<T>(0), toPeak), share));
    const left = v128.andnot(rest, isBelow);
    const pull = v128.mul<T>(conductance, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset")));
    const force = v128.sub<T>(v128.add<T>(v128.sub<T>(sum, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryStep"))), numberOf<T>(changetype<usize>(pop) + offsetof<Population>("resetCurrent"))), pull);
    const after = v128.add<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("reset")), v128.mul<T>(v128.mul<T>(left, keep), force));
    v = v128.bitselect(after, v, fires);
    raised = v128.and(v128.sub<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("recoveryStep")), v128.mul<T>(left, numberOf<T>(changetype<usize>(pop) + offsetof<Population>("stepLoss")))), fires);
  }
  checkFinite<T>(v, mask, isWhole);
  storeLanes<T>(net.potential + r, v, mask, isWhole);
  const kept = v128.add<T>(v128.mul<T>(adaptationKeep, w), v128.mul<T>(adaptationGain, v));
  storeLanes<T>(net.recovery + r, v128.bitselect(v128.add<T>(kept, raised), kept, fires), mask, isWhole);
  return fires;
}

/** Filters the spikes of a vector for readouts, and appends those that fired. */
// @ts-ignore: decorator
@inline
function recordSpikes<T extends number>(net: Network, pop: Population, r: usize, fires: v128, mask: v128, isWhole: bool): void {
  if (pop.hasState) {
    const kept = v128.mul<T>(numberOf<T>(changetype<usize>(pop) + offsetof<Population>("stateKeep")), v128.load(net.filtered + r));
    const filtered = v128.add<T>(kept, v128.and(splat<T>(1), fires));
    storeLanes<T>(net.filtered + r, filtered, mask, isWhole);
    // What lies beyond the population is written behind it, or is never read.
    if (rowOfStates != 0) v128.store(rowOfStates + r, filtered);
  }
  let bits: i32 = sizeof<T>() == 4 ? i32x4.bitmask(isWhole ? fires : v128.and(fires, mask)) : i64x2.bitmask(isWhole ? fires : v128.and(fires, mask));
  while (bits != 0) {
    store<i32>(net.spikes + (<usize>fired << 2), pop.shift + <i32>(r / sizeof<T>()) + ctz(bits));
    fired++;
    bits &= bits - 1;
  }
}

/** Counts of spikes from outside: neuron r takes word r mod 4 of the block (step, r / 4, 19, 0). */
function addBackground(net: Network, pop: Population, arriving: usize, step: u32): void {
  const cells = arriving + (<usize>(pop.backgroundReceptor * net.size) << 2);
  const end = pop.first + pop.size + pop.shift;
  for (let r = pop.first + pop.shift; r < end; ) {
    philoxBlock(net.key0, net.key1, step, <u32>r >> 2, 19, 0);
    const last = min(end, (r | 3) + 1);
    for (; r < last; r++) {
      const word = philoxWord(r & 3);
      let count = 0;
      while (count < pop.thresholdCount && load<u32>(pop.thresholds + (<usize>count << 2)) <= word) count++;
      if (count > 0) {
        const cell = cells + (<usize>(r - pop.shift) << 2);
        store<i32>(cell, load<i32>(cell) + count * pop.backgroundUnits);
      }
    }
  }
}

/**
 * Adds a source's units, times an amplitude unless that is 1, to the rows ahead; `rows` is the list
 * of their addresses that delay 0 begins. Units are 16 bits without a sign or 32 with one, U. The
 * product is rounded to T, then to a whole number.
 */
// @ts-ignore: decorator
@inline
function deliverUnits<T extends number, U extends number>(net: Network, source: u32, rows: usize, amplitude: T): void {
  const bits = net.cellBits;
  const from = <usize>load<u32>(net.offsets + (<usize>source << 2));
  const end = net.synapses + (<usize>load<u32>(net.offsets + (<usize>source << 2), 4) << 2);
  const sign = <i32>load<i8>(net.signs + source);
  let synapse = net.synapses + (from << 2);
  let unit = net.units + from * sizeof<U>();
  while (synapse < end) {
    // Those of one delay, which are in a row.
    const delay = load<u32>(synapse) >> bits;
    const last: u32 = ((delay + 1) << bits) - 1;
    const row = load<usize>(rows + (<usize>delay << 2)) - (<usize>(delay << bits) << 2);
    for (; synapse < end; synapse += 4, unit += sizeof<U>()) {
      const word = load<u32>(synapse);
      if (word > last) break;
      const cell = row + (<usize>word << 2);
      const weight = sign * <i32>load<U>(unit);
      store<i32>(cell, load<i32>(cell) + (amplitude == <T>1 ? weight : <i32>nearest<T>(<T>weight * amplitude)));
    }
  }
}

function deliverSource(net: Network, source: u32, rows: usize): void {
  if (net.wideUnits) deliverUnits<f32, i32>(net, source, rows, 1);
  else deliverUnits<f32, u16>(net, source, rows, 1);
}

function deliverAmplitude<T extends number>(net: Network, source: u32, rows: usize, amplitude: T): void {
  deliverUnits<T, i32>(net, source, rows, amplitude);
}

/** What reaches a liquid in a step beside the spikes of its neurons: a row of inputs, and what is drawn. */
// @ts-ignore: decorator
@inline
function driveLiquid<T extends number>(team: Team, net: Network, row: i32, t: i32): void {
  const liquid = changetype<Liquid>(team.liquid);
  const input = liquid.inputs + <usize>((team.stepsBefore + t) * liquid.inputSize) * sizeof<T>();
  if (liquid.inputWeights == 0) {
    let isAhead = false;
    for (let i = 0; i < liquid.inputSize; i++) {
      const amplitude = load<T>(input + <usize>i * sizeof<T>());
      if (amplitude == <T>0) continue;
      if (!isAhead) lookAhead(net, row);
      isAhead = true;
      if (amplitude == <T>1) deliverSource(net, <u32>(team.size + i), net.rowsAhead);
      else deliverAmplitude<T>(net, <u32>(team.size + i), net.rowsAhead, amplitude);
    }
  }
  if (liquid.backgroundChance != 0) backgroundSpikes(liquid, net.size, net.ring + <usize>row * (<usize>net.cells << 2), team.firstStep + t);
  if (liquid.inputWeights == 0 && liquid.noiseScale == 0) return;
  inputDrive<T>(liquid, net.size, input, net.drive);
  if (liquid.noiseScale != 0) addNoise<T>(liquid, net.size, net.drive, team.firstStep + t);
  for (let r: usize = 0; r < <usize>net.size * sizeof<T>(); r += 16)
    v128.store(net.drive + r, v128.mul<T>(v128.load(liquid.driveGains + r), v128.load(net.drive + r)));
}

/** Lists the addresses of the ring's rows from `row` on, and at its end `row` once more. */
// @ts-ignore: decorator
@inline
function lookAhead(net: Network, row: i32): void {
  const rowBytes = <usize>net.cells << 2;
  for (let d = 0; d <= net.ringRows; d++) {
    store<usize>(net.rowsAhead + (<usize>d << 2), net.ring + <usize>row * rowBytes);
    row++;
    if (row == net.ringRows) row = 0;
  }
}

// @ts-ignore: decorator
@inline
function partOf(team: Team, p: i32): Network {
  return changetype<Network>(team.records + <usize>p * offsetof<Network>());
}

/** Bit of the end of a step's spikes. */
const notFinite: u32 = 0x80000000;

/** Spikes of a part before step t of the call. */
// @ts-ignore: decorator
@inline
function spikesBefore(net: Network, t: i32): i32 {
  return load<u32>(net.spikeOffsets + (<usize>t << 2)) & ~notFinite;
}

/** Runs steps `from` to `to` of a part, without the spikes of these steps. */
// @ts-ignore: decorator
@inline
function runPart<T extends number>(team: Team, net: Network, from: i32, to: i32): void {
  const rowBytes = <usize>net.cells << 2;
  const lanes = 16 / <i32>sizeof<T>();
  let row = (team.row + from) % net.ringRows;
  fired = spikesBefore(net, from);
  for (let t = from; t < to; t++) {
    if (net.inputOffsets != 0) {
      const first = load<u32>(net.inputOffsets + (<usize>t << 2));
      const last = load<u32>(net.inputOffsets + (<usize>t << 2), 4);
      if (first < last) lookAhead(net, row);
      for (let s = first; s < last; s++) deliverSource(net, <u32>team.size + load<u32>(net.inputChannels + (<usize>s << 2)), net.rowsAhead);
    }
    if (team.liquid != 0) driveLiquid<T>(team, net, row, t);
    rowOfStates = 0;
    if (team.rowSteps != 0) {
      const steps = team.stepsBefore + t + 1;
      if (steps % team.rowSteps == 0) rowOfStates = net.states + <usize>((steps / team.rowSteps - 1) * net.size) * sizeof<T>();
    }
    const arriving = net.ring + <usize>row * rowBytes;
    finite = i64x2.splat(-1);
    for (let p = 0; p < net.populationCount; p++) {
      const pop = changetype<Population>(net.populations + <usize>p * offsetof<Population>());
      if (pop.backgroundReceptor >= 0) addBackground(net, pop, arriving, team.firstStep + t);
      const end = pop.first + pop.size;
      let r = pop.first;
      if (pop.relaxes != 0) {
        for (; r + lanes <= end; r += lanes) relaxVector<T>(net, pop, arriving, <usize>r * sizeof<T>(), i64x2.splat(-1), true);
        if (r < end) relaxVector<T>(net, pop, arriving, <usize>r * sizeof<T>(), lanesBelow<T>(end - r), false);
        continue;
      }
      for (; r + lanes <= end; r += lanes) advanceVector<T>(net, pop, arriving, <usize>r * sizeof<T>(), i64x2.splat(-1), true);
      if (r < end) advanceVector<T>(net, pop, arriving, <usize>r * sizeof<T>(), lanesBelow<T>(end - r), false);
    }
    memory.fill(arriving, 0, rowBytes);
    const isFinite = v128.bitmask<i8>(finite) == 0xffff;
    store<u32>(net.spikeOffsets + (<usize>t << 2), isFinite ? fired : fired | notFinite, 4);
    row++;
    if (row == net.ringRows) row = 0;
  }
}

/** Brings the spikes of all parts in steps `from` to `to` to a part's neurons. */
function deliverSteps(team: Team, net: Network, from: i32, to: i32): void {
  let row = (team.row + from) % net.ringRows;
  for (let t = from; t < to; t++) {
    let isAhead = false;
    for (let p = 0; p < team.parts; p++) {
      const other = partOf(team, p);
      const first = spikesBefore(other, t);
      const last = spikesBefore(other, t + 1);
      if (first < last && !isAhead) {
        lookAhead(net, row);
        isAhead = true;
      }
      for (let s = first; s < last; s++) deliverSource(net, load<u32>(other.spikes + (<usize>s << 2)), net.rowsAhead + 4);
    }
    row++;
    if (row == net.ringRows) row = 0;
  }
}

/** Whether every part has memory for the spikes of a period after step t. */
function hasMemory(team: Team, t: i32): bool {
  for (let p = 0; p < team.parts; p++) {
    const net = partOf(team, p);
    if (net.spikeCapacity - spikesBefore(net, t) < net.size * team.period) return false;
  }
  return true;
}

/** The first of steps `from` to `to` after which a potential is not finite; else `to`. */
function firstBad(team: Team, from: i32, to: i32): i32 {
  for (let t = from; t < to; t++)
    for (let p = 0; p < team.parts; p++) if ((load<u32>(partOf(team, p).spikeOffsets + (<usize>t << 2), 4) & notFinite) != 0) return t;
  return to;
}

/**
 * Runs steps of parts `firstPart` to `lastPart` while there is memory for spikes. All threads of a
 * team call it at once, with parts of their own, and go alike: whether to go on follows from what
 * stood there at the last barrier. Returns the steps done, or -1 less the step after which a
 * potential is not finite.
 */
// @ts-ignore: decorator
@inline
function runSteps<T extends number>(table: usize, steps: i32, firstPart: i32, lastPart: i32): i32 {
  const team = changetype<Team>(table);
  for (let t = 0; t < steps; ) {
    if (!hasMemory(team, t)) return t;
    const end = min(steps, t + team.period);
    for (let p = firstPart; p < lastPart; p++) runPart<T>(team, partOf(team, p), t, end);
    barrier(team.barrier, team.threads);
    const bad = firstBad(team, t, end);
    if (bad < end) return -1 - bad;
    for (let p = firstPart; p < lastPart; p++) deliverSteps(team, partOf(team, p), t, end);
    t = end;
  }
  return steps;
}

export function runNetwork32(steps: i32, table: usize, firstPart: i32, lastPart: i32): i32 {
  return runSteps<f32>(table, steps, firstPart, lastPart);
}
export function runNetwork64(steps: i32, table: usize, firstPart: i32, lastPart: i32): i32 {
  return runSteps<f64>(table, steps, firstPart, lastPart);
}
