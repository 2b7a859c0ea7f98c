// A network of populations from a NIR graph. Rule 13 of docs/numerics.md then runs it.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { choice, either, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import { type NetworkOptions, networkTable, type PopulationOptions, type ProjectionOptions } from "../network/config.js";
import { positive } from "../options.js";
import type { NirGraph, NirNode } from "./graph.js";
import {
  biasOf,
  channelsOf,
  flattened,
  isMap,
  mapTypes,
  mostChannels,
  perOutput,
  perWeight,
  type Synapses,
  straight,
  through,
  workLimit,
} from "./maps.js";

export const nirImportTable = {
  /** Length of a step in ms; default 0.1. */
  timeStep: option(positive("ms"), 0.1, "Length of a step."),
  /** ms in a unit of the file's times; default 1000: seconds, as tools write them. */
  timeUnit: option(positive("ms"), 1000, "ms in a unit of the file's times."),
  /**
   * ms for which a spike is a current of 1; default one step, as simulators with steps have it. The
   * equation of NIR read to the letter has impulses of area 1: take `timeUnit`.
   */
  spikeDuration: optional(positive("ms"), "For how long a spike is a current of 1; left out, one step."),
  /**
   * Whether a spike puts the potential to v_reset (default "value"), or takes the threshold off.
   */
  reset: option(choice("value", "subtract"), "value", "What a spike does to the potential."),
  /** The potential before the first step; default "rest", which is v_leak, and 0 of IF and I. */
  initialPotential: option(either('"rest", or a number', choice("rest"), number()), "rest", "The potential before the first step."),
  /** As of a network; default null, the most with which every weight has 16 bits. */
  fractionBits: networkTable.fractionBits,
  /** Default "float32". */
  precision: option(choice("float32", "float64"), "float32", "Precision of potentials and currents."),
};

/** What a NIR graph does not say of itself. */
export interface NirImportOptions extends InputOf<typeof nirImportTable> {}

/** A network, and where the nodes of the graph are in it. */
export interface NirNetwork {
  readonly network: NetworkOptions;
  /**
   * The populations of each Input and each node of neurons: one, or several of neurons next to each
   * other if their numbers differ.
   */
  readonly populations: Readonly<Record<string, readonly string[]>>;
  /** The nodes that lead to an Output. */
  readonly outputs: readonly string[];
}

/** A threshold that no potential reaches: LI, CubaLI and I do not spike. */
const never = 1e30;
/** ms. exp(-dt / tau) is 1 to 10 digits, and 1 in binary32: IF and I do not leak. */
const noLeak = 1e9;

/** Maps between two layers of neurons, at most. */
const mostMaps = 1000;

/** One neuron of a node, in ms and the file's potentials. */
interface Neuron {
  readonly tau: number;
  /** 0: a current acts for as long as a spike lasts. */
  readonly synapticTau: number;
  readonly rest: number;
  readonly threshold: number;
  readonly resetTo: number;
  /** The potential that a constant current of 1 leads to. */
  readonly gain: number;
}

const neuronTypes = ["LIF", "CubaLIF", "LI", "CubaLI", "IF", "I"] as const;
const isNeuron = ({ type }: NirNode): boolean => (neuronTypes as readonly string[]).includes(type);
const spikes = ({ type }: NirNode): boolean => type === "LIF" || type === "CubaLIF" || type === "IF";

/** A time of the file in ms, without the last digit that a change of units adds. */
const inMs = (time: number, timeUnit: number): number => Number((time * timeUnit).toPrecision(15));

function neuronsOf(name: string, node: NirNode, timeUnit: number): Neuron[] {
  const isCuba = node.type.startsWith("Cuba");
  const leaks = node.type !== "IF" && node.type !== "I";
  const size = Math.max(...Object.values(node.parameters).map(({ numbers }) => numbers.length));
  const read = (key: string, usual?: number): ((k: number) => number) =>
    usual !== undefined && node.parameters[key] === undefined ? () => usual : perOutput(name, node, key, size, "one for each neuron");
  const time = (key: string): ((k: number) => number) => {
    const given = read(key);
    return (k) => {
      if (!(given(k) > 0)) throw new ArgumentError(`${key} of "${name}"`, given(k), "times above 0");
      return inMs(given(k), timeUnit);
    };
  };
  const tau = leaks ? time(isCuba ? "tau_mem" : "tau") : () => noLeak;
  const synapticTau = isCuba ? time("tau_syn") : () => 0;
  const [r, input, rest] = [read("r"), isCuba ? read("w_in", 1) : () => 1, leaks ? read("v_leak") : () => 0];
  const [threshold, resetTo] = spikes(node) ? [read("v_threshold"), read("v_reset", 0)] : [() => never, () => 0];
  return Array.from({ length: size }, (_, k) => ({
    tau: tau(k),
    synapticTau: synapticTau(k),
    rest: rest(k),
    threshold: threshold(k),
    resetTo: resetTo(k),
    // Without a leak a current of 1 raises the potential by r a unit of time.
    gain: r(k) * input(k) * (leaks ? 1 : noLeak / timeUnit),
  }));
}

/** Neurons next to each other that differ in nothing but gain. */
interface Piece {
  readonly population: string;
  readonly first: number;
  readonly neurons: readonly Neuron[];
}

/** Names that populations have, and the number that the next of the same name may have. */
type Taken = Map<string, number>;

/** A name that a population may have, and no other has; it is taken. */
function populationName(name: string, taken: Taken): string {
  const plain = name.replace(/[[\]:]/g, "_");
  const safe = plain === "" || /^\d+$/.test(plain) ? `node${plain}` : plain;
  let free = safe;
  for (let k = taken.get(safe) ?? 1; taken.has(free); free = `${safe}_${k++}`) taken.set(safe, k + 1);
  taken.set(free, 1);
  return free;
}

function piecesOf(name: string, neurons: readonly Neuron[], taken: Taken): Piece[] {
  const like = (a: Neuron, b: Neuron) =>
    a.tau === b.tau && a.synapticTau === b.synapticTau && a.rest === b.rest && a.threshold === b.threshold && a.resetTo === b.resetTo;
  const starts = neurons.flatMap((each, k) => (k > 0 && like(each, neurons[k - 1]!) ? [] : [k]));
  return starts.map((first, k) => {
    const population = populationName(starts.length === 1 ? name : `${name}.${k}`, taken);
    return { population, first, neurons: neurons.slice(first, starts[k + 1] ?? neurons.length) };
  });
}

/**
 * A network from the graph of a NIR file. LIF, CubaLIF, LI, CubaLI, IF and I become leaky
 * integrate-and-fire neurons, integrated exactly,
 *
 *     tau dv/dt = (v_leak - v) + r I                 spike if v reaches v_threshold, then v = v_reset
 *     tau_syn dI/dt = -I + w_in S                    of CubaLIF and CubaLI; I = S of the others
 *
 * where S adds weight times spike over all synapses, and a bias as a current that is always there.
 * Linear, Affine, Scale and Delay between them become synapses. A spike of an input acts in its own
 * step, that of a neuron in the next, and after its delay.
 *
 * @throws ArgumentError naming the node for another type, shapes that do not meet, an LI that feeds
 * neurons, or maps that go round without a neuron
 */
export function networkFromNir(graph: NirGraph, options: NirImportOptions = {}): NirNetwork {
  checkHas("graph", graph, "a graph of nodes and edges", "nodes", "edges");
  const { timeStep, timeUnit, spikeDuration, reset, initialPotential, fractionBits, precision } = resolve(nirImportTable, options);
  const units = { spikeDuration: spikeDuration ?? timeStep, timeStep, timeUnit };
  const flat = flattened(graph);
  const { nodes } = flat;
  const limit = workLimit(flat);
  const { next, entered } = linksOf(flat);
  const most = mostChannels(flat);
  const taken: Taken = new Map();
  const pieces = new Map<string, readonly Piece[]>();
  const populations: Record<string, PopulationOptions> = {};
  const isInput = (name: string) => nodes[name]!.type === "Input" && !entered.has(name);
  for (const [name, node] of Object.entries(nodes)) {
    if (isInput(name)) {
      const size = channelsOf(name, node, most);
      const population = populationName(name, taken);
      pieces.set(name, [{ population, first: 0, neurons: [] }]);
      populations[population] = { size, neuron: null };
    } else if (isNeuron(node)) {
      const made = piecesOf(name, neuronsOf(name, node, timeUnit), taken);
      pieces.set(name, made);
      for (const { population, neurons } of made) populations[population] = populationOf(neurons, reset, initialPotential);
    } else if (!isMap(node) && node.type !== "Input" && node.type !== "Output") {
      const known = [...neuronTypes, ...mapTypes, "Input", "Output", "NIRGraph"].join(", ");
      throw new ArgumentError(`the type of node "${name}"`, node.type, known);
    }
  }
  if (![...pieces.keys()].some((name) => isNeuron(nodes[name]!))) throw new ArgumentError("the graph", Object.keys(nodes), "neurons");
  const projections: ProjectionOptions[] = [];
  const outputs = new Set<string>();
  const biases = new Map<string, number[]>();
  const follow = (path: readonly string[], synapses: Synapses, reach: (to: string, synapses: Synapses) => void): void => {
    if (path.length > mostMaps) throw new ArgumentError(`the path behind "${path[0]}"`, path.length, `at most ${mostMaps} maps in a row`);
    for (const to of next.get(path.at(-1)!) ?? []) {
      const node = nodes[to]!;
      limit(1, to);
      if (isNeuron(node)) {
        limit(synapses.weights.length, to);
        reach(to, synapses);
      } else if (node.type === "Output" && !next.has(to)) {
        if (pieces.has(path[0]!)) outputs.add(path[0]!);
      } else if (path.includes(to)) throw new ArgumentError("edges", [...path, to], "a neuron in every circle");
      else follow([...path, to], through(to, node, synapses, limit), reach);
    }
  };
  for (const [name, node] of Object.entries(nodes)) {
    const own = pieces.get(name);
    if (own) {
      const width = own.reduce((sum, { population }) => sum + populations[population]!.size!, 0);
      follow([name], straight(width), (to, synapses) => {
        if (isNeuron(node) && !spikes(node))
          throw new ArgumentError(`an edge from "${name}"`, to, `an Output: ${node.type} does not spike`);
        projections.push(...projectionsOf(own, checked(to, pieces.get(to)!, synapses), synapses, units));
      });
    } else if (node.type === "Affine") {
      follow([name], biasOf(name, node), (to, { targets, weights, width }) => {
        const sums = getOrMake(biases, to, () => new Array<number>(width).fill(0));
        targets.forEach((target, k) => {
          sums[target] = sums[target]! + weights[k]!;
        });
      });
    }
  }
  for (const [name, sums] of biases)
    for (const { population, first, neurons } of pieces.get(name)!) {
      const leak = populations[population]!.current as number;
      const current = neurons.map(({ gain }, k) => leak + gain * (sums[first + k] ?? 0));
      if (current.some((each) => each !== leak)) populations[population] = { ...populations[population], current };
    }
  return {
    network: { kind: "network", timeStep, fractionBits, precision, populations, projections },
    populations: Object.fromEntries([...pieces].map(([name, made]) => [name, made.map(({ population }) => population)])),
    outputs: [...outputs],
  };
}

/**
 * Where the edges of each node lead, and the nodes that an edge leads to. @throws ArgumentError
 */
function linksOf({ nodes, edges }: ReturnType<typeof flattened>): {
  readonly next: ReadonlyMap<string, readonly string[]>;
  readonly entered: ReadonlySet<string>;
} {
  const next = new Map<string, string[]>();
  const entered = new Set<string>();
  for (const [from, to] of edges) {
    for (const end of [from, to]) if (!Object.hasOwn(nodes, end)) throw new ArgumentError("edges", [from, to], "names of nodes");
    entered.add(to);
    getOrMake(next, from, () => []).push(to);
  }
  return { next, entered };
}

/**
 * A spike of a network takes off what the threshold is above rest, one of NIR the threshold. With
 * "subtract" the potential so rests at 0, and v_leak is a constant current.
 */
function populationOf(neurons: readonly Neuron[], reset: "value" | "subtract", initialPotential: "rest" | number): PopulationOptions {
  const { tau, synapticTau, threshold, resetTo } = neurons[0]!;
  const [rest, leak] = reset === "subtract" ? [0, neurons[0]!.rest] : [neurons[0]!.rest, 0];
  return {
    size: neurons.length,
    neuron: {
      type: "leakyIntegrateAndFire",
      membraneTimeConstant: tau,
      restingPotential: rest,
      threshold,
      reset,
      resetPotential: resetTo,
      refractoryPeriod: 0,
    },
    receptors: { current: { timeConstant: synapticTau } },
    current: leak,
    initialPotential: initialPotential === "rest" && leak !== 0 ? leak : initialPotential,
  };
}

function checked(to: string, pieces: readonly Piece[], { width }: Synapses): readonly Piece[] {
  const size = pieces.reduce((sum, { neurons }) => sum + neurons.length, 0);
  if (width !== size) throw new ArgumentError(`what reaches "${to}"`, width, `${size} outputs, one for each of its neurons`);
  return pieces;
}

interface Units {
  readonly spikeDuration: number;
  readonly timeStep: number;
  readonly timeUnit: number;
}

/** The synapses between two nodes, as lists between their pieces. */
function projectionsOf(from: readonly Piece[], to: readonly Piece[], synapses: Synapses, units: Units): ProjectionOptions[] {
  const { sources, targets, weights, delays } = synapses;
  const pieceOfEach = (all: readonly Piece[]) => all.flatMap(({ neurons }, piece) => neurons.map(() => piece));
  const [sourcePiece, targetPiece] = [from.length === 1 ? undefined : pieceOfEach(from), pieceOfEach(to)];
  const lists = new Map<number, number[][]>();
  sources.forEach((source, k) => {
    const [a, b] = [sourcePiece?.[source] ?? 0, targetPiece[targets[k]!]!];
    const piece = to[b]!;
    const target = targets[k]! - piece.first;
    const { gain, ...neuron } = piece.neurons[target]!;
    const weight = gain * weights[k]! * perWeight(neuron, units.spikeDuration, units.timeStep);
    const list = lists.get(a * to.length + b) ?? [];
    list.push([source - from[a]!.first, target, weight, inMs(delays[k]!, units.timeUnit)]);
    lists.set(a * to.length + b, list);
  });
  return [...lists].map(([pair, list]) => ({
    from: from[Math.floor(pair / to.length)]!.population,
    to: to[pair % to.length]!.population,
    connect: { rule: "list", synapses: list },
    // Each has its own; units are chosen by the largest.
    weight: list.reduce((most, [, , weight]) => Math.max(most, Math.abs(weight!)), 0),
  }));
}
