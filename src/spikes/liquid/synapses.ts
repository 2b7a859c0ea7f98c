// The synapses of a spiking reservoir: weights and delays of connections, as tables of whole units.
// Which neurons are connected is in connectivity.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, drawPositions, Matrix, type PhiloxKey, portableLog, RandomStream } from "@spillway/numerics";
import type { SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import { checkLargest, warnOfRounded } from "../network/weight-units.js";
import { stepsIn } from "../steps.js";
import { liquidStreams, purposes } from "../streams.js";
import { type TargetsOf, targetsOf } from "./connectivity.js";
import type { SpikingReservoirConfig, SynapticDistribution } from "./schema.js";

/** Weights and delays of one source's synapses, in the order of its targets. */
interface Drawn {
  /** mV. */
  weight(source: number, m: number, target: number): number;
  /** Steps. */
  delay(source: number, m: number, target: number): number;
}

/** The synapses between neurons. */
export function recurrentSynapses(config: SpikingReservoirConfig, excitatory: number, key: PhiloxKey): SynapseTable {
  const { size, timeStep, synapses } = config;
  const values = new RandomStream(key, liquidStreams.synapses, purposes.values);
  const delays = new RandomStream(key, liquidStreams.synapses, purposes.delays);
  const pair = (source: number, target: number) => `${source < excitatory ? "e" : "i"}${target < excitatory ? "e" : "i"}` as const;
  return table(size, targetsOf(config, excitatory, key), config.fractionBits, "synapses.weight", {
    weight(source, m, target) {
      const size = synapses.weight[pair(source, target)] * scatter(synapses.distribution, values, source, m);
      return source < excitatory ? size : -size;
    },
    delay(source, m, target) {
      const delay = synapses.delay[pair(source, target)];
      if (typeof delay === "number") return stepsIn(delay, timeStep);
      const [least, most] = delay;
      return stepsIn(least + (most - least) * delays.uniform(source, m), timeStep);
    },
  });
}

/** The synapses from input channels, for input of spikes. */
export function inputSynapses(config: SpikingReservoirConfig, key: PhiloxKey): SynapseTable {
  const { inputSize, input, timeStep } = config;
  const draws = inputDraws(config, key);
  const delay = stepsIn(input.delay, timeStep);
  return table(inputSize, draws.targets, config.fractionBits, "input.weight", { weight: draws.weight, delay: () => delay });
}

/** W_in, N x I, for input of currents: the same draws. */
export function inputWeights(config: SpikingReservoirConfig, key: PhiloxKey): Matrix {
  const { size, inputSize, precision } = config;
  const draws = inputDraws(config, key);
  const data = allocate(precision, size * inputSize);
  for (let channel = 0; channel < inputSize; channel++) {
    Array.from(draws.targets(channel)).forEach((target, m) => {
      data[target * inputSize + channel] = draws.weight(channel, m);
    });
  }
  return new Matrix(size, inputSize, data);
}

function inputDraws({ size, input }: SpikingReservoirConfig, key: PhiloxKey) {
  const stream = (purpose: number) => new RandomStream(key, liquidStreams.inputs, purpose);
  const [positions, values, signs] = [stream(purposes.positions), stream(purposes.values), stream(purposes.signs)];
  return {
    targets: (channel: number) =>
      drawPositions(positions, { first: channel, count: 1, density: input.connectivity, candidates: size }).columns,
    weight(channel: number, m: number): number {
      const mean = typeof input.weight === "number" ? input.weight : input.weight[channel]!;
      const weight = mean * scatter(input.distribution, values, channel, m);
      return input.negativeShare > 0 && signs.uniform(channel, m) < input.negativeShare ? -weight : weight;
    },
  };
}

/** A factor of mean 1: 1, 2U or -ln(1 - U). */
function scatter(distribution: SynapticDistribution, values: RandomStream, source: number, m: number): number {
  if (distribution === "constant") return 1;
  const u = values.uniform(source, m);
  return distribution === "uniform" ? 2 * u : -portableLog(1 - u);
}

/** Weights whose rounding is looked at, at most: each is drawn as the others are. */
const counted = 65536;

function table(sources: number, targetsOfSource: TargetsOf, fractionBits: number, field: string, drawn: Drawn): SynapseTable {
  const offsets = new Uint32Array(sources + 1);
  const columns = { targets: new Growing(Uint32Array), weights: new Growing(Int32Array), delays: new Growing(Uint16Array) };
  const sizes: number[] = [];
  for (let source = 0; source < sources; source++) {
    const targets = targetsOfSource(source);
    const delays = Array.from(targets, (target, m) => drawn.delay(source, m, target));
    const order = Array.from(targets, (_, m) => m).sort((a, b) => delays[a]! - delays[b]! || a - b);
    for (const m of order) {
      const weight = drawn.weight(source, m, targets[m]!);
      if (sizes.length < counted) sizes.push(Math.abs(weight));
      columns.targets.push(targets[m]!);
      columns.weights.push(inUnits(weight, fractionBits, field));
      columns.delays.push(delays[m]!);
    }
    offsets[source + 1] = columns.targets.length;
  }
  warnOfRounded([{ field, weights: sizes }], fractionBits);
  return { offsets, targets: columns.targets.values(), weights: columns.weights.values(), delays: columns.delays.values() };
}

/**
 * A weight in mV as a whole number of units of 2^-fractionBits mV. @throws ArgumentError beyond 24
 * bits
 */
export function inUnits(weight: number, fractionBits: number, field: string): number {
  const units = Math.round(weight * 2 ** fractionBits);
  if (Math.abs(units) > 2 ** 24)
    throw new ArgumentError(
      field,
      weight,
      `weights of at most ${2 ** (24 - fractionBits)} mV with fractionBits ${fractionBits}; take fewer bits`,
    );
  return units;
}

/** @throws ArgumentError if the input that can reach a neuron at once does not fit 32 bits */
export function checkSums(model: SpikingModel, background: number): void {
  const { size, synapses, inputSynapses: inputs, fractionBits } = model;
  const sums = new Float64Array(2 * size);
  const add = ({ targets, weights }: SynapseTable, factor: number) => {
    for (let s = 0; s < targets.length; s++) {
      const cell = (weights[s]! < 0 ? size : 0) + targets[s]!;
      sums[cell] = sums[cell]! + (Math.abs(weights[s]!) + (factor === 1 ? 0 : 1)) * factor;
    }
  };
  add(synapses, 1);
  if (inputs) add(inputs, model.config.input.largestAmplitude);
  const largest = sums.reduce((most, sum) => Math.max(most, sum), 0);
  checkLargest(largest + background, fractionBits);
}

/** A typed array that grows. */
class Growing<Data extends Uint32Array | Int32Array | Uint16Array> {
  #data: Data;
  length = 0;
  readonly #type: new (
    length: number,
  ) => Data;

  constructor(type: new (length: number) => Data) {
    this.#type = type;
    this.#data = new type(1024);
  }

  push(value: number): void {
    if (this.length === this.#data.length) {
      const larger = new this.#type(2 * this.length);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data[this.length++] = value;
  }

  values(): Data {
    return this.#data.slice(0, this.length) as Data;
  }
}
