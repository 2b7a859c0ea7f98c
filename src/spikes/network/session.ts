// What an engine that runs networks must offer: the contract of the reference engine, of the
// WebAssembly one and of a device. A session gets a finished model and finished lists; stimuli and
// recorders are put together above it, in spiking-network.ts.
import { SpillwayError } from "@spillway/core/errors.js";
import type { FloatArray } from "@spillway/numerics";
import type { NetworkModel, NetworkPlan, PlasticTable } from "./plan.js";
import { initialPlasticity, type NetworkRunState } from "./run-state.js";

export type * from "./plan.js";
export type * from "./run-state.js";

/** Spikes in order of step, then of neuron (or of input channel). */
export interface StepSpikes {
  /** First spike of each step, and one more: steps + 1 values. */
  readonly offsets: Uint32Array;
  /** Neurons from 0 to N - 1; of inputs, channels from 0 to I - 1, as often as they spike. */
  readonly neurons: Uint32Array;
}

/** Settings of a network's engine that do not change a single bit of what it gives. */
export interface NetworkEngineOptions {
  /** Threads of the CPU engine at most. */
  readonly threads: number;
}

/** Runs a liquid a row of inputs a step, in the session's own memory. */
export interface LiquidRows {
  /** Rows that a call runs at most. */
  readonly capacity: number;
  /** capacity x I: amplitudes of spikes, or currents. */
  readonly inputs: FloatArray;
  /** capacity x N: the filtered spikes behind each row. */
  readonly states: FloatArray;
  /**
   * Runs rows from `inputs`; `step` and `sequence` count what is drawn. @throws as
   * `NetworkSession.advance`
   */
  advance(rows: number, step: number, sequence: number): void;
}

/** A network that is loaded and has a state. Calls may not overlap. */
export interface NetworkSession extends AsyncDisposable {
  readonly plan: NetworkPlan;
  /** The engine in one line. */
  readonly summary: string;
  /** Whether `advance` gives a promise; default false. */
  readonly later?: boolean;
  /** Steps that a call should take at once, as far as nothing else ends it; left out, 200. */
  readonly stepsPerCall?: number;
  /**
   * Runs `steps` steps from the present state, and returns the spikes of all neurons if `record`
   * asks for them. An input spike of step t with delay d is in the sums of step t + d.
   * @throws SpillwayError if a potential is not finite or a worker thread has ended: the state is
   * then to be set or restored before the next call
   */
  advance(steps: number, inputs: StepSpikes | undefined, record: boolean): StepSpikes | undefined | Promise<StepSpikes | undefined>;
  /** Rows that `advanceRows` runs at most; left out if the session has none. */
  readonly rowsPerCall?: number;
  /**
   * Runs rows of `steps` steps each, and writes the filtered spikes behind each of them, rows x N.
   * @throws as `advance`
   */
  advanceRows?(rows: number, steps: number, inputs: StepSpikes | undefined, states: FloatArray): void;
  /** Of a liquid. */
  readonly liquid?: LiquidRows | undefined;
  /** What the constant currents add to the potentials in a step from now on, N values. */
  setDrive(drive: FloatArray): void | Promise<void>;
  /** A copy of the potentials from rest, or of the filtered spikes: N values. */
  getValues(name: "potential" | "filtered"): FloatArray | Promise<FloatArray>;
  /** The synapses of the plastic projections, in the plan's order. */
  readonly plastic: readonly PlasticTable[];
  /** Sizes of the weights of plastic projection k, in units; undefined unless they change. */
  getWeights(k: number): FloatArray | undefined | Promise<FloatArray | undefined>;
  /** A copy of the state. */
  getState(): NetworkRunState | Promise<NetworkRunState>;
  /** Puts the network into a state that `getState` gave. */
  setState(state: NetworkRunState): void | Promise<void>;
  /** Keeps the present state where the network is, in place of what was kept before. */
  keep(): void | Promise<void>;
  /** Puts the network into the state that was kept last. */
  restore(): void | Promise<void>;
  /** Gives memory back. Idempotent. */
  dispose(): Promise<void>;
}

/** The state before the first step. */
export function initialState(
  model: NetworkPlan & Pick<NetworkModel, "initialPotential"> & Partial<Pick<NetworkModel, "plastic">>,
): NetworkRunState {
  const { size, receptors, currents, ringRows, initialPotential, populations } = model;
  const zeros = (length: number) => new (initialPotential.constructor as new (length: number) => FloatArray)(length);
  const recovery = zeros(size);
  for (const { neuron, first, size: count } of populations)
    if (neuron.type === "izhikevich") for (let r = first; r < first + count; r++) recovery[r] = neuron.recoveryKeep * initialPotential[r]!;
  return {
    step: 0,
    potential: initialPotential.slice(),
    recovery,
    currents: zeros(currents * size),
    held: new Int32Array(size),
    pending: new Int32Array(ringRows * receptors * size),
    filtered: zeros(size),
    ...initialPlasticity(model),
  };
}

/** A copy but for what plastic projections carry, with rows of the ring from `row` on in front. */
export function copyState(state: NetworkRunState, row = 0, rowCells = 0): NetworkRunState {
  const { pending } = state;
  const inOrder = new Int32Array(pending.length);
  const split = row * rowCells;
  inOrder.set(pending.subarray(split));
  inOrder.set(pending.subarray(0, split), pending.length - split);
  const copies = { potential: state.potential.slice(), recovery: state.recovery.slice(), currents: state.currents.slice() };
  return { ...state, ...copies, held: state.held.slice(), pending: inOrder, filtered: state.filtered.slice() };
}

/** What an engine throws if a potential leaves the finite numbers. */
export class NotFiniteError extends SpillwayError {
  readonly step: number;
  /** The first such neuron, of an engine that knows it. */
  readonly neuron: number | undefined;

  constructor(step: number, { config }: NetworkPlan, neuron?: number) {
    const sentence = `a potential is not finite after step ${step} (${step * config.timeStep} ms); take smaller weights or currents`;
    super("numeric", sentence, { field: "potential", value: step });
    this.step = step;
    this.neuron = neuron;
  }
}
