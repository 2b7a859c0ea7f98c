// Bands around forecasts from the errors of earlier forecasts: conformal prediction by step.

import { checkHas, checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, flag, type InputOf, number, option, type Resolved, resolve } from "@spillway/core/options.js";
import { asMatrix, Matrix, type MatrixLike } from "@spillway/numerics";

/** How far from a forecast the ends of its band lie, H x D each; infinite if nothing is known. */
export interface BandOffsets {
  readonly lower: Matrix<Float64Array>;
  readonly upper: Matrix<Float64Array>;
}

const level = number({ above: 0, below: 1 });

export const conformalTable = {
  /** The share that is to be covered. Default 0.9. */
  level: option(level, 0.9, "The share that is to be covered."),
  /**
   * By signed errors, as many missed below as above; else by their size, as far down as up. Default
   * false.
   */
  twoSided: option(flag, false, "By signed errors, as many missed below as above."),
};

/** Options of `conformalOffsets`. */
export interface ConformalOptions extends InputOf<typeof conformalTable> {}

/** What decimal levels miss of whole ranks. */
const rounding = 1e-9;

/**
 * The rank, from 1, of the score that covers this share with n scores: ceil((n + 1) level);
 * Infinity if it is above n.
 */
export function conformalRank(n: number, share: number): number {
  const rank = Math.ceil((n + 1) * share - rounding);
  return rank > n ? Number.POSITIVE_INFINITY : rank;
}

/** The fewest scores that can cover this share: 9 for 0.9. */
export function fewestScores(share: number): number {
  return Math.ceil(share / (1 - share) - rounding);
}

/**
 * Split conformal prediction by step (Vovk, Gammerman and Shafer 2005; Lei et al. 2018): the band
 * of step h ends q_h below and above the forecast, q_h the ceil((n + 1) level)-th smallest of the n
 * errors |y - p| of that step; each column by itself. Covered is the share `level` if the errors to
 * come are like those that were given; of a series that drifts, fewer. Two-sided, the ends are the
 * floor((n + 1) (1 - level) / 2)-th and the ceil((n + 1) (1 + level) / 2)-th smallest of y - p.
 * @param errors y - p, (n horizon) x D: row k * horizon + h is step h of start k. One that is NaN,
 * of a value that was not measured, does not count.
 * @returns ends that are infinite if n starts are too few.
 * @throws ArgumentError for rows that are no whole number of starts
 */
export function conformalOffsets(errors: MatrixLike, horizon: number, options: ConformalOptions = {}): BandOffsets {
  const { level: share, twoSided } = resolve(conformalTable, options, "conformalOffsets");
  const own = errorsByStep(errors, horizon);
  const { cols } = own;
  const lower = Matrix.zeros(horizon, cols);
  const upper = Matrix.zeros(horizon, cols);
  for (const [i, each] of own.steps.entries()) {
    const [below, above] = twoSided ? signedEnds(each, share) : sizeEnds(each, share);
    lower.data[i] = below;
    upper.data[i] = above;
  }
  return { lower, upper };
}

/** The errors of each step and column, one a start; without those that are not known (NaN). */
function errorsByStep(errors: MatrixLike, horizon: number): { readonly cols: number; readonly steps: readonly Float64Array[] } {
  checkWhole("horizon", horizon, 1);
  const { rows, cols, data } = asMatrix(errors, "errors");
  if (rows === 0 || rows % horizon !== 0)
    throw ArgumentError.shape(`errors has ${rows} rows; a horizon of ${horizon} takes a multiple of it`, { field: "errors" });
  const each = horizon * cols;
  const at = (i: number) => Float64Array.from({ length: rows / horizon }, (_, k) => data[k * each + i]!);
  return { cols, steps: Array.from({ length: each }, (_, i) => at(i).filter((error) => !Number.isNaN(error))) };
}

function sizeEnds(errors: Float64Array, share: number): [number, number] {
  const end = ranked(errors.map(Math.abs).sort(), conformalRank(errors.length, share));
  return [-end, end];
}

function signedEnds(errors: Float64Array, share: number): [number, number] {
  const sorted = errors.sort();
  const low = Math.floor(((sorted.length + 1) * (1 - share)) / 2 + rounding);
  return [low < 1 ? Number.NEGATIVE_INFINITY : sorted[low - 1]!, ranked(sorted, conformalRank(sorted.length, (1 + share) / 2))];
}

function ranked(sorted: Float64Array, rank: number): number {
  return rank > sorted.length ? Number.POSITIVE_INFINITY : sorted[rank - 1]!;
}

export const adaptiveTable = {
  /** The share that is to be covered. Default 0.9. */
  level: option(level, 0.9, "The share that is to be covered."),
  /** g: how fast the level follows what was missed. Default 0.1. */
  rate: option(number({ above: 0 }), 0.1, "How fast the level follows what was missed."),
  /**
   * The width if the level asks for more than the scores can say: that of the largest one, or
   * "infinite". Default "largest".
   */
  beyond: option(choice("largest", "infinite"), "largest", "The width if the level asks for more than the scores can say."),
};

/** Options of `AdaptiveConformal`. */
export interface AdaptiveOptions extends InputOf<typeof adaptiveTable> {}

/** A band around a forecast, H x D each. */
export interface Band {
  readonly lower: Matrix<Float64Array>;
  readonly upper: Matrix<Float64Array>;
}

/** A forecast whose values are not all known yet. */
interface Pending {
  readonly start: number;
  readonly forecast: Matrix;
  readonly band: Band;
}

/**
 * Adaptive conformal prediction (Gibbs and Candès 2021): the level of a column follows what was
 * missed, a <- a + (g / H) (1 - level - missed) for each of the H steps of a forecast, and the band
 * of a step is that of its own last n errors at level 1 - a. A value counts when it is known, not
 * before. It is for a model that keeps receiving rows: the share that is covered comes near the
 * level whatever the series does. After M forecasts it is at most (max(a, 1 - a) + g) / (g M) off,
 * if widths may be infinite. A level for each step would follow one value a forecast, and H times
 * as slowly.
 * @example
 * const bands = new AdaptiveConformal(errors, 24);
 * const { lower, upper } = bands.band(t, forecast); // of rows t to t + 23
 * bands.reveal(t, row); // when row t is known
 */
export class AdaptiveConformal {
  readonly #horizon: number;
  readonly #cols: number;
  readonly #asked: Resolved<typeof adaptiveTable>;
  /** Of each column: a. */
  readonly #misses: Float64Array;
  /** Of each step and column: the sizes of the last n errors, the oldest first. */
  readonly #scores: number[][];
  #pending: Pending[] = [];
  #capped = 0;

  /** @param errors as `conformalOffsets` takes them. @throws ArgumentError */
  constructor(errors: MatrixLike, horizon: number, options: AdaptiveOptions = {}) {
    this.#asked = resolve(adaptiveTable, options, "AdaptiveConformal");
    const { cols, steps } = errorsByStep(errors, horizon);
    this.#horizon = horizon;
    this.#cols = cols;
    this.#misses = new Float64Array(cols).fill(1 - this.#asked.level);
    this.#scores = steps.map((step) => Array.from(step, Math.abs));
  }

  /** How many ends so far were those of the largest error because the level asked for more. */
  get capped(): number {
    return this.#capped;
  }

  /** The share that each of the D columns is allowed to miss now; it may leave 0 to 1. */
  get allowed(): Float64Array {
    return this.#misses.slice();
  }

  /**
   * The band of a forecast of rows `start` to `start` + H - 1, H x D, and waits for them.
   * @throws ArgumentError for another shape
   */
  band(start: number, forecast: MatrixLike): Band {
    checkWhole("start", start, 0, Number.MAX_SAFE_INTEGER);
    const given = asMatrix(forecast, "forecast");
    if (given.rows !== this.#horizon || given.cols !== this.#cols)
      throw ArgumentError.shape(`forecast is ${given.rows} x ${given.cols}; these bands are of ${this.#horizon} x ${this.#cols}`, {
        field: "forecast",
      });
    const ends = this.#scores.map((scores, i) => this.#end(scores, this.#misses[i % this.#cols]!));
    const band = {
      lower: given.map((value, i) => value - ends[i]!),
      upper: given.map((value, i) => value + ends[i]!),
    };
    this.#pending.push({ start, forecast: given, band });
    return band;
  }

  /**
   * Row `row` of the series is known, D values; one that is not finite is missing. Rows come in
   * their order.
   */
  reveal(row: number, values: ArrayLike<number>): void {
    checkWhole("row", row, 0, Number.MAX_SAFE_INTEGER);
    if (values.length !== this.#cols)
      throw ArgumentError.shape(`values holds ${values.length} numbers; these bands are of ${this.#cols} columns`, { field: "values" });
    const { level, rate } = this.#asked;
    for (const { start, forecast, band } of this.#pending) {
      const step = row - start;
      if (step < 0 || step >= this.#horizon) continue;
      for (let c = 0; c < this.#cols; c++) {
        const [i, value] = [step * this.#cols + c, values[c]!];
        if (!Number.isFinite(value)) continue;
        const missed = value >= band.lower.data[i]! && value <= band.upper.data[i]! ? 0 : 1;
        this.#misses[c] = this.#misses[c]! + (rate / this.#horizon) * (1 - level - missed);
        const scores = this.#scores[i]!;
        const error = Math.abs(value - forecast.data[i]!);
        scores.push(Number.isNaN(error) ? Number.POSITIVE_INFINITY : error);
        scores.shift();
      }
    }
    this.#pending = this.#pending.filter(({ start }) => row < start + this.#horizon - 1);
  }

  #end(scores: readonly number[], missed: number): number {
    if (missed >= 1) return 0;
    if (scores.length === 0) return Number.POSITIVE_INFINITY;
    const rank = missed <= 0 ? Number.POSITIVE_INFINITY : conformalRank(scores.length, 1 - missed);
    if (rank > scores.length && this.#asked.beyond === "infinite") return Number.POSITIVE_INFINITY;
    if (rank > scores.length) this.#capped++;
    const sorted = Float64Array.from(scores).sort();
    return sorted[Math.max(1, Math.min(rank, scores.length)) - 1]!;
  }
}

/**
 * A band from several forecasts of the same rows, such as those of several seeds: by step and
 * column the quantiles (1 - level) / 2 and (1 + level) / 2 of the members (Hyndman and Fan 1996,
 * type 7). It shows how far the members differ, not how far they are from what comes.
 * @throws ArgumentError for fewer than two members, or members of different shapes
 */
export function ensembleBand(members: readonly MatrixLike[], share = 0.9): Band {
  checkHas("members", members, "a list of forecasts", "map");
  const kept = level.read(share, "level");
  const given = members.map((member, k) => asMatrix(member, `members[${k}]`));
  const [first] = given;
  if (!first || given.length < 2)
    throw ArgumentError.shape(`there are ${given.length} members; a band takes at least two`, { field: "members" });
  const other = given.findIndex(({ rows, cols }) => rows !== first.rows || cols !== first.cols);
  if (other >= 0)
    throw ArgumentError.shape(`members[${other}] has another shape than members[0]; they take the same`, { field: "members" });
  const at = (part: number) => first.map((_, i) => quantileOf(Float64Array.from(given, ({ data }) => data[i]!).sort(), part));
  return { lower: at((1 - kept) / 2), upper: at((1 + kept) / 2) };
}

function quantileOf(sorted: Float64Array, share: number): number {
  const position = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!];
  return low === high ? low : low + (position % 1) * (high - low);
}
