// A misspelt option of the GPU layer, the simulated device and the PTX builder is refused by name:
// ignored silently, the work would be done otherwise than it was meant to be.
import { afterAll, describe, expect, it } from "vitest";
import { KernelExecutor, LaunchError, openDevice, shippedPtx, struct } from "../../packages/gpu/src/index.js";
import { generateKernel, PtxModule } from "../../packages/ptx/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";

const small = { memoryBytes: 1 << 20, launchBytes: 1 << 22 };
const context = openDevice({ driver: simulatedDriver(small), onLeak: () => undefined });
afterAll(() => context.dispose());
const made = new PtxModule({ target: "sm_80" });
made.kernel("idle", { block: [32] }, () => {});
const ptx = made.emit();
const idle = context.load(ptx).kernel("idle", []);
const stream = context.stream();
/** As options of any shape: what is held here is what TypeScript refuses. */
const options = (fields: object): never => fields as never;

describe("an unknown option is refused by", () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      "a launch",
      () => stream.launch(idle, options({ grid: 1, block: 32, sharde: 8 })),
      /idle: unknown field "sharde": did you mean "shared"/,
    ],
    ["openDevice", () => openDevice(options({ driver: simulatedDriver(small), debgu: true })), /openDevice: .*"debgu".*"debug"/],
    ["the simulated device", () => simulatedDriver(options({ capabilty: "8.0" })), /simulated device: .*"capability"/],
    ["its checks", () => simulatedDriver({ ...small, checks: options({ race: false }) }), /simulated device: .*"checks.race".*"races"/],
    ["its limits", () => simulatedDriver({ ...small, limits: options({ stepz: 5 }) }), /simulated device: .*"limits.stepz".*"steps"/],
    ["stream", () => context.stream(options({ lable: "x" })), /stream: .*"lable"/],
    ["event", () => context.event(options({ timming: false })), /event: .*"timming"/],
    ["alloc", () => context.alloc("f32", 4, options({ lable: "x" })), /alloc: .*"lable"/],
    ["zeros", () => context.zeros("f32", 4, options({ lable: "x" })), /zeros: .*"lable"/],
    ["upload", () => context.upload(new Float32Array(4), options({ type: "f32" })), /upload: .*"type"/],
    ["pinned", () => context.pinned("f32", 4, options({ lable: "x" })), /pinned: .*"lable"/],
    ["load", () => context.load(ptx, options({ lable: "x" })), /load: .*"lable"/],
    ["module.kernel", () => context.load(ptx).kernel("idle", [], options({ length: [] })), /kernel idle: .*"lengths"/],
    ["struct", () => struct({ a: "f32" }, options({ alignment: 16 })), /struct: .*"alignment"/],
    ["KernelExecutor", () => new KernelExecutor(0, options({ bals: "none" })), /KernelExecutor: .*"blas"/],
    ["shippedPtx", () => shippedPtx("executor", options({ entry: ["relu"] })), /shippedPtx: .*"entry"/],
    ["PtxModule", () => new PtxModule(options({ targt: "sm_80" })), /PtxModule: .*"target"/],
    ["a kernel's bounds", () => made.kernel("other", options({ blocks: [32] }), () => {}), /kernel other: .*"block"/],
    [
      "generateKernel",
      () => generateKernel({ kind: "softmax", rows: 2, dim: 4 }, options({ targt: "sm_80" })),
      /generateKernel: .*"target"/,
    ],
    [
      "a kernel's shape",
      () => generateKernel(options({ kind: "attention", seqLen: 64, headDim: 32, casual: true })),
      /attention: unknown field "casual": did you mean "causal"/,
    ],
  ])("%s", (_, act, message) => {
    expect(act).toThrow(message);
  });
});

it("a launch without a block says what it takes", () => {
  const act = () => stream.launch(idle, options({ grid: 1 }));
  expect(act).toThrow(LaunchError);
  expect(act).toThrow(/kernel idle: block is missing; it takes a number, or a list of up to three/);
});
