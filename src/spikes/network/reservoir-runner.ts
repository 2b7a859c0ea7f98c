// Runs the rows of a reservoir of the kind "network" on an engine of networks.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import type { Context } from "@spillway/gpu";
import { allocate, type FloatArray, type Matrix } from "@spillway/numerics";
import type { KindRunner } from "../../reservoir/index.js";
import { initialValues } from "./draw.js";
import { openNetwork } from "./engines.js";
import { type NetworkReservoirModel, type PlannedReservoir, plannedReservoir } from "./reservoir.js";
import { mostSpikes } from "./run-state.js";
import type { NetworkRunState, NetworkSession, StepSpikes } from "./session.js";
import { copyRanges, flatState, stateOf } from "./state-values.js";

/** Between the first steps of two sequences of a batch: what is drawn in them differs. */
const stepsApart = 2 ** 20;

/** Opens the network of a model. @throws EngineUnavailableError, EngineCapacityError */
export async function openRunner(model: NetworkReservoirModel, engine: string, threads: number, context?: Context): Promise<KindRunner> {
  const here = plannedReservoir(model.config);
  const session = await openNetwork(context ? "auto" : engine, here.plan, { threads, context });
  return new NetworkRunner(model, here, session);
}

class NetworkRunner implements KindRunner {
  readonly summary: string;
  readonly later: boolean;
  readonly #here: PlannedReservoir;
  readonly #session: NetworkSession;
  readonly #inputSize: number;
  readonly #size: number;
  readonly #inputWeights: Matrix | undefined;
  /** What drives all neurons without inputs. */
  readonly #constant: FloatArray;
  /** Filtered spikes of all neurons, for rows that run together. */
  #filtered: FloatArray | undefined;

  constructor(model: NetworkReservoirModel, here: PlannedReservoir, session: NetworkSession) {
    this.#here = here;
    this.#session = session;
    this.later = session.later ?? false;
    this.summary = session.summary;
    this.#inputSize = model.inputSize;
    this.#size = model.size;
    this.#inputWeights = model.matrices.inputWeights;
    this.#constant = initialValues(here.plan).drive;
  }

  getState(): FloatArray | Promise<FloatArray> {
    const { plan, read } = this.#here;
    const flat = (state: NetworkRunState) => flatState(state, plan, read);
    const state = this.#session.getState();
    return state instanceof Promise ? state.then(flat) : flat(state);
  }

  setState(x: FloatArray, step: number, sequence: number): void | Promise<void> {
    const { plan, read, steps } = this.#here;
    return this.#session.setState(stateOf(x, plan, read, (step * steps + sequence * stepsApart) % 2 ** 32));
  }

  advance(inputs: FloatArray, states: FloatArray, rows: number): number | Promise<number> {
    return runWork(this.#advance(inputs, states, rows));
  }

  dispose(): Promise<void> {
    return this.#session.dispose();
  }

  *#advance(inputs: FloatArray, states: FloatArray, rows: number): Work<number> {
    yield this.#session.keep();
    let t = 0;
    try {
      if (this.#session.advanceRows && !this.#inputWeights) {
        try {
          this.#advanceTogether(inputs, states, rows);
          return rows;
        } catch (error) {
          if (!(error instanceof SpillwayError && error.code === "numeric")) throw error;
          // One by one, for the row that it is.
          yield this.#session.restore();
        }
      }
      for (; t < rows; t++) yield* this.#row(inputs, states, t);
      return rows;
    } catch (error) {
      // Back to the start, and over the rows that were good, up to this one.
      yield this.#session.restore();
      if (!(error instanceof SpillwayError && error.code === "numeric")) throw error;
      for (let good = 0; good < t; good++) yield* this.#row(inputs, states, good);
      states.fill(Number.NaN, t * this.#size, (t + 1) * this.#size);
      return t;
    }
  }

  /** Rows of spikes in as few calls as the session takes. */
  #advanceTogether(inputs: FloatArray, states: FloatArray, rows: number): void {
    const { steps, read, plan } = this.#here;
    const most = this.#session.rowsPerCall!;
    this.#filtered ??= allocate(plan.precision, most * plan.size);
    for (let from = 0; from < rows; from += most) {
      const count = Math.min(most, rows - from);
      const spikes = rowSpikes(inputs.subarray(from * this.#inputSize, (from + count) * this.#inputSize), count, steps);
      const filtered = this.#filtered.subarray(0, count * plan.size);
      this.#session.advanceRows!(count, steps, spikes, filtered);
      for (let t = 0; t < count; t++) copyRanges(read, filtered.subarray(t * plan.size), states.subarray((from + t) * this.#size));
    }
  }

  *#row(inputs: FloatArray, states: FloatArray, t: number): Work<void> {
    const { steps, read } = this.#here;
    const input = inputs.subarray(t * this.#inputSize, (t + 1) * this.#inputSize);
    if (this.#inputWeights) yield this.#session.setDrive(this.#driveOf(input, this.#inputWeights));
    yield this.#session.advance(steps, this.#inputWeights ? undefined : rowSpikes(input, 1, steps), false);
    const filtered = (yield this.#session.getValues("filtered")) as FloatArray;
    copyRanges(read, filtered, states.subarray(t * this.#size));
  }

  /** Rule 13: what a current adds in a step, rounded, onto what drives a neuron without it. */
  #driveOf(input: FloatArray, { data, cols }: Matrix): FloatArray {
    const { plan, driven } = this.#here;
    const round = plan.precision === "float32" ? Math.fround : (value: number) => value;
    const drive = this.#constant.slice();
    let p = 0;
    driven.forEach((neuron, r) => {
      let current = 0;
      for (let i = 0; i < cols; i++) current = round(current + round(data[r * cols + i]! * input[i]!));
      while (neuron < plan.populations[p]!.first || neuron >= plan.populations[p]!.first + plan.populations[p]!.size)
        p = (p + 1) % plan.populations.length;
      const { driveGain, resistance } = plan.populations[p]!.neuron;
      drive[neuron] = drive[neuron]! + round(driveGain * round(current * resistance));
    });
    return drive;
  }
}

/** Rows of counts as spikes of the first of the steps of each. @throws ArgumentError */
function rowSpikes(inputs: FloatArray, rows: number, steps: number): StepSpikes {
  const channels = inputs.length / rows;
  const neurons: number[] = [];
  const offsets = new Uint32Array(rows * steps + 1);
  for (let t = 0; t < rows; t++) {
    for (let channel = 0; channel < channels; channel++) {
      const count = inputs[t * channels + channel]!;
      if (!Number.isInteger(count) || count < 0 || count > mostSpikes)
        throw new ArgumentError(`input ${channel}`, count, `how often a channel spikes, a whole number from 0 to ${mostSpikes}`);
      for (let k = 0; k < count; k++) neurons.push(channel);
    }
    offsets.fill(neurons.length, t * steps + 1, (t + 1) * steps + 1);
  }
  return { offsets, neurons: Uint32Array.from(neurons) };
}

/** Work in parts, each synchronous or a promise. */
type Work<Result> = Generator<unknown, Result, unknown>;

/** Runs work synchronously up to the first promise, and asynchronously from there on. */
function runWork<Result>(work: Work<Result>, value?: unknown, failed?: { readonly error: unknown }): Result | Promise<Result> {
  let next = failed ? work.throw(failed.error) : work.next(value);
  while (!next.done) {
    if (next.value instanceof Promise)
      return next.value.then(
        (result) => runWork(work, result),
        (error: unknown) => runWork(work, undefined, { error }),
      );
    next = work.next(next.value);
  }
  return next.value;
}
