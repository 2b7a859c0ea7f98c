// What every engine on the host does with a spiking network: the bits of the reference, in one
// piece or in many.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { NonFiniteStateError, type SpikingReservoirOptions } from "../../src/reservoir/index.js";
import { build } from "../../src/spikes/liquid/kind.js";
import { bits } from "../engine/contract.js";
import { amount, casesOf } from "../exhaustive.js";
import { inputsOf, statesOf } from "./drive.js";

const liquids: fc.Arbitrary<SpikingReservoirOptions> = fc.record({
  kind: fc.constant("spiking" as const),
  size: fc.integer({ min: 1, max: 130 }),
  inputSize: fc.integer({ min: 0, max: 5 }),
  timeStep: fc.constantFrom(0.1, 0.5, 1),
  precision: fc.constantFrom("float32" as const, "float64" as const),
  neuron: fc.constantFrom(
    "leakyIntegrateAndFire" as const,
    "adaptiveIntegrateAndFire" as const,
    "izhikevich" as const,
    { type: "leakyIntegrateAndFire" as const, reset: "subtract" as const },
    { type: "adaptiveIntegrateAndFire" as const, reset: "subtract" as const, refractoryPeriod: 0 },
  ),
  connectivity: fc.constantFrom("distance" as const, "random" as const),
  synapses: fc.constantFrom(
    {},
    { excitatoryTimeConstant: 0, delay: [0, 4] as const },
    { distribution: "uniform" as const, delay: { ee: 3 } },
  ),
  input: fc.constantFrom({}, { mode: "current" as const }, { delay: 2, negativeShare: 0.3 }),
  background: fc.constantFrom({}, { current: 14, deviation: 2 }, { current: 16 }, { rate: 100, weight: 30 }),
  initialPotential: fc.constantFrom("rest" as const, { from: -70, to: -55 }),
  stateTimeConstant: fc.constantFrom(0, 30),
  seed: fc.integer({ min: 0, max: 1000 }),
});

const steps = amount(10_000, 300);

describe("a spiking reservoir in WebAssembly", () => {
  it("gives the reference's bits, whatever its description", async () => {
    let active = 0;
    await fc.assert(
      fc.asyncProperty(liquids, fc.integer({ min: 1, max: 60 }), async (options, steps) => {
        const model = build(options);
        const inputs = inputsOf(model, steps, 0.2);
        const expected = await statesOf(referenceEngine, model, inputs);
        expect(bits((await statesOf(cpuEngine, model, inputs)).data)).toEqual(bits(expected.data));
        if (expected.data.some((value) => value !== 0)) active++;
      }),
      { numRuns: amount(200, 15), seed: 1 },
    );
    expect(active).toBeGreaterThan(amount(80, 4));
  });

  it.each(
    casesOf(
      [
        ["leakyIntegrateAndFire", { current: 13.5, deviation: 4 }],
        ["adaptiveIntegrateAndFire", { current: 14, deviation: 4 }],
        ["izhikevich", { current: 3, deviation: 4 }],
      ] as const,
      (_, k) => k === 1,
    ),
  )(`gives the reference's bits for 1000 %s neurons over ${steps} steps`, async (neuron, background) => {
    const weight = neuron === "izhikevich" ? { ee: 1, ei: 1, ie: 2, ii: 2 } : { ee: 8, ei: 12, ie: 19, ii: 19 };
    const model = build({ kind: "spiking", size: 1000, inputSize: 4, neuron, background, synapses: { weight }, seed: 3 });
    const inputs = inputsOf(model, steps, 0.02);
    const expected = await statesOf(referenceEngine, model, inputs);
    const states = await statesOf(cpuEngine, model, inputs);
    expect(Buffer.compare(Buffer.from(states.data.buffer), Buffer.from(expected.data.buffer))).toBe(0);
    expect(expected.row(steps - 1).filter((value) => value > 0).length).toBeGreaterThan(500);
  });
});

const noisy: SpikingReservoirOptions = {
  kind: "spiking",
  size: 60,
  inputSize: 3,
  background: { current: 13.5, deviation: 3, rate: 20 },
  synapses: { delay: [0, 6] },
  seed: 9,
};

describe.each([
  ["reference", referenceEngine],
  ["cpu", cpuEngine],
] as const)("a session of a spiking reservoir on the engine %s", (_, engine) => {
  it("gives a run cut in pieces, made step by step or resumed elsewhere the bits of a run in one piece", async () => {
    const model = build({ ...noisy, neuron: "adaptiveIntegrateAndFire" });
    const inputs = inputsOf(model, 300, 0.1);
    const whole = await statesOf(engine, model, inputs);
    const out = Matrix.zeros(300, 60, "float32");
    const first = await engine.open(model);
    await first.run({ inputs: inputs.subarray(0, 77) }, { into: out.subarray(0, 77) });
    for (let t = 77; t < 130; t++) out.row(t).set(first.step(inputs.row(t)));
    const saved = first.getState();
    await first.run({ inputs: inputs.subarray(130) }, {});
    const second = await (engine === cpuEngine ? referenceEngine : cpuEngine).open(model);
    second.setState(saved);
    await second.run({ inputs: inputs.subarray(130, 200) }, { into: out.subarray(130, 200) });
    first.setState(second.getState());
    await first.run({ inputs: inputs.subarray(200) }, { into: out.subarray(200) });
    expect(bits(out.data)).toEqual(bits(whole.data));
    first.reset();
    await first.run({ inputs }, { into: out });
    expect(bits(out.data)).toEqual(bits(whole.data));
    await first.dispose();
    await second.dispose();
  });

  it("runs each sequence of a batch from the start with noise of its own, and leaves its state as it was", async () => {
    const model = build(noisy);
    const inputs = inputsOf(model, 50, 0.1);
    const session = await engine.open(model);
    await session.run({ inputs }, {});
    const before = session.getState();
    const [a, b] = await session.batch([{ inputs }, { inputs }], {});
    expect(session.getState()).toEqual(before);
    expect(bits(a!.data)).toEqual(bits((await statesOf(engine, model, inputs)).data));
    expect(bits(b!.data)).not.toEqual(bits(a!.data));
    await session.dispose();
  });

  it("names step and neuron where a potential leaves the finite numbers, and stands at the step before", async () => {
    const model = build({
      kind: "spiking",
      size: 40,
      inputSize: 1,
      neuron: "izhikevich",
      input: { mode: "current", connectivity: 0.1, weight: 1, distribution: "constant", negativeShare: 0 },
    });
    const hit = model.inputWeights!.data.findIndex((value) => value !== 0);
    const inputs = new Matrix(5, 1, Float32Array.of(5, 5, -1e30, 5, 5));
    const session = await engine.open(model);
    const failure = await session.run({ inputs }, {}).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NonFiniteStateError);
    expect(failure).toMatchObject({ step: 2, neuron: hit });
    const other = await engine.open(model);
    await other.run({ inputs: inputs.subarray(0, 2) }, {});
    expect(session.getState()).toEqual(other.getState());
    await session.dispose();
    await other.dispose();
  });

  it("takes back the spikes of a step that failed", async () => {
    const model = build({
      kind: "spiking",
      size: 40,
      inputSize: 1,
      neuron: "izhikevich",
      input: { weight: 4000, largestAmplitude: 64 },
      fractionBits: 4,
    });
    const session = await engine.open(model);
    const strong = Float32Array.of(-64);
    let steps = 0;
    expect(() => {
      for (; steps < 50; steps++) session.step(strong);
    }).toThrow(NonFiniteStateError);
    const other = await engine.open(model);
    for (let t = 0; t < steps; t++) other.step(strong);
    expect(session.getState().network).toEqual(other.getState().network);
    await session.dispose();
    await other.dispose();
  });

  it("refuses spikes of amplitudes that its sums cannot hold", async () => {
    const session = await engine.open(build(noisy));
    await expect(session.run({ inputs: new Matrix(2, 3, Float32Array.of(0, 1, 0, 0, 0, 65)) }, {})).rejects.toThrow(
      "the input of channel 2 is 65 at step 1; this reservoir takes spikes of amplitudes up to 64 (input.largestAmplitude)",
    );
    expect(session.getState().step).toBe(0);
    await session.dispose();
  });
});

describe("the CPU engine", () => {
  it("runs a spiking reservoir in one thread and says so", async () => {
    await expect(cpuEngine.open(build(noisy), { threads: 2 })).rejects.toThrow("a spiking reservoir runs in one thread, so it takes 1");
  });
});
