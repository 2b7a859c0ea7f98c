// Gram sums with and without the kernels that fuse: the same bits, and no fusing if a product
// may be inexact or the runtime has no relaxed SIMD.
import { setFlagsFromString } from "node:v8";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type ColumnSource, Matrix } from "../../packages/numerics/src/index.js";
import { bits, plainGram, randomMatrix } from "./linear-algebra-reference.js";

const { Instance } = WebAssembly;

/** The panels [from, to) of each call of either kernel. */
let fused: [number, number][];
let separate: [number, number][];

// Node 20 has relaxed SIMD behind a flag that later ones do not know.
beforeAll(() => {
  if (process.versions.node.startsWith("20.")) setFlagsFromString("--experimental-wasm-relaxed-simd");
});

beforeEach(() => {
  fused = [];
  separate = [];
  instancesWith(countCalls);
  // What the runtime has is looked at once: each test looks anew.
  vi.resetModules();
});

afterEach(() => vi.restoreAllMocks());

/** Has modules instantiated with exports that `change` gives in place of theirs. */
function instancesWith(change: (exports: WebAssembly.Exports) => WebAssembly.Exports): void {
  class Changed {
    readonly exports: WebAssembly.Exports;
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      this.exports = change(new Instance(module, imports).exports);
    }
  }
  vi.spyOn(WebAssembly, "Instance").mockImplementation(Changed);
}

function countCalls(exports: WebAssembly.Exports): WebAssembly.Exports {
  const kernel = exports["gramAddRows"];
  if (typeof kernel !== "function") return exports;
  // The module of kernels that fuse has nothing else.
  const calls = "choleskyFactor" in exports ? separate : fused;
  const gramAddRows = (...args: number[]): void => {
    calls.push([args[4]!, args[5]!]);
    kernel(...args);
  };
  return { ...exports, gramAddRows };
}

/** The bits of X^T X over rows that come in portions, each put together from sources. */
async function gramBits(columns: number, portions: readonly (readonly ColumnSource[])[]): Promise<string[]> {
  const { PortableGram, mirrorLowerTriangle } = await import("../../packages/numerics/src/index.js");
  const gram = new PortableGram(columns);
  for (const sources of portions) {
    const rows = sources.map((source) => (source === "ones" ? 0 : source.matrix.rows));
    gram.add(sources, Math.max(...rows));
  }
  return bits(mirrorLowerTriangle(gram.lowerTriangle()).data);
}

const plain = (matrix: Matrix): ColumnSource => ({ matrix, square: "none" });

/** Values of all the sizes that binary32 has: sums round, cancel and vanish beside each other. */
function wildMatrix(rows: number, columns: number): Matrix<Float32Array> {
  const x = randomMatrix(rows, columns, "wild");
  const exponents = randomMatrix(rows, columns, "exponents");
  const scaled = x.data.map((value, i) => value * 2 ** Math.round(exponents.data[i]! * (i % 3 === 0 ? 126 : 12)));
  return new Matrix(rows, columns, Float32Array.from(scaled));
}

describe("Gram sums of binary32 columns", () => {
  it.each([1, 5, 6, 7, 12, 40, 131])("have the bits of separate operations where they are fused, of %i columns", async (columns) => {
    const x = wildMatrix(1500, columns);
    const portions = [x.subarray(0, 700), x.subarray(700, 1450), x.subarray(1450)].map((part) => [plain(part)]);
    expect(await gramBits(columns, portions)).toEqual(bits(plainGram(x).data));
    expect(new Set(fused.map(String))).toEqual(new Set([`0,${Math.ceil(columns / 6)}`]));
    expect(separate.every(([from, to]) => from === to)).toBe(true);
  });

  it("are not fused if the runtime has no relaxed SIMD", async () => {
    vi.spyOn(WebAssembly, "validate").mockReturnValue(false);
    const x = wildMatrix(300, 13);
    expect(await gramBits(13, [[plain(x)]])).toEqual(bits(plainGram(x).data));
    expect(fused).toEqual([]);
  });

  it("are not fused if the instruction does not give the bits of an exact product", async () => {
    const product = (a: number, b: number, c: number): number => Math.fround(a * b) + c;
    instancesWith((exports) => ("f" in exports ? { f: product } : countCalls(exports)));
    const x = wildMatrix(300, 13);
    expect(await gramBits(13, [[plain(x)]])).toEqual(bits(plainGram(x).data));
    expect(fused).toEqual([]);
  });
});

describe("Gram sums whose products may be inexact", () => {
  const nothing = (calls: readonly [number, number][]): boolean => calls.every(([from, to]) => from === to);

  it("are not fused in binary64", async () => {
    const x = randomMatrix(300, 13, "double");
    expect(await gramBits(13, [[plain(x)]])).toEqual(bits(plainGram(x).data));
    expect(nothing(fused)).toBe(true);
  });

  it.each(["odd", "all"] as const)("are not fused with %s squares", async (square) => {
    const x = randomMatrix(300, 12, "squares", "float32");
    const squared = Float64Array.from(x.data, (value, i) => (square === "all" || i % 2 === 1 ? value * value : value));
    expect(await gramBits(12, [[{ matrix: x, square }]])).toEqual(bits(plainGram(new Matrix(300, 12, squared)).data));
    expect(nothing(fused)).toBe(true);
  });

  it("are not fused from the first panel of six columns on that has one", async () => {
    const states = randomMatrix(200, 20, "states", "float32");
    const targets = randomMatrix(200, 3, "targets");
    const rows = Array.from({ length: 200 }, (_, t) => [...states.row(t), 1, ...targets.row(t)]);
    expect(await gramBits(24, [[plain(states), "ones", plain(targets)]])).toEqual(bits(plainGram(Matrix.from(rows)).data));
    // 21 columns are binary32 numbers: three whole panels.
    expect(fused).toEqual([[0, 3]]);
    expect(separate).toEqual([[3, 4]]);
  });

  it("are not fused if such rows wait beside binary32 ones, in either order", async () => {
    const single = randomMatrix(100, 8, "single", "float32");
    const double = randomMatrix(100, 8, "double");
    for (const [first, second] of [
      [single, double],
      [double, single],
    ] as const) {
      const both = new Matrix(200, 8, Float64Array.of(...first.data, ...second.data));
      expect(await gramBits(8, [[plain(first)], [plain(second)]])).toEqual(bits(plainGram(both).data));
    }
    expect(nothing(fused)).toBe(true);
  });
});
