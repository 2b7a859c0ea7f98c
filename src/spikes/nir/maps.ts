// What lies between the neurons of a NIR graph: weights, scales, biases and delays along its edges,
// as lists of synapses.
import { ArgumentError } from "@spillway/core/errors.js";
import { portableExp } from "@spillway/numerics";
import type { NirArray, NirGraph, NirNode } from "./graph.js";

/** Synapses from `width` sources onto the outputs of a node. */
export interface Synapses {
  readonly sources: readonly number[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
  /** In the file's unit of time. */
  readonly delays: readonly number[];
  /** How many outputs the node has that they lead to. */
  readonly width: number;
}

/** Counts work through a node. @throws ArgumentError if a node makes too much */
export type WorkLimit = (count: number, name: string) => void;

/**
 * Bounds how many synapses and edges are followed, which matrices behind each other and ways beside
 * each other multiply: some for each number of a graph, and a million for small ones.
 */
export function workLimit({ nodes, edges }: NirGraph): WorkLimit {
  const numbers = Object.values(nodes).flatMap(({ parameters }) => Object.values(parameters).map((each) => each.numbers.length));
  const most = numbers.reduce((sum, each) => sum + 4 * each, 2 ** 20 + 4 * edges.length);
  let taken = 0;
  return (count, name) => {
    taken += count;
    if (taken > most) throw new ArgumentError(`the synapses through "${name}"`, taken, `at most ${most} for a graph of this size`);
  };
}

/** Each of `width` outputs onto itself. */
export function straight(width: number): Synapses {
  const each = Array.from({ length: width }, (_, k) => k);
  return { sources: each, targets: each, weights: each.map(() => 1), delays: each.map(() => 0), width };
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** A parameter of a node. @throws ArgumentError if it has none */
export function parameter(name: string, node: NirNode, key: string): NirArray {
  const found = node.parameters[key];
  if (!found) throw new ArgumentError(`${node.type} "${name}"`, Object.keys(node.parameters), `a parameter ${key}`);
  if (sizeOf(found.shape) !== found.numbers.length)
    throw new ArgumentError(`the shape of ${key} of "${name}"`, found.shape, `that of ${found.numbers.length} numbers`);
  for (const number of found.numbers)
    if (!Number.isFinite(number)) throw new ArgumentError(`${key} of "${name}"`, number, "numbers that are finite");
  return found;
}

/** A parameter of one number, or of one for each of `width`. @throws ArgumentError */
export function perOutput(name: string, node: NirNode, key: string, width: number, each = "as many as reach it"): (k: number) => number {
  const { numbers } = parameter(name, node, key);
  if (numbers.length !== 1 && numbers.length !== width)
    throw new ArgumentError(`${key} of "${name}"`, numbers.length, `1 or ${width} numbers, ${each}`);
  return numbers.length === 1 ? () => numbers[0]! : (k) => numbers[k]!;
}

function throughMatrix(name: string, node: NirNode, { sources, targets, weights, delays, width }: Synapses, limit: WorkLimit): Synapses {
  const { shape, numbers } = parameter(name, node, "weight");
  const [rows, columns] = shape as [number, number];
  if (shape.length !== 2 || columns !== width)
    throw new ArgumentError(`the shape of weight of "${name}"`, shape, `outputs x ${width}, which is how many reach it`);
  limit(sources.length * rows, name);
  const out = { sources: [] as number[], targets: [] as number[], weights: [] as number[], delays: [] as number[] };
  // Two ways from a source to a target add up if they take as long; in a first matrix there is one.
  const isDirect = new Set(targets).size === targets.length;
  const known = new Map<string, number>();
  sources.forEach((source, k) => {
    for (let row = 0; row < rows; row++) {
      const weight = weights[k]! * numbers[row * columns + targets[k]!]!;
      if (weight === 0) continue;
      const key = isDirect ? "" : `${source} ${row} ${delays[k]!}`;
      const at = isDirect ? undefined : known.get(key);
      if (at !== undefined) {
        out.weights[at] = out.weights[at]! + weight;
        continue;
      }
      if (!isDirect) known.set(key, out.weights.length);
      out.sources.push(source);
      out.targets.push(row);
      out.weights.push(weight);
      out.delays.push(delays[k]!);
    }
  });
  return { ...out, width: rows };
}

/** Types of nodes that change what goes along an edge. */
export const mapTypes = ["Linear", "Affine", "Scale", "Delay"] as const;
export const isMap = ({ type }: NirNode): boolean => (mapTypes as readonly string[]).includes(type);

/** Synapses that go on through a node. @throws ArgumentError if shapes do not meet */
export function through(name: string, node: NirNode, synapses: Synapses, limit: WorkLimit): Synapses {
  const { weights, delays, targets, width } = synapses;
  switch (node.type) {
    case "Linear":
    case "Affine":
      return throughMatrix(name, node, synapses, limit);
    case "Scale": {
      limit(weights.length, name);
      const scale = perOutput(name, node, "scale", width);
      return { ...synapses, weights: weights.map((weight, k) => weight * scale(targets[k]!)) };
    }
    case "Delay": {
      limit(weights.length, name);
      const delay = perOutput(name, node, "delay", width);
      return { ...synapses, delays: delays.map((before, k) => before + delay(targets[k]!)) };
    }
    default:
      return synapses;
  }
}

/** The bias of an Affine node, as synapses of one source that is always 1. */
export function biasOf(name: string, node: NirNode): Synapses {
  const { numbers } = parameter(name, node, "bias");
  const targets = Array.from(numbers.keys());
  const zeros = targets.map(() => 0);
  return { sources: zeros, targets, weights: [...numbers], delays: zeros, width: numbers.length };
}

/**
 * The weight of rule 13 for a weight of 1 in NIR, in steps dt and a spike of so many ms.
 * With a synaptic time constant the charge is kept, duration / tau_s. Without one the potential at
 * the end of the step is that of a constant current, (1 - keep) duration / dt with keep = exp(-dt /
 * tau), of which the jump is taken a step before.
 */
export function perWeight(
  { tau, synapticTau }: { readonly tau: number; readonly synapticTau: number },
  spikeDuration: number,
  timeStep: number,
): number {
  if (synapticTau > 0) return spikeDuration / synapticTau;
  const keep = portableExp(-timeStep / tau);
  return ((spikeDuration / timeStep) * (1 - keep)) / keep;
}

/** Nodes within nodes at most. */
const mostDepth = 16;

/**
 * The most channels of an Input: as many as the largest parameter of the graph has numbers, as they
 * reach its neurons or columns, or 65536.
 */
export function mostChannels({ nodes }: NirGraph): number {
  return Object.values(nodes).reduce(
    (largest, { parameters }) => Object.values(parameters).reduce((all, each) => Math.max(all, each.numbers.length), largest),
    65536,
  );
}

/** The channels of an Input. @throws ArgumentError if there are more than `most` */
export function channelsOf(name: string, node: NirNode, most: number): number {
  const { shape, numbers } = parameter(name, node, "shape");
  const channels = sizeOf([...numbers]);
  if (shape.length > 1 || !numbers.every((each) => Number.isInteger(each) && each >= 1) || channels > most)
    throw new ArgumentError(
      `shape of "${name}"`,
      shape.length === 1 && numbers.length === 1 ? channels : numbers,
      `whole numbers from 1 on whose product is at most ${most}, as many as this graph can connect`,
    );
  return channels;
}

/**
 * A graph whose nodes are no graphs: those within are named "outer.inner", and edges to and from
 * them lead to their Input and from their Output. @throws ArgumentError if one has not one of each
 */
export function flattened(graph: NirGraph, depth = 0): NirGraph {
  if (depth > mostDepth) throw new ArgumentError("a graph", depth, `at most ${mostDepth} graphs within each other`);
  const nodes: [string, NirNode][] = [];
  const edges: (readonly [string, string])[] = [];
  const ends = new Map<string, { readonly first: () => string; readonly last: () => string }>();
  for (const [name, node] of Object.entries(graph.nodes)) {
    if (!node.graph) {
      nodes.push([name, node]);
      continue;
    }
    const inner = flattened(node.graph, depth + 1);
    const only = (type: string) => () => {
      const found = Object.keys(inner.nodes).filter((each) => inner.nodes[each]!.type === type);
      if (found.length !== 1) throw new ArgumentError(`${type} nodes of "${name}"`, found, "one, as an edge leads to it or from it");
      return `${name}.${found[0]}`;
    };
    ends.set(name, { first: only("Input"), last: only("Output") });
    for (const [each, within] of Object.entries(inner.nodes)) nodes.push([`${name}.${each}`, within]);
    for (const [from, to] of inner.edges) edges.push([`${name}.${from}`, `${name}.${to}`]);
  }
  for (const [from, to] of graph.edges) edges.push([ends.get(from)?.last() ?? from, ends.get(to)?.first() ?? to]);
  return { nodes: Object.fromEntries(nodes), edges };
}
