// One number of 64 bits that says whether two tables of synapses are the same, in whatever order
// each has them.
import { checkHas } from "@spillway/core/checks.js";
import type { NetworkTable } from "./plan.js";

/**
 * The sum of the tables' synapses: splitmix64's finaliser of source 2^47 + target cell 2^30 + delay
 * 2^20 + size of the weight in units, summed modulo 2^64, as 16 hexadecimal digits.
 */
export function tableSum(table: NetworkTable): string {
  const { offsets, packed, units, cellBits } = checkHas("table", table, "the synapses of a network", "offsets", "packed", "units");
  const mask = 2 ** cellBits - 1;
  let [sumHigh, sumLow] = [0, 0];
  for (let j = 0; j + 1 < offsets.length; j++) {
    for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
      const word = packed[s]!;
      const cell = word & mask;
      const size = Math.abs(units[s]!);
      const delay = word >>> cellBits;
      // The low and the high 32 bits, fields overlapping as the formula's do.
      let low = (((cell << 30) | 0) ^ 0) >>> 0;
      let high = ((j << 15) + Math.floor(cell / 4)) | 0;
      const middle = low + ((delay << 20) >>> 0) + size;
      low = middle >>> 0;
      high = (high + Math.floor(middle / 4294967296) + Math.floor(delay / 4096)) | 0;
      // x ^= x >> 30
      [high, low] = [high ^ (high >>> 30), (low ^ ((high << 2) | (low >>> 30))) | 0];
      [high, low] = times(high, low, 0xbf58476d, 0x1ce4e5b9);
      [high, low] = [high ^ (high >>> 27), (low ^ ((high << 5) | (low >>> 27))) | 0];
      [high, low] = times(high, low, 0x94d049bb, 0x133111eb);
      [high, low] = [high ^ (high >>> 31), (low ^ ((high << 1) | (low >>> 31))) | 0];
      const sum = sumLow + (low >>> 0);
      sumLow = sum >>> 0;
      sumHigh = (sumHigh + high + (sum >= 4294967296 ? 1 : 0)) | 0;
    }
  }
  const digits = (word: number) => (word >>> 0).toString(16).padStart(8, "0");
  return digits(sumHigh) + digits(sumLow);
}

/** The low 64 bits of a product. */
function times(high: number, low: number, otherHigh: number, otherLow: number): [number, number] {
  const [a0, a1] = [low & 0xffff, low >>> 16];
  const [b0, b1] = [otherLow & 0xffff, otherLow >>> 16];
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const carry = a0 * b1 + (middle % 65536);
  const top = a1 * b1 + Math.floor(middle / 65536) + Math.floor(carry / 65536);
  return [(top + Math.imul(high, otherLow) + Math.imul(low, otherHigh)) | 0, Math.imul(low, otherLow)];
}
