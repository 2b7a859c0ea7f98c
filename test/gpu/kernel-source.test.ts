// Where the package's own kernels come from: their shipped PTX, or NVRTC, which is asked for by
// name and told what the shipped PTX was compiled with.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type CompileOutcome,
  type CompileRequest,
  type CompilerLibrary,
  LibraryError,
  Nvrtc,
  type OpenOptions,
  openDevice,
  shippedPtx,
  shippedSource,
} from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { NeuromorphicKernels } from "../../src/engine/kernels/index.js";

/** Answers with the PTX that nvcc made of the same source. */
class ShippedCompiler implements CompilerLibrary {
  readonly library = "shipped";
  readonly build = "13.0.88";
  readonly version = [13, 0] as const;
  readonly architectures = [75, 80, 90, 100];
  readonly requests: CompileRequest[] = [];

  compile(request: CompileRequest): CompileOutcome {
    this.requests.push(request);
    const ptx = shippedPtx(request.name.replace(".cu", ""), { computeCapability: [9, 0] });
    return { status: "NVRTC_SUCCESS", log: "", image: new TextEncoder().encode(ptx), ptx: undefined, loweredNames: {} };
  }

  async compileAsync(request: CompileRequest): Promise<CompileOutcome> {
    return this.compile(request);
  }
}

const open = (options: OpenOptions) => openDevice({ ...options, driver: simulatedDriver() });

afterEach(() => vi.unstubAllEnvs());

describe('kernelSource "nvrtc"', () => {
  it("compiles each file that is needed once, from the shipped source with the options of the shipped PTX", async () => {
    const compiler = new ShippedCompiler();
    using context = open({ kernelSource: "nvrtc", nvrtc: new Nvrtc(compiler, false) });
    expect(compiler.requests).toEqual([]);
    using kernels = new NeuromorphicKernels(context);
    const [weights, state] = [context.upload(Float32Array.of(1, 2, 3, 4)), context.upload(Float32Array.of(5, 6))];
    const drive = kernels.matvecReservoir({ weights, state });
    expect([...context.read(drive)]).toEqual([17, 39]);
    expect(compiler.requests.map(({ name }) => name)).toEqual(["neuromorphic_gemv.cu"]);
    kernels.leakyIntegration({ state, drive, leak: state } as never);
    const vectors = state as never;
    kernels.patternDetection({ vectors, templates: vectors, length: 2 });
    expect(compiler.requests.map(({ name }) => name).sort()).toEqual(["neuromorphic_gemv.cu", "pattern_detection.cu"]);
    const { source, headers, options } = shippedSource("neuromorphic_gemv");
    expect(compiler.requests[0]).toMatchObject({ source, headers, output: "ptx" });
    expect(compiler.requests[0]!.options).toEqual(["--gpu-architecture=compute_90", "--std=c++17", ...options]);
    expect(compiler.requests.find(({ name }) => name === "pattern_detection.cu")!.options[0]).toBe("--gpu-architecture=compute_75");
  });

  it("asks for no compiler by default", () => {
    const compiler = new ShippedCompiler();
    using context = open({ nvrtc: new Nvrtc(compiler, false) });
    expect(context.shippedPtx("executor", { entries: ["vector_add"] })).toBe(
      shippedPtx("executor", { computeCapability: [9, 0], entries: ["vector_add"] }),
    );
    expect(compiler.requests).toEqual([]);
  });

  it("says that there is no NVRTC when the device is opened, and what needs none", () => {
    vi.stubEnv("SPILLWAY_NVRTC_LIBRARY", "/nowhere/libnvrtc.so");
    expect(() => open({ kernelSource: "nvrtc" })).toThrow(LibraryError);
    expect(() => open({ kernelSource: "nvrtc" })).toThrow(
      /^NVRTC \(libnvrtc\) could not be loaded; tried[\s\S]*SPILLWAY_NVRTC_LIBRARY; the package's own kernels need none with kernelSource: "ptx", the default\.$/,
    );
  });

  it("names the file, if a kernel of the package is not there", async () => {
    vi.resetModules();
    const path = expect.stringMatching(/kernels\/ptx\/executor\.ptx$/);
    vi.doMock("node:fs", async (original) => {
      const real = await original<typeof import("node:fs")>();
      const isGone = (file: unknown) => String(file).includes("executor.ptx");
      const readFileSync = (file: never, ...rest: never[]) => real.readFileSync(isGone(file) ? `${String(file)}.gone` : file, ...rest);
      return { ...real, existsSync: (file: string) => !isGone(file) && real.existsSync(file), readFileSync };
    });
    const { shippedPtx: read } = await import("../../packages/gpu/src/shipped.js");
    vi.doUnmock("node:fs");
    const thrown = (() => {
      try {
        return read("executor");
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toMatchObject({ name: "SpillwayError", code: "file", field: "path", value: path });
    expect(String(thrown)).toMatch(/executor\.ptx cannot be read; install it again/);
  });

  it("takes no other source", () => {
    expect(() => open({ kernelSource: "cubin" as "ptx" })).toThrow('kernelSource is "cubin"; it takes "ptx" or "nvrtc"');
  });
});
