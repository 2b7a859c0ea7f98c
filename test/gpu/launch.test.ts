// Typed launches: what TypeScript refuses, what is refused at load, and what is refused at the
// launch.
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type ArgumentsFor,
  type Context,
  type DeviceSlice,
  type DriverCall,
  type DriverFunction,
  openDevice,
  type ReadonlyDeviceSlice,
  struct,
  vector,
} from "../../packages/gpu/src/index.js";
import { launchConfigLayout } from "../../packages/gpu/src/launch-config.js";
import { FakeDriver, type FakeOptions } from "./fake-driver.js";

const ptx = `.version 6.3
.target sm_70
.visible .entry gemv(
	.param .u64 .ptr .align 1 gemv_param_0, // const float*
	.param .u64 gemv_param_1,
	.param .u32 gemv_param_2,
	.param .f32 gemv_param_3
)
.maxntid 128 { ret; }
.visible .entry scalars(.param .u8 a, .param .u8 b, .param .u16 c, .param .u16 d, .param .u64 e, .param .u64 f,
  .param .align 2 .b8 g[2], .param .align 2 .b8 h[2], .param .f64 i, .param .u8 j) { ret; }
.visible .entry shaped(.param .align 8 .b8 s[24], .param .u32 n) { ret; }
.visible .entry none { ret; }`;

const gemvParameters = ["const f32*", "f32*", "i32", "f32"] as const;

function opened(options?: FakeOptions): { driver: FakeDriver; context: Context } {
  const driver = new FakeDriver(options);
  return { driver, context: openDevice({ driver, onLeak: () => undefined }) };
}

/** A launch of gemv with these arguments, whatever their types. */
function launching(values: (context: Context) => readonly unknown[]): () => void {
  const { context } = opened();
  const gemv = context.load(ptx).kernel("gemv", gemvParameters);
  const stream = context.stream();
  return () => stream.launch(gemv, { grid: 1, block: 32 }, ...(values(context) as unknown as ArgumentsFor<typeof gemvParameters>));
}

const good = (context: Context) => [context.alloc("f32", 8), context.alloc("f32", 8), 8, 0.5] as const;

describe("the types of a launch", () => {
  it("follow from the parameters", () => {
    expectTypeOf<ArgumentsFor<["const f32*", "f32*", "i32", "u64", "bool", "f16"]>>().toEqualTypeOf<
      [ReadonlyDeviceSlice<"f32"> | null, DeviceSlice<"f32"> | null, number, bigint | number, boolean, number]
    >();
  });

  it("refuse a wrong count, element type, constness and kind", () => {
    const { context } = opened();
    const gemv = context.load(ptx).kernel("gemv", gemvParameters);
    const stream = context.stream();
    const config = { grid: 1, block: 32 };
    const a = context.alloc("f32", 8);
    const integers = context.alloc("i32", 8);
    stream.launch(gemv, config, a.readonly(), a, 8, 0.5);
    stream.launch(gemv, config, null, a.slice(2), 8, 0.5);
    // @ts-expect-error: an argument too few
    expect(() => stream.launch(gemv, config, a, a, 8)).toThrow(
      "kernel gemv: 3 arguments were given; it takes 4: (const f32*, f32*, i32, f32)",
    );
    // @ts-expect-error: integers for floats
    expect(() => stream.launch(gemv, config, integers, a, 8, 0.5)).toThrow('argument 0 holds i32; the parameter is "const f32*"');
    // @ts-expect-error: read-only memory that would be written
    expect(() => stream.launch(gemv, config, a, a.readonly(), 8, 0.5)).toThrow("argument 1 is read-only memory");
    // @ts-expect-error: a number for a pointer
    expect(() => stream.launch(gemv, config, 7, a, 8, 0.5)).toThrow(
      'argument 0 ("const f32*") is 7; it takes a buffer, a slice of one, or null',
    );
    // @ts-expect-error: a bigint for a 32-bit integer
    expect(() => stream.launch(gemv, config, a, a, 8n, 0.5)).toThrow(
      'argument 2 ("i32") is 8n; it takes a whole number from -2147483648 to 2147483647',
    );
    // @ts-expect-error: no such parameter
    expect(() => context.load(ptx).kernel("gemv", ["float*"])).toThrow(
      'parameter 0 is "float*"; a parameter is such as "i32", "f32*", "const f32*", "bytes[48]" or struct({ x: "f32" })',
    );
  });
});

describe("a kernel's declaration", () => {
  it("is held against the PTX entry: count, width, and floating point against integer", () => {
    const { context } = opened();
    const module = context.load(ptx);
    expect(module.kernelNames).toEqual(["gemv", "scalars", "shaped", "none"]);
    expect(module.kernel("gemv", gemvParameters).checkedBy).toBe("ptx");
    expect(() => module.kernel("gemv", ["f32*", "f32*"])).toThrow("kernel gemv: 2 parameters were declared; the kernel has 4");
    expect(() => module.kernel("gemv", ["f32*", "f32*", "i64", "f32"])).toThrow(
      'parameter 2 is .u32 of 4 bytes in the PTX; it was declared "i64"',
    );
    expect(() => module.kernel("gemv", ["f32*", "f32*", "f32", "f32"])).toThrow(
      'parameter 2 is .u32 of 4 bytes in the PTX; it was declared "f32"',
    );
    expect(() => module.kernel("gemv", ["f32*", "f32*", "i32", "i32"])).toThrow(
      'parameter 3 is .f32 of 4 bytes in the PTX; it was declared "i32"',
    );
  });

  it("is held against the sizes that the driver tells of a cubin, and against nothing where it tells none", () => {
    const cubin = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46);
    const { context } = opened({ parameters: { gemv: [8, 8, 4, 4] } });
    expect(context.load(cubin).kernel("gemv", gemvParameters).checkedBy).toBe("driver");
    expect(() => context.load(cubin).kernel("gemv", ["f32*", "f32*", "f64", "f32"])).toThrow('parameter 2 takes 4 bytes; "f64" has 8');
    const old = opened({ lacks: ["cuFuncGetParamInfo"] }).context;
    expect(old.load(cubin).kernel("gemv", gemvParameters).checkedBy).toBe("none");
  });

  it("may say which arguments give the lengths of buffers", () => {
    const { context } = opened();
    const module = context.load(ptx);
    const stream = context.stream();
    const gemv = module.kernel("gemv", gemvParameters, { lengths: [[2], [2]] });
    const eight = context.alloc("f32", 8);
    stream.launch(gemv, { grid: 1, block: 8 }, eight, eight, 8, 1);
    expect(() => stream.launch(gemv, { grid: 1, block: 8 }, eight, eight.slice(1), 8, 1)).toThrow(
      "kernel gemv: argument 1 has 7 elements; the kernel touches 8 (argument 2)",
    );
    expect(() => module.kernel("gemv", gemvParameters, { lengths: [[3]] })).toThrow("lengths[0] names parameter 3, which is no integer");
  });
});

describe("the arguments of a launch", () => {
  it.each([
    ["NaN for an integer", (c: Context) => [...good(c).slice(0, 2), Number.NaN, 1], 'argument 2 ("i32") is NaN; it takes a whole number'],
    ["an integer too large", (c: Context) => [...good(c).slice(0, 2), 2 ** 31, 1], 'argument 2 ("i32") is 2147483648'],
    ["a fraction", (c: Context) => [...good(c).slice(0, 2), 1.5, 1], 'argument 2 ("i32") is 1.5'],
    [
      "a number beyond f32",
      (c: Context) => [...good(c).slice(0, 3), 1e39],
      'argument 3 ("f32") is 1e+39; it takes a number that f32 can hold',
    ],
    ["undefined", (c: Context) => [...good(c).slice(0, 3), undefined], 'argument 3 ("f32") is missing; it takes a number'],
    ["a host array", (c: Context) => [new Float32Array(8), ...good(c).slice(1)], 'argument 0 ("const f32*") is Float32Array'],
    [
      "another context's memory",
      (c: Context) => [opened().context.alloc("f32", 8), ...good(c).slice(1)],
      "argument 0 is memory of another context",
    ],
  ])("refuse %s", (_what, values, sentence) => {
    expect(launching(values)).toThrow(sentence);
  });

  it("take NaN and the infinities as numbers of f32", () => {
    expect(launching((c) => [...good(c).slice(0, 3), Number.NaN])).not.toThrow();
    expect(launching((c) => [...good(c).slice(0, 3), Number.NEGATIVE_INFINITY])).not.toThrow();
  });

  it("refuse memory that was disposed, by its name and where it was made", () => {
    const spent = (c: Context) => {
      const buffer = c.alloc("f32", 8, { label: "spent" });
      buffer.dispose();
      return [buffer, ...good(c).slice(1)];
    };
    expect(launching(spent)).toThrow(/^the buffer "spent" of 32 bytes made at .*launch\.test\.ts:\d+:\d+ was disposed/);
  });

  it("are written little-endian in slots of eight bytes, in every width", () => {
    const { context, driver } = opened();
    const parameters = ["i8", "u8", "i16", "u16", "i64", "u64", "f16", "bf16", "f64", "bool"] as const;
    const kernel = context.load(ptx).kernel("scalars", parameters);
    const stream = context.stream();
    stream.launch(kernel, { grid: 1, block: 1 }, -1, 255, -2, 65535, -3, 2n ** 64n - 1n, 1.5, 1.5, -0.5, true);
    const slots = new DataView(driver.lastLaunch!.slots.buffer);
    const u64 = (index: number) => slots.getBigUint64(8 * index, true);
    expect(slots.getInt8(0)).toBe(-1);
    expect(slots.getUint8(8)).toBe(255);
    expect(slots.getInt16(16, true)).toBe(-2);
    expect(slots.getUint16(24, true)).toBe(65535);
    expect(u64(4)).toBe(2n ** 64n - 3n);
    expect(u64(5)).toBe(2n ** 64n - 1n);
    // 1.5 is 0x3e00 in half precision and 0x3fc0 in bfloat16.
    expect(slots.getUint16(48, true)).toBe(0x3e00);
    expect(slots.getUint16(56, true)).toBe(0x3fc0);
    expect(slots.getFloat64(64, true)).toBe(-0.5);
    expect(slots.getUint8(72)).toBe(1);
    stream.launch(kernel, { grid: 1, block: 1 }, 0, 0, 0, 0, -(2n ** 63n), 2 ** 53 - 1, 0, 0, 0, false);
    const extremes = new BigUint64Array(driver.lastLaunch!.slots.buffer);
    expect(extremes[4]).toBe(2n ** 63n);
    expect(extremes[5]).toBe(2n ** 53n - 1n);
    for (const [index, value] of [
      [4, 2n ** 63n],
      [5, -1],
      [5, 2 ** 53],
      [0, 128],
    ] as const) {
      const values: unknown[] = [0, 0, 0, 0, 0, 0, 0, 0, 0, false];
      values[index] = value;
      const launch = () => stream.launch(kernel, { grid: 1, block: 1 }, ...(values as unknown as ArgumentsFor<typeof parameters>));
      expect(launch, `${value} for argument ${index}`).toThrow(`kernel scalars: argument ${index} ("${parameters[index]}") is ${value}`);
    }
  });
});

describe("a struct by value", () => {
  const point = struct({ position: ["f32", 3], weight: "f64" }, { name: "Point" });
  const shaped = () => {
    const { context, driver } = opened();
    return { context, driver, module: context.load(ptx), stream: context.stream() };
  };
  const config = { grid: 1, block: 1 };

  it("takes an object with a value for each field", () => {
    const held = struct({ data: "const f32*", size: vector("i32", 2), name: "bytes[4]", many: [point, 2] });
    expectTypeOf<ArgumentsFor<[typeof held]>[0]>().toEqualTypeOf<{
      readonly data: ReadonlyDeviceSlice<"f32"> | null;
      readonly size: { readonly x: number; readonly y: number };
      readonly name: ArrayBufferView;
      readonly many: ArrayLike<{ readonly position: ArrayLike<number>; readonly weight: number }>;
    }>();
  });

  it("is written as C lays it out", () => {
    expect(point).toMatchObject({ bytes: 24, alignment: 8, offsets: { position: 0, weight: 16 } });
    const { driver, module, stream } = shaped();
    const kernel = module.kernel("shaped", [point, "i32"]);
    stream.launch(kernel, config, { position: Float32Array.of(1, 2, 3), weight: -4 }, 7);
    const { buffer } = driver.lastLaunch!.slots;
    expect([...new Float32Array(buffer, 0, 3)]).toEqual([1, 2, 3]);
    expect(new Float64Array(buffer, 16, 1)[0]).toBe(-4);
  });

  it("is held against the PTX entry by its size and alignment", () => {
    const { module } = shaped();
    const declaring = (first: Parameters<typeof module.kernel>[1][number]) => () => module.kernel("shaped", [first, "i32"]);
    expect(declaring(struct({ a: "f64", b: "f64" }, { name: "Pair" }))).toThrow(
      'kernel shaped: parameter 0 is .b8 of 24 bytes aligned to 8 in the PTX; it was declared "Pair", 16 bytes aligned to 8',
    );
    expect(declaring(struct({ a: "i32" }, { align: 32 }))).toThrow('it was declared "{a: i32}", 32 bytes aligned to 32');
    expect(declaring("bytes[20]")).toThrow('parameter 0 is .b8 of 24 bytes aligned to 8 in the PTX; it was declared "bytes[20]"');
    expect(() => module.kernel("gemv", ["f32*", "f32*", "bytes[4]", "f32"])).toThrow("parameter 2 is .u32 of 4 bytes");
  });

  it.each([
    ["a missing field", { position: [1, 2, 3] }, 'argument 0.weight ("f64") is missing; it takes a number'],
    ["a field that there is not", { position: [1, 2, 3], weight: 1, wieght: 2 }, '("Point") has a field "wieght" (did you mean "weight"?)'],
    ["an array of another length", { position: [1, 2], weight: 1 }, 'argument 0.position ("f32[3]") has 2 elements; it takes 3'],
    ["an element of another kind", { position: [1, 2, "3"], weight: 1 }, 'argument 0.position[2] ("f32") is "3"; it takes a number'],
    ["no array", { position: 5, weight: 1 }, 'argument 0.position ("f32[3]") is 5; it takes an array of 3'],
    ["no object", 5, 'argument 0 ("Point") is 5; it takes an object with the fields position, weight'],
    ["bytes", new Uint8Array(24), 'argument 0 ("Point") is Uint8Array; it takes an object'],
  ])("refuses %s by its place", (_what, value, sentence) => {
    const { module, stream } = shaped();
    const kernel = module.kernel("shaped", [point, "i32"]);
    expect(() => stream.launch(kernel, config, value as never, 7)).toThrow(sentence);
  });

  it("as bytes takes a view of so many", () => {
    const { module, stream } = shaped();
    const kernel = module.kernel("shaped", ["bytes[24]", "i32"]);
    stream.launch(kernel, config, new Float64Array(3), 7);
    expect(() => stream.launch(kernel, config, new Uint8Array(23), 7)).toThrow('argument 0 ("bytes[24]") has 23 bytes; it takes 24');
    expect(() => stream.launch(kernel, config, [1] as never, 7)).toThrow("it takes a Uint8Array of 24 bytes");
  });

  it("refuses memory in it as elsewhere", () => {
    const { context, module, stream } = shaped();
    const kernel = module.kernel("shaped", [struct({ data: "f32*", rest: "bytes[16]" }), "i32"]);
    const rest = new Uint8Array(16);
    const launching = (data: unknown) => () => stream.launch(kernel, config, { data, rest } as never, 7);
    expect(launching(context.alloc("i32", 1))).toThrow('argument 0.data holds i32; the parameter is "f32*"');
    expect(launching(context.alloc("f32", 1).readonly())).toThrow("argument 0.data is read-only memory");
    expect(launching(opened().context.alloc("f32", 1))).toThrow("argument 0.data is memory of another context");
  });

  it.each([
    ["a field of no type", () => struct({ a: "float" as "f32" }), 'field "a" is "float"; a field is such as "f32"'],
    ["an array of none", () => struct({ a: ["f32", 0] }), 'field "a" is an array of 2; an array is [type, count]'],
    ["a name that C has not", () => struct({ "a b": "f32" }), 'a field is called "a b"'],
    ["an alignment that is no power of two", () => struct({ a: "f32" }, { align: 12 }), "align is 12; it takes a power of two"],
    ["an offset within another field", () => struct({ a: "f64", b: "f32" }, { offsets: { b: 4 } }), "offsets.b is 4; it takes 8"],
    ["an offset of no field", () => struct({ a: "f64" }, { offsets: { c: 4 } as never }), 'unknown field "offsets.c"'],
    ["more bytes than parameters take", () => struct({ a: ["f64", 4096] }), "32768 bytes; the parameters of a kernel take 32764"],
    ["a vector of five", () => vector("f32", 5 as 4), "there is no vector of 5"],
  ])("cannot be described with %s", (_what, make, sentence) => {
    expect(make).toThrow(sentence);
  });

  it("has the alignments of CUDA's vector types", () => {
    const layouts = (["f32", "f64", "i16", "f16"] as const).map((dtype) => ([1, 2, 3, 4] as const).map((n) => vector(dtype, n).alignment));
    expect(layouts).toEqual([
      [4, 8, 4, 16],
      [8, 16, 8, 16],
      [2, 4, 2, 8],
      [2, 4, 2, 8],
    ]);
  });

  it("may have fields where C would not put them", () => {
    const spread = struct({ a: "u8", b: "u32", c: "u8" }, { offsets: { b: 12 } });
    expect(spread).toMatchObject({ bytes: 20, offsets: { a: 0, b: 12, c: 16 } });
  });
});

describe("the shape of a launch", () => {
  const launched = (config: Parameters<ReturnType<Context["stream"]>["launch"]>[1], options?: FakeOptions) => {
    const { context, driver } = opened(options);
    context.stream().launch(context.load(ptx).kernel("none", []), config);
    return new DataView(driver.lastLaunch!.config.buffer);
  };

  it("is written as CUlaunchConfig", () => {
    const config = launched({ grid: [4, 5], block: [8, 2, 2], shared: 1000, cluster: [2, 5] });
    expect(Array.from({ length: 7 }, (_, i) => config.getUint32(4 * i, true))).toEqual([4, 5, 1, 8, 2, 2, 1000]);
    expect(config.getUint32(launchConfigLayout.countAt, true)).toBe(1);
    expect([64, 72, 76, 80].map((at) => config.getUint32(at, true))).toEqual([4, 2, 5, 1]);
  });

  it("has an attribute for each of cooperative (2), overlap (6, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) and cluster (4)", () => {
    const config = launched({ grid: 4, block: 8, cooperative: true, overlap: true, cluster: 2 });
    expect(config.getUint32(launchConfigLayout.countAt, true)).toBe(3);
    expect([64, 72, 136, 144, 208, 216].map((at) => config.getUint32(at, true))).toEqual([2, 1, 6, 1, 4, 2]);
  });

  it.each([
    [{ grid: 0, block: 1 }, "kernel none: grid.x is 0; it takes a whole number from 1 to 2147483647"],
    [{ grid: [1, 65536], block: 1 }, "grid.y is 65536; it takes a whole number from 1 to 65535"],
    [{ grid: 2 ** 32, block: 1 }, "grid.x is 4294967296"],
    [{ grid: 1.5, block: 1 }, "grid.x is 1.5"],
    [{ grid: Number.NaN, block: 1 }, "grid.x is NaN"],
    [{ grid: 1, block: [1, 1, 65] }, "block.z is 65; it takes a whole number from 1 to 64"],
    [{ grid: 1, block: [64, 32] }, "a block of 2048 threads is too large: this kernel takes at most 1024 here"],
    [{ grid: 1, block: 1, shared: -1 }, "shared is -1; it takes a whole number of bytes"],
    [{ grid: 1, block: 1, shared: 300_000 }, "shared is 300000 bytes; beside its 16 static bytes a block can have 232432 here"],
    [{ grid: 6, block: 1, cluster: 4 }, "grid.x is 6, which is no multiple of cluster.x, 4"],
  ] as const)("%j is refused by name", (config, sentence) => {
    expect(() => launched(config)).toThrow(sentence);
  });

  it("without clusters, cooperative launches or launches that overlap refuses them", () => {
    expect(() => launched({ grid: 2, block: 1, cluster: 2 }, { attributes: { 120: 0 } })).toThrow("this device has no clusters");
    expect(() => launched({ grid: 2, block: 1, cooperative: true }, { attributes: { 95: 0 } })).toThrow("no cooperative launches");
    expect(() => launched({ grid: 2, block: 1, overlap: true }, { attributes: { 75: 8 } })).toThrow("no launches that overlap");
  });
});

/** A driver whose launches do nothing at all, so that a test measures the work of this package alone. */
class IdleLaunches extends FakeDriver {
  override resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
    return name === "cuLaunchKernelEx" ? ((() => 0) as DriverFunction<Name>) : super.resolve(name);
  }
}

it("a launch allocates nothing", () => {
  using context = openDevice({ driver: new IdleLaunches(), onLeak: () => undefined });
  const gemv = context.load(ptx).kernel("gemv", gemvParameters);
  const stream = context.stream();
  const [a, x] = [context.alloc("f32", 8), context.alloc("f32", 8)];
  const config = { grid: 1, block: 32 };
  const launches = 50_000;
  const grown = (): number => {
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < launches; i++) stream.launch(gemv, config, a, x, 8, 0.5);
    return (process.memoryUsage().heapUsed - before) / launches;
  };
  // Until the launch is compiled it does allocate, and a round in which rubbish is collected
  // shrinks.
  const rounds = Array.from({ length: 40 }, grown).filter((bytes) => bytes >= 0);
  expect(Math.min(...rounds)).toBeLessThan(1);
});
