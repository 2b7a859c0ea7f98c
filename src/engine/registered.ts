// Reservoirs of registered kinds on the host: the kind's own step, one at a time.
import { formatBytes } from "../core/bytes.js";
import { allocate, type FloatArray, isSparse } from "../numerics/index.js";
import type { EngineOptions, EnginePlan, EngineSession } from "../reservoir/engine.js";
import { type KindStep, reservoirKinds } from "../reservoir/registered/kind.js";
import type { RegisteredModel } from "../reservoir/registered/model.js";
import { ChunkedSession, type Stepper } from "./chunked-session.js";
import { clockFor } from "./phase-clock.js";

/**
 * The members of an engine of this name that runs registered kinds by their steps in JavaScript.
 */
export const registeredKinds = (engine: string) => ({
  planRegistered: (model: RegisteredModel): EnginePlan => planOf(engine, model),

  async openRegistered(model: RegisteredModel, options?: EngineOptions): Promise<EngineSession> {
    return new ChunkedSession(model, planOf(engine, model), new RegisteredStepper(model), clockFor(options));
  },
});

function planOf(engine: string, { config, precision, size, below, matrices }: RegisteredModel): EnginePlan {
  const values = Object.values(matrices).reduce((sum, each) => sum + (isSparse(each) ? each.values.length : each.data.length), 0);
  const bytes = (values + 2 * (size + below)) * (precision === "float32" ? 4 : 8);
  return {
    engine,
    summary: `the kind "${config.kind}" in JavaScript, one step at a time, ${formatBytes(bytes)}`,
    bytes,
    details: { kind: config.kind, precision, states: size, ...(below > 0 && { hidden: below }) },
  };
}

/** Steps of a registered kind, one after the other, by its own stepper. */
export class RegisteredStepper implements Stepper {
  readonly capacity: number;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  protected readonly model: RegisteredModel;
  readonly #step: KindStep;
  /** States, then hidden values. */
  protected x: FloatArray;
  #next: FloatArray;

  constructor(model: RegisteredModel, capacity = 16) {
    const { precision, size, inputSize, below, config } = model;
    this.model = model;
    this.capacity = capacity;
    this.#step = reservoirKinds.get(config.kind, "kind").stepper(model);
    this.x = allocate(precision, size + below);
    this.#next = allocate(precision, size + below);
    this.inputs = allocate(precision, this.capacity * inputSize);
    this.outputs = allocate(precision, 0);
    this.states = allocate(precision, this.capacity * size);
  }

  getValues(): FloatArray {
    return this.x.subarray(0, this.model.size);
  }

  setValues(values: FloatArray): void {
    this.x.set(values);
  }

  getBelow(): FloatArray {
    return this.x.subarray(this.model.size);
  }

  setBelow(values: FloatArray): void {
    this.x.set(values, this.model.size);
  }

  advance(steps: number, step: number, sequence: number): number {
    const { size, inputSize } = this.model;
    for (let t = 0; t < steps; t++) {
      this.#step(this.x, this.inputs.subarray(t * inputSize, (t + 1) * inputSize), this.#next, step + t, sequence);
      this.states.set(this.#next.subarray(0, size), t * size);
      // x stays what it was before a step that is not finite.
      if (!this.#next.every(Number.isFinite)) return t;
      [this.x, this.#next] = [this.#next, this.x];
    }
    return steps;
  }

  async dispose(): Promise<void> {}
}
