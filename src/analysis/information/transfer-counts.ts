// Counts of a target's present values and a source's words in the cells of the target's past, and
// what they tell. No surrogates here.
import { portableLog } from "@spillway/numerics";
import { forEachRun, sortedBy } from "./partition.js";

/** Information in bits: as counted, and as expected from chance. */
export interface CountedBits {
  readonly bits: number;
  /** The mean of `bits` over all orders of the source's words within each cell of the past. */
  readonly byChance: number;
}

/** The target's side of the counts: the same for every source. */
export class TransferCounts {
  readonly #present: Uint32Array;
  /** The positions of each cell of the past, present values rising. */
  readonly #cells: readonly Uint32Array[] = [];
  /** c log2(c). */
  readonly #cLogC: Float64Array;

  constructor(past: Uint32Array, present: Uint32Array) {
    this.#present = present;
    const order = sortedBy(past.length, (i, j) => past[i]! - past[j]! || present[i]! - present[j]!);
    const cells: Uint32Array[] = [];
    forEachRun(order, past, (cell) => cells.push(cell));
    this.#cells = cells;
    this.#cLogC = Float64Array.from({ length: past.length + 1 }, (_, c) => (c < 2 ? 0 : (c * portableLog(c)) / portableLog(2)));
  }

  /**
   * I(present; word | past) for words below `limit`, in bits: the sum over cells of c log2 c - a
   * log2 a - b log2 b + n log2 n, over N.
   */
  count(words: Uint32Array, limit: number): CountedBits {
    const cLogC = this.#cLogC;
    const inCell = new Uint32Array(limit);
    const inRow = new Uint32Array(limit);
    let sum = 0;
    let chance = 0;
    for (const cell of this.#cells) {
      const found = countInto(inCell, words, cell);
      let margins = cLogC[cell.length]!;
      for (const word of found) margins -= cLogC[inCell[word]!]!;
      forEachRun(cell, this.#present, (row) => {
        margins -= cLogC[row.length]!;
        for (const word of found) chance += expectedCLogC(cLogC, cell.length, row.length, inCell[word]!);
        for (const word of countInto(inRow, words, row)) {
          sum += cLogC[inRow[word]!]!;
          inRow[word] = 0;
        }
      });
      sum += margins;
      chance += margins;
      for (const word of found) inCell[word] = 0;
    }
    return { bits: Math.max(0, sum / words.length), byChance: Math.max(0, chance / words.length) };
  }
}

/** Counts the words at some positions; returns those that are there. */
function countInto(counts: Uint32Array, words: Uint32Array, positions: Uint32Array): number[] {
  const found: number[] = [];
  for (const i of positions) {
    const word = words[i]!;
    if (counts[word] === 0) found.push(word);
    counts[word] = counts[word]! + 1;
  }
  return found;
}

/** Shares of the likeliest count below this add nothing. */
const negligible = 2 ** -60;

/**
 * The mean of c log2 c for c hypergeometric: of n positions a are drawn, and b of the n are marked.
 * By the ratios of neighbouring probabilities, outwards from the likeliest c.
 */
function expectedCLogC(cLogC: Float64Array, n: number, a: number, b: number): number {
  const least = Math.max(0, a + b - n);
  const most = Math.min(a, b);
  const likeliest = Math.min(most, Math.max(least, Math.floor(((a + 1) * (b + 1)) / (n + 2))));
  let total = 1;
  let sum = cLogC[likeliest]!;
  for (let c = likeliest, share = 1; c < most && share > negligible; c++) {
    share *= ((a - c) * (b - c)) / ((c + 1) * (n - a - b + c + 1));
    total += share;
    sum += share * cLogC[c + 1]!;
  }
  for (let c = likeliest, share = 1; c > least && share > negligible; c--) {
    share *= (c * (n - a - b + c)) / ((a - c + 1) * (b - c + 1));
    total += share;
    sum += share * cLogC[c - 1]!;
  }
  return sum / total;
}
