// A liquid in chunks of steps, by a session of the network that it is.
import type { FloatArray } from "@spillway/numerics";
import type { NetworkState, SpikingModel } from "../reservoir/spiking-model.js";
import { checkAmplitudes } from "../spikes/liquid/amplitudes.js";
import { liquidState, stateOfNetwork } from "../spikes/liquid/network-state.js";
import type { NetworkModel } from "../spikes/network/plan.js";
import { ReferenceNetwork } from "../spikes/network/reference.js";
import { type LiquidRows, type NetworkRunState, type NetworkSession, NotFiniteError } from "../spikes/network/session.js";
import type { Stepper } from "./host-steps.js";

export class SpikingStepper implements Stepper {
  readonly capacity: number;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  readonly #model: SpikingModel;
  readonly #network: NetworkModel;
  readonly #session: NetworkSession;
  readonly #rows: LiquidRows;
  /** Parts of the state that the session is given before its next step. */
  #given: Partial<NetworkRunState> = {};

  /** @param network the liquid as a network, which the session has loaded */
  constructor(model: SpikingModel, network: NetworkModel, session: NetworkSession) {
    this.#model = model;
    this.#network = network;
    this.#session = session;
    this.#rows = session.liquid!;
    ({ capacity: this.capacity, inputs: this.inputs, states: this.states } = this.#rows);
    this.outputs = this.inputs.subarray(0, 0);
  }

  getValues(): FloatArray {
    return this.#given.filtered ?? (this.#session.getValues("filtered") as FloatArray);
  }

  setValues(values: FloatArray): void {
    this.#given = { ...this.#given, filtered: values.slice() };
  }

  getNetwork(): NetworkState {
    return liquidState(this.#model, this.#state());
  }

  setNetwork(network: NetworkState): void {
    this.#given = { ...this.#given, ...stateOfNetwork(this.#model, network) };
  }

  check(inputs: FloatArray, step: number): void {
    checkAmplitudes(this.#model, inputs, step);
  }

  advance(steps: number, step: number, sequence: number): number {
    if (Object.keys(this.#given).length > 0) this.#session.setState(this.#state());
    this.#given = {};
    this.#session.keep();
    try {
      this.#rows.advance(steps, step, sequence);
      return steps;
    } catch (error) {
      if (!(error instanceof NotFiniteError)) throw error;
      return this.#advanceUpTo(error.step - step, step, sequence);
    }
  }

  /** The state, with what it was given. */
  #state(): NetworkRunState {
    return { ...(this.#session.getState() as NetworkRunState), ...this.#given };
  }

  /** The steps before one that is not finite once more; the reference names the neuron. */
  #advanceUpTo(finite: number, step: number, sequence: number): number {
    const { size, inputSize } = this.#model;
    this.#session.restore();
    if (finite > 0) this.#rows.advance(finite, step, sequence);
    const reference = new ReferenceNetwork(this.#network);
    reference.setState(this.#session.getState() as NetworkRunState);
    reference.liquid!.inputs.set(this.inputs.subarray(finite * inputSize, (finite + 1) * inputSize));
    const row = this.states.subarray(finite * size, (finite + 1) * size);
    row.set(this.getValues());
    try {
      reference.liquid!.advance(1, step + finite, sequence);
    } catch (error) {
      row[(error as NotFiniteError).neuron!] = Number.NaN;
    }
    return finite;
  }

  dispose(): Promise<void> {
    return this.#session.dispose();
  }
}
