// Finding libraries and devices: where is looked, what an error lists, and that a probe is honest.
import { afterEach, describe, expect, it, vi } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { LibraryError, type Nvrtc, openDevice, probe } from "../../packages/gpu/src/index.js";
import {
  driverCandidates,
  isWsl,
  loadFirst,
  nvrtcBuiltins,
  nvrtcCandidates,
  type SearchedSystem,
} from "../../packages/gpu/src/library-search.js";
import { FakeDriver } from "./fake-driver.js";

function systemWith(over: Partial<SearchedSystem> & { folders?: Record<string, readonly string[]> }): SearchedSystem {
  return { platform: "linux", environment: {}, wsl: false, list: (folder) => over.folders?.[folder] ?? [], ...over };
}

afterEach(() => vi.unstubAllEnvs());

describe("the driver's library", () => {
  it("is looked for by its name and then in the usual folders, under WSL first in Windows' own", () => {
    const linux = driverCandidates(systemWith({}));
    expect(linux.slice(0, 2)).toEqual(["libcuda.so.1", "libcuda.so"]);
    expect(linux).toContain("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
    expect(driverCandidates(systemWith({ wsl: true }))[0]).toBe("/usr/lib/wsl/lib/libcuda.so.1");
    expect(driverCandidates(systemWith({ platform: "win32", environment: { SystemRoot: "D:\\Windows" } }))[0]).toBe("nvcuda.dll");
    expect(driverCandidates(systemWith({ platform: "darwin" }))).toEqual([]);
  });

  it("is the one that the option or the variable names, and no other", () => {
    const named = systemWith({ environment: { SPILLWAY_CUDA_LIBRARY: "/v/libcuda.so" } });
    expect(driverCandidates(named)).toEqual(["/v/libcuda.so"]);
    expect(driverCandidates(named, "/o/libcuda.so")).toEqual(["/o/libcuda.so"]);
  });

  it("that is not there gives an error with every path that was tried and why", () => {
    const open = () => openDevice({ library: "/nowhere/libcuda.so.1" });
    expect(open).toThrow(LibraryError);
    expect(open).toThrow(
      /^The CUDA driver \(libcuda\) could not be loaded; tried\n {2}\/nowhere\/libcuda\.so\.1: .*\nInstall NVIDIA's driver/,
    );
    const load = (path: string) => {
      throw new Error(`no ${path}`);
    };
    expect(() => loadFirst("It", ["/a", "/b"], load)).toThrow("It could not be loaded; tried\n  /a: no /a\n  /b: no /b");
    const alike = () => {
      throw new Error("no such file");
    };
    expect(() => loadFirst("It", ["/a", "/b"], alike)).toThrow(/^It could not be loaded; tried\n {2}\/a, \/b: no such file$/);
    expect(() => loadFirst("It", [], load)).toThrow("tried nothing: no path is known for this platform");
  });
});

describe("NVRTC's library", () => {
  const toolkits = systemWith({
    environment: { CUDA_HOME: "/opt/cuda" },
    folders: {
      "/usr/local": ["bin", "cuda-12.4", "cuda-13.0", "cuda"],
      "/opt/cuda/lib64": ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9", "libnvrtc_static.a"],
      "/usr/local/cuda-13.0/lib64": [
        "libnvrtc.so",
        "libnvrtc.so.13",
        "libnvrtc.alt.so.13",
        "libnvrtc-builtins.so.13.0",
        "libnvrtc-builtins.so.12.1",
      ],
    },
  });

  it("is looked for in CUDA_HOME, then in the newest toolkit, then by its name", () => {
    const paths = nvrtcCandidates(toolkits);
    expect(paths.slice(0, 3)).toEqual([
      "/opt/cuda/lib64/libnvrtc.so.12",
      "/usr/local/cuda-13.0/lib64/libnvrtc.so.13",
      "/usr/local/cuda-13.0/lib64/libnvrtc.so",
    ]);
    expect(paths).toContain("libnvrtc.so.12");
    expect(nvrtcCandidates(systemWith({ environment: { SPILLWAY_NVRTC_LIBRARY: "/n.so" } }))).toEqual(["/n.so"]);
  });

  it("has its builtins loaded first, of its own version, from beside it", () => {
    expect(nvrtcBuiltins(toolkits, "/usr/local/cuda-13.0/lib64/libnvrtc.so.13")).toBe(
      "/usr/local/cuda-13.0/lib64/libnvrtc-builtins.so.13.0",
    );
    expect(nvrtcBuiltins(toolkits, "libnvrtc.so.13")).toBeUndefined();
  });
});

describe("a probe", () => {
  const nvrtc = () => ({ library: "nvrtc", version: [13, 0] }) as unknown as Nvrtc;
  const looking = (driver: FakeDriver | FaultyDriver, ptxVersion?: readonly [number, number]) =>
    probe({ driver, nvrtc, ...(ptxVersion ? { ptxVersion } : {}) });

  it("tells the devices, their free memory, the driver and NVRTC, and leaves nothing behind", () => {
    const driver = new FakeDriver({ devices: 2 });
    const found = looking(driver, [6, 3]);
    expect(found).toMatchObject({ available: true, reason: undefined, library: "fake", driverVersion: "13.0", wsl: isWsl() });
    expect(found.nvrtc).toEqual({ available: true, library: "nvrtc", version: "13.0", problem: undefined });
    expect(found.devices.map(({ name, freeMemory, computeCapability }) => [name, freeMemory, computeCapability])).toEqual(
      Array(2).fill(["Fake", 2 ** 30, [9, 0]]),
    );
    expect(driver.outstanding()).toEqual({});
  });

  it("of a machine without a driver lists what was tried", () => {
    const found = probe({ library: "/nowhere/libcuda.so.1", nvrtc });
    expect(found.available).toBe(false);
    expect(found.tried.map(({ path }) => path)).toEqual(["/nowhere/libcuda.so.1"]);
    expect(found.reason).toContain("The CUDA driver (libcuda) could not be loaded");
  });

  it("with every device hidden says so", () => {
    vi.stubEnv("CUDA_VISIBLE_DEVICES", "");
    const found = looking(new FaultyDriver(new FakeDriver(), [{ call: "cuInit", use: 1, code: 100 }]));
    expect(found.available).toBe(false);
    expect(found.reason).toMatch(/^CUDA_ERROR_NO_DEVICE \(100\) from cuInit: .*; CUDA_VISIBLE_DEVICES is empty, which hides every device$/);
    expect(looking(new FakeDriver({ devices: 0 })).reason).toBe(
      "the driver shows no device; CUDA_VISIBLE_DEVICES is empty, which hides every device",
    );
  });

  it("of a driver too old for the PTX says what is needed", () => {
    const found = looking(new FakeDriver({ version: 10010 }), [7, 0]);
    expect(found.available).toBe(false);
    expect(found.reason).toBe("the driver is of CUDA 10.1, and PTX 7.0 needs one of CUDA 11.0 or later: update NVIDIA's driver");
    expect(looking(new FakeDriver({ version: 11000 }), [7, 0]).available).toBe(true);
  });

  it("of a device that does not open is not fooled by its being shown", () => {
    const found = looking(new FaultyDriver(new FakeDriver(), [{ call: "cuDevicePrimaryCtxRetain", use: 1, code: 46 }]));
    expect(found.available).toBe(false);
    expect(found.reason).toMatch(/^no device opens: CUDA_ERROR_DEVICE_UNAVAILABLE \(46\) from cuDevicePrimaryCtxRetain/);
  });

  it("without NVRTC is available all the same, and says that it is missing", () => {
    const missing = () => {
      throw new LibraryError("NVRTC (libnvrtc)", [{ path: "libnvrtc.so", reason: "not there" }]);
    };
    const found = probe({ driver: new FakeDriver(), nvrtc: missing });
    expect(found.available).toBe(true);
    expect(found.nvrtc).toMatchObject({
      available: false,
      problem: "NVRTC (libnvrtc) could not be loaded; tried\n  libnvrtc.so: not there",
    });
  });
});
