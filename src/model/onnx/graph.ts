// An ONNX graph in the making: nodes, constants, inputs and outputs as data. It knows nothing of
// reservoirs, and writes no bytes.

/** Element types, by their numbers in onnx.proto3 (TensorProto.DataType). */
export const elementType = { float32: 1, int64: 7, text: 8, boolean: 9, float64: 11 } as const;
export type ElementType = keyof typeof elementType;

/** A dimension: a length, or a name for one that is known when the model runs. */
export type Dimension = number | string;

export interface ValueInfo {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly Dimension[];
}

export interface ConstantTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array | Float64Array | BigInt64Array | readonly string[];
}

/** Attributes of a node: whole numbers, lists of them, numbers, texts, or a graph. */
export type Attribute =
  | { readonly int: number }
  | { readonly ints: readonly number[] }
  | { readonly float: number }
  | { readonly graph: Graph };

export interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface Graph {
  readonly name: string;
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly constants: readonly ConstantTensor[];
  readonly nodes: readonly Node[];
}

/** One counter for a model gives the names: a graph inside another never hides a name. */
export class GraphBuilder {
  readonly #name: string;
  readonly #names: { next: number };
  readonly #inputs: ValueInfo[] = [];
  readonly #outputs: ValueInfo[] = [];
  readonly #constants: ConstantTensor[] = [];
  readonly #nodes: Node[] = [];

  constructor(name: string, parent?: GraphBuilder) {
    this.#name = name;
    this.#names = parent ? parent.#names : { next: 0 };
  }

  input(name: string, type: ElementType, shape: readonly Dimension[]): string {
    this.#inputs.push({ name, type, shape });
    return name;
  }

  /** Declares an output under a name of its own. */
  output(name: string, from: string, type: ElementType, shape: readonly Dimension[]): void {
    this.#nodes.push({ operator: "Identity", inputs: [from], outputs: [name], attributes: {} });
    this.#outputs.push({ name, type, shape });
  }

  floats(values: ArrayLike<number>, shape: readonly number[], name?: string): string {
    return this.#constant(Float32Array.from(values), shape, name);
  }

  doubles(values: Float64Array, shape: readonly number[], name?: string): string {
    return this.#constant(values, shape, name);
  }

  /** The same values in another type. */
  cast(value: string, type: ElementType): string {
    return this.add("Cast", [value], { to: { int: elementType[type] } });
  }

  whole(values: readonly number[], shape: readonly number[] = [values.length]): string {
    return this.#constant(BigInt64Array.from(values, BigInt), shape);
  }

  texts(values: readonly string[]): string {
    return this.#constant(values, [values.length]);
  }

  /** Adds a node of one output and gives the output's name. */
  add(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    return this.addAll(operator, inputs, 1, attributes)[0]!;
  }

  addAll(operator: string, inputs: readonly string[], outputs: number, attributes: Readonly<Record<string, Attribute>> = {}): string[] {
    const names = Array.from({ length: outputs }, () => this.name(operator));
    this.#nodes.push({ operator, inputs, outputs: names, attributes });
    return names;
  }

  name(stem: string): string {
    return `${stem.toLowerCase()}_${this.#names.next++}`;
  }

  /** The graph, without the constants that no node takes. */
  finish(): Graph {
    const used = usedBy(this.#nodes);
    const constants = this.#constants.filter(({ name }) => used.has(name));
    return { name: this.#name, inputs: this.#inputs, outputs: this.#outputs, constants, nodes: this.#nodes };
  }

  #constant(values: ConstantTensor["values"], shape: readonly number[], name = this.name("constant")): string {
    this.#constants.push({ name, shape, values });
    return name;
  }
}

/** The values that nodes take, those of graphs inside them too. */
function usedBy(nodes: readonly Node[], into = new Set<string>()): ReadonlySet<string> {
  for (const { inputs, attributes } of nodes) {
    for (const name of inputs) into.add(name);
    for (const attribute of Object.values(attributes)) if ("graph" in attribute) usedBy(attribute.graph.nodes, into);
  }
  return into;
}
