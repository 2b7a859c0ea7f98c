// What only a real GPU shows: that its faults end CUDA for a process, and that its work leaves the
// event loop free.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { fixture, openHardware } from "../device/device.js";

describe("waiting", () => {
  it("leaves the event loop free while 300 ms of work run", async () => {
    using context = openHardware();
    const module = context.load(fixture("kernels.ptx"), { label: "kernels" });
    const stream = context.stream();
    const wait = module.kernel("wait", ["u64"]);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const start = performance.now();
    stream.launch(wait, { grid: 1, block: 1 }, 300_000_000);
    await stream.done();
    clearInterval(timer);
    expect(performance.now() - start).toBeGreaterThan(290);
    expect(ticks).toBeGreaterThan(15);
  });
});

describe("a kernel's fault", () => {
  // A fault leaves a process without CUDA, so each has one of its own, of the built package.
  const child = (debug: boolean): string =>
    execFileSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `import { openDevice } from ${JSON.stringify(new URL("../../../dist/api/gpu.js", import.meta.url).href)};
         const context = openDevice({ debug: ${debug} });
         const module = context.load(${JSON.stringify(fixture("kernels.ptx"))});
         const stream = context.stream();
         const write = module.kernel("write_to", ["f32*"]);
         const empty = module.kernel("empty", []);
         const tell = (work) => { try { work(); console.log("nothing"); } catch (error) { console.log(error.name + ": " + error.message); } };
         tell(() => { stream.launch(empty, { grid: 2, block: 64 }); stream.launch(write, { grid: 1, block: 32 }, context.borrow("f32", 64n, 1)); stream.sync(); });
         tell(() => stream.launch(empty, { grid: 1, block: 1 }));
         context.dispose();
         console.log("disposed");
         tell(() => openDevice().dispose());`,
      ],
      { encoding: "utf8" },
    );

  it("is told with the last launches, loses the context, and lets it be disposed", () => {
    const [fault, later, disposed, again] = child(false).trim().split("\n");
    expect(fault).toMatch(
      /^CudaError: CUDA_ERROR_ILLEGAL_ADDRESS \(700\) from cuStreamSynchronize: .*; last launches on stream #\d+: empty<<<2, 64>>>, write_to<<<1, 32>>>/,
    );
    expect(later).toMatch(
      /^ContextLostError: CUDA_ERROR_ILLEGAL_ADDRESS \(700\) .*the context was lost to it and cuLaunchKernelEx was not called/,
    );
    expect(disposed).toBe("disposed");
    // Seen on an H200 with driver 580: CUDA gives a process that had a fault no new context.
    // Another driver may.
    expect(again).toMatch(/^(nothing|CudaError: CUDA_ERROR_\w+ \(\d+\) from cuDevicePrimaryCtxRetain: .*: go on in a new process)$/);
  });

  it("is told at the launch and its line in debug mode", () => {
    const [fault] = child(true).trim().split("\n");
    expect(fault).toMatch(/from cuStreamSynchronize: .*write_to<<<1, 32>>> at .*\[eval1\]:\d+:\d+/);
  });
});
