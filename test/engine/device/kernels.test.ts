// The named kernels, held against the host's portable arithmetic bit for bit, and tanh on the device against the hashes of docs/numerics.md, rule 4.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadEntries } from "../../../src/engine/cuda/kernels.js";
import type { Context, Stream } from "../../../src/gpu/index.js";
import { type FloatArray, Matrix, philox4x32, portableTanh, portableTanh32, type Precision } from "../../../src/numerics/index.js";
import { dot } from "../../../src/reservoir/step.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, randomMatrix } from "../contract.js";

let context: Context;
let stream: Stream;

beforeAll(() => {
  context = openTestDevice();
  stream = context.stream();
});
afterAll(() => context.dispose());

const upload = (values: FloatArray) => context.upload(values as Float32Array<ArrayBuffer>);

/** The kernel of a precision; TypeScript is told the types of float32, the launch checks the real ones. */
function kernel<const P extends readonly string[]>(name: string, precision: Precision, parameters: P) {
  const [suffix, real] = precision === "float32" ? ["", "f32"] : ["_f64", "f64"];
  const entry = `${name}${suffix}`;
  return loadEntries(context, "neuromorphic_gemv", [entry]).kernel(entry, parameters.map((each) => each.replace("real", real)) as never[]);
}

const round = (precision: Precision) => (precision === "float32" ? Math.fround : (x: number) => x);

describe.each(["float32", "float64"] as const)("in %s", (precision) => {
  const fround = round(precision);
  const product = ["const real*", "const real*", "real*", "real", "real", "i32", "i32"] as const;

  it.each([
    [1, 1],
    [3, 31],
    [33, 32],
    [70, 100],
    [1000, 50],
  ])("matvec_input gives alpha A x + beta y for %i x %i", (rows, columns) => {
    const a = randomMatrix(rows, columns, precision, 1);
    const x = randomMatrix(columns, 1, precision, 2).data;
    const y = randomMatrix(rows, 1, precision, 3).data;
    const out = upload(y);
    const [alpha, beta] = [fround(0.7), fround(-0.3)];
    const config = { grid: Math.ceil(rows / 8), block: 256 };
    stream.launch(
      kernel("matvec_input", precision, product),
      config,
      ...([upload(a.data), upload(x), out, alpha, beta, rows, columns] as never[]),
    );
    const expected = y.map((before, r) => fround(fround(alpha * dot(a, r, x, fround)) + fround(beta * before)));
    expect(bits(context.read(out) as FloatArray)).toEqual(bits(expected));
  });

  it("matvec_reservoir with beta 0 never reads y", () => {
    const a = randomMatrix(65, 65, precision, 4);
    const x = randomMatrix(65, 1, precision, 5).data;
    const out = upload(new (precision === "float32" ? Float32Array : Float64Array)(65).fill(Number.NaN));
    const parameters = product.slice(0, 6);
    stream.launch(
      kernel("matvec_reservoir", precision, parameters),
      { grid: 3, block: 64 },
      ...([upload(a.data), upload(x), out, 1, 0, 65] as never[]),
    );
    expect(bits(context.read(out) as FloatArray)).toEqual(bits(x.map((_, r) => dot(a, r, x, fround)) as FloatArray));
  });

  it("leaky_integration gives (1 - a) x + a tanh(input)", () => {
    const [x, input] = [6, 7].map((seed) => randomMatrix(1001, 1, precision, seed, 3).data) as [FloatArray, FloatArray];
    const out = upload(new (precision === "float32" ? Float32Array : Float64Array)(1001));
    const a = fround(0.3);
    const parameters = ["real*", "const real*", "const real*", "real", "i32"] as const;
    stream.launch(
      kernel("leaky_integration", precision, parameters),
      { grid: 2, block: 256 },
      ...([out, upload(x), upload(input), a, 1001] as never[]),
    );
    const tanh = precision === "float32" ? portableTanh32 : portableTanh;
    const expected = x.map((before, i) => fround(fround(fround(1 - a) * before) + fround(a * tanh(input[i]!)))) as FloatArray;
    expect(bits(context.read(out) as FloatArray)).toEqual(bits(expected));
  });

  it("leaky_integration_noise adds the noise of rule 6 before tanh", () => {
    const n = 130;
    const [x, input, recurrent] = [1, 2, 3].map((seed) => randomMatrix(n, 1, precision, seed, 2).data) as [
      FloatArray,
      FloatArray,
      FloatArray,
    ];
    const out = upload(new (precision === "float32" ? Float32Array : Float64Array)(n));
    const [a, level, key, step, sequence] = [fround(0.6), fround(0.05), [7, 4_000_000_000] as const, 4_000_000_001, 3] as const;
    const parameters = ["real*", "const real*", "const real*", "const real*", "real", "real", "u32", "u32", "u32", "u32", "i32"] as const;
    stream.launch(
      kernel("leaky_integration_noise", precision, parameters),
      { grid: 1, block: 64 },
      ...([out, upload(x), upload(input), upload(recurrent), a, level, ...key, step, sequence, n] as never[]),
    );
    const tanh = precision === "float32" ? portableTanh32 : portableTanh;
    const words = new Uint32Array(4);
    const expected = x.map((before, i) => {
      philox4x32(Uint32Array.from(key) as never, step, precision === "float32" ? i >>> 2 : i >>> 1, sequence, 0, words);
      const w = (i & 1) * 2;
      const u =
        precision === "float32" ? (words[i & 3]! >>> 8) * 2 ** -24 : ((words[w]! >>> 5) * 2 ** 26 + (words[w + 1]! >>> 6)) * 2 ** -53;
      const z = fround(fround(input[i]! + recurrent[i]!) + fround(level * (2 * u - 1)));
      return fround(fround(fround(1 - a) * before) + fround(a * tanh(z)));
    }) as FloatArray;
    expect(bits(context.read(out) as FloatArray)).toEqual(bits(expected));
  });

  it("power_iteration and power_normalise have the host's bits: rows by rule 1, squares by warp in rising order, one root", () => {
    const [n, warps] = [70, 4];
    const a = randomMatrix(n, n, precision, 10);
    const begin = randomMatrix(n, 1, precision, 11).data;
    const [A, x, y] = [upload(a.data), upload(begin), upload(begin)];
    const [squares, norm] = [context.zeros("f64", warps), context.zeros("f64", 1)];
    const multiply = kernel("power_iteration", precision, ["real*", "f64*", "const real*", "const real*", "i32"]);
    const normalise = kernel("power_normalise", precision, ["real*", "const real*", "const f64*", "i32", "f64*", "i32"]);
    let vector: FloatArray = begin;
    for (let i = 0; i < 3; i++) {
      stream.launch(multiply, { grid: 2, block: 64 }, ...([y, squares, A, x, n] as never[]));
      stream.launch(normalise, { grid: 2, block: 64 }, ...([x, y, squares, warps, norm, n] as never[]));
      const image = vector.map((_, r) => dot(a, r, vector, fround)) as FloatArray;
      const partial = new Float64Array(warps);
      for (let r = 0; r < n; r++) partial[r % warps] = partial[r % warps]! + image[r]! * image[r]!;
      const root = Math.sqrt(partial.reduce((sum, value) => sum + value, 0));
      vector = image.map((value) => fround(value / root)) as FloatArray;
      expect(bits(context.read(y) as FloatArray)).toEqual(bits(image));
      expect([...context.read(squares)]).toEqual([...partial]);
      expect(context.read(norm)[0]).toBe(root);
      expect(bits(context.read(x) as FloatArray)).toEqual(bits(vector));
    }
  });

  it("power_iteration finds the radius of a symmetric matrix, normalised in a fixed order", () => {
    const n = 40;
    const half = randomMatrix(n, n, precision, 8);
    const a = Matrix.zeros(n, n, precision) as Matrix;
    for (let r = 0; r < n; r++)
      for (let c = 0; c < n; c++) a.data[r * n + c] = half.data[r * n + c]! + half.data[c * n + r]! + (r === c ? 12 : 0);
    const [A, x, y] = [upload(a.data), upload(randomMatrix(n, 1, precision, 9).data), upload(randomMatrix(n, 1, precision, 9).data)];
    const warps = 4;
    const [squares, norm] = [context.zeros("f64", warps), context.zeros("f64", 1)];
    const multiply = kernel("power_iteration", precision, ["real*", "f64*", "const real*", "const real*", "i32"]);
    const normalise = kernel("power_normalise", precision, ["real*", "const real*", "const f64*", "i32", "f64*", "i32"]);
    for (let i = 0; i < 60; i++) {
      stream.launch(multiply, { grid: 2, block: 64 }, ...([y, squares, A, x, n] as never[]));
      stream.launch(normalise, { grid: 1, block: 64 }, ...([x, y, squares, warps, norm, n] as never[]));
    }
    const largest = context.read(norm)[0]!;
    const vector = Float64Array.from(context.read(x) as FloatArray);
    const image = vector.map((_, r) => vector.reduce((sum, value, c) => sum + a.data[r * n + c]! * value, 0));
    const residual = Math.sqrt(image.reduce((sum, value, r) => sum + (value - largest * vector[r]!) ** 2, 0));
    expect(residual / largest).toBeLessThan(0.02);
  });
});

describe("tanh on the device", () => {
  /** tanh of values by leaky_integration with leak 1 of a state 0. */
  function tanhOf(values: FloatArray, precision: Precision): FloatArray {
    const [input, zero] = [upload(values), upload(values.map(() => 0) as FloatArray)];
    const parameters = ["real*", "const real*", "const real*", "real", "i32"] as const;
    const config = { grid: Math.min(4096, Math.ceil(values.length / 256)), block: 256 };
    stream.launch(kernel("leaky_integration", precision, parameters), config, ...([zero, zero, input, 1, values.length] as never[]));
    const result = context.read(zero) as FloatArray;
    for (const buffer of [input, zero]) buffer.dispose();
    return result;
  }

  it.runIf(onHardware)("has the hash 8f575d41 over all binary32 patterns from 0 to 20.002", () => {
    const piece = 2 ** 26;
    const words = new Uint32Array(piece);
    let hash = 0x811c9dc5;
    for (let from = 0; from < 0x41a01000; from += piece) {
      const count = Math.min(piece, 0x41a01000 - from);
      for (let i = 0; i < count; i++) words[i] = from + i;
      const results = tanhOf(new Float32Array(words.buffer, 0, count), "float32");
      const out = new Int32Array(results.buffer, results.byteOffset, count);
      for (let i = 0; i < count; i++) hash = Math.imul(hash ^ out[i]!, 0x01000193);
    }
    expect((hash >>> 0).toString(16)).toBe("8f575d41");
  });

  it.runIf(onHardware)("has the hash fc253a4d over 2^24 binary64 numbers", () => {
    const numbers = new BigUint64Array(2 ** 24);
    for (let i = 0; i < numbers.length; i++) numbers[i] = 0x3e40000000000000n + BigInt(i) * 0x1f4041357n;
    const out = new Int32Array(tanhOf(new Float64Array(numbers.buffer), "float64").buffer);
    let hash = 0x811c9dc5;
    for (const word of out) hash = Math.imul(hash ^ word, 0x01000193);
    expect((hash >>> 0).toString(16)).toBe("fc253a4d");
  });

  it.each(["float32", "float64"] as const)("has the host's bits over samples of every size in %s", (precision) => {
    const tanh = precision === "float32" ? portableTanh32 : portableTanh;
    const values = precision === "float32" ? new Float32Array(4096) : new Float64Array(4096);
    for (let i = 0; i < values.length; i++) values[i] = (1 + (i % 64) / 67) * 2 ** ((i >> 6) - 40);
    expect(bits(tanhOf(values, precision))).toEqual(bits(values.map((value) => tanh(value)) as FloatArray));
  });
});
