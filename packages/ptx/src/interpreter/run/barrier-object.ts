// mbarrier objects: 64 bits in shared memory. The ISA leaves the bits opaque; here the low word
// holds the pending arrivals (bits 0-19), the phase's parity (bit 20), a mark that it is
// initialised (bit 21) and the low part of the transaction count, the high word the expected
// arrivals (bits 0-19) and the rest of the count.
import { getOrMake } from "@spillway/core/maps.js";
import { wide } from "../arithmetic/integer64.js";
import type { Warp } from "./warp.js";

const countMask = 0xfffff;
const phaseBit = 1 << 20;
const initialisedBit = 1 << 21;
/** Most bytes that a phase waits for, either way. PTX ISA, "Tracking asynchronous operations". */
const mostTransactions = 2 ** 20 - 1;

export class BarrierObjects {
  private readonly words: Int32Array;
  /** What arrives at an object when somebody waits there. */
  private readonly deferred = new Map<number, (() => void)[]>();

  constructor(words: Int32Array) {
    this.words = words;
  }

  private check(warp: Warp, lane: number, site: number, at: number): number {
    const low = this.words[at >> 2]!;
    if ((low & initialisedBit) === 0)
      throw warp.error("uninitialised", "an mbarrier operation on 8 bytes that mbarrier.init did not initialise", lane, site);
    return low;
  }

  /** Transaction bytes outstanding, 21 bits with a sign. */
  private transactions(low: number, high: number): number {
    return ((((high >>> 20) & 0x7ff) << 21) | (((low >>> 22) & 0x3ff) << 11)) >> 11;
  }

  private outstanding(warp: Warp, lane: number, site: number, low: number, high: number, bytes: number): number {
    const sum = this.transactions(low, high) + bytes;
    if (Math.abs(sum) > mostTransactions)
      throw warp.error("illegalInstruction", `an mbarrier waits for ${sum} bytes; it takes ${mostTransactions} at most`, lane, site);
    return sum;
  }

  private store(warp: Warp, at: number, pending: number, phase: number, expected: number, transactions: number): void {
    let [left, parity] = [pending, phase];
    if (left === 0 && transactions === 0) {
      parity ^= phaseBit;
      left = expected;
    }
    this.words[at >> 2] = left | parity | initialisedBit | ((transactions & 0x3ff) << 22);
    this.words[(at >> 2) + 1] = expected | (((transactions >> 10) & 0x7ff) << 20);
    warp.launch.progress++;
  }

  readonly init = (warp: Warp, lane: number, site: number, at: number, count: number): void => {
    if (count < 1 || count > countMask)
      throw warp.error("illegalInstruction", `mbarrier.init with count ${count}: it takes 1 to ${countMask}`, lane, site);
    this.deferred.delete(at);
    this.store(warp, at, count, 0, count, 0);
  };

  readonly invalidate = (at: number): void => {
    this.words[at >> 2] = 0;
    this.words[(at >> 2) + 1] = 0;
  };

  /** Arrives `count` times, expecting `bytes`; gives the state before, its top in `wide.high`. */
  readonly arrive = (warp: Warp, lane: number, site: number, at: number, count: number, bytes: number, drop: boolean): number => {
    const low = this.check(warp, lane, site, at);
    const high = this.words[(at >> 2) + 1]!;
    const pending = low & countMask;
    if (count > pending) throw warp.error("illegalInstruction", `${count} arrivals at an mbarrier that waits for ${pending}`, lane, site);
    const expected = (high & countMask) - (drop ? count : 0);
    this.store(warp, at, pending - count, low & phaseBit, expected, this.outstanding(warp, lane, site, low, high, bytes));
    wide.high = high;
    return low;
  };

  readonly expect = (warp: Warp, lane: number, site: number, at: number, bytes: number): void => {
    const low = this.check(warp, lane, site, at);
    const high = this.words[(at >> 2) + 1]!;
    this.store(warp, at, low & countMask, low & phaseBit, high & countMask, this.outstanding(warp, lane, site, low, high, bytes));
  };

  readonly complete = (warp: Warp, lane: number, site: number, at: number, bytes: number): void => {
    this.expect(warp, lane, site, at, -bytes);
  };

  /** The parity of the phase that a state was taken in. */
  readonly parityOf = (low: number): number => (low >>> 20) & 1;

  /** Has something happen when somebody waits at an object. */
  defer(at: number, arrive: () => void): void {
    getOrMake(this.deferred, at, () => []).push(arrive);
  }

  /** 1 if the phase of the given parity is over. */
  readonly done = (at: number, parity: number): number => {
    const arriving = this.deferred.get(at);
    if (arriving !== undefined) {
      this.deferred.delete(at);
      for (const arrive of arriving) arrive();
    }
    return ((this.words[at >> 2]! >>> 20) & 1) !== (parity & 1) ? 1 : 0;
  };
}
