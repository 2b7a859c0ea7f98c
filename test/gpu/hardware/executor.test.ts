// The kernel executor on a real GPU: cuBLAS if it is installed, NVRTC, and the rate of products
// by events.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GpuCompute, KernelExecutor, LibraryError, sharedExecutor } from "../../../packages/gpu/src/index.js";
import { openHardware } from "../device/device.js";
import { randomArray } from "../numbers.js";

let executor: KernelExecutor;

beforeAll(() => {
  executor = new KernelExecutor(openHardware());
});
afterAll(() => {
  const context = executor?.device.context;
  executor?.dispose();
  context?.dispose();
});

describe("products", () => {
  it("come from cuBLAS where it is installed, and say so; elsewhere the choice of it says what was tried", async () => {
    const [m, k, n] = [129, 77, 200];
    const [a, b] = [randomArray(m * k, 3), randomArray(k * n, 5)];
    const own = await executor.matmul(a, b, m, k, n, { blas: "none" });
    const chosen = await executor.matmul(a, b, m, k, n, { blas: "auto" });
    if (chosen.source.library === "spillway") {
      expect(executor.blasProblem).toContain("cuBLAS could not be loaded; tried");
      await expect(executor.matmul(a, b, m, k, n, { blas: "cublas" })).rejects.toThrow(LibraryError);
      console.log(`no cuBLAS here: ${executor.blasProblem}`);
      return;
    }
    console.log(`cuBLAS ${chosen.source.version} from ${chosen.source.path}`);
    expect(chosen.source.version).toMatch(/^1\d\.\d+\.\d+$/);
    let error = 0;
    for (const [i, value] of chosen.values.entries()) error = Math.max(error, Math.abs(value - own.values[i]!));
    expect(error).toBeLessThanOrEqual(1e-5 * k);
  });
});

describe("kernels of one's own", () => {
  it("are compiled from CUDA C++ by their names, templates too", async () => {
    using compute = new GpuCompute(executor.device);
    const source = `
      extern "C" __global__ void vector_add(float* a, float* b, float* c, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
      }`;
    compute.compileKernel("vector_add", source);
    compute.compileKernel("scale<double>", "template <typename T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }");
    const { device } = compute;
    using a = device.upload(new Float32Array(1024).fill(1));
    using b = device.upload(new Float32Array(1024).fill(2));
    using c = device.allocate(1024);
    compute.runKernel("vector_add", [4, 1, 1], [256, 1, 1], [a, b, c, 1024]);
    expect(await device.download(c)).toEqual(new Float32Array(1024).fill(3));
    using x = device.upload(Float64Array.of(1, 2, 3));
    compute.runKernel("scale<double>", 1, 3, [x, 0.1]);
    expect([...(await device.download(x))]).toEqual([0.1, 0.2, 3 * 0.1]);
    expect(() => compute.compileKernel("other", source)).toThrow('the source of "other" has no kernel of this name; it has vector_add');
  });

  it("share one executor, which opens again after it was closed", async () => {
    const first = sharedExecutor();
    expect(sharedExecutor()).toBe(first);
    expect([...(await first.relu(Float32Array.of(-1, 2)))]).toEqual([0, 2]);
    first.dispose();
    const second = sharedExecutor();
    expect(second).not.toBe(first);
    second.dispose();
  });
});
