// The capability of an engine that has several ways to run the time loop.

/** Ways to run the time loop that a caller may choose among. All give the same bits. */
export interface HasPlans {
  /** What `EngineOptions.plan` takes. Left out if there is one way alone. */
  readonly planNames?: readonly string[];
}
