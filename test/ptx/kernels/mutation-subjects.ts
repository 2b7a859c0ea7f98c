// The kernels whose instructions are mutated, each with a run small enough to repeat thousands of
// times and large enough to need every instruction.
import { attention } from "../../../packages/ptx/src/kernels/attention.js";
import { gemmTiled } from "../../../packages/ptx/src/kernels/gemm-tiled.js";
import { dequantizeQ4, quantizeQ4 } from "../../../packages/ptx/src/kernels/q4k.js";
import { quantizedGemm } from "../../../packages/ptx/src/kernels/quantized-gemm.js";
import { rowSoftmax } from "../../../packages/ptx/src/kernels/softmax.js";
import { input, output } from "../device.js";
import { attentionOf } from "./attention-reference.js";
import { fromHalves, toHalves } from "./halves.js";
import { product, runKernel, uniform, worst } from "./run.js";

export interface Subject {
  readonly ptx: string;
  /**
   * Whether a run of this PTX gives what the kernel is to give; throws what the interpreter throws.
   */
  readonly check: (ptx: string) => boolean;
}

function gemmSubject(): Subject {
  const [m, n, k] = [37, 44, 39];
  const kernel = gemmTiled({ m, n, k, tileSize: 32 });
  const [a, b] = [uniform(m * k, 1), uniform(k * n, 2)];
  const { value, size } = product(a, b, m, n, k);
  const check = (ptx: string): boolean => {
    const c = new Float32Array(m * n);
    runKernel(kernel, [input(a), input(b), output(c)], ptx);
    return worst(c, value, size) < 1e-6;
  };
  return { ptx: kernel.ptx, check };
}

function softmaxSubject(form: "warp" | "block"): Subject {
  const [rows, dim] = [27, 141];
  const kernel = rowSoftmax({ rows, dim, form });
  const x = uniform(rows * dim, 3, 8);
  const expected = new Float64Array(rows * dim);
  for (let r = 0; r < rows; r++) {
    const row = [...x.subarray(r * dim, (r + 1) * dim)];
    const parts = row.map((each) => Math.exp(each - Math.max(...row)));
    expected.set(
      parts.map((part) => part / parts.reduce((p, q) => p + q, 0)),
      r * dim,
    );
  }
  // So far apart that exponentials overflow if any but the largest is subtracted: each row is
  // its largest element.
  const apart = x.map((each, at) => each + ((at * 37 + Math.floor(at / dim) * 52) % dim) * 100);
  const single = new Float64Array(rows * dim);
  for (let r = 0; r < rows; r++) {
    const row = apart.subarray(r * dim, (r + 1) * dim);
    single[r * dim + row.indexOf(row.reduce((p, q) => Math.max(p, q)))] = 1;
  }
  const check = (ptx: string): boolean => {
    const [y, z] = [new Float32Array(rows * dim), new Float32Array(rows * dim)];
    runKernel(kernel, [input(x), output(y), rows - 1], ptx);
    const last = (rows - 1) * dim;
    if (!y.subarray(last).every(Number.isNaN) || !(worst(y.subarray(0, last), expected.subarray(0, last), 1) < 1e-6)) return false;
    runKernel(kernel, [input(apart), output(z), rows], ptx);
    return worst(z, single, 1) < 1e-6;
  };
  return { ptx: kernel.ptx, check };
}

function attentionSubject(type: "f16" | "f32"): Subject {
  const shape = { heads: 2, seqLen: 135, headDim: 24, keyLength: 139, causal: true, type } as const;
  const kernel = attention(shape, { target: "sm_80" });
  // The second head's scores are so far apart that exponentials overflow if any but the largest
  // is subtracted.
  const far = (values: Float32Array, s: number): Float32Array =>
    values.map((each, at) => (s === 0 && at >= values.length / 2 ? 60 * each : each));
  const stored = (values: Float32Array) => (type === "f16" ? toHalves(values, type) : values);
  const numbers = (values: Float32Array | Uint16Array) =>
    values instanceof Uint16Array ? fromHalves(values, "f16") : Float64Array.from(values);
  const given = [shape.seqLen, shape.keyLength, shape.keyLength].map((count, s) =>
    stored(far(uniform(2 * count * shape.headDim, 4 + s, 2), s)),
  );
  const [q, k, v] = given.map(numbers);
  const expected = attentionOf(shape, q!, k!, v!);
  // Queries that are no numbers, and a key that only the last queries see, change nothing for all
  // other queries.
  const lost = [41, 73, 105];
  const firstVisible = 118;
  const nothing = type === "f16" ? 0x7e00 : Number.NaN;
  const holes = [lost, [firstVisible + shape.keyLength - shape.seqLen], []].map((rows, s) =>
    given[s]!.map((each, at) => (rows.includes(Math.floor(at / shape.headDim)) ? nothing : each)),
  );
  const untouched = (at: number): boolean => {
    const query = Math.floor(at / shape.headDim);
    return query >= shape.seqLen || (query < firstVisible && !lost.includes(query));
  };
  const check = (ptx: string): boolean => {
    const [o, rest] = [stored(new Float32Array(expected.length)), stored(new Float32Array(expected.length))];
    runKernel(kernel, [...given.map(input), output(o)], ptx);
    if (!(worst(numbers(o), expected, 2) < (type === "f16" ? 1e-3 : 1e-5))) return false;
    runKernel(kernel, [...holes.map(input), output(rest)], ptx);
    return expected.every((_, at) => rest[at] === o[at] || !untouched(at));
  };
  return { ptx: kernel.ptx, check };
}

function quantizedSubject(target: "sm_75" | "sm_80"): Subject {
  // On tensor cores eight warps share a row's superblocks: one of them has two.
  const [m, n, k] = [5, 13, target === "sm_75" ? 1100 : 2300];
  const kernel = quantizedGemm({ m, n, k }, { target });
  const quantized = quantizeQ4(
    uniform(n * k, 8).map((each, at) => each * (1 + (Math.floor(at / 32) % 5))),
    n,
    k,
  );
  const w = dequantizeQ4(quantized);
  const turned = Float32Array.from({ length: k * n }, (_, at) => w[(at % n) * k + Math.floor(at / n)]!);
  const plain = uniform(m * k, 7);
  // Rows of different sizes, and in each superblock one number that is far above the others.
  const peaks = plain.map((each, at) => {
    const [row, column] = [Math.floor(at / k), at % k];
    const block = column >> 8;
    return each * 4 ** row * ((column & 255) === 8 * (block + row) + (block & 7) ? 2 ** 20 : 1);
  });
  const given = [plain, peaks].map((a) => ({ a, ...product(a, turned, m, n, k) }));
  const check = (ptx: string): boolean =>
    given.every(({ a, value, size }) => {
      const c = new Float32Array(m * n);
      runKernel(kernel, [input(a), input(quantized.data), output(c)], ptx);
      return worst(c, value, size) < 3e-6;
    });
  return { ptx: kernel.ptx, check };
}

/** By the name of the kernel. */
export const subjects = {
  gemmTiled: gemmSubject,
  "softmax by a warp": () => softmaxSubject("warp"),
  "softmax by a block": () => softmaxSubject("block"),
  attention: () => attentionSubject("f16"),
  "attention in f32": () => attentionSubject("f32"),
  quantizedGemm: () => quantizedSubject("sm_75"),
  "quantizedGemm on tensor cores": () => quantizedSubject("sm_80"),
} as const satisfies Record<string, () => Subject>;
