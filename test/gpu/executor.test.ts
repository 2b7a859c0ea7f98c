// The kernel executor on the simulated device: what its calls load, copy and refuse. What its
// kernels compute is in device/executor.test.ts.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import { modulesCut } from "../../packages/gpu/src/entry-module.js";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import {
  GpuCompute,
  GpuDevice,
  KernelExecutor,
  KernelLauncher,
  LaunchError,
  openDevice,
  sharedExecutor,
  shippedPtx,
  standardKernelNames,
} from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { randomArray } from "./numbers.js";

let executor: KernelExecutor;

beforeAll(() => {
  executor = new KernelExecutor("sim");
});
afterAll(() => executor.dispose());

/** A kernel of every kind of parameter, as PTX. */
const echo = `.version 6.0
.target sm_70
.address_size 64
.visible .entry echo(.param .u64 out, .param .u32 i, .param .u64 l, .param .f32 f, .param .f64 d)
{
  .reg .b32 %r<2>; .reg .b64 %l<3>; .reg .f32 %f<2>; .reg .f64 %d<2>;
  ld.param.u64 %l1, [out]; cvta.to.global.u64 %l1, %l1;
  ld.param.u32 %r1, [i]; st.global.u32 [%l1], %r1;
  ld.param.f32 %f1, [f]; st.global.f32 [%l1+4], %f1;
  ld.param.u64 %l2, [l]; st.global.u64 [%l1+8], %l2;
  ld.param.f64 %d1, [d]; st.global.f64 [%l1+16], %d1;
  ret;
}
.visible .entry nothing() { ret; }
`;

describe("kernels of one's own", () => {
  it("are compiled once and loaded once, however often they are launched", async () => {
    const driver = new FaultyDriver(simulatedDriver());
    using compute = new GpuCompute({ driver });
    compute.compileKernel("vector_add", shippedPtx("executor", { entries: ["vector_add"] }));
    compute.compileKernel("vector_add", shippedPtx("executor", { entries: ["vector_add"] }));
    const a = compute.device.upload(new Float32Array(1024).fill(1));
    const b = compute.device.upload(new Float32Array(1024).fill(2));
    const c = compute.device.allocate(1024);
    for (let i = 0; i < 5; i++) compute.runKernel("vector_add", [4, 1, 1], [256, 1, 1], [a, b, c, 1024]);
    expect(await compute.device.download(c)).toEqual(new Float32Array(1024).fill(3));
    expect(driver.uses.get("cuModuleLoadDataEx")).toBe(1);
    expect(driver.uses.get("cuModuleGetFunction")).toBe(1);
  });

  it("take numbers as the types the PTX has, bit for bit", async () => {
    using compute = new GpuCompute("sim");
    compute.compileKernel("echo", echo);
    const out = compute.device.allocate(24, "u8");
    compute.runKernel("echo", 1, 1, [out, -5, -(2n ** 62n), 0.3, 0.1]);
    const bytes = new DataView((await compute.device.download(out)).buffer as ArrayBuffer);
    expect([bytes.getInt32(0, true), bytes.getFloat32(4, true)]).toEqual([-5, Math.fround(0.3)]);
    expect([bytes.getBigInt64(8, true), bytes.getFloat64(16, true)]).toEqual([-(2n ** 62n), 0.1]);
    compute.runKernel("echo", 1, 1, [out, 0xfffffffe, 2n ** 64n - 1n, 0, 0]);
    expect(new Uint32Array((await compute.device.download(out)).buffer as ArrayBuffer)[0]).toBe(0xfffffffe);
  });

  it("refuse what they do not take, by name and place", () => {
    using compute = new GpuCompute("sim");
    compute.compileKernel("echo", echo);
    const out = compute.device.allocate(24, "u8");
    const run =
      (...args: Parameters<GpuCompute["runKernel"]>[3]) =>
      () =>
        compute.runKernel("echo", 1, 1, args);
    expect(run(out, 1, 2n, 3)).toThrow("kernel echo: 4 arguments were given; it takes 5: (.u64, .u32, .u64, .f32, .f64)");
    expect(run(7, 1, 2n, 3, 4)).toThrow(
      "kernel echo: argument 0 is 7, and the kernel has .u64 there: it takes device memory, or a bigint for an integer",
    );
    expect(run(out, 1.5, 2n, 3, 4)).toThrow('argument 1 ("u32") is 1.5; it takes a whole number from 0 to 4294967295');
    expect(run(out, 1, 2n, out, 4)).toThrow("argument 3 is memory of u8, and the kernel has .f32 there: it takes a number");
    expect(run(out, 2n, 2n, 3, 4)).toThrow(LaunchError);
    expect(() => compute.runKernel("echo", 0, 1, [out, 1, 2n, 3, 4])).toThrow("kernel echo: grid.x is 0; it takes a whole number from 1");
    expect(() => compute.runKernel("ecko", 1, 1, [])).toThrow(
      'there is no kernel "ecko", neither standard nor compiled (did you mean "echo"?)',
    );
  });

  it("share a source, and give way to another of the same name", () => {
    const driver = new FaultyDriver(simulatedDriver());
    using compute = new GpuCompute({ driver });
    compute.compileKernel("echo", echo);
    compute.compileKernel("nothing", echo);
    expect(driver.uses.get("cuModuleLoadDataEx")).toBe(1);
    expect(() => compute.compileKernel("elsewhere", echo)).toThrow(
      'the source of "elsewhere" has no kernel of this name; it has echo, nothing',
    );
    const shorter = echo.slice(0, echo.indexOf(".visible .entry echo")) + echo.slice(echo.indexOf(".visible .entry nothing"));
    compute.compileKernel("echo", echo.replace("st.global.f64", "st.global.b64"));
    compute.compileKernel("nothing", shorter);
    compute.runKernel("nothing", 1, 1, []);
    expect(driver.uses.get("cuModuleUnload")).toBe(2);
    expect(compute.kernelNames.slice(-2)).toEqual(["echo", "nothing"]);
  });

  it("are loaded once by a launcher that is given their text each time", () => {
    using device = new GpuDevice("sim");
    using launcher = new KernelLauncher(device);
    for (let i = 0; i < 3; i++) launcher.loadAndLaunchPtx(echo, "nothing", 1, 32, []);
    expect(launcher.loads).toBe(1);
    expect(() => launcher.loadAndLaunchPtx(echo, "absent", 1, 32, [])).toThrow("kernel absent: there is no kernel of this name in module");
  });

  it("of another name gives the nearest name there is", () => {
    expect(() => executor.runKernel("vector_ad", 1, 1, [])).toThrow(
      'there is no kernel "vector_ad", neither standard nor compiled (did you mean "vector_add"?); there are vector_add, ',
    );
    expect(() => executor.runKernel("fft", 1, 1, [])).toThrow('there is no kernel "fft", neither standard nor compiled; there are');
    expect(() => executor.kernel("sofmax" as never)).toThrow('there is no standard kernel "sofmax" (did you mean "softmax"?)');
  });

  it("go before a standard kernel of the same name when they are run by name, and nowhere else", async () => {
    using own = new KernelExecutor("sim");
    own.compileKernel("relu", echo.replace("nothing", "relu"));
    using x = own.device.upload(Float32Array.of(-1, 2));
    own.runKernel("relu", 1, 32, []);
    expect([...(await own.device.download(x))]).toEqual([-1, 2]);
    own.relu(x);
    expect([...(await own.device.download(x))]).toEqual([0, 2]);
    expect(own.kernelNames).toEqual(standardKernelNames);
  });
});

describe("the executor", () => {
  it("brings a network's input there and its output back, and nothing in between", async () => {
    const driver = new FaultyDriver(simulatedDriver());
    using counted = new KernelExecutor({ driver });
    using network = counted.network([
      { weights: randomArray(32, 1), inputs: 8, outputs: 4, bias: randomArray(4, 2), activation: "sigmoid" },
      { weights: randomArray(12, 3), inputs: 4, outputs: 3, activation: "softmax" },
    ]);
    const before = new Map(driver.uses);
    await counted.neuralForward(randomArray(16, 4), 2, network);
    const made = (call: Parameters<typeof before.get>[0]) => (driver.uses.get(call) ?? 0) - (before.get(call) ?? 0);
    expect(made("cuMemcpyHtoDAsync")).toBe(1);
    expect(made("cuMemcpyDtoHAsync")).toBe(1);
    expect(made("cuMemcpyDtoDAsync")).toBe(0);
    expect(made("cuLaunchKernelEx")).toBe(5);
    expect(made("cuStreamSynchronize") + made("cuCtxSynchronize")).toBe(0);
  });

  it("loads a standard kernel alone, when it is first asked for", async () => {
    const driver = new FaultyDriver(simulatedDriver());
    using fresh = new KernelExecutor({ driver });
    expect(driver.uses.get("cuModuleLoadDataEx") ?? 0).toBe(0);
    await fresh.relu(Float32Array.of(-1, 1));
    await fresh.relu(Float32Array.of(-1, 1));
    expect(driver.uses.get("cuModuleLoadDataEx")).toBe(1);
  });

  it("keeps nothing of its calls", async () => {
    await executor.matmul(randomArray(6, 1), randomArray(6, 2), 2, 3, 2);
    const { context } = executor.device;
    const kinds = () => context.held().filter(({ kind }) => kind === "buffer");
    const before = kinds().length;
    await executor.dot(randomArray(100, 3), randomArray(100, 4));
    await executor.neuralForward(randomArray(4, 5), 2, [{ weights: randomArray(4, 6), inputs: 2, outputs: 2 }]);
    await expect(executor.matmul(new Float32Array(3), new Float32Array(4), 2, 2, 2)).rejects.toThrow();
    expect(kinds().length).toBe(before);
  });

  it("leaves a context open that it was given, and gives back what it made there", () => {
    const driver = simulatedDriver();
    using context = openDevice({ driver });
    const before = driver.outstanding();
    const own = new KernelExecutor(context);
    own.kernel("relu");
    own.compileKernel("echo", echo);
    own.dispose();
    own.dispose();
    expect(context.disposed).toBe(false);
    expect(driver.outstanding()).toEqual(before);
  });

  it("cuts a standard kernel out of its file once, however often it is launched", async () => {
    using x = executor.device.upload(Float32Array.of(-1, 2));
    const run = () => executor.runKernel("relu", 1, 32, [x, 2]);
    run();
    const before = modulesCut();
    for (let i = 0; i < 5; i++) run();
    expect(modulesCut()).toBe(before);
    expect([...(await executor.device.download(x))]).toEqual([0, 2]);
  });

  it("that is shared is one for each device, and takes no options", () => {
    const first = sharedExecutor("sim");
    expect(first.device.name).toContain("simulated");
    expect(sharedExecutor("sim")).toBe(first);
    first.dispose();
    const second = sharedExecutor("sim");
    expect(second).not.toBe(first);
    second.dispose();
    expect(() => sharedExecutor({ device: 0 } as never)).toThrow('sharedExecutor got {"device":0}; it takes a device\'s number or name');
  });

  it("that is shared says what was tried where no GPU can be used", () => {
    vi.stubEnv("SPILLWAY_CUDA_LIBRARY", "/nowhere/libcuda.so.1");
    expect(() => sharedExecutor()).toThrow(/The CUDA driver \(libcuda\) could not be loaded; tried\n {2}\/nowhere\/libcuda\.so\.1: /);
    vi.unstubAllEnvs();
  });

  it("says which array has the wrong length, and what it takes", async () => {
    const three = new Float32Array(3);
    await expect(executor.vectorAdd(three, new Float32Array(2))).rejects.toThrow("b has 2 elements; a + b takes 3");
    await expect(executor.softmax(three, 2, 2)).rejects.toThrow("x has 3 elements; 2 x 2 takes 4");
    await expect(executor.softmax(three, 1.5, 2)).rejects.toThrow("softmax: batch is 1.5; it takes a whole number, at least 0");
    await expect(executor.matmul(three, three, 1, 3, 2)).rejects.toThrow("B has 3 elements; 3 x 2 takes 6");
    await expect(executor.normalize(three, 1, 3, "most" as "sum")).rejects.toThrow('norm is "most"; it takes sum, magnitudes, euclidean');
    await expect(executor.relu([1, 2] as unknown as Float32Array)).rejects.toThrow(ArgumentError);
    expect(() => executor.network([])).toThrow("a network has at least one layer");
    const layer = { weights: three, inputs: 1, outputs: 3 };
    expect(() => executor.network([layer, { ...layer, bias: three }])).toThrow("layer 1 has 1 inputs; the layer before has 3 outputs");
    expect(() => executor.network([{ ...layer, activation: "max" as "relu" }])).toThrow(
      'layer 0: activation is "max"; it takes "none", "relu"',
    );
    using short = executor.device.allocate(3);
    expect(() => executor.relu(short, 4)).toThrow("argument 0 has 3 elements; the kernel touches 4 (argument 1)");
  });

  it("multiplies by cuBLAS on a GPU only: asked for it elsewhere it fails, and left to choose it says why not", async () => {
    const [a, b] = [randomArray(4, 1), randomArray(4, 2)];
    await expect(executor.matmul(a, b, 2, 2, 2, { blas: "cublas" })).rejects.toThrow("cuBLAS works on a GPU only");
    expect((await executor.matmul(a, b, 2, 2, 2, { blas: "auto" })).source).toEqual({ library: "spillway", kernel: "matmul_small" });
    expect(executor.blasProblem).toContain("cuBLAS works on a GPU only");
    await expect(executor.matmul(a, b, 2, 2, 2, { blas: "mkl" as "auto" })).rejects.toThrow(
      'blas is "mkl"; it takes "none", "auto" or "cublas"',
    );
  });
});
