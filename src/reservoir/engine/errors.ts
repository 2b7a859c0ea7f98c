// The errors that engines may raise.
import { formatBytes } from "@spillway/core/bytes.js";
import { SpillwayError } from "@spillway/core/errors.js";

/** An engine that was asked for cannot run here. */
export class EngineUnavailableError extends SpillwayError {
  override readonly name = "EngineUnavailableError";
  readonly engine: string;
  constructor(engine: string, reason: string) {
    super("unavailable", `the engine "${engine}" is not available: ${reason}`);
    this.engine = engine;
  }
}

/** A model does not fit an engine's memory. */
export class EngineCapacityError extends SpillwayError {
  override readonly name = "EngineCapacityError";
  readonly needed: number;
  readonly limit: number;
  constructor(what: string, needed: number, limit: number, advice: string) {
    super("limit", `${what} would take ${formatBytes(needed)} and the limit is ${formatBytes(limit)}: ${advice}`);
    this.needed = needed;
    this.limit = limit;
  }
}

/** The end of an advice: a last thing to take, and float32 if that is not the precision already. */
export function orFloat32(last: string, precision: string): string {
  return precision === "float32" ? ` or ${last}` : `, ${last}, or precision float32`;
}

/** A state, or an output that is fed back to it, became infinite or not a number. */
export class NonFiniteStateError extends SpillwayError {
  override readonly name = "NonFiniteStateError";
  /** Steps since reset before the bad one. */
  readonly step: number;
  /** -1 if it is an output. */
  readonly neuron: number;
  constructor(step: number, neuron: number) {
    super(
      "numeric",
      neuron < 0
        ? `the output that is fed back is not finite after step ${step}: the closed loop diverges; train the readout with a larger lambda or on more rows`
        : `the state is not finite after step ${step} at neuron ${neuron}: with an unbounded activation, take a smaller spectralRadius or inputScaling; else look for huge inputs`,
    );
    this.step = step;
    this.neuron = neuron;
  }
}

/**
 * A worker thread that computes for a reservoir is gone: it ran out of memory, or was ended. The
 * reservoir is where it was before the chunk of steps in which the thread was lost. It and the
 * others go on: each computes by itself until new threads are there.
 */
export class WorkerEndedError extends SpillwayError {
  override readonly name = "WorkerEndedError";
  /** Its number; 0 would be the thread that calls. */
  readonly thread: number;
  /** `cause` is its error or its exit code, if it is known. */
  constructor(thread: number, cause?: unknown) {
    const why = cause instanceof Error ? ` (${cause.message})` : cause === undefined ? "" : ` with exit code ${cause}`;
    super(
      "device",
      `worker thread ${thread} of this reservoir has ended${why}, and what this call computed is lost; the next call goes on without it`,
      { cause },
    );
    this.thread = thread;
  }
}
