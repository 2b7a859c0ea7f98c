// Phase oscillators in WebAssembly on the CPU engine: every bit of the reference's step, through
// runs, single steps, batches and faults.
import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../src/index.js";
import { NonFiniteStateError } from "../../src/reservoir/engine.js";
import type { RegisteredReservoirOptions } from "../../src/reservoir/index.js";

const draws = new RandomStream(seedKeys("oscillators in WebAssembly").weights, 0);
const series = (rows: number, cols = 1) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, i) => draws.normal(i, 0)),
  );
const shared = { kind: "oscillator", size: 70, seed: 7 } as const;

/** The same reservoir on both engines. */
async function both(options: RegisteredReservoirOptions) {
  const reference = await ReservoirComputer.create(options, { engine: "reference" });
  const cpu = await ReservoirComputer.fromModel(reference.model, { engine: "cpu" });
  return { reference, cpu, [Symbol.asyncDispose]: async () => void (await Promise.all([reference.dispose(), cpu.dispose()])) };
}

describe("phase oscillators in WebAssembly", () => {
  it.each([
    ["a dense W and noise", { ...shared, noise: 0.01 }],
    ["a dense W of 64 columns", { ...shared, size: 64, inputs: "one", inputSize: 2 }],
    ["a dense W, binary64, several inputs and harmonics", { ...shared, precision: "float64", inputSize: 3, harmonics: 3, order: true }],
    ["binary64, noise and an odd number", { ...shared, size: 37, precision: "float64", noise: 0.1 }],
    ["a sparse W, pulled by a field", { ...shared, connectionProbability: 0.2, input: "field", harmonics: 2 }],
    [
      "a sparse W in binary64, noise and R",
      { ...shared, size: 139, connectionProbability: 0.1, precision: "float64", noise: 0.1, order: true },
    ],
    ["the mean field, harmonics and R", { ...shared, coupling: "meanField", harmonics: 2, order: true, frequencyDistribution: "lorentz" }],
    ["the mean field in binary64", { ...shared, size: 131, coupling: "meanField", precision: "float64", input: "field", order: true }],
    ["one oscillator", { ...shared, size: 1, order: true, harmonics: 2 }],
    ["three oscillators in binary64", { ...shared, size: 3, precision: "float64", connectionProbability: 0.5 }],
    ["no input", { ...shared, inputSize: 0, precision: "float64" }],
    ["wide turns of the drive", { ...shared, gain: 3e6, coupling: "meanField" }],
  ] as const)("have the bits of the reference: %s", async (_, options) => {
    await using pair = await both(options);
    expect(pair.cpu.engine.plan.summary).toMatch(/^the kind "oscillator" in WebAssembly SIMD, /);
    const inputs = series(20, "inputSize" in options ? options.inputSize : 1);
    expect((await pair.cpu.run(inputs)).data).toEqual((await pair.reference.run(inputs)).data);
    expect(pair.cpu.step(inputs.row(0))).toEqual(pair.reference.step(inputs.row(0)));
    expect(pair.cpu.state).toEqual(pair.reference.state);
  });

  it("keep them over several chunks, whose noise goes on", async () => {
    await using pair = await both({ ...shared, size: 5, noise: 0.2, coupling: "meanField" });
    const capacity = pair.cpu.engine.plan.details["stepsPerChunk"] as number;
    const inputs = series(2 * capacity + 3);
    expect((await pair.cpu.run(inputs)).data).toEqual((await pair.reference.run(inputs)).data);
  });

  it("keep them in batches, whose noise is each sequence's own", async () => {
    await using pair = await both({ ...shared, noise: 0.05 });
    const sequences = [series(5), series(9), series(3)];
    const there = await pair.cpu.batch(sequences);
    expect(there.map(({ data }) => data)).toEqual((await pair.reference.batch(sequences)).map(({ data }) => data));
  });

  it("keep them where a state is no longer finite, and go on from the one before", async () => {
    await using pair = await both({ ...shared, input: "field", size: 8 });
    const inputs = series(6);
    inputs.data[4] = 3e38;
    const expected = await pair.reference.run(inputs).catch((error: unknown) => error);
    expect(expected).toBeInstanceOf(NonFiniteStateError);
    expect(((await pair.cpu.run(inputs).catch((error: unknown) => error)) as Error).message).toBe((expected as Error).message);
    expect(pair.cpu.state).toEqual(pair.reference.state);
    expect(pair.cpu.step(inputs.row(0))).toEqual(pair.reference.step(inputs.row(0)));
  });

  it("leave inputs beyond the sines of WebAssembly to the stepper, with the same bits", async () => {
    await using pair = await both(shared);
    const inputs = series(4);
    inputs.data[2] = 3e12;
    expect((await pair.cpu.run(inputs)).data).toEqual((await pair.reference.run(inputs)).data);
  });
});
