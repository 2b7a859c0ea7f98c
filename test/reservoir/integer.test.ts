// Reservoirs in integers: rule 18 of docs/numerics.md, and what they refuse.
import { describe, expect, it, vi } from "vitest";
import { echoStateIndex } from "../../src/analysis/index.js";
import "../../src/index.js";
import { isSparse, Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { ConceptorMemory, decodeReservoir, encodeReservoir, Forecaster, toOnnx } from "../../src/model/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { checkRates } from "../../src/reservoir/engine/supports.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { integerTanh } from "../../src/reservoir/integer/tanh.js";
import { rowOf } from "../../src/reservoir/integer/weights.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { bits, model, randomMatrix } from "../engine/contract.js";

const integer = (options: ReservoirOptions): ReservoirOptions => ({ ...options, arithmetic: "integer" });

const shapes: readonly (readonly [string, ReservoirOptions])[] = [
  ["sparse", { size: 90, bias: 0.3 }],
  ["dense in 8 bits", { size: 70, connectionProbability: 1, weightPrecision: "int8", inputSize: 3 }],
  ["dense in 16 bits, two panels and an odd number", { size: 31, connectionProbability: 1, bias: 0.2 }],
  ["sparse in 8 bits, feedback", { size: 60, weightPrecision: "int8", feedback: { size: 2 }, inputSize: 2 }],
  ["far beyond radius 1, random initial state", { size: 50, spectralRadius: 30, initialState: { distribution: "normal", scaling: 9 } }],
  ["leak rates between two, no inputs", { size: 40, inputSize: 0, leakRate: { from: 1e-4, to: 1 }, bias: 2 }],
];

describe.each(shapes)("a reservoir in integers: %s", (_, options) => {
  const made = model(integer({ seed: 4, ...options }));
  const sequence = {
    // Beyond 8 inputs are cut.
    inputs: randomMatrix(150, made.inputSize, "float32", 3, 12),
    ...(made.outputSize > 0 && { teacher: randomMatrix(150, made.outputSize, "float32", 5, 12) }),
  };

  it("has the same bits on the CPU as the reference, whose sums are exact", async () => {
    const states = [];
    for (const engine of [referenceEngine, cpuEngine]) {
      const session = await engine.open(made);
      const into = Matrix.zeros(150, made.size, "float32");
      await session.run(sequence, { into });
      states.push(bits(into.data));
      await session.dispose();
    }
    expect(states[1]).toEqual(states[0]);
    expect(new Set(states[0]).size).toBeGreaterThan(50);
  });

  it("has states of 16 bits and weights of their bits", async () => {
    const session = await cpuEngine.open(made);
    const into = Matrix.zeros(150, made.size, "float32");
    await session.run(sequence, { into });
    expect(into.data.every((x) => Number.isInteger(x * 2 ** 15) && Math.abs(x) < 1)).toBe(true);
    for (let r = 0; r < made.size; r++) {
      const row = Array.from(rowOf(made.weights, r));
      const e = Array.from({ length: 15 }, (_, k) => k).find((k) => row.every((w) => Number.isInteger(w * 2 ** k)))!;
      expect(e).toBeLessThan(15);
      expect(Math.max(0, ...row.map((w) => Math.abs(w * 2 ** e)))).toBeLessThanOrEqual(options.weightPrecision === "int8" ? 127 : 32767);
    }
  });

  it("is saved and read back with the same weights", async () => {
    await using computer = await ReservoirComputer.fromModel(made);
    const loaded = await decodeReservoir(await encodeReservoir(computer));
    const again = loaded.computer.model as typeof made;
    await loaded.computer.dispose();
    const values = (of: typeof made) => bits(isSparse(of.weights) ? of.weights.values : of.weights.data);
    expect(values(again)).toEqual(values(made));
    expect(bits(again.leakRate)).toEqual(bits(made.leakRate));
    expect(again.config).toEqual(made.config);
  });
});

describe("integer arithmetic", () => {
  it("has a tanh within 1.6 steps of 2^-15, odd and rising", () => {
    let worst = 0;
    let before = 0;
    for (let z = 0; z < 2 ** 19; z += 97) {
      const f = integerTanh(z);
      expect(f).toBeGreaterThanOrEqual(before);
      expect(integerTanh(-z)).toBe(-f || 0);
      worst = Math.max(worst, Math.abs(f - 32768 * Math.tanh(z / 32768)));
      before = f;
    }
    expect(worst).toBeLessThan(1.6);
    expect(before).toBe(32767);
  });

  it("leaves the matrices of a user as they are", async () => {
    const inputWeights = new Matrix(3, 1, Float32Array.of(0.123456, -0.3, 0.7));
    await using computer = await ReservoirComputer.create(integer({ size: 3, spectralRadius: null }), { matrices: { inputWeights } });
    expect(inputWeights.data[0]).toBe(Math.fround(0.123456));
    expect(computer.model.inputWeights.data[0]).not.toBe(inputWeights.data[0]);
  });

  it.each([
    [{ precision: "float64" }, /precision is "float64"/],
    [{ activation: "relu" }, /activation is "relu".*"tanh" with arithmetic "integer"/],
    [{ noiseLevel: 0.1 }, /noiseLevel is 0.1/],
    [{ cell: { type: "euler", step: 0.1, damping: 0.1 } }, /cell/],
    [{ weightPrecision: "bfloat16" }, /weightPrecision is "bfloat16".*16 bits, or "int8"/],
    [{ size: 20000 }, /size is 20000.*at most 16384/],
    [{ inputScaling: 1e5 }, /neuron \d+ are too large/],
  ] as const)("refuses %o", (options, sentence) => {
    expect(() => model(integer({ size: 20, ...options } as ReservoirOptions))).toThrow(sentence);
  });

  it("is refused by an engine without it, by threads, and by ONNX", async () => {
    expect(() => checkRates({ name: "mine", supports: new Set<never>() }, { arithmetic: "integer" })).toThrow(
      /arithmetic is "integer"; it takes "portable" or "fast" on the engine "mine"/,
    );
    await expect(ReservoirComputer.create(integer({ size: 20 }), { threads: 2, engine: "cpu" })).rejects.toThrow(/threads is 2/);
    await using forecaster = await Forecaster.fit(mackeyGlass(300, { seed: 1 }), { reservoir: integer({ size: 20 }) });
    await expect(toOnnx(forecaster)).rejects.toThrow(/computes in integers/);
    const memory = ConceptorMemory.store([mackeyGlass(300, { seed: 1 })], { reservoir: integer({ size: 20 }) });
    await expect(memory).rejects.toThrow(/reservoir.arithmetic is "integer".*a conceptor's states/);
  });

  it("refuses to be put into a state that is no whole number of steps, or beyond 16 bits", async () => {
    await using computer = await ReservoirComputer.create(integer({ size: 3, spectralRadius: null }));
    const { state } = computer;
    for (const x of [0.1, 5, -1]) {
      const values = Float32Array.of(0.5, x, 0);
      expect(() => (computer.state = { ...state, values })).toThrow(/state\.values is .* at neuron 1; it takes whole steps of 2\^-15/);
    }
    const { meets } = await echoStateIndex(integer({ size: 20, leakRate: 1 }), { length: 300 });
    expect(meets).toBe(true);
    computer.state = { ...state, values: Float32Array.of(0.5, -0.25, 2 ** -15) };
    expect(Array.from(computer.state.values)).toEqual([0.5, -0.25, 2 ** -15]);
  });

  it("forecasts by a readout of whole numbers as well as binary32 does", async () => {
    const series = Matrix.from(mackeyGlass(1600, { seed: 3 }));
    const errors = [];
    for (const arithmetic of ["portable", "integer"] as const) {
      await using forecaster = await Forecaster.fit(series.subarray(0, 1500), { reservoir: { size: 100, seed: 1, arithmetic } });
      const { data } = await forecaster.forecast(50);
      errors.push(Math.hypot(...data.map((value, t) => value - series.data[1500 + t]!)));
      if (arithmetic === "portable") continue;
      // Whole numbers of one step an output, 24 bits at most.
      const { readout } = forecaster;
      const row = readout.weights.row(0);
      const e = Array.from({ length: 49 }, (_, k) => k - 24).find((k) => row.every((w) => Number.isInteger(w * 2 ** k)))!;
      expect(e).toBeDefined();
      expect(Math.max(...row.map((w) => Math.abs(w * 2 ** e)))).toBeLessThan(2 ** 23);
      const again = await Forecaster.fromBytes(await forecaster.toBytes());
      expect(bits((await again.forecast(50)).data)).toEqual(bits((await forecaster.forecast(50)).data));
      await again.dispose();
    }
    expect(errors[1]).toBeLessThan(1.5 * errors[0]!);
  });
});

describe("weights that whole numbers lose", () => {
  it.each([
    ["inputScaling", { inputScaling: 1e-6 }, 1],
    ["inputScaling", { inputScaling: 0.5 }, 0],
    ["spectralRadius", { spectralRadius: 1e-6, inputScaling: 0.5 }, 1],
  ] as const)("are counted in a warning that names %s, for %o", async (name, fields, count) => {
    vi.resetModules();
    const found: string[] = [];
    const spy = vi.spyOn(process, "emitWarning").mockImplementation(((message: string, type: string) => {
      if (type === "SpillwayIntegerWeightsWarning") found.push(message);
    }) as never);
    try {
      const { ReservoirComputer: Fresh } = await import("../../src/index.js");
      await using computer = await Fresh.create({ size: 50, arithmetic: "integer", ...fields });
      expect(computer.config.size).toBe(50);
    } finally {
      spy.mockRestore();
    }
    expect(found).toHaveLength(count);
    for (const message of found) expect(message).toContain(`rounds 100 % of the weights that ${name} scales to 0`);
  });
});
