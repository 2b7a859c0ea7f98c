// NIR files and the networks that they describe: traces against closed forms, networks there and
// back with the same spikes, and files that are none. test/toolchain/nir.test.ts has the files of
// other programs.
import { describe, expect, it, vi } from "vitest";
import "../../src/index.js";
import {
  decodeNir,
  encodeNir,
  type NetworkOptions,
  type NirGraph,
  type NirNode,
  networkFromNir,
  networkToNir,
  SpikePattern,
  SpikingNetwork,
} from "../../src/spikes/index.js";
import { mostMembers, writeTree } from "../../src/spikes/pattern/hdf5-thread.js";
import { exhaustive } from "../exhaustive.js";

const array = (numbers: readonly number[], shape: readonly number[] = [numbers.length]) => ({ shape, numbers: Float64Array.from(numbers) });
const node = (type: string, parameters: Readonly<Record<string, ReturnType<typeof array>>> = {}): NirNode => ({ type, parameters });
const integers = (numbers: readonly number[]) => ({ ...array(numbers), whole: true as const });
const input = (size: number) => node("Input", { shape: integers([size]) });
const output = (size: number) => node("Output", { shape: integers([size]) });
const linear = (rows: readonly (readonly number[])[]) => node("Linear", { weight: array(rows.flat(), [rows.length, rows[0]!.length]) });
const lif = (parameters: Readonly<Record<string, readonly number[]>> = {}) =>
  node(
    "LIF",
    Object.fromEntries(
      Object.entries({ tau: [0.0025], r: [1], v_leak: [0], v_threshold: [0.1], v_reset: [0], ...parameters }).map(([key, each]) => [
        key,
        array(each),
      ]),
    ),
  );
/** input -> ... -> output in a row. */
const chain = (nodes: Readonly<Record<string, NirNode>>): NirGraph => {
  const names = Object.keys(nodes);
  return { nodes, edges: names.slice(1).map((name, k) => [names[k]!, name] as const) };
};

/** Spikes of channel 0, and the potentials of neuron 0 after each step. */
async function traceOf(network: NetworkOptions, population: string, spikesAt: readonly number[], steps: number) {
  await using running = await SpikingNetwork.create(network, { engine: "reference" });
  const timeStep = network.timeStep ?? 0.1;
  const [name, { size }] = Object.entries(network.populations).find(([, each]) => each.neuron === null)!;
  const durationMs = steps * timeStep;
  const given = new SpikePattern(
    { times: spikesAt.map((step) => step * timeStep), neurons: spikesAt.map(() => 0) },
    { durationMs, neuronCount: size! },
  );
  const { spikes, potentials } = await running.run(durationMs, {
    inputs: { [name]: given },
    spikes: true,
    potentials: { neurons: { [population]: [0] } },
  });
  return {
    fired: Array.from(spikes[population]!.times, (time) => Math.round(time / timeStep) - 1),
    potentials: potentials[population]!.data,
  };
}

describe("a file", () => {
  it("holds a graph with graphs within, names of any kind and matrices", async () => {
    const inner: NirNode = {
      type: "NIRGraph",
      parameters: {},
      graph: chain({ in: input(2), "0": linear([[1, 2]]), out: output(1) }),
    };
    const graph = chain({ input: input(2), __proto__x: inner, "läyer 1": lif(), output: output(1) });
    expect(await decodeNir(await encodeNir(graph))).toEqual(graph);
  });

  it("keeps whole numbers and texts of any node, so that another reader finds them", async () => {
    const conv: NirNode = {
      ...node("Conv2d", { weight: array([1.5], [1, 1, 1, 1]), stride: integers([2, 2]), groups: { ...integers([3]), shape: [] } }),
      texts: { padding: "same" },
    };
    const graph = chain({ input: input(1), conv, output: output(1) });
    const again = await decodeNir(await encodeNir(await decodeNir(await encodeNir(graph))));
    expect(again).toEqual(graph);
    expect(again.nodes["conv"]!.parameters["weight"]).not.toHaveProperty("whole");
  });

  it("is refused with a sentence if it is none, or is damaged", async () => {
    const bytes = await encodeNir(chain({ input: input(1), l: linear([[1]]), n: lif(), output: output(1) }));
    await expect(decodeNir(new Uint8Array(100), { source: "a.nir" })).rejects.toThrow("a.nir");
    const other = await writeTree({ nodes: { members: {} } });
    await expect(decodeNir(other, { source: "a.nir" })).rejects.toThrow('a.nir: "node" is no node of NIR');
    for (let at = 100; at < bytes.length; at += 997) {
      const damaged = bytes.slice();
      damaged.fill(0xff, at, at + 4);
      await decodeNir(damaged).catch((error: Error) => expect(error.name).toBe("FileError"));
    }
    await expect(encodeNir({ nodes: { "a/b": lif() }, edges: [] })).rejects.toThrow('a node\'s name is "a/b"');
  });

  it.runIf(exhaustive)("is refused before its datasets are read if there are more than the library reads in a second", async () => {
    const withNodes = (count: number) => {
      const nodes = Object.fromEntries(Array.from({ length: count }, (_, k) => [`n${k}`, { members: {} }]));
      return writeTree({ node: { members: { type: { shape: [], texts: ["NIRGraph"] }, nodes: { members: nodes } } } });
    };
    // In a time that grows with their square, these would take longer than the limit of decodeNir.
    await expect(decodeNir(await withNodes(2500))).rejects.toThrow('"node/nodes/n0" is no node of NIR');
    await expect(decodeNir(await withNodes(mostMembers))).rejects.toThrow(`it holds more than ${mostMembers} groups and datasets`);
    const large = chain(Object.fromEntries(Array.from({ length: 3000 }, (_, k) => [`n${k}`, lif()])));
    await expect(encodeNir(large)).rejects.toThrow(`the graph is 21005; it takes at most ${mostMembers}`);
  });
});

describe("a network from a graph", () => {
  it("gives LIF the potential that a current of one step leads to, and the spikes", async () => {
    const { network, populations, outputs } = networkFromNir(
      {
        nodes: { input: input(1), "0": linear([[1]]), "1": lif(), output: output(1) },
        edges: [
          ["input", "0"],
          ["0", "1"],
          ["1", "output"],
        ],
      },
      { precision: "float64" },
    );
    expect([populations, outputs]).toEqual([{ input: ["input"], "1": ["node1"] }, ["1"]]);
    const spikesAt = [3, 4, 5, 9, 30, 31, 32, 33];
    const { fired, potentials } = await traceOf(network, "node1", spikesAt, 60);
    const keep = Math.exp(-0.1 / 2.5);
    const expected: number[] = [];
    const firing: number[] = [];
    let v = 0;
    for (let step = 0; step < 60; step++) {
      v = v * keep + (spikesAt.includes(step) ? 1 - keep : 0);
      if (v >= 0.1) {
        firing.push(step);
        v = 0;
      }
      expected.push(v);
    }
    expect(firing.length).toBeGreaterThan(1);
    expect(fired).toEqual(firing);
    // Weights are whole numbers of units of 2^-20 mV.
    for (const [step, each] of potentials.entries()) expect(Math.abs(each - expected[step]!), `step ${step}`).toBeLessThan(1e-5);
  });

  it.each<[string, number, Readonly<Record<string, readonly number[]>>]>([
    ["LIF", 0, { tau: [0.02], r: [1.2], v_leak: [0], v_threshold: [1] }],
    ["LIF", 0.5, { tau: [0.02], r: [1], v_leak: [0.5], v_threshold: [1] }],
    ["LIF", -0.3, { tau: [0.01], r: [2], v_leak: [-0.3], v_threshold: [0.7] }],
    ["IF", 0, { r: [1], v_threshold: [0.03] }],
  ])("takes the threshold off %s with v_leak %f if a spike subtracts", async (type, leak, parameters) => {
    const bias = 0.2;
    const weight = type === "IF" ? 120 : 30;
    const map = node("Affine", { weight: array([weight], [1, 1]), bias: array([bias]) });
    const graph = chain({
      input: input(1),
      map,
      n: node(type, Object.fromEntries(Object.entries(parameters).map(([k, v]) => [k, array(v)]))),
      output: output(1),
    });
    const { network } = networkFromNir(graph, { reset: "subtract", precision: "float64" });
    const spikesAt = [10, 15, 20, 40, 41, 42, 43, 90, 93, 94, 150, 151, 152, 153, 154, 155];
    const { fired, potentials } = await traceOf(network, "n", spikesAt, 300);
    // tau dv/dt = (v_leak - v) + r I, exactly, with I constant within a step; of IF dv/dt = r I.
    const [tau, r, threshold] = [parameters["tau"]?.[0] ?? Number.POSITIVE_INFINITY, parameters["r"]![0]!, parameters["v_threshold"]![0]!];
    const firing: number[] = [];
    let v = leak;
    for (let step = 0; step < 300; step++) {
      const current = bias + (spikesAt.includes(step) ? weight : 0);
      if (type === "IF") v += 1e-4 * r * current;
      else v = leak + r * current + (v - leak - r * current) * Math.exp(-1e-4 / tau);
      if (v >= threshold) {
        firing.push(step);
        v -= threshold;
      }
      expect(Math.abs(potentials[step]! - v), `step ${step}`).toBeLessThan(1e-4);
    }
    expect(firing.length).toBeGreaterThan(1);
    expect(fired).toEqual(firing);
  });

  it("takes a spike as an impulse if it is told so", async () => {
    const graph = chain({ input: input(1), w: linear([[1e-5]]), n: lif(), output: output(1) });
    const { network } = networkFromNir(graph, { spikeDuration: 1000, precision: "float64" });
    const { potentials } = await traceOf(network, "n", [0], 1);
    // 1 mV s of area over 0.1 ms, of which less than 2 % leak away.
    expect(potentials[0]! / (1e-5 / 0.0025)).toBeCloseTo((1 - Math.exp(-0.04)) / 0.04, 4);
  });

  it("gives CubaLIF the course of its equations", async () => {
    const cuba = node("CubaLIF", {
      tau_syn: array([0.002]),
      tau_mem: array([0.01]),
      r: array([2]),
      v_leak: array([0.5]),
      v_threshold: array([1.5]),
      w_in: array([1.5]),
    });
    const spikesAt = Array.from({ length: 80 }, (_, k) => 10 + k);
    const { network } = networkFromNir(chain({ input: input(1), w: linear([[0.9]]), n: cuba, output: output(1) }));
    const { potentials, fired } = await traceOf(network, "n", spikesAt, 300);
    // Euler's steps of a thousandth, with the current of a spike as long as a step.
    let [v, current] = [0.5, 0];
    const firing: number[] = [];
    for (let step = 0; step < 300; step++) {
      for (let k = 0; k < 1000; k++) {
        v += (1e-7 / 0.01) * (0.5 - v + 2 * current);
        current += (1e-7 / 0.002) * (-current + (spikesAt.includes(step) ? 1.5 * 0.9 : 0));
      }
      if (v > 1.5) {
        firing.push(step);
        v = 0;
      }
      // The current is there from the beginning of a step on: half a step early.
      if (firing.length === 0 && step < fired[0]!) expect(Math.abs(potentials[step]! - v), `step ${step}`).toBeLessThan(0.02);
    }
    expect(firing.length).toBeGreaterThan(0);
    expect(Math.abs(fired[0]! - firing[0]!)).toBeLessThanOrEqual(1);
  });

  it("does not let IF and I leak, and lets no LI spike", async () => {
    const ends = { input: input(1), w: linear([[2]]) };
    const integrating = node("IF", { r: array([3]), v_threshold: array([1]) });
    const { network } = networkFromNir(chain({ ...ends, n: integrating, output: output(1) }), { precision: "float64" });
    const { potentials, fired } = await traceOf(network, "n", [0, 500], 1000);
    expect(potentials[499]).toBeCloseTo(2 * 3 * 1e-4, 6);
    expect(potentials[999]).toBeCloseTo(2 * 2 * 3 * 1e-4, 6);
    expect(fired).toEqual([]);
    const leaky = node("LI", { tau: array([0.01]), r: array([1e6]), v_leak: array([0]) });
    const silent = networkFromNir(chain({ ...ends, n: leaky, output: output(1) }), { precision: "float64", fractionBits: 0 });
    expect((await traceOf(silent.network, "n", [0], 5)).fired).toEqual([]);
  });

  it("adds up what maps do: scales, delays, two ways, biases and graphs within", () => {
    const inner: NirNode = { type: "NIRGraph", parameters: {}, graph: chain({ in: input(2), m: linear([[1, 1]]), out: output(1) }) };
    const graph: NirGraph = {
      nodes: {
        input: input(2),
        first: node("Affine", { weight: array([1, 2, 3, 4], [2, 2]), bias: array([0.5, 0]) }),
        scale: node("Scale", { scale: array([10, 1]) }),
        delay: node("Delay", { delay: array([0.001, 0.002]) }),
        inner,
        n: lif(),
        out: output(1),
      },
      edges: [
        ["input", "first"],
        ["first", "scale"],
        ["scale", "delay"],
        ["delay", "inner"],
        ["inner", "n"],
        ["n", "out"],
      ],
    };
    const { network } = networkFromNir(graph);
    const keep = Math.exp(-0.1 / 2.5);
    const [{ from, to, connect }] = network.projections as [NonNullable<NetworkOptions["projections"]>[0]];
    expect([from, to]).toEqual(["input", "n"]);
    const { synapses } = connect as { readonly synapses: readonly (readonly number[])[] };
    const rounded = synapses.map(([source, target, weight, delay]) => [source, target, (weight! * keep) / (1 - keep), delay]);
    expect(rounded.map((each) => each.map((value) => Number(value!.toFixed(9)))).sort()).toEqual([
      [0, 0, 10, 1],
      [0, 0, 3, 2],
      [1, 0, 20, 1],
      [1, 0, 4, 2],
    ]);
    expect(network.populations["n"]!.current).toEqual([5]);
  });

  it("makes several populations of neurons that differ, and weights of their own of those whose r does", () => {
    const layer = lif({ tau: [0.0025, 0.0025, 0.005], r: [1, 2, 1], v_threshold: [0.1, 0.1, 0.1], v_leak: [0, 0, 0], v_reset: [0, 0, 0] });
    const { network, populations } = networkFromNir(chain({ input: input(1), w: linear([[1], [1], [1]]), layer, output: output(3) }));
    expect(populations["layer"]).toEqual(["layer.0", "layer.1"]);
    const { synapses } = network.projections![0]!.connect as { readonly synapses: readonly (readonly number[])[] };
    expect(synapses[1]![2]! / synapses[0]![2]!).toBeCloseTo(2, 12);
    expect(network.populations["layer.1"]).toMatchObject({ size: 1, neuron: { membraneTimeConstant: 5 } });
  });

  it.each<[string, Readonly<Record<string, NirNode>>, string]>([
    ["another node", { input: input(1), c: node("Conv2d"), n: lif() }, 'the type of node "c" is "Conv2d"'],
    ["no neurons", { input: input(1), output: output(1) }, "the graph is"],
    ["a matrix that does not fit", { input: input(3), w: linear([[1, 2]]), n: lif() }, 'the shape of weight of "w"'],
    ["neurons of another number", { input: input(1), w: linear([[1], [1]]), n: lif() }, 'what reaches "n" is 2; it takes 1 outputs'],
    ["no time constant", { input: input(1), w: linear([[1]]), n: node("LIF", { r: array([1]) }) }, 'LIF "n" is'],
    ["a time of 0", { input: input(1), w: linear([[1]]), n: lif({ tau: [0] }) }, 'tau of "n" is 0; it takes times above 0'],
    ["a number that is none", { input: input(1), w: linear([[Number.NaN]]), n: lif() }, 'weight of "w" is NaN'],
  ])("is refused for %s", (_, nodes, sentence) => {
    expect(() => networkFromNir(chain(nodes))).toThrow(sentence);
  });

  it.each<[string, () => NirGraph, string]>([
    [
      "an input of more channels than it has numbers",
      () => chain({ input: input(60_000_000), s: node("Scale", { scale: array([1]) }), n: lif() }),
      'shape of "input"',
    ],
    ["one of 2^53", () => chain({ input: node("Input", { shape: array([2 ** 53, 2]) }), n: lif() }), 'shape of "input"'],
    ["one of less than none", () => chain({ input: node("Input", { shape: array([-2]) }), n: lif() }), 'shape of "input"'],
    [
      "matrices whose product is large",
      () =>
        chain({
          input: input(8000),
          a: linear([Array(8000).fill(1)]),
          b: linear(Array(8000).fill([1])),
          n: lif({ v_leak: Array(8000).fill(0) }),
        }),
      'the synapses through "b"',
    ],
    [
      "more ways than can be followed",
      () => {
        const nodes: Record<string, NirNode> = { input: input(1), a0: linear([[1]]) };
        const edges: [string, string][] = [["input", "a0"]];
        for (let k = 0; k < 40; k++) {
          for (const name of [`b${k}`, `c${k}`, `a${k + 1}`]) nodes[name] = linear([[1]]);
          edges.push([`a${k}`, `b${k}`], [`a${k}`, `c${k}`], [`b${k}`, `a${k + 1}`], [`c${k}`, `a${k + 1}`]);
        }
        return { nodes: { ...nodes, n: lif() }, edges: [...edges, ["a40", "n"]] };
      },
      "the synapses through",
    ],
    [
      "a row of maps without end",
      () => chain({ input: input(1), ...Object.fromEntries(Array.from({ length: 1200 }, (_, k) => [`m${k}`, linear([[1]])])), n: lif() }),
      "at most 1000 maps",
    ],
    [
      "a shape of other numbers",
      () => chain({ input: input(1), w: node("Linear", { weight: array([1], [100_000_000, 1]) }), n: lif() }),
      'the shape of weight of "w"',
    ],
    [
      "an edge to nowhere",
      () => ({ nodes: { input: input(1), n: lif() }, edges: [["input", "m"]] }),
      "edges is an array of 2; it takes names of nodes",
    ],
  ])("is refused before any work for %s", (_, make, sentence) => {
    const graph = make();
    expect(() => networkFromNir(graph)).toThrow(sentence);
  });

  it.each<[string, (count: number) => Record<string, NirNode>]>([
    ["neurons in a row", (count) => Object.fromEntries(Array.from({ length: count }, (_, k) => [`n${k}`, lif()]))],
    ["inputs", (count) => Object.fromEntries(Array.from({ length: count }, (_, k) => [`in${k}`, input(1)]))],
    [
      "nodes whose names become one",
      (count) =>
        Object.fromEntries(
          Array.from({ length: count }, (_, k) => [
            k
              .toString(2)
              .padStart(12, "0")
              .replaceAll(/./g, (bit) => "[]"[Number(bit)]!),
            lif(),
          ]),
        ),
    ],
  ])("does work that grows with the number of %s, not with its square", (_, make) => {
    const workFor = (count: number): number => {
      let work = 0;
      const counted = (): void => {
        work++;
      };
      const spies = [Set.prototype, Map.prototype].map((prototype) => {
        const { has } = prototype;
        return vi.spyOn(prototype, "has").mockImplementation(function (this: Map<unknown, unknown> & Set<unknown>, key: unknown) {
          counted();
          return has.call(this, key);
        });
      });
      const nodes = Object.entries({ ...make(count), last: lif() }).map(([name, { type, parameters }]) => {
        const guarded = { type } as { type: string; parameters: NirNode["parameters"] };
        const get = () => {
          counted();
          return parameters;
        };
        Object.defineProperty(guarded, "parameters", { get, enumerable: true });
        return [name, guarded] as const;
      });
      try {
        networkFromNir({ nodes: Object.fromEntries(nodes), edges: nodes.slice(1).map(([name], k) => [nodes[k]![0], name] as const) });
      } finally {
        for (const spy of spies) spy.mockRestore();
      }
      return work;
    };
    const [once, fourTimes] = [workFor(200), workFor(800)];
    expect(once).toBeGreaterThan(200);
    expect(fourTimes / once).toBeLessThan(4.4);
  });

  it("follows 50,000 edges between two nodes", () => {
    const ends = chain({ input: input(1), w: linear([[1]]), n: lif() });
    const { network } = networkFromNir({
      nodes: ends.nodes,
      edges: [...ends.edges, ...Array.from({ length: 50_000 }, () => ["w", "n"] as const)],
    });
    expect(network.projections).toHaveLength(50_001);
  });

  it("is refused if maps go round without a neuron, or what does not spike feeds neurons", () => {
    const nodes = { input: input(1), a: linear([[1]]), b: linear([[1]]), n: lif() };
    const edges = [
      ["input", "a"],
      ["a", "b"],
      ["b", "a"],
      ["b", "n"],
    ] as const;
    expect(() => networkFromNir({ nodes, edges })).toThrow("a neuron in every circle");
    const li = node("LI", { tau: array([1]), r: array([1]), v_leak: array([0]) });
    expect(() => networkFromNir(chain({ input: input(1), w: linear([[1]]), li, m: linear([[1]]), n: lif() }))).toThrow("LI does not spike");
  });
});

describe("a network there and back", () => {
  const network: NetworkOptions = {
    kind: "network",
    timeStep: 0.5,
    populations: {
      in: { size: 5, neuron: null },
      E: {
        size: 40,
        neuron: {
          type: "leakyIntegrateAndFire",
          membraneTimeConstant: 17.3,
          restingPotential: -65,
          threshold: -50,
          reset: "value",
          resetPotential: -60,
          refractoryPeriod: 0,
        },
        receptors: { current: { timeConstant: 3.1 } },
        current: { distribution: "uniform", from: 10, to: 16 },
      },
      I: { like: "E", size: 10, receptors: { jump: { timeConstant: 0 } }, current: 13 },
    },
    projections: [
      { from: "in", to: "E", connect: { rule: "bernoulli", probability: 0.5 }, weight: 4 },
      {
        from: "E",
        to: "E",
        connect: { rule: "fixedInDegree", number: 8 },
        weight: { distribution: "normal", mean: 1, deviation: 0.3, least: 0 },
        delay: { distribution: "uniform", from: 1, to: 4 },
      },
      { from: "E", to: "I", connect: { rule: "fixedTotalNumber", number: 100 }, weight: 0.7, delay: 2 },
      { from: "I", to: "E", connect: "allToAll", weight: -2 },
    ],
  };

  it("has the same spikes, to the bit", async () => {
    const { graph, left } = networkToNir(network);
    expect(left).toEqual(["the length of a step, 0.5 ms"]);
    const back = networkFromNir(await decodeNir(await encodeNir(graph)), { timeStep: 0.5 });
    expect(Object.keys(back.network.populations).sort()).toEqual(["E", "I", "in"]);
    const given = { times: Array.from({ length: 200 }, (_, k) => k), neurons: Array.from({ length: 200 }, (_, k) => k % 5) };
    const spikesOf = async (options: NetworkOptions) => {
      await using running = await SpikingNetwork.create(options);
      const { spikes } = await running.run(200, {
        inputs: { in: new SpikePattern(given, { durationMs: 200, neuronCount: 5 }) },
        spikes: true,
      });
      return ["E", "I"].map((name) => [Array.from(spikes[name]!.times), Array.from(spikes[name]!.neurons)]);
    };
    const expected = await spikesOf(network);
    expect(expected.every(([times]) => times!.length > 20)).toBe(true);
    expect(await spikesOf(back.network)).toEqual(expected);
  });

  it.each([0, -65])("has the same spikes, to the bit, if a spike takes the threshold off above a rest of %f mV", async (rest) => {
    const neuron = {
      type: "leakyIntegrateAndFire",
      membraneTimeConstant: 17.3,
      restingPotential: rest,
      threshold: rest + 15,
      reset: "subtract",
      refractoryPeriod: 0,
    } as const;
    const subtracting: NetworkOptions = {
      kind: "network",
      timeStep: 0.5,
      populations: { E: { size: 20, neuron, current: { distribution: "uniform", from: 16, to: 40 } } },
      projections: [{ from: "E", to: "E", connect: { rule: "fixedInDegree", number: 5 }, weight: 2 }],
    };
    const { graph, left } = networkToNir(subtracting);
    expect(left).toEqual([
      "the length of a step, 0.5 ms",
      "that a spike takes the threshold off in E",
      ...(rest === 0 ? [] : ["the resting potential of E, which potentials are measured from"]),
    ]);
    const spikesOf = async (options: NetworkOptions) => {
      await using running = await SpikingNetwork.create(options);
      const { E } = (await running.run(300, { spikes: true })).spikes;
      return [Array.from(E!.times), Array.from(E!.neurons)];
    };
    const expected = await spikesOf(subtracting);
    expect(expected[0]!.length).toBeGreaterThan(200);
    expect(await spikesOf(networkFromNir(graph, { timeStep: 0.5, reset: "subtract" }).network)).toEqual(expected);
  });

  it.each<[string, object, string]>([
    ["refractoriness", { neuron: { type: "leakyIntegrateAndFire", refractoryPeriod: 2 } }, "populations.E.neuron.refractoryPeriod is 2"],
    ["other neurons", { neuron: "izhikevich" }, "populations.E.neuron.type"],
    ["Poisson spikes", { background: { rate: 1, weight: 1 } }, "populations.E.background"],
    ["two receptors", { receptors: { a: { timeConstant: 1 }, b: { timeConstant: 2 } } }, "populations.E.receptors"],
  ])("is refused for %s", (_, fields, sentence) => {
    const given = {
      kind: "network",
      populations: { E: { size: 3, neuron: { type: "leakyIntegrateAndFire", refractoryPeriod: 0 }, ...fields } },
    };
    expect(() => networkToNir(given as NetworkOptions)).toThrow(sentence);
  });

  it("says what NIR has no word for", () => {
    const neuron = { type: "leakyIntegrateAndFire", refractoryPeriod: 0, reset: "subtract" } as const;
    const { left } = networkToNir({
      kind: "network",
      populations: { E: { size: 2, neuron, initialPotential: -60, stateTimeConstant: 5 } },
    });
    expect(left).toEqual([
      "the length of a step, 0.1 ms",
      "that a spike takes the threshold off in E",
      "the resting potential of E, which potentials are measured from",
      "initial potentials of E",
      "filtered spikes of E",
    ]);
  });
});
