// Spiking networks in plain TypeScript: the domain's step, one step at a time.
import { allocate, type FloatArray } from "@spillway/numerics";
import type { NetworkState, SpikingModel } from "../../reservoir/spiking-model.js";
import { checkAmplitudes } from "../../spikes/liquid/amplitudes.js";
import { LiquidNetwork } from "../../spikes/liquid/network.js";
import type { Stepper } from "../chunked-session.js";

export class ReferenceSpikingStepper implements Stepper {
  readonly capacity = 16;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  readonly #model: SpikingModel;
  readonly #network: LiquidNetwork;
  readonly #values: FloatArray;

  constructor(model: SpikingModel) {
    this.#model = model;
    this.#network = new LiquidNetwork(model);
    this.#values = allocate(model.precision, model.size);
    this.inputs = allocate(model.precision, this.capacity * model.inputSize);
    this.outputs = allocate(model.precision, 0);
    this.states = allocate(model.precision, this.capacity * model.size);
  }

  getValues(): FloatArray {
    return this.#values;
  }

  setValues(values: FloatArray): void {
    this.#values.set(values);
  }

  getNetwork(): NetworkState {
    return this.#network.state;
  }

  setNetwork(state: NetworkState): void {
    this.#network.state = state;
  }

  check(inputs: FloatArray, step: number): void {
    checkAmplitudes(this.#model, inputs, step);
  }

  advance(steps: number, step: number, sequence: number): number {
    const { size, inputSize } = this.#model;
    for (let t = 0; t < steps; t++) {
      const input = this.inputs.subarray(t * inputSize, (t + 1) * inputSize);
      const next = this.states.subarray(t * size, (t + 1) * size);
      if (!this.#network.step(this.#values, next, input, step + t, sequence)) return t;
      this.#values.set(next);
    }
    return steps;
  }

  async dispose(): Promise<void> {}
}
