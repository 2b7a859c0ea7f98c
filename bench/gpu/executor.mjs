// The kernel executor beside cuBLAS, PyTorch, CuPy, NumPy and the WebAssembly product of the CPU,
// in the same run (if python3 has the peers). Kernels are timed by events and whole calls by the
// clock. Usage: npm run bench:gpu
import { spawnSync } from "node:child_process";
import { KernelExecutor } from "spillway/gpu";
import { evaluateRows, Matrix } from "spillway/numerics";

const executor = new KernelExecutor();
const { context, stream } = executor.device;
const [start, end] = [context.event(), context.event()];
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Median microseconds of one of `count` launches, by events, of 15 rounds after 3 that warm up. */
function micros(count, launch) {
  const rounds = [];
  for (let round = 0; round < 18; round++) {
    start.record(stream);
    for (let i = 0; i < count; i++) launch();
    end.record(stream);
    end.sync();
    if (round >= 3) rounds.push((end.elapsedSince(start) * 1000) / count);
  }
  return median(rounds);
}

/** Median milliseconds of whole calls, by the clock, of 5 after 1 that warms up. */
async function wall(call) {
  const times = [];
  for (let round = 0; round < 6; round++) {
    const begin = performance.now();
    await call();
    if (round > 0) times.push(performance.now() - begin);
  }
  return median(times);
}

let state = 88172645;
function random(length) {
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    values[i] = state / 2 ** 31;
  }
  return values;
}

const row = (...cells) => `| ${cells.join(" | ")} |`;
const rows = [];
const peers = spawnSync("python3", [new URL("executor.py", import.meta.url).pathname], { encoding: "utf8" });
const theirs = peers.status === 0 ? JSON.parse(peers.stdout) : undefined;
if (!theirs) console.log(`no peers in Python beside it: ${peers.stderr?.trim().split("\n").at(-1) ?? peers.error}`);
const tera = (size, us) => ((2 * size ** 3) / us / 1e6).toFixed(us > 1e4 ? 3 : 2);
const peer = (value, show) => (value === undefined ? "-" : show(value));

console.log(`${context.info.name}, Node ${process.versions.node}; ${theirs?.versions ?? ""}\n`);
rows.push(
  row("f32 product, TFLOPS", "ours (kernel)", "cuBLAS by koffi", "PyTorch", "CuPy", "NumPy", "WebAssembly, binary64"),
  row(...Array(7).fill("---")),
);
for (const size of [256, 512, 1024, 2048, 4096]) {
  const [left, right] = [random(size * size), random(size * size)];
  const [a, b, c] = [context.upload(left), context.upload(right), context.alloc("f32", size * size)];
  const count = size <= 1024 ? 50 : 5;
  const source = executor.matmul(a, b, c, size, size, size);
  const ours = micros(count, () => executor.matmul(a, b, c, size, size, size));
  let blas;
  if (executor.matmul(a, b, c, size, size, size, { blas: "auto" }).library === "cublas")
    blas = micros(count, () => executor.matmul(a, b, c, size, size, size, { blas: "cublas" }));
  let wasm;
  if (size <= 1024) {
    const weights = Matrix.zeros(size, size);
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) weights.data[j * size + i] = right[i * size + j];
    const out = new Float32Array(size * size);
    const write = (t, to) => to.set(left.subarray(t * size, (t + 1) * size));
    wasm = 1000 * (await wall(() => evaluateRows(weights, new Float64Array(size), size, write, out)));
  }
  const of = (name) => peer(theirs?.matmul[name]?.[size], (us) => tera(size, us));
  rows.push(
    row(
      `${size}^3`,
      `${tera(size, ours)} (${source.kernel})`,
      peer(blas, (us) => tera(size, us)),
      of("torch"),
      of("cupy"),
      of("numpy"),
      peer(wasm, (us) => tera(size, us)),
    ),
  );
  for (const buffer of [a, b, c]) buffer.dispose();
}
if (executor.blasProblem) rows.push("", `No cuBLAS: ${executor.blasProblem.split("\n")[0]}`);

const n = 2 ** 26;
const [x, y, z] = [context.upload(random(n)), context.upload(random(n)), context.alloc("f32", n)];
const vector = context.upload(random(8192));
const sum = context.alloc("f64", 1);
const norm = { gamma: vector, beta: vector, mean: vector, variance: context.upload(random(8192).map((value) => value + 2)) };
const gigabytes = (bytes, us) => (bytes / us / 1000).toFixed(0);
rows.push("", row("2^26 elements, GB/s read and written", "ours", "PyTorch"), row(...Array(3).fill("---")));
for (const [name, bytes, launch] of [
  ["vector_add", 12 * n, () => executor.vectorAdd(x, y, z)],
  ["elementwise_exp", 8 * n, () => executor.exp(x, z)],
  ["relu, in place", 8 * n, () => executor.relu(z)],
  ["sigmoid, in place", 8 * n, () => executor.sigmoid(z)],
  ["tanh_activation, in place", 8 * n, () => executor.tanh(z)],
  ["broadcast_add, rows of 8192", 8 * n, () => executor.broadcastAdd(z, vector, n / 8192, 8192)],
  ["batch_norm, rows of 8192", 8 * n, () => executor.batchNorm(z, norm, n / 8192, 8192)],
  ["softmax, rows of 8192", 8 * n, () => executor.softmax(z, n / 8192, 8192)],
  ["softmax, rows of 128", 8 * n, () => executor.softmax(z, n / 128, 128)],
  ["reduce_sum, in binary64", 4 * n, () => executor.reduceSum(x, sum)],
  ["dot_product, in binary64", 8 * n, () => executor.dot(x, y, sum)],
]) {
  rows.push(
    row(
      name,
      gigabytes(bytes, micros(5, launch)),
      peer(theirs?.bandwidth[name], (us) => gigabytes(bytes, us)),
    ),
  );
}

const size = 1024;
const [left, right] = [random(size * size), random(size * size)];
const layers = [size, size, size].map((outputs, i) => ({
  weights: random(size * outputs),
  inputs: size,
  outputs,
  bias: random(outputs),
  activation: ["relu", "tanh", "softmax"][i],
}));
const network = executor.network(layers);
rows.push("", row("whole call from the host, ms", "ours", "PyTorch", "NumPy"), row(...Array(4).fill("---")));
const host = await wall(() => executor.matmul(left, right, size, size, size));
const forward = await wall(() => executor.neuralForward(left, size, network));
const told = (name) => ["torch", "numpy"].map((lib) => peer(theirs?.host[lib]?.[name], (us) => (us / 1000).toFixed(2)));
rows.push(row("1024^3 product, arrays there and back", host.toFixed(2), ...told("matmul")));
rows.push(row("three layers of 1024 (relu, tanh, softmax), batch 1024, weights on the device", forward.toFixed(2), ...told("forward")));
console.log(rows.join("\n"));
executor.dispose();
