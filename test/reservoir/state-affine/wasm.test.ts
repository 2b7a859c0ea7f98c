// State-affine systems in WebAssembly on the CPU engine: every bit of the reference's step.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../../src/index.js";
import type { RegisteredReservoirOptions } from "../../../src/reservoir/index.js";

const drive = (rows: number, cols: number) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, t) => ((t * 37) % 50) / 22 - 1.1),
  );
const all = { kind: "stateAffine", functions: ["u^2", "sqrt(u(1-u))", "u"], seed: 5 } as const;

describe("state-affine systems in WebAssembly", () => {
  it.each([
    ["three functions of two inputs", { ...all, size: 20, inputSize: 2 }],
    ["the same in binary32", { ...all, size: 21, inputSize: 2, precision: "float32", range: [-0.7, 0.9] }],
    ["one coordinate", { ...all, size: 1 }],
    ["no input", { kind: "stateAffine", size: 37, inputSize: 0 }],
    ["qubits", { kind: "stateAffine", quantum: { qubits: 3, virtualNodes: 3 } }],
    ["qubits in binary32", { kind: "stateAffine", quantum: { qubits: 4, virtualNodes: 1 }, precision: "float32" }],
    ["blocks in two streams", { ...all, size: 290, inputSize: 4, modulation: 0 }],
  ] as const)("have the bits of the reference: %s", async (_, options) => {
    await using reference = await ReservoirComputer.create(options as RegisteredReservoirOptions, { engine: "reference" });
    await using cpu = await ReservoirComputer.fromModel(reference.model, { engine: "cpu" });
    expect(cpu.engine.plan.summary).toMatch(/^the kind "stateAffine" in WebAssembly SIMD, /);
    const inputs = drive("size" in options && options.size > 100 ? 3 : 40, reference.model.inputSize);
    expect((await cpu.run(inputs)).data).toEqual((await reference.run(inputs)).data);
    expect(cpu.step(inputs.row(0))).toEqual(reference.step(inputs.row(0)));
    expect(cpu.state).toEqual(reference.state);
    const batch = [inputs, inputs.subarray(1, 3)];
    expect((await cpu.batch(batch)).map(({ data }) => data)).toEqual((await reference.batch(batch)).map(({ data }) => data));
  });
});
