// Generated kernels on a real GPU: first each against double precision, then its time by events
// beside cuBLAS, PyTorch and a copy, which are measured in the same run if python3 has torch.
// Usage: npm run bench:gpu:ptx
import { spawnSync } from "node:child_process";
import { bfloat16Bits, halfBits, openDevice } from "spillway/gpu";
import { dequantizeQ4, generateKernel, quantizeQ4 } from "spillway/ptx";

const context = openDevice(0);
const stream = context.stream();
const [start, end] = [context.event(), context.event()];
const [major, minor] = context.info.computeCapability;
// Products by warp groups exist only in the chip's own code.
const target = major === 9 ? "sm_90a" : `sm_${major}${minor}`;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
console.log(`${context.info.name}, ${target}, Node ${process.versions.node}`);

/** Median microseconds of one of `count` launches, by events, of 9 rounds after 2 that warm up. */
function micros(count, launch) {
  const rounds = [];
  for (let round = 0; round < 11; round++) {
    start.record(stream);
    for (let i = 0; i < count; i++) launch();
    end.record(stream);
    end.sync();
    if (round >= 2) rounds.push((end.elapsedSince(start) * 1000) / count);
  }
  return median(rounds);
}

let state = 88172645;
function random(length, scale = 1) {
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    values[i] = (state / 2 ** 31) * scale;
  }
  return values;
}

const bitsOf = { f16: halfBits, bf16: bfloat16Bits };
const scratch = new DataView(new ArrayBuffer(4));
function value(bits, type) {
  if (type === "bf16") {
    scratch.setUint32(0, bits << 16);
    return scratch.getFloat32(0);
  }
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}
function halves(values, type) {
  const bits = Uint16Array.from(values, bitsOf[type]);
  return { bits, values: Float32Array.from(bits, (each) => value(each, type)) };
}

const dtypes = { b8: "u8" };
/** A kernel on the device: how it is launched, its buffers, and the output, poisoned first. */
function prepare(type, inputs, outputBytes, { scalars = [], on = target } = {}) {
  const begin = performance.now();
  const kernel = generateKernel(type, { target: on });
  const milliseconds = performance.now() - begin;
  const module = context.load(kernel.ptx);
  const pointers = kernel.parameters.filter(({ element }) => element !== undefined);
  const signature = kernel.parameters.map(({ type: scalar, element }) =>
    element === undefined ? scalar : `${dtypes[element] ?? element}*`,
  );
  const handle = module.kernel(kernel.name, signature);
  const buffers = new Map(
    Object.entries(inputs).map(([name, array]) => [
      name,
      context.upload(array, { dtype: signature[kernel.parameters.findIndex((each) => each.name === name)].slice(0, -1) }),
    ]),
  );
  const outputName = pointers.find(({ name }) => !buffers.has(name)).name;
  const outputType = signature[kernel.parameters.findIndex(({ name }) => name === outputName)].slice(0, -1);
  const output = context.alloc(outputType, outputBytes / (outputType === "f32" ? 4 : 2));
  stream.fill(output, 0xff);
  buffers.set(outputName, output);
  const args = kernel.parameters.map(({ name, element }, at) =>
    element === undefined ? scalars[at - pointers.length] : buffers.get(name),
  );
  const config = { grid: kernel.grid, block: kernel.block, shared: kernel.dynamicSharedBytes };
  const launch = (s = stream) => s.launch(handle, config, ...args);
  launch();
  stream.sync();
  const dispose = () => {
    for (const buffer of buffers.values()) buffer.dispose();
    module.dispose();
  };
  return { kernel, launch, milliseconds, read: () => context.read(output), dispose };
}

const results = new Map();
function report(name, error, limit, time, words, made) {
  results.set(name, time);
  const verdict = error <= limit ? "ok" : "WRONG";
  console.log(
    `${name.padEnd(30)} ${verdict} ${error.toExponential(1)} (<= ${limit})  ${time.toFixed(2)} us  ${words}  [${made.kernel.name}, made in ${made.milliseconds.toFixed(1)} ms]`,
  );
}

/**
 * The largest error over |A||B| of a sample of the elements of C = A B, or of A B^T where B's rows,
 * which begin anew after `rowsOfB`, are given.
 */
function productError(c, a, b, m, n, k, rowsOfB = 0) {
  let worst = c.some(Number.isNaN) ? Number.NaN : 0;
  for (let sample = 0; sample < 400; sample++) {
    const [row, column] = sample < 4 ? [sample & 1 ? m - 1 : 0, sample & 2 ? n - 1 : 0] : [(sample * 7919) % m, (sample * 104729) % n];
    let [sum, size] = [0, 0];
    for (let j = 0; j < k; j++) {
      const term = a[row * k + j] * (rowsOfB > 0 ? b[(column % rowsOfB) * k + j] : b[j * n + column]);
      sum += term;
      size += Math.abs(term);
    }
    worst = Math.max(worst, Math.abs(c[row * n + column] - sum) / size);
  }
  return worst;
}

/** Random numbers of a type: what a kernel is given, and their values. */
function factor(length, type) {
  const values = random(length);
  return type === "f32" ? { bits: values, values } : halves(values, type);
}

function gemm(name, type, elements, limit, count, on = target) {
  const { m, n, k } = type;
  const [a, b] = [factor(m * k, elements), factor(k * n, elements)];
  const made = prepare(type, { a: a.bits, b: b.bits }, 4 * m * n, { on });
  const error = productError(made.read(), a.values, b.values, m, n, k);
  const time = micros(count, made.launch);
  report(name, error, limit, time, `${((2 * m * n * k) / time / 1e6).toFixed(1)} TFLOP/s`, made);
  return made;
}

const cube = { m: 4096, n: 4096, k: 4096 };
const only = process.argv[2] ?? "";
if ("gemm".includes(only) || only.includes("gemm")) {
  gemm("gemm f32", { kind: "gemmTiled", ...cube }, "f32", 1e-5, 3).dispose();
  gemm("gemm f32 odd", { kind: "gemmTiled", m: 1001, n: 1003, k: 999 }, "f32", 1e-5, 5).dispose();
  for (const elements of ["bf16", "f16"])
    gemm(`gemm ${elements}`, { kind: "gemmTensorCore", type: elements, ...cube }, elements, 5e-3, 10).dispose();
  if (target === "sm_90a")
    gemm("gemm bf16 mma.sync", { kind: "gemmTensorCore", type: "bf16", ...cube }, "bf16", 5e-3, 10, "sm_90").dispose();
  gemm("gemm bf16 odd", { kind: "gemmTensorCore", type: "bf16", m: 1001, n: 1003, k: 999 }, "bf16", 5e-3, 5).dispose();
  gemm("gemm tf32", { kind: "gemmTensorCore", type: "tf32", ...cube }, "f32", 5e-3, 10).dispose();
  const small = gemm("gemm f32 256 alone", { kind: "gemmTiled", m: 256, n: 256, k: 256 }, "f32", 1e-5, 50);
  const graph = stream.capture((s) => {
    for (let i = 0; i < 200; i++) small.launch(s);
  });
  const each = micros(1, () => graph.launch(stream)) / 200;
  results.set("gemm f32 256", each);
  console.log(`gemm f32 256 in a graph: ${each.toFixed(2)} us, ${((2 * 256 ** 3) / each / 1e6).toFixed(2)} TFLOP/s`);
}

const [rows, dim] = [8192, 4096];
function rowKernel(name, type, inputs, of) {
  const x = random(rows * dim, 4);
  const made = prepare({ ...type, rows }, { x, ...inputs }, 4 * rows * dim, { scalars: [rows] });
  const y = made.read();
  let worst = y.some(Number.isNaN) ? Number.NaN : 0;
  for (let sample = 0; sample < 16; sample++) {
    const row = sample === 0 ? rows - 1 : (sample * 611) % rows;
    const expected = of(x.subarray(row * dim, (row + 1) * dim));
    for (let i = 0; i < dim; i++) worst = Math.max(worst, Math.abs(y[row * dim + i] - expected[i]));
  }
  const time = micros(20, made.launch);
  report(name, worst, 1e-5, time, `${((8 * rows * dim) / time / 1000).toFixed(0)} GB/s`, made);
  made.dispose();
}
if ("rows".includes(only) || only.includes("rows")) {
  const [gamma, beta] = [random(dim), random(dim)];
  const normed = (row, epsilon, centred) => {
    const mean = centred ? row.reduce((sum, x) => sum + x, 0) / dim : 0;
    const root = Math.sqrt(row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / dim + epsilon);
    return Float64Array.from(row, (x, i) => ((x - mean) / root) * gamma[i] + (centred ? beta[i] : 0));
  };
  rowKernel("softmax", { kind: "softmax", dim }, {}, (row) => {
    const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const parts = Float64Array.from(row, (x) => Math.exp(x - top));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
  });
  rowKernel("layernorm", { kind: "layerNorm", hiddenSize: dim }, { gamma, beta }, (row) => normed(row, 1e-5, true));
  rowKernel("rmsnorm", { kind: "rmsNorm", hiddenSize: dim }, { gamma }, (row) => normed(row, 1e-6, false));
}

function attentionCase(name, shape, count) {
  const { heads, seqLen, headDim, causal, type = "f16" } = shape;
  const [q, k, v] = [0, 1, 2].map(() => factor(heads * seqLen * headDim, type));
  const [bytes, limit] = type === "f32" ? [4, 1e-5] : [2, 5e-3];
  const made = prepare({ kind: "attention", ...shape }, { q: q.bits, k: k.bits, v: v.bits }, bytes * heads * seqLen * headDim);
  const o = Float64Array.from(made.read(), (given) => (type === "f32" ? given : value(given, type)));
  let worst = o.some(Number.isNaN) ? Number.NaN : 0;
  for (let sample = 0; sample < 40; sample++) {
    const [h, i] = [sample % heads, sample < 2 ? sample * (seqLen - 1) : (sample * 389) % seqLen];
    const keys = causal ? i + 1 : seqLen;
    const at = (matrix, row) => matrix.values.subarray((h * seqLen + row) * headDim, (h * seqLen + row + 1) * headDim);
    const scores = Float64Array.from(
      { length: keys },
      (_, j) => at(q, i).reduce((sum, x, c) => sum + x * at(k, j)[c], 0) / Math.sqrt(headDim),
    );
    const top = scores.reduce((a, b) => Math.max(a, b));
    const parts = scores.map((score) => Math.exp(score - top));
    const sum = parts.reduce((a, b) => a + b, 0);
    for (let c = 0; c < headDim; c++) {
      let exact = 0;
      for (let j = 0; j < keys; j++) exact += (parts[j] / sum) * at(v, j)[c];
      worst = Math.max(worst, Math.abs(o[(h * seqLen + i) * headDim + c] - exact));
    }
  }
  const time = micros(count, made.launch);
  const flops = 4 * heads * seqLen * seqLen * headDim * (causal ? 0.5 : 1);
  report(name, worst, limit, time, `${(flops / time / 1e6).toFixed(1)} TFLOP/s`, made);
  made.dispose();
}
if ("attention".includes(only) || only.includes("attention")) {
  attentionCase("attention", { heads: 16, seqLen: 4096, headDim: 64, causal: true }, 5);
  attentionCase("attention 128", { heads: 16, seqLen: 4096, headDim: 128, causal: true }, 5);
  attentionCase("attention odd", { heads: 3, seqLen: 1001, headDim: 80, causal: false }, 5);
  attentionCase("attention 256", { heads: 4, seqLen: 1001, headDim: 256, causal: true, type: "bf16" }, 5);
  attentionCase("attention f32", { heads: 16, seqLen: 4096, headDim: 64, causal: true, type: "f32" }, 3);
  attentionCase("attention f32 128", { heads: 16, seqLen: 4096, headDim: 128, causal: true, type: "f32" }, 3);
  attentionCase("attention f32 256", { heads: 4, seqLen: 1001, headDim: 256, causal: true, type: "f32" }, 3);
  attentionCase("attention f32 odd", { heads: 3, seqLen: 1001, headDim: 77, causal: false, type: "f32" }, 3);
}

if ("quantized".includes(only) || only.includes("quantized")) {
  for (const [m, n, k, format] of [
    [1, 16384, 16384, "superblock"],
    [1, 16384, 16384, "block32"],
    [5, 999, 1000, "superblock"],
  ]) {
    // The same rows again and again: quantising all of them here would take longer than everything
    // else.
    const base = Math.min(n, 128);
    const [a, few] = [random(m * k), quantizeQ4(random(base * k), base, k, format)];
    const rowBytes = few.data.length / base;
    const data = new Uint8Array(n * rowBytes);
    for (let row = 0; row < n; row++) data.set(few.data.subarray((row % base) * rowBytes, ((row % base) + 1) * rowBytes), row * rowBytes);
    const made = prepare({ kind: "quantizedGemm", m, n, k, format }, { a, w: data }, 4 * m * n);
    const error = productError(made.read(), a, dequantizeQ4(few), m, n, k, base);
    const time = micros(20, made.launch);
    report(`q4 ${format} ${m} x ${n} x ${k}`, error, 1e-5, time, `${(data.length / time / 1000).toFixed(0)} GB/s of its bytes`, made);
    made.dispose();
  }
}

if ("emission".includes(only) || only.includes("emission")) {
  const largest = [
    { kind: "attention", heads: 4, seqLen: 1001, headDim: 256, causal: true, type: "bf16" },
    { kind: "gemmTensorCore", m: 1001, n: 1003, k: 999, type: "bf16", tile: [128, 256] },
    { kind: "gemmTiled", m: 1001, n: 1003, k: 999, tileSize: 128 },
  ];
  for (const type of largest) {
    const rounds = Array.from({ length: 9 }, () => {
      const begin = performance.now();
      const { ptx } = generateKernel(type, { target });
      return { bytes: ptx.length, time: performance.now() - begin };
    });
    const time = median(rounds.map((round) => round.time));
    console.log(`emission of ${type.kind}: ${rounds[0].bytes} bytes in ${time.toFixed(1)} ms (bar 20 ms)`);
  }
}

const peer = spawnSync("python3", [new URL("ptx-kernels.py", import.meta.url).pathname], { encoding: "utf8" });
if (peer.status !== 0) console.log("no PyTorch beside it: python3 has no torch here");
else {
  const torch = JSON.parse(peer.stdout.trim().split("\n").at(-1));
  console.log(`PyTorch ${torch.version}: ${JSON.stringify(torch)}`);
  const share = (name, other, bar) => {
    const [ours, theirs] = [results.get(name), torch[other]];
    if (ours !== undefined) console.log(`${name}: ${((100 * theirs) / ours).toFixed(0)}% of ${other} (bar ${bar})`);
  };
  share("gemm f32", "gemm f32", "60%");
  share("gemm bf16", "gemm bf16", target === "sm_90a" ? "65%" : "35%");
  share("gemm bf16 mma.sync", "gemm bf16", "35%");
  share("gemm f16", "gemm f16", "-");
  share("gemm tf32", "gemm tf32", "-");
  share("gemm f32 256", "gemm f32 256", "-");
  for (const name of ["softmax", "layernorm", "rmsnorm"]) share(name, "copy 8192 x 4096", "85%");
  share("attention", "attention flash", "30%");
  share("attention", "attention math", "400%");
  share("attention f32", "attention f32 efficient", "-");
  share("attention f32", "attention f32 math", "-");
  const quantized = results.get("q4 superblock 1 x 16384 x 16384");
  if (quantized !== undefined)
    console.log(
      `q4 superblock: ${((100 * ((144 * 16384 * 64) / quantized / 1000)) / torch["copy GB/s"]).toFixed(0)}% of copy bandwidth (bar 60%)`,
    );
}
for (const owned of [stream, context]) owned.dispose();
