// A W that is drawn on the device: the same bits as the one that the host draws, in every distribution and type of weight.
import { afterAll, describe, expect, it } from "vitest";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import { Matrix, spectralRadius, seedKeys } from "../../../src/numerics/index.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import { radiusOfRows, unscaledDraws } from "../../../src/reservoir/weight-draws.js";
import { buildDrawnModel } from "../../../src/reservoir/weights.js";
import { modelOf } from "../../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { onHardware } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";

afterAll(() => device.close());

async function statesOf(of: ReservoirModel, engine: typeof cpuEngine, steps = 4): Promise<Uint32Array> {
  const session = await engine.open(of, engine === device ? { plan: "streamed" } : {});
  const states = Matrix.zeros(steps, of.size, of.precision) as Matrix;
  await session.run({ inputs: randomMatrix(steps, 1, of.precision, 3) }, { states });
  await session.dispose();
  return bits(states.data);
}

describe("a W drawn on the device", () => {
  it.each([
    { size: 33, connectionProbability: 1, weightDistribution: "uniform", selfConnections: false },
    { size: 40, connectionProbability: 0.3, weightDistribution: "normal", selfConnections: false },
    { size: 70, connectionProbability: 0.55, weightDistribution: "bernoulli", selfConnections: true },
    { size: 65, connectionProbability: 1, weightDistribution: "normal", selfConnections: true },
  ] as const)("has the host's bits: $weightDistribution, p = $connectionProbability, $size neurons", async (fields) => {
    for (const precision of ["float32", "float64"] as const)
      for (const weightPrecision of ["full", "bfloat16"] as const) {
        const options = { ...fields, precision, weightPrecision, spectralRadius: null, storage: "dense", seed: 11, bias: 0.1 } as const;
        const drawn = await buildDrawnModel(resolveConfig(options), (draws) => device.drawRowSums!(draws));
        expect(await statesOf(drawn, device)).toEqual(await statesOf(model(options), cpuEngine));
      }
  });

  it.each(["uniform", "normal"] as const)("has the radius that the circular law gives on the host, %s", async (weightDistribution) => {
    const options = { size: 90, connectionProbability: 0.4, weightDistribution, storage: "dense", seed: 5, precision: "float64" } as const;
    const config = resolveConfig(options);
    const host = model({ ...options, spectralRadius: null }).weights;
    const { radius } = spectralRadius(host, { method: "circularLaw" });
    const draws = unscaledDraws(config, seedKeys(config.seed));
    expect(radiusOfRows(await device.drawRowSums!(draws))).toBe(radius);
    const drawn = await buildDrawnModel(config, (unscaled) => device.drawRowSums!(unscaled));
    expect(drawn).toMatchObject({ measuredRadius: radius, radiusMethod: "circularLaw", draws: { factor: 0.95 / radius } });
  });

  it("is not to be read on the host", async () => {
    const drawn = await buildDrawnModel(resolveConfig({ size: 20, connectionProbability: 1 }), (draws) => device.drawRowSums!(draws));
    expect(() => (drawn.weights as Matrix).data).toThrow(
      "W of 20 neurons was drawn on the device that runs it; the host does not hold its values",
    );
  });

  it.runIf(onHardware)("runs 100,000 dense neurons with bfloat16 weights", async () => {
    const options = { size: 100_000, connectionProbability: 1, weightPrecision: "bfloat16", spectralRadius: 0.9, seed: 1 } as const;
    const of = (await modelOf(options, device)) as ReservoirModel;
    expect(of.radiusMethod).toBe("circularLaw");
    expect(of.measuredRadius / Math.sqrt(100_000 / 3)).toBeCloseTo(1, 2);
    const session = await device.open(of);
    const inputs = randomMatrix(50, 1, "float32", 3);
    const states = Matrix.zeros(50, 100_000, "float32");
    await session.run({ inputs }, { states });
    const start = performance.now();
    await session.run({ inputs }, {});
    console.log(`100,000 dense neurons, bfloat16: ${((performance.now() - start) / 50).toFixed(2)} ms a step, ${session.plan.summary}`);
    // Neurons of a large random network are independent of one another: the states' spread is that of mean-field theory, and none repeats.
    expect(new Set(states.row(49)).size).toBeGreaterThan(90_000);
    await session.dispose();
  });
});
