// NIR files of Python's h5py, laid out and compressed as the package nir writes them, and ours read
// by it. Needs Debian's python3-h5py; a missing one fails.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type NirGraph, readNir, writeNir } from "../../src/spikes/index.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-nir-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function python(script: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(process.env.PYTHON ?? "/usr/bin/python3", ["-c", script, ...args], {
    encoding: "utf8",
  });
  if (error) throw error;
  expect(status, stderr).toBe(0);
  return stdout;
}

const numbers = (each: readonly number[], shape: readonly number[] = [each.length]) => ({ shape, numbers: Float64Array.from(each) });
const graph: NirGraph = {
  nodes: {
    input: { type: "Input", parameters: { shape: numbers([2]) } },
    w: { type: "Linear", parameters: { weight: numbers([1, 2, 3, 4, 5, 0.5], [3, 2]) } },
    inner: {
      type: "NIRGraph",
      parameters: {},
      graph: {
        nodes: {
          in: { type: "Input", parameters: { shape: numbers([3]) } },
          lif: {
            type: "LIF",
            parameters: {
              tau: numbers([0.01, 0.02, 0.03]),
              r: numbers([1, 1, 1]),
              v_leak: numbers([0, 0, 0]),
              v_threshold: numbers([1, 1, 2]),
            },
          },
          out: { type: "Output", parameters: { shape: numbers([3]) } },
        },
        edges: [
          ["in", "lif"],
          ["lif", "out"],
        ],
      },
    },
    output: { type: "Output", parameters: { shape: numbers([3]) } },
  },
  edges: [
    ["input", "w"],
    ["w", "inner"],
    ["inner", "output"],
  ],
};

/**
 * Writes the graph that JSON describes: texts of variable length, arrays compressed, as nir does.
 */
const writer = `
import sys, json, h5py, numpy as np
text = h5py.string_dtype()
def write(group, node):
    group.create_dataset("type", data=node["type"], dtype=text)
    for key, each in node["parameters"].items():
        kind = np.int64 if key == "shape" else np.float32
        group.create_dataset(key, data=np.array(each["numbers"], kind).reshape(each["shape"]), compression="gzip")
    if "graph" in node:
        nodes = group.create_group("nodes")
        for name, inner in node["graph"]["nodes"].items():
            write(nodes.create_group(name), inner)
        group.create_dataset("edges", data=node["graph"]["edges"], dtype=text)
    group.create_group("metadata").create_dataset("author", data="h5py", dtype=text)
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("version", data="1.0.4", dtype=text)
    write(file.create_group("node"), {"type": "NIRGraph", "parameters": {}, "graph": json.loads(sys.argv[2])})
`;

/** Prints what nir's reader sees: bytes of texts, arrays, and types of numbers. */
const reader = `
import sys, json, h5py
def read(node):
    if isinstance(node, h5py.Group):
        return {key: read(each) for key, each in node.items()}
    value = node[()]
    if isinstance(value, bytes):
        return value.decode()
    if node.dtype.kind in "OS":
        return [[end.decode() for end in pair] for pair in value]
    return [str(node.dtype), value.tolist()]
with h5py.File(sys.argv[1]) as file:
    print(json.dumps(read(file)))
`;

it("reads what Python has written", async () => {
  const path = join(folder, "python.nir");
  python(
    writer,
    path,
    JSON.stringify(graph, (_, value) => (value instanceof Float64Array ? [...value] : value)),
  );
  const read = await readNir(path);
  expect(Object.keys(read.nodes).sort()).toEqual(["inner", "input", "output", "w"]);
  const single = (each: readonly number[]) => Float64Array.from(each, Math.fround);
  expect(read.nodes["w"]!.parameters["weight"]).toEqual({ shape: [3, 2], numbers: single([1, 2, 3, 4, 5, 0.5]) });
  expect(read.nodes["inner"]!.graph!.nodes["lif"]!.parameters["tau"]!.numbers).toEqual(single([0.01, 0.02, 0.03]));
  expect([read.edges, read.nodes["inner"]!.graph!.edges]).toEqual([graph.edges, graph.nodes["inner"]!.graph!.edges]);
});

it("writes what Python reads", async () => {
  const path = join(folder, "ours.nir");
  await writeNir(path, graph);
  const { version, node } = JSON.parse(python(reader, path));
  expect(version).toMatch(/^\d+\.\d+/);
  expect(node).toMatchObject({ type: "NIRGraph", edges: graph.edges });
  expect(node.nodes.input).toEqual({ type: "Input", shape: ["int64", [2]] });
  expect(node.nodes.w).toEqual({
    type: "Linear",
    weight: [
      "float64",
      [
        [1, 2],
        [3, 4],
        [5, 0.5],
      ],
    ],
  });
  expect(node.nodes.inner.nodes.lif).toMatchObject({ type: "LIF", v_threshold: ["float64", [1, 1, 2]] });
});
