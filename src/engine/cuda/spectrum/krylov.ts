// A Krylov-Schur iteration whose long vectors are on the device, with the host's bits: the order of
// every sum is that of assembly/spectrum/krylov.ts. The small projected problem is the host's, by
// the same code as there.
import { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceSlice, Parameter, Stream } from "@spillway/gpu";
import type { KrylovResult, KrylovTask } from "@spillway/numerics/spectrum/krylov-attempts.js";
import { ProjectedProblem, projectedBytes } from "@spillway/numerics/spectrum/projected-problem.js";
import { fixedVector } from "@spillway/numerics/spectrum/structure.js";
import { wasmInstance, wasmReserved } from "@spillway/numerics/wasm/index.js";
import type { WorkPacer } from "../../../reservoir/work.js";
import { shippedKernel } from "../kernels.js";
import type { DeviceOperator } from "./operators.js";

/**
 * What an Arnoldi step leaves (kernels/krylov_schur.cu, Record): three squared norms and then the
 * projections of two passes.
 */
const record = { before: 0, afterFirst: 1, afterSecond: 2, head: 4 } as const;

const recordLength = (full: number): number => record.head + 2 * full;

/** Bytes on the device beside the operator for a basis of `full` vectors of n numbers. */
export const iterationBytes = (n: number, full: number): number => 8 * (n * (full + 2) + full * (recordLength(full) + full + 1));

/** Kernels of the iteration. */
function kernelsOf(context: Context) {
  const kernel = (name: string, parameters: readonly Parameter[]) => shippedKernel(context, "krylov_schur", name, parameters);
  return {
    dots: kernel("krylov_dots", ["const f64*", "const f64*", "f64*", "f64*", "i32", "i32", "i32", "i32"]),
    subtract: kernel("krylov_subtract", ["const f64*", "f64*", "const f64*", "const f64*", "i32", "i32", "i32"]),
    normalise: kernel("krylov_normalise", ["f64*", "const f64*", "i32"]),
    changeBasis: kernel("krylov_change_basis", ["f64*", "const f64*", "i32", "i32", "i32", "i32"]),
  };
}

/**
 * One attempt with an operator on n rows that was divided by 2^exponent. @throws
 * WorkInterruptedError
 */
export async function iterateOnDevice(
  context: Context,
  stream: Stream,
  operator: DeviceOperator,
  n: number,
  { attempt, exponent }: KrylovTask,
  pacer: WorkPacer,
): Promise<KrylovResult> {
  const problem = new ProjectedProblem(wasmInstance(projectedBytes(attempt.full)), wasmReserved, n, attempt);
  const { full } = problem;
  const kernels = kernelsOf(context);
  const length = recordLength(full);
  using owned = new Held();
  const buffer = (count: number, label: string): DeviceBuffer<"f64"> => owned.own(context.alloc("f64", count, { label }));
  const basis = buffer((full + 1) * n, "Krylov basis");
  const scratch = buffer(n, "Krylov scratch");
  const records = buffer(full * length, "Krylov records");
  // A step writes as many projections as there are vectors, and records come back whole.
  stream.fill(records, 0);
  const q = buffer(problem.q.length, "change of basis");
  const vector = (j: number): DeviceSlice<"f64"> => basis.slice(j * n, (j + 1) * n);
  const dotThreads = 32 + Math.min(256, 32 * Math.ceil(n / 128));
  const wide = { grid: Math.min(4096, Math.ceil(n / 256)), block: 256 };

  const expand = (j: number): void => {
    const w = vector(j + 1);
    let from = vector(j);
    for (let left = attempt.power; left > 0; left--) {
      const to = left % 2 === 1 ? w : scratch;
      operator.multiply(stream, from, to);
      from = to;
    }
    const count = j + 1;
    const own = records.slice(j * length, (j + 1) * length);
    const [first, second] = [own.slice(record.head, record.head + full), own.slice(record.head + full, length)];
    const dots = (h: DeviceSlice<"f64">, which: number, on: number, last: number) =>
      stream.launch(kernels.dots, { grid: on + 1, block: dotThreads }, basis, w, h, own, which, last, on, n);
    dots(first, record.before, count, 0);
    stream.launch(kernels.subtract, wide, basis, w, first, own, 0, count, n);
    dots(second, record.afterFirst, count, 0);
    stream.launch(kernels.subtract, wide, basis, w, second, own, 1, count, n);
    dots(second, record.afterSecond, 0, 1);
    stream.launch(kernels.normalise, wide, w, own, n);
  };

  stream.upload(vector(0), unitStart(n));
  for (let restarts = 0; ; restarts++) {
    pacer.check(restarts);
    const begun = problem.size;
    for (let j = begun; j < full; j++) expand(j);
    const made = await stream.download(records.slice(begun * length, full * length));
    for (let at = 0; !problem.complete; at += length) {
      const before = made[at + record.before]!;
      let after = made[at + record.afterFirst]!;
      problem.project(made.subarray(at + record.head));
      if (ProjectedProblem.again(before, after)) {
        problem.project(made.subarray(at + record.head + full));
        after = made[at + record.afterSecond]!;
      }
      problem.couple(before, after);
    }
    const result = problem.result(restarts, exponent);
    if (result) return result;
    const size = problem.keep();
    stream.upload(q, problem.q);
    stream.launch(kernels.changeBasis, { grid: Math.ceil(n / 32), block: 256 }, basis, q, full, size, problem.ld, n);
    stream.copy(vector(size), vector(full));
    if (pacer.due()) await pacer.pause(restarts);
  }
}

/**
 * The start vector of every iteration, of norm 1: its squares are summed as the host's are, by
 * place modulo 4.
 */
function unitStart(n: number): Float64Array {
  const vector = fixedVector(n, 0);
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) sums[i & 3] = sums[i & 3]! + vector[i]! * vector[i]!;
  const factor = 1 / Math.sqrt(sums[0]! + sums[2]! + (sums[1]! + sums[3]!));
  for (let i = 0; i < n; i++) vector[i] = vector[i]! * factor;
  return vector;
}
