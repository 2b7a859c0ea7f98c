// Measures the portable elementary functions against the C library's long double:
//   node --import tsx scripts/portable-accuracy.mjs tanh 100000000
// Prints one line of JSON: samples; maxUlp, the largest error in units in the last place, and
// where; the share that is correctly rounded; how often a value is below that of the smaller
// argument before it (for the rising functions: exp, log, tanh); how often a value passes 1. Needs
// gcc, and the WebAssembly module (`npm run build:wasm`).
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { portableCos, portableExp, portableLog, portablePow, portableSin } from "../packages/numerics/src/index.ts";
import { RandomStream, seedKeys } from "../packages/numerics/src/random.ts";
import { wasmInstance, wasmReserved } from "../packages/numerics/src/wasm/index.ts";

const blockSize = 65536;
/** Neighbouring arguments that follow each draw: a decrease from one to the next is detected. */
const runLength = 16;

const stream = new RandomStream(seedKeys("accuracy").weights, 0);
let draws = 0;
const uniform = (low, high) => low + (high - low) * stream.uniform(0, draws++);
const oneOf = (...ways) => ways[stream.integer(0, draws++, ways.length)]();

const bits = new DataView(new ArrayBuffer(8));
const patternOf = (x) => {
  bits.setFloat64(0, x);
  return bits.getBigUint64(0);
};
const ofPattern = (pattern) => {
  bits.setBigUint64(0, pattern);
  return bits.getFloat64(0);
};

/** Evenly over the bit patterns between two positive numbers: every binade gets its share. */
function anyBetween(low, high) {
  const part = BigInt(stream.integer(0, draws++, 2 ** 48)) * 2n ** 48n + BigInt(stream.integer(0, draws++, 2 ** 48));
  const first = patternOf(low);
  return ofPattern(first + (((patternOf(high) - first) * part) >> 96n));
}

const anySign = (x) =>
  oneOf(
    () => x,
    () => -x,
  );
const angle = () =>
  anySign(
    oneOf(
      () => uniform(0, 10),
      () => anyBetween(2 ** -30, 2 ** 30),
      () => anyBetween(2 ** 30, Number.MAX_VALUE),
    ),
  );
const positive = () =>
  oneOf(
    () => anyBetween(5e-324, Number.MAX_VALUE),
    () => uniform(0.5, 2),
  );
const logarithm = () =>
  oneOf(
    () => uniform(-745.2, 709.7),
    () => uniform(-1, 1),
  );

const nextDouble = (x) => ofPattern(patternOf(x) + (x < 0 ? -1n : 1n));
const nextSingle = (x) => Math.fround(x + Math.abs(x) * 2 ** -23 * 0.75);

/** tanh as the kernels compute it: by an array function of the WebAssembly module. */
function tanhOf(precision) {
  const { exports, memory } = wasmInstance(blockSize * 8);
  const values = new (precision === 32 ? Float32Array : Float64Array)(memory.buffer, wasmReserved, blockSize);
  return (xs) => {
    values.set(xs);
    exports[`tanhArray${precision}`](wasmReserved, wasmReserved, blockSize);
    return values;
  };
}
const each = (f) => (xs, ys) => xs.map((x, i) => f(x, ys[i]));

const functions = {
  exp: { draw: () => [logarithm()], apply: () => each(portableExp) },
  log: { draw: () => [positive()], apply: () => each(portableLog) },
  sin: { draw: () => [angle()], apply: () => each(portableSin) },
  cos: { draw: () => [angle()], apply: () => each(portableCos) },
  pow: {
    draw: () => {
      const x = positive();
      return [x, logarithm() / Math.log(x) || 1];
    },
    apply: () => each(portablePow),
  },
  tanh: {
    draw: () => [
      anySign(
        oneOf(
          () => anyBetween(2 ** -30, 20),
          () => uniform(0, 3),
        ),
      ),
    ],
    apply: () => tanhOf(64),
  },
  tanh32: {
    draw: () => [
      Math.fround(
        anySign(
          oneOf(
            () => anyBetween(2 ** -30, 10),
            () => uniform(0, 3),
          ),
        ),
      ),
    ],
    next: nextSingle,
    apply: () => tanhOf(32),
  },
};

const [name = "", count = "1000000"] = process.argv.slice(2);
if (!Object.hasOwn(functions, name)) throw new Error(`function is "${name}"; it takes ${Object.keys(functions).join(", ")}`);
const samples = Number(count);
if (!(samples >= 1)) throw new Error(`samples is ${count}; it takes a number of at least 1`);
const { draw, next = nextDouble, apply } = functions[name];

const folder = mkdtempSync(join(tmpdir(), "portable-accuracy-"));
try {
  const program = join(folder, "measure");
  execFileSync("gcc", ["-O2", "-o", program, fileURLToPath(new URL("portable-accuracy.c", import.meta.url)), "-lm"], { stdio: "inherit" });
  const measure = spawn(program, [name], { stdio: ["pipe", "inherit", "inherit"] });
  const closed = once(measure, "close");
  const values = apply();
  for (let done = 0; done < samples; done += blockSize) {
    const xs = new Float64Array(blockSize);
    const ys = new Float64Array(blockSize);
    for (let i = 0; i < blockSize; i += runLength) {
      const [x, y = 0] = draw();
      xs[i] = x;
      ys.fill(y, i, i + runLength);
      for (let j = i + 1; j < i + runLength; j++) xs[j] = next(xs[j - 1]);
    }
    const results = values(xs, ys);
    const records = new Float64Array(3 * blockSize);
    for (let i = 0; i < blockSize; i++) records.set([xs[i], ys[i], results[i]], 3 * i);
    if (!measure.stdin.write(new Uint8Array(records.buffer))) await once(measure.stdin, "drain");
  }
  measure.stdin.end();
  const [status] = await closed;
  process.exitCode = status;
} finally {
  rmSync(folder, { recursive: true });
}
