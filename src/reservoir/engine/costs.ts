// The capability of an engine that can say what a step would take. "auto" chooses by it.
import type { ModelShape, SpikingShape } from "../shape.js";

/** Microseconds of a step, by a model of cost: nothing is measured or opened. */
export interface KnowsCosts {
  /** Of a rate reservoir of these sizes. @throws EngineCapacityError if it does not fit */
  microsecondsPerStep?(shape: ModelShape): number;
  /** Of all these reservoirs together. Undefined if they would run one after the other. */
  microsecondsPerEnsembleStep?(shapes: readonly ModelShape[]): number | undefined;
  /** Of a spiking reservoir that fires at 10 Hz in steps of 1 ms. */
  microsecondsPerSpikingStep?(shape: SpikingShape): number;
}
