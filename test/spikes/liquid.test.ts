// A liquid: what its description takes, and that every engine on the host gives the same bits.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { allocate, Matrix, RandomStream, seedKeys } from "../../src/numerics/index.js";
import type { Engine, SpikingModel, SpikingReservoirOptions } from "../../src/reservoir/index.js";
import { build } from "../../src/spikes/liquid/build.js";
import { bits } from "../engine/contract.js";

/** T x I inputs: spikes with this chance and amplitudes 1 or 0.75, or a current. */
function inputsOf(model: SpikingModel, steps: number, chance: number, seed = 1): Matrix {
  const draws = new RandomStream(seedKeys(seed).weights, 77);
  const data = allocate(model.precision, steps * model.inputSize);
  const isCurrent = model.inputWeights !== undefined;
  for (let i = 0; i < data.length; i++) {
    const u = draws.uniform(0, i);
    data[i] = isCurrent ? 2 * u - 1 : u < chance ? (u < chance / 4 ? 0.75 : 1) : 0;
  }
  return new Matrix(steps, model.inputSize, data);
}

async function statesOf(engine: Engine, model: SpikingModel, inputs: Matrix): Promise<Uint32Array> {
  const session = await engine.open(model);
  const states = Matrix.zeros(inputs.rows, model.size, model.precision);
  await session.run({ inputs }, { states });
  await session.dispose();
  return bits(states.data);
}

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

describe("a spiking reservoir", () => {
  it("gives the same bits on the reference and in WebAssembly, whatever its description", async () => {
    let spikes = 0;
    await fc.assert(
      fc.asyncProperty(liquids, fc.integer({ min: 1, max: 60 }), async (options, steps) => {
        const model = build(options);
        const inputs = inputsOf(model, steps, 0.2);
        const expected = await statesOf(referenceEngine, model, inputs);
        expect(await statesOf(cpuEngine, model, inputs)).toEqual(expected);
        spikes += expected.some((word) => word !== 0) ? 1 : 0;
      }),
      { numRuns: 200 },
    );
    expect(spikes).toBeGreaterThan(40);
  });
});
