// The capability of an engine that runs activation functions of the user's own.

/** Runs functions that only JavaScript knows. */
export interface RunsOwnActivations {
  /** Default false: such a reservoir is refused. */
  readonly ownActivations?: boolean;
}
