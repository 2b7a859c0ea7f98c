// What `spillway info` says of CUDA: if it can be used, and why if it cannot.
import { describe, expect, it } from "vitest";
import { openDevices, probe, shippedPtxVersion } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { describeCuda, describeLinks, info } from "../../src/cli/commands/info.js";

const noCompiler = () => {
  throw new Error("NVRTC could not be loaded; tried\n  /nowhere: not there");
};

describe("spillway info", () => {
  it("names driver, devices, memory and compiler where CUDA can be used", () => {
    const found = probe({ driver: simulatedDriver({ devices: 2 }), nvrtc: noCompiler, ptxVersion: shippedPtxVersion() });
    const lines = describeCuda({ ...found, wsl: false, visibleDevices: undefined });
    expect(lines).toEqual([
      "  available: driver of CUDA 13.0 (simulated)",
      expect.stringMatching(/^ {2}device 0: .+, compute capability 9\.0, 256(\.0)? MiB, \d+(\.\d+)? MiB free$/),
      expect.stringMatching(/^ {2}device 1: .+, compute capability 9\.0/),
      "  no NVRTC, needed for your own kernels and for kernels made for one reservoir: NVRTC could not be loaded",
    ]);
  });

  it("says that a driver is older than the shipped PTX, and what it takes", () => {
    const found = probe({ driver: simulatedDriver({ driverVersion: 9000 }), nvrtc: noCompiler, ptxVersion: [7, 0] });
    expect(describeCuda(found)[0]).toBe(
      "  not available: the driver is of CUDA 9.0, and PTX 7.0 needs one of CUDA 11.0 or later: update NVIDIA's driver; driver of CUDA 9.0 (simulated)",
    );
  });

  it("lists every path that was tried for a driver, and what hides devices", () => {
    const found = probe({ library: "/nowhere/libcuda.so.1", nvrtc: noCompiler });
    const text = describeCuda({ ...found, wsl: true, visibleDevices: "" }).join("\n");
    expect(text).toContain("  not available: The CUDA driver (libcuda) could not be loaded; tried\n");
    expect(text).toContain("/nowhere/libcuda.so.1: ");
    expect(text).toContain("this is Linux under Windows (WSL)");
    expect(text).toContain('CUDA_VISIBLE_DEVICES is ""');
  });

  it("has it in its text and its JSON", async () => {
    expect(await info({})).toMatch(/^CUDA\n {2}(not )?available: /m);
    expect(JSON.parse(await info({ json: true }))).toMatchObject({ cuda: { available: expect.any(Boolean), nvrtc: {} } });
  });
});

it("says which devices reach each other's memory", () => {
  const opened = (devices: number) =>
    openDevices("all", { driver: simulatedDriver({ devices, memoryBytes: 4096, launchBytes: 2 ** 20 }), onLeak: () => undefined });
  expect(describeLinks(opened(3))).toEqual([
    "  device 0 reaches the memory of 1, 2",
    "  device 1 reaches the memory of 0, 2",
    "  device 2 reaches the memory of 0, 1",
  ]);
  expect(describeLinks(opened(1))).toEqual([]);
});
