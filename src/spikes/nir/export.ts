// The NIR graph of a network of populations, as far as NIR can say it.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import type { NetworkConfig, NetworkOptions, PopulationConfig, ReceptorConfig } from "../network/config.js";
import { drawNetwork } from "../network/draw.js";
import type { NetworkModel } from "../network/plan.js";
import { planNetwork } from "../network/planning.js";
import type { LeakyIntegrateAndFireConfig } from "../neurons/schema.js";
import { positive } from "../options.js";
import type { NirArray, NirGraph, NirNode } from "./graph.js";
import { perWeight } from "./maps.js";

export const nirExportTable = {
  /** ms in a unit of the file's times; default 1000: seconds. */
  timeUnit: option(positive("ms"), 1000, "ms in a unit of the file's times."),
  /** ms for which the reader takes a spike to be a current of 1; default one step. */
  spikeDuration: optional(positive("ms"), "For how long a spike is a current of 1; left out, one step."),
};

/** How a network is expressed in NIR. */
export interface NirExportOptions extends InputOf<typeof nirExportTable> {}

/** A graph, and what of the network it does not say. */
export interface NirExport {
  readonly graph: NirGraph;
  /** A sentence for each. */
  readonly left: readonly string[];
}

/** Numbers of all matrices together, at most: they are dense, 512 MiB. */
const mostNumbers = 2 ** 26;
/** Delays between two populations at most: each takes a matrix of its own. */
const mostDelays = 32;

interface Layer {
  readonly name: string;
  readonly first: number;
  readonly size: number;
}

/**
 * The NIR graph of a network, whose synapses are drawn for it: an Input for each population of
 * inputs; a LIF (time constant 0 of its receptor) or CubaLIF for each population, with an Output;
 * and a Linear, with a Delay behind it if they take longer than a step, for all synapses of one
 * delay between two of them. `networkFromNir` makes a network of the same spikes from it.
 *
 * @throws ArgumentError for what NIR cannot say: other neurons than leaky integrate-and-fire ones,
 * refractoriness, Poisson spikes from outside, several receptors, plasticity, and matrices beyond
 * 67 million numbers; EngineCapacityError as `drawNetwork`
 */
export function networkToNir(options: NetworkOptions, settings: NirExportOptions = {}): NirExport {
  const { timeUnit, spikeDuration } = resolve(nirExportTable, settings);
  const plan = planNetwork(options);
  const { config, populations } = plan;
  config.projections.forEach(({ plasticity }, k) => {
    if (plasticity) throw new ArgumentError(`projections[${k}].plasticity`, plasticity, "null: weights of NIR do not change");
  });
  const neurons = populations.map(({ name }) => neuronsOf(name, config.populations[name]!));
  const layers: readonly Layer[] = [...populations, ...plan.inputPopulations];
  const model = drawNetwork(plan);
  const nodes: Record<string, NirNode> = {};
  const edges: [string, string][] = [];
  const add = (name: string, node: NirNode): string => {
    const isFree = (each: string) => !Object.hasOwn(nodes, each) && !layers.some((layer) => layer.name === each);
    let free = name;
    for (let k = 1; !isFree(free); k++) free = `${name}_${k}`;
    nodes[free] = node;
    return free;
  };
  for (const { name, size } of plan.inputPopulations) nodes[name] = { type: "Input", parameters: { shape: row([size]) } };
  let numbers = 0;
  const grow = (more: number) => {
    numbers += more;
    if (numbers > mostNumbers) throw new ArgumentError("the network", numbers, `at most ${mostNumbers} numbers in the matrices of NIR`);
  };
  for (const [p, to] of populations.entries()) {
    const { name, first, size, neuron } = to;
    const { neuron: described, timeConstant } = neurons[p]!;
    const current = Float64Array.from({ length: size }, (_, k) => model.drive[first + k]! / neuron.driveGain);
    // NIR has no constant current: it is the bias of what reaches the neurons.
    let bias = current.some((each) => each !== 0) ? current : undefined;
    // A weight of NIR for 1 mV of a synapse; `networkFromNir` turns it round.
    const synapse = { tau: described.membraneTimeConstant, synapticTau: timeConstant };
    const factor = 1 / perWeight(synapse, spikeDuration ?? config.timeStep, config.timeStep);
    for (const from of layers)
      for (const [delay, weight] of matrices(model, from, to, factor, grow)) {
        const shape = [size, from.size];
        const map = add(`${from.name}-${name}`, {
          type: bias ? "Affine" : "Linear",
          parameters: { weight: { shape, numbers: weight }, ...(bias && { bias: row([...bias]) }) },
        });
        bias = undefined;
        edges.push([from.name, map]);
        if (delay === 0) edges.push([map, name]);
        else {
          const delays = row(new Array<number>(size).fill((delay * config.timeStep) / timeUnit));
          const later = add(`${map}.delay`, { type: "Delay", parameters: { delay: delays } });
          edges.push([map, later], [later, name]);
        }
      }
    nodes[name] = neuronNode(neurons[p]!, size, bias, timeUnit);
    edges.push([name, add(`${name}.output`, { type: "Output", parameters: { shape: row([size]) } })]);
  }
  return { graph: { nodes, edges }, left: whatIsLeft(config) };
}

const row = (numbers: readonly number[]): NirArray => ({ shape: [numbers.length], numbers: Float64Array.from(numbers) });

/** What a node of NIR says of a population's neurons. */
interface Neurons {
  readonly neuron: LeakyIntegrateAndFireConfig;
  /** Of the receptor. */
  readonly timeConstant: number;
}

/** @throws ArgumentError for what NIR lacks */
function neuronsOf(name: string, { neuron, background, receptors }: PopulationConfig): Neurons {
  const field = `populations.${name}`;
  const lacks = "NIR has no other";
  if (neuron?.type !== "leakyIntegrateAndFire")
    throw new ArgumentError(`${field}.neuron.type`, neuron?.type, `leakyIntegrateAndFire: ${lacks}`);
  if (neuron.refractoryPeriod !== 0) throw new ArgumentError(`${field}.neuron.refractoryPeriod`, neuron.refractoryPeriod, `0: ${lacks}`);
  if (background) throw new ArgumentError(`${field}.background`, background, "null: NIR has no Poisson spikes; give them as an input");
  const names = Object.keys(receptors);
  if (names.length !== 1) throw new ArgumentError(`${field}.receptors`, names, "one: a CubaLIF of NIR has one time constant");
  const [{ reversalPotential, shape, timeConstant }] = Object.values(receptors) as [ReceptorConfig];
  if (shape !== "exponential") throw new ArgumentError(`${field}.receptors.${names[0]}.shape`, shape, `"exponential": ${lacks}`);
  if (reversalPotential !== null)
    throw new ArgumentError(`${field}.receptors.${names[0]}.reversalPotential`, reversalPotential, "null: NIR has no conductances");
  return { neuron, timeConstant };
}

function whatIsLeft({ populations, timeStep }: NetworkConfig): string[] {
  const all = Object.entries(populations).filter(([, { neuron }]) => neuron !== null);
  const started = all.filter(([, { initialPotential }]) => initialPotential !== "rest").map(([name]) => name);
  const filtered = all.filter(([, { stateTimeConstant }]) => stateTimeConstant !== null).map(([name]) => name);
  const subtract = all.filter(([, { neuron }]) => neuron?.type === "leakyIntegrateAndFire" && neuron.reset === "subtract");
  const moved = subtract.filter(([, { neuron }]) => neuron?.type === "leakyIntegrateAndFire" && neuron.restingPotential !== 0);
  return [
    `the length of a step, ${timeStep} ms`,
    ...(subtract.length === 0 ? [] : [`that a spike takes the threshold off in ${subtract.map(([name]) => name).join(", ")}`]),
    ...(moved.length === 0
      ? []
      : [`the resting potential of ${moved.map(([name]) => name).join(", ")}, which potentials are measured from`]),
    ...(started.length === 0 ? [] : [`initial potentials of ${started.join(", ")}`]),
    ...(filtered.length === 0 ? [] : [`filtered spikes of ${filtered.join(", ")}`]),
  ];
}

/**
 * `current`: mV that nothing else brings, which is as a potential that is higher at rest. Potentials
 * are measured from rest if a spike takes the threshold off: NIR's threshold is then what it takes.
 */
function neuronNode({ neuron, timeConstant }: Neurons, size: number, current: Float64Array | undefined, timeUnit: number): NirNode {
  const all = (value: number): NirArray => row(new Array<number>(size).fill(value));
  const rest = neuron.reset === "subtract" ? 0 : neuron.restingPotential;
  const from = neuron.restingPotential - rest;
  const leak = Array.from({ length: size }, (_, k) => rest + (current?.[k] ?? 0));
  const tau = all(neuron.membraneTimeConstant / timeUnit);
  const shared = { r: all(1), v_leak: row(leak), v_threshold: all(neuron.threshold - from), v_reset: all(neuron.resetPotential - from) };
  if (timeConstant === 0) return { type: "LIF", parameters: { tau, ...shared } };
  return { type: "CubaLIF", parameters: { tau_mem: tau, tau_syn: all(timeConstant / timeUnit), w_in: all(1), ...shared } };
}

/** By their delay in steps, the dense weights between two populations, targets x sources. */
function matrices(
  { synapses, size, fractionBits }: NetworkModel,
  from: Layer,
  to: Layer,
  factor: number,
  grow: (numbers: number) => void,
): Map<number, Float64Array> {
  const { offsets, packed, units, signs, cellBits } = synapses;
  const found = new Map<number, Float64Array>();
  const mask = 2 ** cellBits - 1;
  for (let j = from.first; j < from.first + from.size; j++)
    for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
      const target = ((packed[s]! & mask) % size) - to.first;
      if (target < 0 || target >= to.size) continue;
      const delay = packed[s]! >>> cellBits;
      let matrix = found.get(delay);
      if (!matrix) {
        grow(from.size * to.size);
        if (found.size === mostDelays)
          throw new ArgumentError(`delays from ${from.name} to ${to.name}`, found.size + 1, `at most ${mostDelays} different ones`);
        matrix = new Float64Array(from.size * to.size);
        found.set(delay, matrix);
      }
      const at = target * from.size + j - from.first;
      matrix[at] = matrix[at]! + signs[j]! * units[s]! * 2 ** -fractionBits * factor;
    }
  return new Map([...found].sort(([a], [b]) => a - b));
}
