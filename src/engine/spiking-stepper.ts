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
  /** The filtered spikes, as the session has them or is given them. */
  readonly #values: FloatArray;
  /** Parts of the state that the session is given before its next step. */
  #given: Partial<NetworkRunState> | undefined;

  /** @param network the liquid as a network, which the session has loaded */
  constructor(model: SpikingModel, network: NetworkModel, session: NetworkSession) {
    this.#model = model;
    this.#network = network;
    this.#session = session;
    this.#rows = session.liquid!;
    ({ capacity: this.capacity, inputs: this.inputs, states: this.states } = this.#rows);
    this.outputs = this.inputs.subarray(0, 0);
    this.#values = session.getValues("filtered") as FloatArray;
  }

  getValues(): FloatArray {
    return this.#values;
  }

  setValues(values: FloatArray): void {
    this.#values.set(values);
    this.#given = { ...this.#given, filtered: this.#values };
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
    if (this.#given) this.#session.setState(this.#state());
    this.#given = undefined;
    this.#session.keep();
    try {
      return this.#run(steps, step, sequence);
    } catch (error) {
      if (!(error instanceof NotFiniteError)) throw error;
      return this.#advanceUpTo(error.step - step, step, sequence);
    }
  }

  #run(steps: number, step: number, sequence: number): number {
    const { size } = this.#model;
    this.#rows.advance(steps, step, sequence);
    this.#values.set(this.states.subarray((steps - 1) * size, steps * size));
    return steps;
  }

  /** The state, with what it was given. */
  #state(): NetworkRunState {
    return { ...(this.#session.getState() as NetworkRunState), ...this.#given };
  }

  /** The steps before one that is not finite once more; the reference names the neuron. */
  #advanceUpTo(finite: number, step: number, sequence: number): number {
    const { size, inputSize } = this.#model;
    this.#session.restore();
    if (finite > 0) this.#run(finite, step, sequence);
    const reference = new ReferenceNetwork(this.#network);
    reference.setState(this.#session.getState() as NetworkRunState);
    reference.liquid!.inputs.set(this.inputs.subarray(finite * inputSize, (finite + 1) * inputSize));
    const row = this.states.subarray(finite * size, (finite + 1) * size);
    row.set(this.#values);
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
