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
export interface SurrogateTest {
  /** Whether no more surrogates are needed. */
  isDone(): boolean;
  add(value: number): void;
  result(): Significance;
}

export function surrogateTest(found: number, surrogates: number): SurrogateTest {
  const values: number[] = [];
  let reached = 0;
  return {
    isDone: () => values.length === surrogates || reached === enough,
    add(value) {
      values.push(value);
      if (value >= found) reached++;
    },
    result() {
      if (values.length === 0) return { mean: undefined, standardError: undefined, pValue: undefined };
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
      const pValue = reached === enough ? enough / values.length : (1 + reached) / (1 + surrogates);
      return { mean, standardError: Math.sqrt(variance), pValue };
    },
  };
}

/**
 * Compares a value with those of at most `surrogates` surrogates; `surrogate` makes one by its
 * number.
 */
export function significance(found: number, surrogates: number, surrogate: (draw: number) => number): Significance {
  const test = surrogateTest(found, surrogates);
  for (let draw = 0; !test.isDone(); draw++) test.add(surrogate(draw));
  return test.result();
}
