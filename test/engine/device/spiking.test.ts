// Spiking reservoirs on a device: the reference's bits, in one piece or in many.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { StallError } from "../../../src/engine/cuda/time-loop.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import { NonFiniteStateError, type SpikingReservoirOptions } from "../../../src/reservoir/index.js";
import { LiquidStateMachine, SpikePattern } from "../../../src/spikes/index.js";
import { build } from "../../../src/spikes/liquid/kind.js";
import "../../../src/index.js";
import { createHash } from "node:crypto";
import { amount } from "../../exhaustive.js";
import { spikingInputs, spikingRuns } from "../../golden/series.js";
import { spikingHashes } from "../../golden/spiking.js";
import { onHardware, size } from "../../gpu/device/device.js";
import { inputsOf, statesOf } from "../../spikes/drive.js";
import { bits } from "../contract.js";
import { device, inShortChunks, name } from "./engines.js";

const liquids: fc.Arbitrary<SpikingReservoirOptions> = fc.record({
  kind: fc.constant("spiking" as const),
  size: fc.constantFrom(1, 31, 130, 200),
  inputSize: fc.integer({ min: 0, max: 3 }),
  precision: fc.constantFrom("float32" as const, "float64" as const),
  neuron: fc.constantFrom("leakyIntegrateAndFire" as const, "izhikevich" as const, {
    type: "adaptiveIntegrateAndFire" as const,
    reset: "subtract" as const,
    refractoryPeriod: 0,
  }),
  connectivity: fc.constantFrom("distance" as const, "random" as const),
  synapses: fc.constantFrom({}, { excitatoryTimeConstant: 0, delay: [0, 4] as const }),
  input: fc.constantFrom({}, { mode: "current" as const }, { delay: 2, negativeShare: 0.3 }),
  background: fc.constantFrom({ current: 14, deviation: 2 }, { current: 16 }, { rate: 100, weight: 30 }),
  seed: fc.integer({ min: 0, max: 1000 }),
});

const noisy: SpikingReservoirOptions = {
  kind: "spiking",
  size: 90,
  inputSize: 3,
  neuron: "adaptiveIntegrateAndFire",
  background: { current: 13.5, deviation: 3, rate: 20 },
  synapses: { delay: [0, 6] },
  seed: 9,
};

describe("a spiking reservoir on a device", () => {
  it("gives the reference's bits, whatever its description", async () => {
    await fc.assert(
      fc.asyncProperty(liquids, async (options) => {
        const model = build(options);
        const inputs = inputsOf(model, 20, 0.2);
        expect(bits((await statesOf(device, model, inputs)).data)).toEqual(bits((await statesOf(referenceEngine, model, inputs)).data));
      }),
      { numRuns: size(200, amount(12, 4), 20), seed: 2 },
    );
  });

  it.each(spikingRuns.map((run) => [run.name, run] as const))("gives the C program's states: %s", async (name, { config, steps }) => {
    const model = build(config);
    const count = onHardware ? steps : Math.min(steps, 12);
    const inputs = spikingInputs(model, steps).subarray(0, count);
    const states = await statesOf(device, model, inputs);
    if (count === steps) {
      expect(createHash("sha256").update(new Uint8Array(states.data.buffer)).digest("hex")).toBe(spikingHashes()[name]!.states);
    } else {
      expect(bits(states.data)).toEqual(bits((await statesOf(referenceEngine, model, inputs)).data));
    }
  });

  it("goes on from chunk to chunk, from step to step, and from a state that another engine saved", async () => {
    const model = build(noisy);
    const inputs = inputsOf(model, 60, 0.1);
    const whole = await statesOf(referenceEngine, model, inputs);
    const out = Matrix.zeros(60, 90, "float32");
    const here = await inShortChunks.open(model);
    await here.run({ inputs: inputs.subarray(0, 37) }, { into: out.subarray(0, 37) });
    out.row(37).set(here.step(inputs.row(37)));
    const there = await referenceEngine.open(model);
    there.setState(here.getState());
    await there.run({ inputs: inputs.subarray(38, 45) }, { into: out.subarray(38, 45) });
    here.setState(there.getState());
    await here.run({ inputs: inputs.subarray(45) }, { into: out.subarray(45) });
    expect(bits(out.data)).toEqual(bits(whole.data));
    await here.dispose();
    await there.dispose();
  });

  it("can be disposed while it runs, and says so", async () => {
    const session = await inShortChunks.open(build(noisy));
    const run = session.run({ inputs: inputsOf(session.model as ReturnType<typeof build>, 60, 0.1) }, {});
    await session.dispose();
    await expect(run).rejects.toThrow("this reservoir was disposed");
  });

  it("names step and neuron where a potential leaves the finite numbers, and stands at the step before", async () => {
    const model = build({
      kind: "spiking",
      size: 40,
      inputSize: 1,
      neuron: "izhikevich",
      input: { mode: "current", connectivity: 0.1, weight: 1, distribution: "constant", negativeShare: 0 },
    });
    const inputs = new Matrix(5, 1, Float32Array.of(5, 5, -1e30, 5, 5));
    const failures = [];
    const states = [];
    for (const engine of [device, referenceEngine]) {
      const session = await engine.open(model);
      failures.push(await session.run({ inputs }, {}).catch((error: unknown) => error));
      states.push(session.getState());
      await session.dispose();
    }
    expect(failures[0]).toBeInstanceOf(NonFiniteStateError);
    expect(failures[0]).toEqual(failures[1]);
    expect(states[0]).toEqual(states[1]);
  });

  const steps = size(10_000, amount(200, 50), 500);
  it(`gives the reference's bits for 1000 neurons over ${steps} steps`, async () => {
    const weight = { ee: 8, ei: 12, ie: 19, ii: 19 };
    const model = build({ ...noisy, size: 1000, neuron: "leakyIntegrateAndFire", synapses: { weight }, seed: 3 });
    const inputs = inputsOf(model, steps, 0.02);
    const states = await statesOf(device, model, inputs);
    const expected = await statesOf(referenceEngine, model, inputs);
    expect(Buffer.compare(Buffer.from(states.data.buffer), Buffer.from(expected.data.buffer))).toBe(0);
  });

  it("gives an error with the block that waited too long, and stands where it was", async () => {
    const model = build({ ...noisy, size: 600, connectivity: { type: "random", probability: 0.01 } });
    // The last neuron fires at once, and its block is busy with it for longer than the others are
    // ready to wait.
    const count = size(4_000_000, 20_000, 400_000);
    const offsets = new Uint32Array(601);
    offsets[600] = count;
    const synapses = { offsets, targets: new Uint32Array(count), weights: new Int32Array(count).fill(1), delays: new Uint16Array(count) };
    const initialPotential = model.initialPotential.slice();
    initialPotential[599] = 1000;
    const session = await device.open({ ...model, synapses, initialPotential }, { spinLimit: 1 });
    const before = session.getState();
    const error = await session.run({ inputs: inputsOf(model, 4, 0) }, {}).catch((reason: unknown) => reason);
    expect(error, String(error)).toBeInstanceOf(StallError);
    expect((error as StallError).message).toMatch(/^leaky_integrate_fire_f32: block \d+ waited 1 clock ticks at step \d/);
    expect(session.getState()).toEqual(before);
    await session.dispose();
  });

  it("takes a spike pattern to a state, that of the host", async () => {
    const options = { size: 60, inputSize: 4, seed: 5, background: { current: 14, deviation: 2 } } as const;
    const spikes = Array.from({ length: 80 }, (_, i) => ({ timeMs: (i * 37) % 30, neuron: i % 4, amplitude: 1 + (i % 3) }));
    const pattern = SpikePattern.from(spikes, { durationMs: 30, neuronCount: 4 });
    const states = [];
    for (const engine of [name, "cpu"]) {
      const liquid = await LiquidStateMachine.create(options, { engine });
      states.push(await liquid.process(pattern), await liquid.process(pattern, { state: "mean" }), (await liquid.spikes(pattern)).times);
      await liquid.dispose();
    }
    expect(states.slice(0, 3)).toEqual(states.slice(3));
    expect(states[2]!.length).toBeGreaterThan(5);
  });

  it.each([
    ["one neuron and one input", { size: 1, inputSize: 1 }],
    ["neurons without synapses", { size: 5, inputSize: 2, connectivity: { type: "random", probability: 0 }, input: { connectivity: 0 } }],
  ] as const)("takes a pattern without spikes through %s, however long it lasts", async (_, options) => {
    for (const background of [{}, { current: 40 }]) {
      const states = [];
      for (const engine of [name, "reference"]) {
        const liquid = await LiquidStateMachine.create({ ...options, background, seed: 5 }, { engine });
        const silence = (durationMs: number) => SpikePattern.from([], { durationMs, neuronCount: options.inputSize });
        const spikes = await liquid.spikes(silence(30));
        states.push([
          await liquid.process(silence(30)),
          await liquid.process(silence(0)),
          await liquid.processAll([]),
          [...spikes.times],
          [...spikes.neurons],
        ]);
        await liquid.dispose();
      }
      expect(states[0]).toEqual(states[1]);
      expect((states[0]![3] as number[]).length > 0).toBe("current" in background);
    }
  });

  it.runIf(onHardware)("gives the reference's bits for a million neurons", async () => {
    const model = build({ ...noisy, size: 1_000_000, connectivity: { type: "random", probability: 3e-6 } });
    const inputs = inputsOf(model, 20, 0.3);
    const [states, expected] = [await statesOf(device, model, inputs), await statesOf(referenceEngine, model, inputs)];
    expect(Buffer.compare(Buffer.from(states.data.buffer), Buffer.from(expected.data.buffer))).toBe(0);
    expect(states.row(19).some((value) => value > 0)).toBe(true);
  });
});
