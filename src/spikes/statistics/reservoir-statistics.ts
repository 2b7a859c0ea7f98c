// Statistics of a reservoir at work: taken from states now and then; the steps between cost
// nothing.
import { callback, checked, type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import { asMatrix, type FloatArray, type Matrix, type MatrixLike } from "@spillway/numerics";
import type { AnyReservoirComputer, WorkOptions } from "../../reservoir/index.js";
import { workTable } from "../../reservoir/work.js";
import { count } from "../options.js";
import { isPattern, type SpikePattern } from "../pattern/pattern.js";
import { type ReservoirSnapshot, reservoirSnapshot, snapshotTable } from "./snapshot.js";

/** The share that a new average activation has in the running one. */
const newest = 0.1;

/** What was counted and measured so far. */
export interface StatisticsReport {
  /** Patterns that were given to `observe`. */
  readonly patternsProcessed: number;
  /** Spikes in them. */
  readonly totalSpikesProcessed: number;
  /** Steps that `run` has run, and how long they took, in ms: the observing not included. */
  readonly stepsRun: number;
  readonly runningMs: number;
  /** Snapshots that were taken. */
  readonly snapshots: number;
  /**
   * Exponential moving average of the snapshots' averages: 0.9 of the old and 0.1 of the new, from
   * the first on; undefined before it.
   */
  readonly averageActivation: number | undefined;
  /** The largest activation in any snapshot; undefined before the first. */
  readonly maxActivationSeen: number | undefined;
  readonly lastSnapshot: ReservoirSnapshot | undefined;
}

/** The options of `ReservoirStatistics.run`. */
export const observedRunTable = {
  ...workTable,
  /** Steps from one snapshot to the next; default 1000. */
  everySteps: option(count, 1000, "Steps from one snapshot to the next."),
  /** Called with each snapshot and the step it was taken at. */
  onSnapshot: optional(
    callback<(snapshot: ReservoirSnapshot, step: number) => void>(),
    "Called with each snapshot and the step it was taken at.",
  ),
};

/** How often a run is sampled, and who gets the results. */
export interface ObservedRunOptions extends WorkOptions, InputOf<typeof observedRunTable> {}

const observeTable = {
  pattern: optional(checked<SpikePattern>("a SpikePattern", isPattern), "The pattern that led to the state."),
  before: snapshotTable.before,
};

/**
 * Snapshots over time. A snapshot reads N numbers once or twice; nothing is asked of the engine.
 */
export class ReservoirStatistics {
  #patterns = 0;
  #spikes = 0;
  #steps = 0;
  #runningMs = 0;
  #snapshots = 0;
  #average: number | undefined;
  #maximal: number | undefined;
  #last: ReservoirSnapshot | undefined;
  #state: FloatArray | undefined;

  /**
   * Takes a snapshot of a state, N values, the one after `pattern` if that is given. The state
   * before it is that of the last call, unless given.
   * @throws ArgumentError on no values, or a state of another size than the last one.
   */
  observe(
    state: FloatArray,
    options: { readonly pattern?: SpikePattern | undefined; readonly before?: FloatArray | undefined } = {},
  ): ReservoirSnapshot {
    const { pattern, before = this.#state } = resolve(observeTable, options);
    const snapshot = reservoirSnapshot(state, { before, spikeCount: pattern?.spikeCount });
    if (pattern) {
      this.#patterns++;
      this.#spikes += pattern.spikeCount;
    }
    this.#snapshots++;
    this.#average =
      this.#average === undefined ? snapshot.averageActivation : (1 - newest) * this.#average + newest * snapshot.averageActivation;
    this.#maximal = Math.max(this.#maximal ?? -Infinity, snapshot.maxActivation);
    this.#last = snapshot;
    this.#state = state.slice();
    return snapshot;
  }

  /**
   * Runs a reservoir over inputs, T x I, as its own `run` does, with a snapshot of the last state
   * of every `everySteps` steps against the state one step before it.
   * @returns the states, T x N, the same bits as without observing.
   */
  async run(computer: AnyReservoirComputer, inputs: MatrixLike, options: ObservedRunOptions = {}): Promise<Matrix> {
    const { everySteps, onSnapshot, ...work } = resolve(observedRunTable, options);
    const series = asMatrix(inputs, "inputs");
    const start = performance.now();
    const states = await computer.run(series, work);
    this.#runningMs += performance.now() - start;
    this.#steps += states.rows;
    for (let t = everySteps; t <= states.rows; t += everySteps) {
      const before = t >= 2 ? states.row(t - 2) : undefined;
      const snapshot = this.observe(states.row(t - 1), { before });
      onSnapshot?.(snapshot, t);
    }
    return states;
  }

  /** Everything that was counted and measured so far. */
  get report(): StatisticsReport {
    return {
      patternsProcessed: this.#patterns,
      totalSpikesProcessed: this.#spikes,
      stepsRun: this.#steps,
      runningMs: this.#runningMs,
      snapshots: this.#snapshots,
      averageActivation: this.#average,
      maxActivationSeen: this.#maximal,
      lastSnapshot: this.#last,
    };
  }

  /** Forgets everything. */
  reset(): void {
    [this.#patterns, this.#spikes, this.#steps, this.#runningMs, this.#snapshots] = [0, 0, 0, 0, 0];
    [this.#average, this.#maximal, this.#last, this.#state] = [undefined, undefined, undefined, undefined];
  }
}
