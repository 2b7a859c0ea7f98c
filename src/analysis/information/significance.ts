// How likely a value is without the influence it is said to show: the same of surrogates.

/** What surrogates say of a value. */
export interface Significance {
  /** Mean of the surrogates' values. Undefined without surrogates. */
  readonly mean: number | undefined;
  /** Standard deviation of the surrogates' values. Undefined without surrogates. */
  readonly standardError: number | undefined;
  /**
   * The probability of such a value without any influence: (1 + k) / (1 + surrogates) if k of them
   * reach it, or 20 / s if the first s have 20 that do, and no more are drawn (Besag and Clifford
   * 1991, "Sequential Monte Carlo p-values"). Undefined without surrogates.
   */
  readonly pValue: number | undefined;
}

/** Surrogates that reach the value before no more are drawn: it is not significant. */
const enough = 20;

/** Compares a value with those of surrogates, which are added one after the other. */
export class SurrogateTest {
  readonly #found: number;
  readonly #surrogates: number;
  readonly #values: number[] = [];
  #reached = 0;

  constructor(found: number, surrogates: number) {
    this.#found = found;
    this.#surrogates = surrogates;
  }

  /** Whether no more surrogates are needed. */
  get done(): boolean {
    return this.#values.length === this.#surrogates || this.#reached === enough;
  }

  add(value: number): void {
    this.#values.push(value);
    if (value >= this.#found) this.#reached++;
  }

  get result(): Significance {
    const values = this.#values;
    if (values.length === 0) return { mean: undefined, standardError: undefined, pValue: undefined };
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    const pValue = this.#reached === enough ? enough / values.length : (1 + this.#reached) / (1 + this.#surrogates);
    return { mean, standardError: Math.sqrt(variance), pValue };
  }
}

/**
 * Compares a value with those of at most `surrogates` surrogates; `surrogate` makes one by its
 * number.
 */
export function significance(found: number, surrogates: number, surrogate: (draw: number) => number): Significance {
  const test = new SurrogateTest(found, surrogates);
  for (let draw = 0; !test.done; draw++) test.add(surrogate(draw));
  return test.result;
}
