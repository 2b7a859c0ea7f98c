// The page of `spillway detect --plot`, in memory that does not grow with a stream.
import { Matrix } from "../../index.js";
import type { AnomalyRow, Incident } from "../../model/index.js";
import { mostColumns, plotAnomalies } from "../../plot/anomalies.js";
import { toHtml } from "../../plot/index.js";

/** Rows of a stream that a page shows. */
export const mostDrawn = 100_000;

/** What a page shows of the last rows, as numbers. */
export class Drawn {
  readonly #names: readonly string[];
  readonly #most: number;
  readonly #width: number;
  #numbers: Float64Array;
  #rows = 0;
  #first = 0;
  #isTimed = false;

  constructor(names: readonly string[], most: number) {
    this.#names = names;
    this.#most = most;
    this.#width = 3 * Math.min(mostColumns, names.length) + 3;
    this.#numbers = new Float64Array(1024 * this.#width);
  }

  /** Rows that are shown. */
  get rows(): number {
    return Math.min(this.#rows, this.#most);
  }

  /** @param wall milliseconds since 1970, as the clock of its stamp shows them */
  add(
    { values, wall }: { readonly values: readonly (number | null)[]; readonly wall?: number | undefined },
    { row, lower, upper, score, pValue }: AnomalyRow,
  ): void {
    const width = this.#width;
    if (this.#rows === 0) this.#first = row;
    if (this.#rows === 2 * this.#most) {
      this.#numbers.copyWithin(0, this.#most * width);
      this.#rows = this.#most;
      this.#first += this.#most;
    }
    let at = this.#rows++ * width;
    if (at === this.#numbers.length) {
      const larger = new Float64Array(2 * at);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    const shown = (width - 3) / 3;
    for (const numbers of [values, lower, upper]) for (let c = 0; c < shown; c++) this.#numbers[at++] = numbers[c] ?? Number.NaN;
    this.#numbers.set([score, pValue, wall ?? Number.NaN], at);
    this.#isTimed = wall !== undefined;
  }

  page(path: string, incidents: readonly Incident[], alarmRate: number): Promise<string> {
    const width = this.#width;
    const shown = (width - 3) / 3;
    const skipped = this.#rows - this.rows;
    const numbers = this.#numbers.subarray(skipped * width, this.#rows * width);
    const one = (at: number) => Float64Array.from({ length: this.rows }, (_, t) => numbers[t * width + at]!);
    const several = (at: number) =>
      new Matrix(
        this.rows,
        shown,
        Float64Array.from({ length: this.rows * shown }, (_, i) => numbers[Math.floor(i / shown) * width + at + (i % shown)]!),
      );
    const first = this.#first + skipped;
    const figure = plotAnomalies({
      ...{ names: this.#names, series: several(0), lower: several(shown), upper: several(2 * shown) },
      ...{ scores: one(width - 3), pValues: one(width - 2), wall: this.#isTimed ? one(width - 1) : undefined },
      ...{ incidents: incidents.filter(({ end }) => end >= first), alarmRate, first },
    });
    return toHtml(figure, { title: `Anomalies in ${path === "-" ? "standard input" : path}` });
  }
}
