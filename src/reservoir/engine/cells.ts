// The capability of an engine that runs other cells than the leaky one.

/** Runs x' = k M x + a f(z) for any k, and for M that is no identity. */
export interface RunsCells {
  /** Default false: such a reservoir is refused. */
  readonly cells?: boolean;
}
