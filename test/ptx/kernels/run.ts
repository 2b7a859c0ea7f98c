// Runs generated kernels in the interpreter with every check on; outputs are poisoned, to show an
// element that was never written.
import { PtxMachine } from "../../../packages/ptx/src/interpreter/index.js";
import type { GeneratedKernel } from "../../../packages/ptx/src/kernels/generated-kernel.js";
import { type Array as HostArray, words } from "../device.js";

type Argument = number | { input: HostArray } | { output: HostArray } | { changed: HostArray };

/**
 * Launches a kernel; outputs hold 0xff bytes (a NaN, or the largest number) before it, as a device
 * would leave anything, and what is changed holds what it held.
 */
export function runKernel(kernel: GeneratedKernel, args: readonly Argument[], ptx = kernel.ptx): void {
  const machine = new PtxMachine({ memoryBytes: 2 ** 22, launchBytes: 2 ** 23 });
  const program = machine.load(ptx);
  const uploads = args.map((each) => {
    if (typeof each === "number") return each;
    const array = "output" in each ? each.output : "changed" in each ? each.changed : each.input;
    const address = machine.allocate(array.byteLength);
    if ("output" in each) new Uint8Array(array.buffer, array.byteOffset, array.byteLength).fill(0xff);
    machine.write(address, array);
    return address;
  });
  const { name, grid, block, dynamicSharedBytes } = kernel;
  program.launch({
    entry: name,
    grid,
    block,
    dynamicSharedBytes,
    args: uploads,
    limits: { steps: 1e6, idleSteps: 2e5 },
  });
  for (const [k, each] of args.entries()) {
    if (typeof each === "number" || "input" in each) continue;
    const { buffer, byteOffset, byteLength } = "output" in each ? each.output : each.changed;
    new Uint8Array(buffer, byteOffset, byteLength).set(machine.read(uploads[k] as bigint, byteLength));
  }
}

/** Numbers between -1 and 1, repeatable. */
export function uniform(count: number, seed: number, scale = 1): Float32Array {
  const random = words(seed);
  for (let k = 0; k < 8; k++) random();
  return Float32Array.from({ length: count }, () => (random() / 2 ** 31) * scale);
}

/** C = A B in double precision, and |A| |B|, against which an error is measured. */
export function product(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  m: number,
  n: number,
  k: number,
): { value: Float64Array; size: Float64Array } {
  const [value, size] = [new Float64Array(m * n), new Float64Array(m * n)];
  for (let row = 0; row < m; row++)
    for (let j = 0; j < k; j++)
      for (let column = 0; column < n; column++) {
        const term = a[row * k + j]! * b[j * n + column]!;
        value[row * n + column]! += term;
        size[row * n + column]! += Math.abs(term);
      }
  return { value, size };
}

/** The largest |got - value| / size; NaN if anything is not a number. */
export function worst(got: ArrayLike<number>, value: ArrayLike<number>, size: ArrayLike<number> | number): number {
  let most = 0;
  for (let k = 0; k < value.length; k++) {
    const error = Math.abs(got[k]! - value[k]!) / (typeof size === "number" ? size : Math.max(size[k]!, 1e-30));
    most = error <= most ? most : error;
    if (Number.isNaN(error)) return Number.NaN;
  }
  return most;
}
