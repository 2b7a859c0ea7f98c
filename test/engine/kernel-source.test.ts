// Where a persistent plan's kernel comes from: shipped or compiled by NVRTC; how it is chosen, how
// the plan describes it, and what happens if one fails. What the kernels compute is in
// device/persistent.test.ts.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  CompileError,
  type CompileOptions,
  type DeviceInfo,
  LibraryError,
  type Nvrtc,
  openDevice,
  shippedPtx,
} from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { persistentLoops } from "../../src/engine/cuda/persistent/index.js";
import { type ModelShape, shapeOf } from "../../src/reservoir/shape.js";
import { bits, model, randomMatrix } from "./contract.js";

const shape = (size: number, more: Partial<ModelShape> = {}): ModelShape => ({
  ...{ size, inputSize: 1, outputSize: 0, nonzeros: size * size, noisy: false },
  ...({ storage: "dense", precision: "float32", weightPrecision: "full", arithmetic: "portable" } as const),
  ...more,
});

/** A device of an H200's measures, or of others. */
function device(more: Partial<DeviceInfo["attributes"]> = {}): DeviceInfo {
  const attributes = { multiprocessors: 132, sharedBytesPerBlockOptIn: 232_448, l2Bytes: 60e6, clusterLaunch: 1, cooperativeLaunch: 1 };
  return {
    name: "H200",
    computeCapability: [9, 0],
    attributes: { ...attributes, clockKilohertz: 1_980_000, ...more },
  } as unknown as DeviceInfo;
}

const best = (of: ModelShape, info: DeviceInfo, whyNoCompiler?: string) =>
  persistentLoops
    .plans(of, info, { whyNoCompiler: () => whyNoCompiler })
    .toSorted((a, b) => a.microsecondsPerStep - b.microsecondsPerStep)[0];

describe("the choice on an H200", () => {
  it.each([100, 256, 512, 1000, 2000, 4096])("takes a shipped kernel for %i neurons, which one suits", (size) => {
    expect(best(shape(size), device())?.kernelSource).toBe("shipped");
  });

  it.each([300, 700, 1500, 2500, 3200])("compiles one for %i neurons, which lie between the shipped ones", (size) => {
    const plan = best(shape(size), device())!;
    const shipped = persistentLoops.plans(shape(size), device(), { kernelSource: "shipped" });
    expect(plan.kernelSource).toBe("nvrtc");
    expect(plan.microsecondsPerStep).toBeLessThan(0.9 * Math.min(...shipped.map(({ microsecondsPerStep }) => microsecondsPerStep)));
  });

  it("takes a shipped kernel for short rows, which lie in its registers, and compiles one for longer ones", () => {
    const sparse = (size: number) => shape(size, { storage: "sparse", nonzeros: 0.1 * size * size });
    for (const size of [50, 300, 1000]) expect(best(sparse(size), device())?.kernelSource).toBe("shipped");
    expect(best(sparse(3000), device())?.kernelSource).toBe("nvrtc");
  });

  it.each([300, 1500, 2500])("takes a shipped kernel for %i neurons if there is no NVRTC", (size) => {
    expect(best(shape(size), device(), "no NVRTC")?.kernelSource).toBe("shipped");
  });

  it("does not look for NVRTC where none would be used", () => {
    const asked = vi.fn(() => undefined);
    persistentLoops.plans(shape(1000), device(), { whyNoCompiler: asked });
    expect(asked).not.toHaveBeenCalled();
  });
});

describe("the choice elsewhere", () => {
  it("compiles kernels for reservoirs that no shipped one takes: 1500 neurons on 16 multiprocessors", () => {
    const small = device({ multiprocessors: 16, clusterLaunch: 0, sharedBytesPerBlockOptIn: 166_912, l2Bytes: 4e6 });
    expect(persistentLoops.plans(shape(1500), small, { kernelSource: "shipped" })).toEqual([]);
    expect(best(shape(1500), small)?.kernelSource).toBe("nvrtc");
    expect(best(shape(1500), small, "no NVRTC")).toBeUndefined();
  });

  it.each([1, 37, 128, 640, 1000, 2048])("gives every compiled kernel for %i neurons memory for all of them", (size) => {
    for (const precision of ["float32", "float64"] as const)
      for (const { details } of persistentLoops.plans(shape(size, { precision }), device(), { kernelSource: "nvrtc" })) {
        const { columnsInRegisters, columnsInShared, columnsStreamed, blocks, threads, rowsPerWarp, sharedBytes } = details as Record<
          string,
          number
        >;
        expect(columnsInRegisters! + columnsInShared! + columnsStreamed!).toBeGreaterThanOrEqual(size);
        expect((blocks! * threads! * rowsPerWarp!) / 32).toBeGreaterThanOrEqual(size);
        expect(sharedBytes).toBeLessThanOrEqual(232_448);
      }
  });

  it.each(["float32", "float64"] as const)("has fast arithmetic in %s by compiled kernels", (precision) => {
    const fast = shape(500, { arithmetic: "fast", precision });
    const compiled = persistentLoops.plans(fast, device(), { kernelSource: "nvrtc" });
    expect(new Set(compiled.map(({ arithmetic }) => arithmetic))).toEqual(new Set(["fast"]));
    const shipped = persistentLoops.plans(fast, device(), { kernelSource: "shipped" });
    expect(shipped.filter(({ arithmetic }) => arithmetic === "fast")).toEqual([]);
  });
});

it.each(["dense", "sparse"] as const)(
  "a plan's bytes are what a loop of a shipped kernel (%s) holds, or a little more",
  async (storage) => {
    const context = openDevice({ driver: simulatedDriver({ multiprocessors: 132 }) });
    const model300 = model({ size: 300, connectionProbability: storage === "dense" ? 1 : 0.2, storage, seed: 5 });
    const plan = persistentLoops.plans(shapeOf(model300), context.info, { kernelSource: "shipped" })[0]!;
    const loop = (await plan.open(context, model300, { kernelSource: "shipped" }))!;
    expect(plan.bytes).toBeGreaterThan(loop.bytes - 4 * 300 - 24 - 1);
    expect(plan.bytes).toBeLessThan(2 * loop.bytes);
    loop.dispose();
    context.dispose();
  },
);

/** A stand-in for NVRTC. */
function compiler(compile: (options: CompileOptions) => never): Nvrtc {
  return {
    compile: (_: string, options: CompileOptions) => compile(options),
    compileAsync: async (_: string, options: CompileOptions) => compile(options),
  } as unknown as Nvrtc;
}

const refuses = compiler((options) => {
  throw new CompileError(options.name ?? "", "NVRTC_ERROR_COMPILATION", [], "no such luck");
});

const engineWith = (nvrtc: Nvrtc) =>
  deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ multiprocessors: 8 }), nvrtc }), stepsPerChunk: 16 });

/** On eight multiprocessors no shipped kernel suits these. */
const of = model({ size: 700, connectionProbability: 1, storage: "dense", spectralRadius: null, seed: 5, inputSize: 2 });
const inputs = randomMatrix(3, 2, "float32", 5);

async function states(
  engine: ReturnType<typeof engineWith>,
  options: Parameters<typeof engine.open>[1],
): Promise<{ bits: unknown; plan: Record<string, unknown> }> {
  const session = await engine.open(of, options);
  const out = Matrix.zeros(3, of.size, "float32");
  await session.run({ inputs }, { into: out });
  const { details } = session.plan;
  await session.dispose();
  return { bits: bits(out.data), plan: details };
}

afterEach(() => vi.restoreAllMocks());

describe("opening", () => {
  it("goes on with the next source where NVRTC fails, says so once, and the bits stay", async () => {
    const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const engine = engineWith(refuses);
    expect(engine.plan(of).details["kernelSource"]).toBe("nvrtc");
    const automatic = await states(engine, {});
    expect(automatic.plan["kernelSource"]).toBe("shipped");
    await states(engine, {});
    expect(warning.mock.calls.map(([text]) => String(text))).toEqual([
      expect.stringMatching(/^reservoir_cluster_f32_\w+ is taken from elsewhere than nvrtc: .*no such luck/s),
    ]);
    expect(automatic.bits).toEqual((await states(engine, { plan: "streamed" })).bits);
    engine.close();
  });

  it("keeps to a source that is named: its failure is the error", async () => {
    const engine = engineWith(refuses);
    await expect(engine.open(of, { kernelSource: "nvrtc" })).rejects.toThrow("no such luck");
    engine.close();
  });

  it("says where NVRTC is missing", async () => {
    const engine = deviceEngine({
      name: "sim",
      open: () => {
        const context = openDevice({ driver: simulatedDriver() });
        const get = () => {
          throw new LibraryError("NVRTC", [{ path: "libnvrtc.so", reason: "not there" }]);
        };
        return Object.defineProperty(context, "compiler", { get });
      },
    });
    expect(() => engine.plan(of, { kernelSource: "nvrtc" })).toThrow(
      'the engine "sim" is not available: kernelSource is "nvrtc", and no NVRTC loads from any of 1 paths; take "auto"',
    );
    expect(engine.plan(of).details["kernelSource"]).toBe("shipped");
    engine.close();
  });

  /** Compiles shipped sources to what nvcc made of them, and notes their names. */
  const noting = (asked: string[]) =>
    ({
      architectures: [75, 90],
      compile(_source: string, { name = "" }: CompileOptions) {
        asked.push(name);
        return { ptx: shippedPtx(name.replace(".cu", ""), { computeCapability: [9, 0] }) };
      },
    }) as unknown as Nvrtc;

  it("compiles the three named kernels if that is asked for, and no others", async () => {
    const asked: string[] = [];
    const open = () => openDevice({ driver: simulatedDriver(), nvrtc: noting(asked) });
    const engine = deviceEngine({ name: "sim", open, stepsPerChunk: 16 });
    const shipped = await states(engine, { plan: "named" });
    expect([asked, shipped.plan["kernelSource"]]).toEqual([[], undefined]);
    const compiled = await states(engine, { plan: "named", kernelSource: "nvrtc" });
    expect([asked, compiled.plan["kernelSource"]]).toEqual([["neuromorphic_gemv.cu"], "nvrtc"]);
    expect(compiled.bits).toEqual(shipped.bits);
    const names: string[] = [];
    const load = engine.context().load.bind(engine.context());
    vi.spyOn(engine.context(), "load").mockImplementation((image, options) => {
      names.push(options?.label ?? "");
      return load(image, options);
    });
    const sparse = model({ size: 60, inputSize: 2, storage: "sparse", connectionProbability: 0.1, seed: 1 });
    const session = await engine.open(sparse, { plan: "named", kernelSource: "nvrtc" });
    await session.dispose();
    expect(names).toEqual(["neuromorphic_gemv: matvec_reservoir_csr by nvrtc"]);
    expect(() => engine.plan(of, { plan: "streamed", kernelSource: "nvrtc" })).toThrow(
      'the plan "streamed" has no kernels from "nvrtc" for 700 neurons',
    );
    engine.close();
  });

  it("compiles what a plan takes of the shipped kernels on a context that was opened for that", async () => {
    const asked: string[] = [];
    const nvrtc = noting(asked);
    const open = () => openDevice({ driver: simulatedDriver(), nvrtc, kernelSource: "nvrtc" });
    const engine = deviceEngine({ name: "sim", open, stepsPerChunk: 16 });
    const compiled = await states(engine, { plan: "named" });
    expect(asked.sort()).toEqual(["neuromorphic_gemv.cu", "reservoir_step.cu"]);
    const shipped = engineWith(refuses);
    expect(compiled.bits).toEqual((await states(shipped, { plan: "named" })).bits);
    for (const each of [engine, shipped]) each.close();
  });

  it("refuses an unknown source, naming those that exist", () => {
    const engine = engineWith(refuses);
    expect(() => engine.plan(of, { kernelSource: "gcc" as never })).toThrow('kernelSource is "gcc"; it takes "auto", "shipped", "nvrtc"');
    expect(() => engine.plan(of, { kernelSource: "builder" as never })).toThrow(
      'kernelSource is "builder"; it takes "auto", "shipped", "nvrtc"',
    );
    engine.close();
  });

  it("refuses fast arithmetic where what is named has none, and else takes it", () => {
    const engine = engineWith(refuses);
    const fast = { ...of, config: { ...of.config, arithmetic: "fast" as const } };
    expect(() => engine.plan(fast, { kernelSource: "shipped", plan: "cluster" })).toThrow(
      /the plan "cluster" with kernelSource "shipped" has portable arithmetic alone for 700 neurons \(dense, float32\), and arithmetic is "fast"/,
    );
    expect(engine.plan(fast).details["arithmetic"]).toBe("fast");
    expect(engine.plan(of).details["arithmetic"]).toBe("portable");
    engine.close();
  });

  it("counts the compilation of a kernel in the profile", async () => {
    // A shipped kernel under the name that the engine asks for: the session is only opened.
    const renamed = ({ name = "", defines = {} }: CompileOptions) => {
      const ptx = shippedPtx(name.replace(".cu", ""), { computeCapability: [9, 0] });
      const wanted = String(defines["CLUSTER_NAME"] ?? defines["GRID_NAME"]);
      const text = ptx.replaceAll(/\.entry (\w+_f32_\w+?_w(?:8|16))\(/.exec(ptx)![1]!, wanted);
      return { image: new TextEncoder().encode(text), ptx: text, loweredNames: {} };
    };
    const engine = engineWith({
      architectures: [75, 90],
      compile: (_: string, options: CompileOptions) => renamed(options),
      compileAsync: async (_: string, options: CompileOptions) => renamed(options),
    } as unknown as Nvrtc);
    const session = await engine.open(of, { kernelSource: "nvrtc", profile: true });
    const phase = session.profile!()!.phases.find(({ phase }) => phase === "compile");
    expect(phase).toMatchObject({ clock: "host", pieces: 1 });
    expect(phase!.milliseconds).toBe(session.plan.details["kernelMilliseconds"]);
    await session.dispose();
    engine.close();
  });
});
