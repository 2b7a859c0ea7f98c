// The named kernels, held against the host's portable arithmetic bit for bit, and tanh on the
// device against the hashes of docs/numerics.md, rule 4.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Stream } from "../../../packages/gpu/src/index.js";
import {
  type FloatArray,
  Matrix,
  type Precision,
  philox4x32,
  portableTanh,
  portableTanh32,
  rowDot,
  toSparse,
} from "../../../packages/numerics/src/index.js";
import { divideByLength } from "../../../packages/numerics/src/spectrum/power-iteration.js";
import { activationNumber } from "../../../src/engine/cuda/activation.js";
import { loadEntries } from "../../../src/engine/cuda/kernels.js";
import { activationOf } from "../../../src/reservoir/activations.js";
import type { Activation } from "../../../src/reservoir/model.js";
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

/**
 * The kernel of a precision; TypeScript sees the types of float32, the launch checks the real ones.
 */
function kernel<const P extends readonly string[]>(name: string, precision: Precision, parameters: P) {
  const [suffix, real] = precision === "float32" ? ["", "f32"] : ["_f64", "f64"];
  const entry = `${name}${suffix}`;
  return loadEntries(context, "neuromorphic_gemv", [entry]).kernel(entry, parameters.map((each) => each.replace("real", real)) as never[]);
}

const round = (precision: Precision) => (precision === "float32" ? Math.fround : (x: number) => x);

describe.each(["float32", "float64"] as const)("in %s", (precision) => {
  const fround = round(precision);
  const Array_ = precision === "float32" ? Float32Array : Float64Array;

  /** U of rule 6. */
  function uniformOf(key: readonly [number, number], step: number, neuron: number, sequence: number): number {
    const words = new Uint32Array(4);
    philox4x32(Uint32Array.from(key) as never, step, precision === "float32" ? neuron >>> 2 : neuron >>> 1, sequence, 0, words);
    const w = (neuron & 1) * 2;
    return precision === "float32"
      ? (words[neuron & 3]! >>> 8) * 2 ** -24
      : ((words[w]! >>> 5) * 2 ** 26 + (words[w + 1]! >>> 6)) * 2 ** -53;
  }
  it.each([
    [1, 1, 1],
    [3, 31, 2],
    [33, 3, 17],
    [130, 40, 5],
    [70, 0, 3],
  ])("matvec_input gives the drive of rule 3, bias first, of %i neurons, %i inputs and %i steps", (n, inputs, steps) => {
    const weights = randomMatrix(n, Math.max(1, inputs), precision, 1);
    const bias = randomMatrix(n, 1, precision, 2).data;
    const u = randomMatrix(steps, Math.max(1, inputs), precision, 3);
    const byInput = Matrix.zeros(Math.max(1, inputs), n, precision) as Matrix;
    for (let i = 0; i < inputs; i++) for (let r = 0; r < n; r++) byInput.data[i * n + r] = weights.at(r, i);
    for (const start of [bias, undefined]) {
      const out = upload(new Array_(steps * n).fill(Number.NaN));
      stream.launch(
        kernel("matvec_input", precision, ["const real*", "const real*", "const real*", "real*", "i32", "i32", "i32"] as const),
        { grid: [Math.ceil(n / 128), Math.ceil(steps / 16)], block: 128 },
        ...([upload(byInput.data), start ? upload(start) : null, upload(u.data), out, n, inputs, steps] as never[]),
      );
      const expected = new Array_(steps * n);
      for (let t = 0; t < steps; t++)
        for (let r = 0; r < n; r++) {
          let sum = start?.[r] ?? 0;
          for (let i = 0; i < inputs; i++) sum = fround(sum + fround(weights.at(r, i) * u.at(t, i)));
          expected[t * n + r] = sum;
        }
      expect(bits(context.read(out) as FloatArray)).toEqual(bits(expected));
    }
  });

  it.each([
    [1, 1],
    [3, 31],
    [33, 32],
    [65, 65],
    [70, 513],
    [9, 1100],
  ])("matvec_reservoir gives A x by rule 1 for %i x %i, whatever the grid", (rows, columns) => {
    const a = randomMatrix(rows, columns, precision, 4);
    const x = randomMatrix(columns, 1, precision, 5).data;
    const expected = new Array_(rows).map((_, r) => rowDot(a, r, x, fround));
    for (const grid of [1, Math.ceil(rows / 8)]) {
      const out = upload(new Array_(rows).fill(Number.NaN));
      const parameters = ["const real*", "const real*", "real*", "i32", "i32"] as const;
      stream.launch(
        kernel("matvec_reservoir", precision, parameters),
        { grid, block: 256 },
        ...([upload(a.data), upload(x), out, rows, columns] as never[]),
      );
      expect(bits(context.read(out) as FloatArray)).toEqual(bits(expected));
    }
  });

  it.each([
    [1, 1],
    [5, 0.5],
    [33, 0.3],
    [70, 1],
    [200, 0.02],
  ])("matvec_reservoir_csr gives A x by rule 2 for %i rows of density %d, empty rows too", (n, density) => {
    const full = randomMatrix(n, n, precision, 6);
    for (let r = 0; r < n; r++)
      for (let c = 0; c < n; c++) if (density < 1 && (r % 7 === 3 || ((r * 31 + c * 17) % 100) / 100 >= density)) full.data[r * n + c] = 0;
    const a = toSparse(full);
    const x = randomMatrix(n, 1, precision, 7).data;
    const expected = new Array_(n).map((_, r) => rowDot(a, r, x, fround));
    for (const grid of [1, Math.ceil(n / 32)]) {
      const out = upload(new Array_(n).fill(Number.NaN));
      const [values, columns] = [a.values.length > 0 ? a.values : new Array_(1), a.columns.length > 0 ? a.columns : new Uint32Array(1)];
      stream.launch(
        kernel("matvec_reservoir_csr", precision, ["const real*", "const u32*", "const u32*", "const real*", "real*", "i32"] as const),
        { grid, block: 256 },
        ...([upload(values), upload(columns as never), upload(a.rowOffsets as never), upload(x), out, n] as never[]),
      );
      expect(bits(context.read(out) as FloatArray)).toEqual(bits(expected));
    }
  });

  it.each([
    ["the drive alone", false, false, 0],
    ["drive and recurrence", true, false, 0],
    ["drive, recurrence, feedback and noise", true, true, 0.05],
  ])("leaky_integration gives rules 3 to 6 of %s, for every activation", (_, recurs, fedBack, noise) => {
    const n = 130;
    const [x, drive, recurrent, feedback] = [1, 2, 3, 4].map((seed) => randomMatrix(n, 1, precision, seed, 2).data) as FloatArray[];
    const leak = randomMatrix(n, 1, precision, 5, 1).data.map((value) => fround(Math.abs(value))) as FloatArray;
    const [level, key, step, sequence] = [fround(noise), [7, 4_000_000_000] as const, 4_000_000_001, 3] as const;
    const parameters = [
      ...(["real*", "const real*", "const real*", "const real*", "const real*", "const real*", "i32", "i32"] as const),
      ...(["real", "u32", "u32", "u32", "u32", "const u64*"] as const),
    ] as const;
    for (const [activation, number] of Object.entries(activationNumber) as [Activation, number][]) {
      const out = upload(new Array_(n).fill(Number.NaN));
      const given = [out, upload(x!), upload(drive!), recurs ? upload(recurrent!) : null, fedBack ? upload(feedback!) : null, upload(leak)];
      stream.launch(
        kernel("leaky_integration", precision, parameters),
        { grid: 2, block: 64 },
        ...([...given, n, number, level, ...key, step, sequence, null] as never[]),
      );
      const f = activationOf({ activation, precision });
      const expected = x!.map((before, i) => {
        let z = drive![i]!;
        if (recurs) z = fround(z + recurrent![i]!);
        if (fedBack) z = fround(z + feedback![i]!);
        if (level !== 0) z = fround(z + fround(level * (2 * uniformOf(key, step, i, sequence) - 1)));
        return fround(fround(fround(1 - leak[i]!) * before) + fround(leak[i]! * f(z)));
      }) as FloatArray;
      expect(bits(context.read(out) as FloatArray), activation).toEqual(bits(expected));
    }
  });

  it.each([1, 70, 600])("power_iteration gives A (x / |x|) and |x| by rules 1, 2 and 7 for %i rows, dense and in CSR form", (n) => {
    const dense = randomMatrix(n, n, precision, 10);
    const sparse = toSparse(new Matrix(n, n, dense.data.map((w, i) => (i % 3 === 0 ? w : 0)) as FloatArray));
    const xs = [randomMatrix(n, 1, precision, 11).data, new Array_(n)];
    for (const [a, name, matrix, types] of [
      [dense, "power_iteration", [dense.data], ["const real*"]],
      [sparse, "power_iteration_csr", [sparse.values, sparse.columns, sparse.rowOffsets], ["const real*", "const u32*", "const u32*"]],
    ] as const)
      for (const x of xs) {
        const [y, length] = [upload(new Array_(n).fill(Number.NaN)), upload(new Array_(1))];
        const iterate = kernel(name, precision, [...types, "const real*", "real*", "real*", "i32"]);
        const sent = matrix.map((each) => upload(each as FloatArray));
        stream.launch(iterate, { grid: Math.ceil(n / 32), block: 256 }, ...([...sent, upload(x), y, length, n] as never[]));
        const expected = new Array_(n).map((_, r) => rowDot(a, r, x, fround));
        expect([...context.read(length)]).toEqual([divideByLength(expected, x)]);
        expect(bits(context.read(y) as FloatArray)).toEqual(bits(expected));
      }
  });
});

describe("tanh on the device", () => {
  /** tanh of values by leaky_integration with leak 1 of a state 0. */
  function tanhOf(values: FloatArray, precision: Precision): FloatArray {
    const [input, zero, one] = [upload(values), upload(values.map(() => 0) as FloatArray), upload(values.map(() => 1) as FloatArray)];
    const parameters = [
      ...(["real*", "const real*", "const real*", "const real*", "const real*", "const real*", "i32", "i32"] as const),
      ...(["real", "u32", "u32", "u32", "u32", "const u64*"] as const),
    ] as const;
    const config = { grid: Math.min(4096, Math.ceil(values.length / 256)), block: 256 };
    const given = [zero, zero, input, null, null, one, values.length, activationNumber.tanh, 0, 0, 0, 0, 0, null];
    stream.launch(kernel("leaky_integration", precision, parameters), config, ...(given as never[]));
    const result = context.read(zero) as FloatArray;
    for (const buffer of [input, zero, one]) buffer.dispose();
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
