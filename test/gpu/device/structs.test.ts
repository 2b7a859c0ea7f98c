// Kernels that take structs by value: what nvcc made of vector types, functors and
// __grid_constant__ parameters.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Context,
  dim3,
  GpuDevice,
  KernelLauncher,
  type Module,
  type Stream,
  struct,
  vector,
} from "../../../packages/gpu/src/index.js";
import { fixture, openTestDevice } from "./device.js";

let context: Context;
let module: Module;
let stream: Stream;

beforeAll(() => {
  context = openTestDevice();
  module = context.load(fixture("structs.ptx"), { label: "structs" });
  stream = context.stream();
});

afterAll(() => context?.dispose());

const x = Float32Array.from({ length: 100 }, (_, i) => i - 50);
const launch = { grid: 1, block: 128 };
const settings = struct(
  {
    kind: "i8",
    rate: "f64",
    counts: ["i16", 3],
    flags: [struct({ on: "bool", tag: "i8" }), 2],
    key: "i64",
    half: "f16",
    color: vector("f32", 4),
    target: "u32*",
  },
  { name: "Settings" },
);

describe("a struct by value", () => {
  it("is a float4", () => {
    const cubic = module.kernel("cubic", [vector("f32", 4), "const f32*", "f32*", "i32"], { lengths: [[], [3], [3]] });
    using input = context.upload(x);
    using out = context.zeros("f32", 100);
    stream.launch(cubic, launch, { x: 1, y: -2, z: 0.5, w: 8 }, input, out, 100);
    expect(context.read(out)).toEqual(x.map((v) => v ** 3 - 2 * v * v + 0.5 * v + 8));
  });

  it("is a dim3", () => {
    using out = context.zeros("u32", 1);
    stream.launch(module.kernel("volume", [dim3, "u32*"]), launch, { x: 3, y: 5, z: 7 }, out);
    expect([...context.read(out)]).toEqual([105]);
  });

  it("is a functor that holds device memory", () => {
    const affine = struct({ factor: "f32", offsets: "const f32*" });
    const kernel = module.kernel("_Z9transformI6AffineEvPKfPfiT_", ["const f32*", "f32*", "i32", affine]);
    using offsets = context.upload(Float32Array.of(100, 200));
    using input = context.upload(x);
    using out = context.zeros("f32", 100);
    stream.launch(kernel, launch, input, out, 100, { factor: 3, offsets });
    expect(context.read(out)).toEqual(x.map((v, i) => 3 * v + (i % 2 ? 200 : 100)));
  });

  it("is a functor without members", () => {
    const kernel = module.kernel("_Z9transformI7NothingEvPKfPfiT_", ["const f32*", "f32*", "i32", struct({})]);
    using input = context.upload(x);
    using out = context.zeros("f32", 100);
    stream.launch(kernel, launch, input, out, 100, {});
    expect(context.read(out)).toEqual(x.map((v) => -v));
  });

  it("is a __grid_constant__ with arrays, structs, halves and vectors within", () => {
    const kernel = module.kernel("fields", [settings, "f64*"]);
    expect(settings.offsets).toEqual({ kind: 0, rate: 8, counts: 16, flags: 22, key: 32, half: 40, color: 48, target: 64 });
    using out = context.zeros("f64", 15);
    using target = context.zeros("u32", 1);
    const flags = [
      { on: true, tag: -5 },
      { on: false, tag: 6 },
    ];
    const color = { x: 0.25, y: 0.5, z: 0.75, w: 1 };
    const values = { kind: -7, rate: 1 / 3, counts: Int16Array.of(-1, 2, -3), flags, key: -(2n ** 40n), half: 1.5, color, target };
    stream.launch(kernel, launch, values, out);
    expect([...context.read(out)]).toEqual([-7, 1 / 3, -1, 2, -3, 1, -5, 0, 6, -(2 ** 40), 1.5, 0.25, 0.5, 0.75, 1]);
    expect([...context.read(target)]).toEqual([settings.bytes]);
  });

  it("is packed, or aligned to more than its fields ask for", () => {
    using sum = context.zeros("u32", 1);
    const packed = struct({ tag: "u8", value: "u32" }, { pack: 1 });
    stream.launch(module.kernel("packed", [packed, "u32*"]), launch, { tag: 200, value: 4_000_000_000 }, sum);
    expect([...context.read(sum)]).toEqual([4_000_000_200]);
    using first = context.zeros("i32", 1);
    stream.launch(module.kernel("line", [struct({ first: "i32" }, { align: 64 }), "i32*"]), launch, { first: -9 }, first);
    expect([...context.read(first)]).toEqual([-9]);
  });

  it("is given as its bytes, to a typed launch and by name", () => {
    using out = context.zeros("u32", 1);
    const bytes = new Uint8Array(Uint32Array.of(2, 3, 4).buffer);
    stream.launch(module.kernel("volume", ["bytes[12]", "u32*"]), launch, bytes, out);
    expect([...context.read(out)]).toEqual([24]);
    using launcher = new KernelLauncher(new GpuDevice(context));
    launcher.loadAndLaunchPtx(fixture("structs.ptx"), "volume", 1, 1, [Uint32Array.of(5, 6, 7), out]);
    launcher.device.stream.sync();
    expect([...context.read(out)]).toEqual([210]);
  });

  it("keeps its memory for as long as a graph that was captured with it", () => {
    const affine = struct({ factor: "f32", offsets: "const f32*" });
    const kernel = module.kernel("_Z9transformI6AffineEvPKfPfiT_", ["const f32*", "f32*", "i32", affine]);
    const offsets = context.upload(Float32Array.of(1, 2), { label: "offsets" });
    using input = context.upload(x);
    using out = context.zeros("f32", 100);
    using graph = stream.capture((s) => s.launch(kernel, launch, input, out, 100, { factor: 1, offsets }));
    graph.launch(stream);
    stream.sync();
    offsets.dispose();
    expect(() => graph.launch(stream)).toThrow(/"offsets".* was disposed/);
  });
});
