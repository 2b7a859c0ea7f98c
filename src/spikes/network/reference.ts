// Networks step by step in plain loops: slow, and the measure of the other engines. The arithmetic
// is docs/numerics.md, rule 13.
import { allocate, type FloatArray, philox4x32, portableExp } from "@spillway/numerics";
import { shortLog } from "@spillway/numerics/short-log.js";
import {
  type LiquidDrive,
  type NetworkModel,
  type NetworkPlan,
  networkStreams,
  type PlannedNeuron,
  type PlannedPopulation,
  type PlannedUpswing,
  type PlasticTable,
} from "./plan.js";
import { NetworkPlasticity } from "./plasticity.js";
import { stepsOf } from "./sampler.js";
import {
  copyState,
  initialState,
  type LiquidRows,
  type NetworkRunState,
  type NetworkSession,
  NotFiniteError,
  type StepSpikes,
} from "./session.js";

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

/** A network on the host, in plain loops. */
export class ReferenceNetwork implements NetworkSession {
  readonly model: NetworkModel;
  readonly summary = "reference: plain loops";
  readonly liquid: LiquidRows | undefined;
  readonly #round: (value: number) => number;
  #state: Mutable<NetworkRunState>;
  /** The row of the ring that arrives in the next step. */
  #row = 0;
  #drive: FloatArray;
  readonly #block = new Uint32Array(4);
  readonly #plasticity: NetworkPlasticity;
  #kept: NetworkRunState | undefined;

  constructor(model: NetworkModel) {
    this.model = model;
    this.#plasticity = new NetworkPlasticity(model);
    this.#round = model.precision === "float32" ? Math.fround : (value) => value;
    this.#state = initialState(model);
    this.#drive = model.drive;
    this.liquid = model.liquid && this.#rowsOf(model.liquid);
  }

  /** Ranges, constants and samplers of the network. */
  get plan(): NetworkPlan {
    return this.model;
  }

  setDrive(drive: FloatArray): void {
    this.#drive = drive.slice();
  }

  getValues(name: "potential" | "filtered"): FloatArray {
    return this.#state[name].slice();
  }

  get plastic(): readonly PlasticTable[] {
    return this.model.plastic;
  }

  getWeights(k: number): FloatArray | undefined {
    return this.#plasticity.weights(k);
  }

  getState(): NetworkRunState {
    return this.#copied();
  }

  /** @param into an earlier state, whose lists of plastic projections are written over */
  #copied(into?: NetworkRunState): NetworkRunState {
    return { ...copyState(this.#state, this.#row, this.model.receptors * this.model.size), ...this.#plasticity.getState(into) };
  }

  keep(): void {
    this.#kept = this.#copied(this.#kept);
  }

  restore(): void {
    this.setState(this.#kept!);
  }

  setState(state: NetworkRunState): void {
    this.#state = copyState(state);
    this.#plasticity.setState(state);
    this.#row = 0;
  }

  advance(steps: number, inputs: StepSpikes | undefined, record: boolean): StepSpikes | undefined {
    const offsets = new Uint32Array(steps + 1);
    const neurons: number[] = [];
    for (let k = 0; k < steps; k++) {
      const given = inputs?.neurons.subarray(inputs.offsets[k], inputs.offsets[k + 1]) ?? [];
      for (const channel of given) this.#deliver(this.model.size + channel, 0);
      if (!this.#plasticity.isEmpty) this.#plasticity.begin(this.#state.pending, this.#row, given);
      const fired = this.#step();
      if (!this.#plasticity.isEmpty) this.#plasticity.end(fired);
      if (record) for (const neuron of fired) neurons.push(neuron);
      offsets[k + 1] = neurons.length;
    }
    return record ? { offsets, neurons: Uint32Array.from(neurons) } : undefined;
  }

  #rowsOf(drive: LiquidDrive): LiquidRows {
    const { size, inputs: channels, precision } = this.model;
    const [capacity, columns] = [16, drive.inputWeights?.cols ?? channels];
    const inputs = allocate(precision, capacity * columns);
    const states = allocate(precision, capacity * size);
    return {
      capacity,
      inputs,
      states,
      advance: (rows, step, sequence) => {
        this.#state.step = step;
        for (let t = 0; t < rows; t++) {
          this.#driveLiquid(drive, inputs.subarray(t * columns, (t + 1) * columns), sequence);
          this.#step();
          states.set(this.#state.filtered, t * size);
        }
      },
    };
  }

  /** A row of inputs, and what is drawn: rule 12. */
  #driveLiquid(liquid: LiquidDrive, input: FloatArray, sequence: number): void {
    const { size, receptors, populations, precision } = this.model;
    const { inputWeights, current, key, noiseScale, backgroundChance, backgroundUnits } = liquid;
    const { step, pending } = this.#state;
    const round = this.#round;
    if (!inputWeights) for (let i = 0; i < input.length; i++) if (input[i] !== 0) this.#deliver(size + i, 0, input[i]!);
    const drive = allocate(precision, size);
    for (const { first, size: count, neuron } of populations)
      for (let r = first; r < first + count; r++) {
        let sum = current;
        if (inputWeights)
          for (let i = 0; i < input.length; i++) sum = round(sum + round(inputWeights.data[r * input.length + i]! * input[i]!));
        if (noiseScale !== 0) {
          philox4x32(key, step, r >>> 2, sequence, 0, this.#block);
          const word = this.#block[r & 3]!;
          const bytes = (word & 255) + ((word >>> 8) & 255) + ((word >>> 16) & 255) + (word >>> 24);
          sum = round(sum + round(noiseScale * (bytes - 510)));
        }
        drive[r] = neuron.driveGain * sum;
        if (backgroundChance === 0) continue;
        philox4x32(key, step, r >>> 2, sequence, 1, this.#block);
        const cell = this.#row * receptors * size + r;
        if (this.#block[r & 3]! < backgroundChance) pending[cell] = pending[cell]! + backgroundUnits;
      }
    this.#drive = drive;
  }

  /** One step: the neurons that fired. @throws NotFiniteError */
  #step(): number[] {
    const { receptors, size, populations, ringRows } = this.model;
    const state = this.#state;
    const cells = receptors * size;
    const arriving = state.pending.subarray(this.#row * cells, (this.#row + 1) * cells);
    const fired: number[] = [];
    for (const population of populations) {
      this.#addBackground(population, arriving);
      for (let r = population.first; r < population.first + population.size; r++) {
        const fires = this.#advanceNeuron(population, r, arriving);
        if (fires === undefined) throw new NotFiniteError(state.step, this.model, r);
        if (fires) fired.push(r);
      }
    }
    arriving.fill(0);
    for (const neuron of fired) this.#deliver(neuron, 1);
    this.#row = (this.#row + 1) % ringRows;
    state.step++;
    return fired;
  }

  #addBackground({ background, first, size }: PlannedPopulation, arriving: Int32Array): void {
    if (!background) return;
    const { receptor, units, counts } = background;
    for (let r = first; r < first + size; r++) {
      if ((r & 3) === 0 || r === first) philox4x32(this.model.key, this.#state.step, r >>> 2, networkStreams.background, 0, this.#block);
      const cell = receptor * this.model.size + r;
      arriving[cell] = arriving[cell]! + units * stepsOf(counts, this.#block[r & 3]!);
    }
  }

  /** Whether a neuron fires in the step; undefined if its potential is not finite. */
  #advanceNeuron({ neuron, receptors, stateKeep }: PlannedPopulation, r: number, arriving: Int32Array): boolean | undefined {
    const { size, fractionBits, receptors: cellLists } = this.model;
    const { potential, recovery, currents, held, filtered } = this.#state;
    const round = this.#round;
    const unit = 2 ** -fractionBits;
    const v = potential[r]!;
    const isIzhikevich = neuron.type === "izhikevich";
    const isSum = isIzhikevich || neuron.relaxes;
    const { upswing } = neuron;
    const free = held[r] === 0;
    let next = isSum ? 0 : round(neuron.keep * v);
    let conductance = 1;
    receptors.forEach(({ keep, gain, conducts, rise }, k) => {
      const cell = k * size + r;
      const arrived = round(round(arriving[cell]!) * unit);
      let current = rise ? currents[cell]! : round(currents[cell]! + arrived);
      let added = round(gain * current);
      if (conducts !== 0) conductance = round(conductance + round(conducts * current));
      if (rise) {
        const raised = cell + cellLists * size;
        const spiked = round(currents[raised]! + arrived);
        if (rise.conducts !== 0) conductance = round(conductance + round(rise.conducts * spiked));
        added = round(added + round(rise.gain * spiked));
        current = round(current + round(rise.feed * spiked));
        currents[raised] = keep * spiked;
      }
      next = isSum && k === 0 ? added : round(next + added);
      currents[cell] = keep * current;
    });
    next = round(next + this.#drive[r]!);
    let limit = neuron.threshold;
    let fires = false;
    if (upswing) {
      const w = round(round(neuron.recoveryKeep * recovery[r]!) + round(upswing.adaptationGain * v));
      const step = free ? exponentialStep(neuron, upswing, v, w, next, conductance, round) : { v, left: undefined };
      fires = step.left !== undefined;
      next = step.v;
      const kept = round(round(neuron.recoveryKeep * w) + round(upswing.adaptationGain * next));
      recovery[r] = fires ? kept + round(neuron.recoveryStep - round(step.left! * upswing.stepLoss)) : kept;
    } else if (isIzhikevich) {
      const u = recovery[r]!;
      const half = round(this.model.config.timeStep / 2);
      const slope = (x: number) => round(round(round(round(round(round(round(0.04) * x) * x) + round(5 * x)) + 140) - u) + next);
      const middle = round(v + round(half * slope(v)));
      const after = round(middle + round(half * slope(middle)));
      recovery[r] = u + round(neuron.keep * round(round(neuron.recoveryKeep * after) - u));
      next = after;
    } else {
      if (neuron.relaxes) next = relaxed(v, next, conductance, neuron.keep, round);
      if (!free) next = v;
      if (neuron.type === "adaptiveIntegrateAndFire") limit = round(limit + recovery[r]!);
    }
    if (!Number.isFinite(next) || !Number.isFinite(recovery[r]!)) return undefined;
    fires ||= !upswing && free && next >= limit;
    potential[r] = fires && !upswing ? (neuron.subtracts ? next - neuron.reset : neuron.reset) : next;
    held[r] = fires ? neuron.refractorySteps : Math.max(0, held[r]! - 1);
    if (isIzhikevich) {
      if (fires) recovery[r] = recovery[r]! + neuron.recoveryStep;
    } else if (neuron.type === "adaptiveIntegrateAndFire") {
      const kept = round(neuron.recoveryKeep * recovery[r]!);
      recovery[r] = fires ? kept + neuron.recoveryStep : kept;
    }
    if (stateKeep !== null) {
      const kept = round(stateKeep * filtered[r]!);
      filtered[r] = fires ? kept + 1 : kept;
    }
    return fires;
  }

  /** Adds a source's units, times an amplitude, to the rows `first` + delay steps ahead. */
  #deliver(source: number, first: number, amplitude = 1): void {
    const { receptors, size, ringRows, synapses } = this.model;
    const { offsets, packed, units, signs, cellBits } = synapses;
    const { pending } = this.#state;
    const mask = 2 ** cellBits - 1;
    const sign = signs[source]!;
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++) {
      const word = packed[s]!;
      const row = (this.#row + first + (word >>> cellBits)) % ringRows;
      const cell = row * receptors * size + (word & mask);
      const weight = sign * units[s]!;
      pending[cell] = pending[cell]! + (amplitude === 1 ? weight : roundToEven(this.#round(weight * amplitude)));
    }
  }

  async dispose(): Promise<void> {}
  /** Lets `await using` dispose of it. */
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** To the nearest whole number, ties to the even one. */
function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}

/**
 * The potential a step after v, if it goes towards where currents and conductances draw it. Exact
 * for those of the step's beginning, which `drawn` and `conductance` are the sums of, 1 being the
 * leak: goal = drawn / conductance, v' = goal + (v - goal) exp(-pace conductance).
 */
function relaxed(v: number, drawn: number, conductance: number, pace: number, round: (value: number) => number): number {
  const goal = round(drawn / conductance);
  return round(goal + round(round(v - goal) * round(portableExp(-round(pace * conductance)))));
}

/**
 * A step of an adaptive exponential neuron: half of one towards where currents, conductances and w
 * draw it, all of one of the exponential current alone, and again half (Strang 1968, "On the
 * construction and comparison of difference schemes"). The exponential alone is exact: with q =
 * (dt / tau) exp((v - onset) / slope) it gives v - slope log(1 - q), and reaches the peak after the
 * share (1 - exp((v - peak) / slope)) / q of the step. What is `left` of the step then goes on from
 * the reset potential; undefined without a spike.
 */
function exponentialStep(
  { keep, threshold, reset, recoveryStep }: PlannedNeuron,
  { onset, slope, perSlope, peakShare, resetCurrent }: PlannedUpswing,
  before: number,
  w: number,
  drawn: number,
  conductance: number,
  round: (value: number) => number,
): { readonly v: number; readonly left: number | undefined } {
  const sum = round(drawn - w);
  const half = round(0.5 * keep);
  const start = relaxed(before, sum, conductance, half, round);
  const height = round(round(Math.min(start, threshold) - onset) * perSlope);
  const rise = round(portableExp(height));
  const share = round(keep * rise);
  const toPeak = round(1 - round(rise * peakShare));
  const swung = round(start - round(slope * round(shortLog(round(1 - share)))));
  const end = toPeak > share ? relaxed(swung, sum, conductance, half, round) : threshold;
  if (end < threshold) return { v: end, left: undefined };
  const left = toPeak > share ? 0 : round(1 - round(Math.max(0, toPeak) / share));
  const force = round(round(round(sum - recoveryStep) + resetCurrent) - round(conductance * reset));
  return { v: round(reset + round(round(left * keep) * force)), left };
}
