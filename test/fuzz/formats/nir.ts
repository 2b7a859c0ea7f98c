// Graphs of NIR, as JSON: shapes, numbers, types and edges are mutated, and networks are made of them.
import { SpillwayError } from "../../../packages/core/src/errors.js";
import "../../../src/index.js";
import { type NirGraph, networkFromNir } from "../../../src/spikes/index.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import type { FuzzFormat } from "../format.js";
import type { Random } from "../random.js";
import { bytesOf } from "../text.js";

const array = (numbers: readonly number[], shape: readonly number[] = [numbers.length]) => ({ shape, numbers: Float64Array.from(numbers) });
const size = (count: number) => ({ shape: { ...array([count]), whole: true as const } });
const lif = { tau: array([0.01, 0.02]), r: array([1, 1]), v_leak: array([0, 0]), v_threshold: array([1, 1]), v_reset: array([0, 0]) };

const graphs: readonly NirGraph[] = [
  {
    nodes: {
      input: { type: "Input", parameters: size(3) },
      linear: { type: "Linear", parameters: { weight: array([1, 2, 3, 4, 5, 6], [2, 3]) } },
      delay: { type: "Delay", parameters: { delay: array([0.001, 0.002]) } },
      lif: { type: "LIF", parameters: lif },
      back: { type: "Affine", parameters: { weight: array([1, 0, 0, 1], [2, 2]), bias: array([0, 0]) } },
      output: { type: "Output", parameters: size(2) },
    },
    edges: [
      ["input", "linear"],
      ["linear", "delay"],
      ["delay", "lif"],
      ["lif", "back"],
      ["back", "lif"],
      ["lif", "output"],
    ],
  },
  {
    nodes: {
      input: { type: "Input", parameters: size(2) },
      part: {
        type: "NIRGraph",
        parameters: {},
        graph: {
          nodes: {
            input: { type: "Input", parameters: size(2) },
            scale: { type: "Scale", parameters: { scale: array([2, 3]) } },
            cuba: { type: "CubaLIF", parameters: { ...lif, tau_mem: lif.tau, tau_syn: lif.tau, w_in: array([1, 1]) } },
            output: { type: "Output", parameters: size(2) },
          },
          edges: [
            ["input", "scale"],
            ["scale", "cuba"],
            ["cuba", "output"],
          ],
        },
      },
      output: { type: "Output", parameters: size(2) },
    },
    edges: [
      ["input", "part"],
      ["part", "output"],
    ],
  },
];

const numbers = [0, -1, 1, 0.5, 2 ** 20, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, -1e9, Number.NaN, Number.POSITIVE_INFINITY];

/** One to three parameters with other numbers or another shape, or an edge to another node. */
function changed({ nodes, edges }: NirGraph, random: Random): NirGraph {
  const names = Object.keys(nodes);
  const made = structuredClone({ nodes, edges }) as { nodes: Record<string, NirGraph["nodes"][string]>; edges: [string, string][] };
  for (let count = random.size(3); count > 0; count--) {
    const name = random.pick(names);
    const { type, parameters, graph } = made.nodes[name]!;
    const key = random.pick([...Object.keys(parameters), "shape"]);
    const before = parameters[key] ?? array([1]);
    const values = Float64Array.from(before.numbers);
    if (values.length > 0) values[random.below(values.length)] = random.pick(numbers);
    const shape = random.chance(0.3) ? [values.length] : before.shape;
    if (random.chance(0.15) && made.edges.length > 0)
      made.edges[random.below(made.edges.length)] = [random.pick(names), random.pick(names)];
    const other = random.chance(0.05) ? random.pick(["LIF", "CubaLIF", "IF", "Threshold", "Scale", "SumPool2d", "NIRGraph"]) : type;
    if (graph) made.nodes[name] = { type, parameters, graph: changed(graph, random) };
    else made.nodes[name] = { type: other, parameters: { ...parameters, [key]: { ...before, shape, numbers: values } } };
  }
  return made;
}

const written = (graph: NirGraph) =>
  bytesOf(
    JSON.stringify(graph, (_, value) =>
      value instanceof Float64Array ? Array.from(value, (x) => (Number.isFinite(x) ? x : String(x))) : value,
    ),
  );
const parsed = (input: Uint8Array): NirGraph =>
  JSON.parse(new TextDecoder().decode(input), (key, value) => (key === "numbers" ? Float64Array.from(value as [], Number) : value));

/** Whether it has the types of a graph, as what is read from a file has. */
function isGraph(graph: NirGraph): boolean {
  const isArray = ({ shape, numbers }: { readonly shape: readonly number[]; readonly numbers: Float64Array }) =>
    shape.every((each) => typeof each === "number") && numbers.length === shape.reduce((product, each) => product * each, 1);
  return (
    graph.edges.every((edge) => edge.length === 2 && edge.every((end) => Object.hasOwn(graph.nodes, end))) &&
    Object.values(graph.nodes).every(
      ({ type, parameters, graph: inner }) =>
        typeof type === "string" && Object.values(parameters).every(isArray) && (inner === undefined || isGraph(inner)),
    )
  );
}

export default {
  corpus: () => graphs.map(written),
  read(input) {
    let graph: NirGraph;
    try {
      graph = parsed(input);
      if (!isGraph(graph)) return;
    } catch {
      // Files are bytes of HDF5, which the format spikes-hdf5 mutates.
      return;
    }
    planNetwork(networkFromNir(graph).network);
  },
  errors: [SpillwayError],
  mutate: (input, random) => written(changed(parsed(input), random)),
} satisfies FuzzFormat;
