// Ridge regression through cuBLAS and cuSOLVER by koffi, against mocks of both and of libcuda in C
// whose memory is the host's.
import { createRequire } from "node:module";
import type koffi from "koffi";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Context, openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { DeviceBlas } from "../../src/engine/cuda/training/device-blas.js";
import { IllConditionedError, type RidgeOptions, ridge } from "../../src/readout/index.js";
import { buildBlasMock, buildMock } from "../gpu/mock/build.js";
import { randomMatrix } from "../numerics/linear-algebra-reference.js";

let context: Context;
let openHandles: () => number;

beforeAll(() => {
  const path = buildBlasMock();
  vi.stubEnv("SPILLWAY_CUBLAS_LIBRARY", path);
  vi.stubEnv("SPILLWAY_CUSOLVER_LIBRARY", path);
  openHandles = (createRequire(import.meta.url)("koffi") as typeof koffi).load(path).func("int mock_open_handles(void)") as () => number;
  context = openDevice({ library: buildMock() });
});
afterAll(() => {
  context.dispose();
  vi.unstubAllEnvs();
});

// More rows than are multiplied at a time.
const states = randomMatrix(3000, 40, "states", "float32");
const targets = Matrix.from(Array.from({ length: 3000 }, (_, t) => [states.at(t, 3) * states.at(t, 4), 0.3 + states.at(t, 8)]));
const inputs = randomMatrix(3000, 2, "inputs");

describe("a ridge fit by cuBLAS and cuSOLVER", () => {
  it.each<RidgeOptions>([
    { lambda: 1e-6 },
    { lambda: 1e-3, transform: "squareHalf" },
    { lambda: 1e-6, transform: "squares", input: true },
    { lambda: 1e-6, intercept: false },
    { lambdas: [1e-4, 1, 100] },
  ])("predicts within 1e-9 of portable arithmetic with %j, and says what computed it", (options) => {
    using blas = new DeviceBlas(context);
    const portable = ridge(options).fit(states, targets, { washout: 100, inputs }).predict(states, inputs, { precision: "float64" });
    const readout = ridge({ ...options, blas }).fit(states, targets, { washout: 100, inputs });
    const predicted = readout.predict(states, inputs, { precision: "float64" });
    const scale = Math.max(...portable.data.map(Math.abs));
    expect(Math.max(...predicted.data.map((value, i) => Math.abs(value - portable.data[i]!)))).toBeLessThan(1e-9 * scale);
    expect(readout.training?.details["blas"]).toMatch(/^cuBLAS 13\.1\.0 and cuSOLVER \(.*libcublas\.so\)$/);
  });

  it("fails by name where lambda is too small", () => {
    using blas = new DeviceBlas(context);
    const silent = states.slice(0, 100);
    for (let t = 0; t < 100; t++) silent.row(t)[7] = 0;
    expect(() => ridge({ blas, lambda: 0, intercept: false }).fit(silent, targets.slice(0, 100))).toThrow(IllConditionedError);
  });

  it("gives back handles and memory", () => {
    const held = context.held().length;
    const blas = new DeviceBlas(context);
    expect(openHandles()).toBe(2);
    ridge({ blas }).fit(states, targets, { inputs });
    blas.dispose();
    blas.dispose();
    expect(openHandles()).toBe(0);
    expect(context.held().length).toBe(held);
  });
});
