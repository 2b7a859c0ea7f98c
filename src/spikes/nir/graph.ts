// The graph of a NIR file (Pedersen et al. 2024, "Neuromorphic intermediate representation: A
// unified instruction set for interoperable brain-inspired computing", Nature Communications 15),
// and its file: HDF5 with a group a node. What nodes mean is the matter of import.ts and export.ts.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, resolve, text } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { FileError } from "@spillway/io/errors.js";
import { readBytes } from "@spillway/io/files.js";
import { type Hdf5Value, mostMembers, readTree, writeTree } from "../pattern/hdf5-thread.js";

/** Numbers of a node, row by row. */
export interface NirArray {
  /** Empty for a single number. */
  readonly shape: readonly number[];
  readonly numbers: Float64Array;
  /** Whole numbers, which a file has as integers; `shape` always is. Left out, float64. */
  readonly whole?: true | undefined;
}

/** A node: a layer of neurons, a map between layers, or an end of the graph. */
export interface NirNode {
  /** The class of NIR: "LIF", "Linear", "Input", ... */
  readonly type: string;
  /** By the names that NIR has for them. */
  readonly parameters: Readonly<Record<string, NirArray>>;
  /** Parameters that are texts, such as "same" of the padding of a Conv2d. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  /** The nodes and edges of a graph within the graph. */
  readonly graph?: NirGraph | undefined;
}

/** Nodes by name, and which one's output goes to which. */
export interface NirGraph {
  readonly nodes: Readonly<Record<string, NirNode>>;
  readonly edges: readonly (readonly [string, string])[];
}

/** The version of NIR that is written. */
const version = "1.0.0";

type Members = Readonly<Record<string, Hdf5Value>>;

function textOf(value: Hdf5Value | undefined): string | undefined {
  return value && "texts" in value ? value.texts[0] : undefined;
}

function nodeOf(value: Hdf5Value | undefined, path: string, refuse: (what: string) => Error): NirNode {
  const members = value && "members" in value ? value.members : undefined;
  const type = members && textOf(members["type"]);
  if (members === undefined || type === undefined) throw refuse(`"${path}" is no node of NIR: it has no text "type"`);
  if (type === "NIRGraph") return { type, parameters: {}, graph: graphOf(members, path, refuse) };
  const parameters = Object.entries(members).filter((entry): entry is [string, NirArray] => "numbers" in entry[1]);
  const texts = Object.entries(members).flatMap(([key, each]) =>
    key !== "type" && "texts" in each && each.texts.length === 1 ? [[key, each.texts[0]!] as const] : [],
  );
  return { type, parameters: Object.fromEntries(parameters), ...(texts.length > 0 && { texts: Object.fromEntries(texts) }) };
}

function graphOf(members: Members, path: string, refuse: (what: string) => Error): NirGraph {
  const { nodes, edges } = members;
  if (!nodes || !("members" in nodes)) throw refuse(`"${path}" is no graph of NIR: it has no group "nodes"`);
  const names = Object.keys(nodes.members);
  const ends = edges === undefined ? [] : "texts" in edges && edges.shape.length === 2 && edges.shape[1] === 2 ? edges.texts : undefined;
  // A graph without edges has an empty list, which has no type of texts.
  const none = edges && "numbers" in edges && edges.numbers.length === 0;
  if (!ends && !none) throw refuse(`"${path}/edges" is no list of pairs of names`);
  const pairs = Array.from({ length: (ends?.length ?? 0) / 2 }, (_, k) => [ends![2 * k]!, ends![2 * k + 1]!] as const);
  const known = new Set(names);
  for (const end of pairs.flat()) if (!known.has(end)) throw refuse(`an edge of "${path}" names ${JSON.stringify(end)}, which is no node`);
  return {
    nodes: Object.fromEntries(names.map((name) => [name, nodeOf(nodes.members[name], `${path}/nodes/${name}`, refuse)])),
    edges: pairs,
  };
}

export const nirReadTable = {
  /** The name that errors call the data by. */
  source: option(text(), "NIR data", "The name that errors call the data by."),
};

/** How a file is read. */
export interface NirReadOptions extends InputOf<typeof nirReadTable> {}

/**
 * The graph of a NIR file's bytes, of at most 4096 nodes and parameters. @throws FileError if it is
 * none, or h5wasm is not installed
 */
export async function decodeNir(bytes: Uint8Array, options: NirReadOptions = {}): Promise<NirGraph> {
  const { source } = resolve(nirReadTable, options);
  if (!(bytes instanceof Uint8Array)) throw new ArgumentError("bytes", bytes, "a Uint8Array");
  const members = await readTree(bytes, source, Math.round(5000 + bytes.length / 10_000));
  const refuse = (what: string) => new FileError(source, what, "content");
  const node = nodeOf(members["node"], "node", refuse);
  if (!node.graph) throw refuse(`its first node is a ${JSON.stringify(node.type)}, and no graph`);
  return node.graph;
}

/** Reads a NIR file (Node). @throws FileError if it is none, or h5wasm is not installed */
export async function readNir(path: string): Promise<NirGraph> {
  return decodeNir(await readBytes(path), { source: path });
}

const named = (value: string): Hdf5Value => ({ shape: [], texts: [value] });

function membersOf({ type, parameters, texts = {}, graph }: NirNode): Members {
  const { shape, ...others } = parameters;
  const ofTexts = Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, named(value)]));
  if (!graph) return { type: named(type), ...ofTexts, ...others, ...(shape && { shape: { ...shape, whole: true } }) };
  const nodes = Object.fromEntries(Object.entries(graph.nodes).map(([name, node]) => [name, { members: membersOf(node) }]));
  return { type: named(type), nodes: { members: nodes }, edges: { shape: [graph.edges.length, 2], texts: graph.edges.flat() } };
}

/**
 * The bytes of a NIR file. @throws ArgumentError for names that HDF5 cannot hold, and for more than
 * 4096 nodes and parameters, FileError
 */
export async function encodeNir(graph: NirGraph): Promise<Uint8Array> {
  checkHas("graph", graph, "a graph of nodes and edges", "nodes", "edges");
  const check = ({ nodes }: NirGraph) => {
    for (const [name, node] of Object.entries(nodes)) {
      if (name === "" || name === "." || name.includes("/")) throw new ArgumentError("a node's name", name, "a name without /");
      if (node.graph) check(node.graph);
    }
  };
  check(graph);
  const node = { members: membersOf({ type: "NIRGraph", parameters: {}, graph }) };
  const members = { version: named(version), node };
  const count = countOf(members);
  if (count > mostMembers)
    throw new ArgumentError("the graph", count, `at most ${mostMembers} nodes and parameters, texts too, as many as are read`);
  return writeTree(members);
}

const countOf = (members: Members): number =>
  Object.values(members).reduce((sum, each) => sum + 1 + ("members" in each ? countOf(each.members) : 0), 0);

/** Writes {@link encodeNir} to a file, whole or not at all (Node). @throws FileError */
export async function writeNir(path: string, graph: NirGraph): Promise<void> {
  await writeFileAtomic(path, await encodeNir(graph));
}
