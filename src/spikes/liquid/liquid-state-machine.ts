// LiquidStateMachine: a spiking reservoir that is asked in spike patterns. How it runs is the
// engines' matter, readouts are those of any reservoir.
import { DisposedByAwaitUsing } from "@spillway/core/disposal.js";
import type { FloatArray, Matrix } from "@spillway/numerics";
import {
  type CreateOptions,
  ReservoirComputer,
  type SpikingModel,
  type SpikingReservoirConfig,
  type SpikingReservoirOptions,
  type WorkOptions,
} from "../../reservoir/index.js";
import type { DeviceSpikePattern, DeviceSpikePatterns } from "../gpu/device-pattern.js";
import type { SpikePattern } from "../pattern/pattern.js";
import {
  type OneStateOptions,
  type ProcessedPatterns,
  type ProcessOptions,
  processPattern,
  processPatterns,
  reservoirSpikes,
  runPattern,
} from "./process.js";

/** A liquid's description: that of a spiking reservoir, whose `kind` may be left out. */
export type LiquidOptions = Omit<SpikingReservoirOptions, "kind"> & { readonly kind?: "spiking" | undefined };

/**
 * A liquid state machine (Maass, Natschläger and Markram 2002, "Real-time computing without stable
 * states", Neural Computation 14): excitatory and inhibitory spiking neurons, connected by distance
 * on a grid or at random, with delays and background noise, whose exponentially filtered spikes are
 * the state that readouts see.
 *
 * `computer` is a ReservoirComputer: readouts, models, analyses and files take it as they take a
 * rate reservoir.
 *
 * @example
 * await using liquid = await LiquidStateMachine.create({ size: 500, inputSize: 40, seed: 1 });
 * const state = await liquid.process(pattern); // N values
 */
export class LiquidStateMachine extends DisposedByAwaitUsing {
  readonly computer: ReservoirComputer<SpikingModel>;

  private constructor(computer: ReservoirComputer<SpikingModel>) {
    super();
    this.computer = computer;
  }

  /**
   * Checks a description, draws the network and opens an engine. @throws ArgumentError,
   * EngineUnavailableError, EngineCapacityError
   */
  static async create(options: LiquidOptions, create: Omit<CreateOptions, "matrices"> = {}): Promise<LiquidStateMachine> {
    return new LiquidStateMachine(await ReservoirComputer.create({ ...options, kind: "spiking" }, create));
  }

  /** Opens a model that is already made: one with learned weights, or read from a file. */
  static async fromModel(model: SpikingModel, create: Omit<CreateOptions, "matrices"> = {}): Promise<LiquidStateMachine> {
    return new LiquidStateMachine(await ReservoirComputer.fromModel(model, create));
  }

  /** The weights, delays and neuron constants of the reservoir. */
  get model(): SpikingModel {
    return this.computer.model;
  }

  /** The description with every default filled in. */
  get config(): SpikingReservoirConfig {
    return this.computer.config;
  }

  /**
   * The state after a pattern that runs from the initial state, N values; or the mean of all
   * states. @throws ArgumentError
   */
  process(pattern: SpikePattern | DeviceSpikePattern, options: OneStateOptions = {}): Promise<FloatArray> {
    return processPattern(this.computer, pattern, options);
  }

  /**
   * The same for several patterns, B x N, or with `state: "all"` the states of all steps of each;
   * `keep: "device"` leaves them in the memory of the device.
   */
  processAll<const O extends ProcessOptions = Record<never, never>>(
    patterns: readonly SpikePattern[] | DeviceSpikePatterns,
    options?: O,
  ): Promise<ProcessedPatterns<O>> {
    return processPatterns(this.computer, patterns, options);
  }

  /** All states of a pattern that runs on from the present state, T x N. */
  run(pattern: SpikePattern | DeviceSpikePattern, work: WorkOptions = {}): Promise<Matrix> {
    return runPattern(this.computer, pattern, work);
  }

  /**
   * What the liquid's own neurons fire while a pattern runs from the initial state. The present
   * state is untouched.
   */
  spikes(pattern: SpikePattern, work: WorkOptions = {}): Promise<SpikePattern> {
    return reservoirSpikes(this.computer, pattern, work);
  }

  /** Back to the initial state. */
  reset(): void {
    this.computer.reset();
  }

  /** Gives memory back. Idempotent. */
  dispose(): Promise<void> {
    return this.computer.dispose();
  }
}
