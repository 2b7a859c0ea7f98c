// What is shipped as PTX under a lowered header, on a real GPU: it loads, and computes what the
// header that the compiler wrote and NVRTC's own compilation of the source compute, bit for bit.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Context,
  loadNvrtc,
  type Module,
  ptxEntries,
  shippedManifest,
  shippedPtx,
  shippedSource,
} from "../../../packages/gpu/src/index.js";
import { openHardware } from "../device/device.js";
import { randomArray } from "../numbers.js";

let context: Context;

beforeAll(() => {
  context = openHardware();
});
afterAll(() => context?.dispose());

/**
 * What kernels of every kind of instruction make of the same numbers: elementwise, transcendental,
 * shuffles and shared memory, binary64, tiles.
 */
function results(module: Module): (Float32Array | Float64Array)[] {
  using stream = context.stream();
  const [rows, columns] = [37, 300];
  const n = rows * columns;
  const out: (Float32Array | Float64Array)[] = [];
  const x = randomArray(n, 3, 5);
  for (const name of ["sigmoid", "tanh_activation", "relu"]) {
    using data = context.upload(x);
    stream.launch(module.kernel(name, ["f32*", "i32"]), { grid: 8, block: 256 }, data, n);
    out.push(context.read(data));
  }
  using soft = context.upload(x);
  stream.launch(module.kernel("softmax", ["f32*", "i32", "i32"]), { grid: 10, block: [64, 4] }, soft, rows, columns);
  out.push(context.read(soft));
  using partial = context.zeros("f64", 5);
  using input = context.upload(x);
  stream.launch(module.kernel("reduce_sum", ["const f32*", "f64*", "i32"]), { grid: 5, block: 256 }, input, partial, n);
  out.push(context.read(partial));
  using product = context.zeros("f32", rows * rows);
  const multiply = module.kernel("matmul_small", ["const f32*", "const f32*", "f32*", "i32", "i32", "i32"]);
  stream.launch(multiply, { grid: 4, block: 128 }, input, input, product, rows, columns, rows);
  out.push(context.read(product));
  // All of it, so that no thread of a tile was left out.
  out.at(-1)!.forEach((value, at) => {
    const [row, column] = [Math.floor(at / rows), at % rows];
    const exact = x.subarray(row * columns, (row + 1) * columns).reduce((sum, left, k) => sum + left * x[k * rows + column]!, 0);
    expect(value).toBeCloseTo(exact, 1);
  });
  return out;
}

describe("shipped PTX", () => {
  it.each(shippedManifest().filter(({ images }) => images.length > 0))("of $source loads whole", ({ name }) => {
    using module = context.load(shippedPtx(name, { computeCapability: context.info.computeCapability }), { label: name });
    expect(module.kernelNames!.length).toBeGreaterThan(0);
  });

  it.each([
    ["6.3", "sm_75"],
    ["7.0", "sm_75"],
    ["9.0", "sm_75"],
  ])("computes the same bits under the lowest header as under %s/%s", (version, target) => {
    const ptx = shippedPtx("executor");
    expect(ptx).toMatch(/^\.version 6\.0\n\.target sm_70\n/);
    using lowest = context.load(ptx);
    using other = context.load(ptx.replace(/^\.version .*\n\.target .*$/m, `.version ${version}\n.target ${target}`));
    expect(results(other)).toEqual(results(lowest));
  });

  it.each(shippedManifest())("of $source has a source that NVRTC compiles, with its includes", ({ name, images }) => {
    const { source, headers, options } = shippedSource(name);
    const architecture = images.at(-1)!.target.replace("sm_70", "sm_75").replace("sm", "compute");
    const compiled = loadNvrtc({ cache: false }).compile(source, { name: `${name}.cu`, headers, options, architecture });
    const names = images.at(-1)!.entries.map((entry) => entry.name);
    expect([...ptxEntries(compiled.ptx!).keys()].sort()).toEqual(names.sort());
  });

  it("computes the same bits as its source compiled by NVRTC for this device", () => {
    const { source, headers, options } = shippedSource("executor");
    using shipped = context.load(shippedPtx("executor"));
    using compiled = context.compile(source, { name: "executor.cu", headers, options, cache: false });
    expect(results(compiled)).toEqual(results(shipped));
  });
});
