// The capability of an engine that computes in integers.

/** Runs reservoirs whose arithmetic is "integer": docs/numerics.md, rule 18. */
export interface RunsIntegers {
  /** Default false: such a reservoir is refused. */
  readonly integers?: boolean;
}
