// Weights of eight and four bits on the streamed plan: the CPU's states, which are those of the
// steps' own values, within what fast arithmetic may lose.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { Matrix, seedKeys } from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import { deviceEngine } from "../../../src/engine/cuda/index.js";
import type { ReservoirOptions } from "../../../src/reservoir/config.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import type { Engine } from "../../../src/reservoir/engine.js";
import { modelOf } from "../../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { undrawnMatrix, unscaledDraws } from "../../../src/reservoir/weight-draws.js";
import { buildModel } from "../../../src/reservoir/weights.js";
import { casesOf, exhaustive } from "../../exhaustive.js";
import { onHardware, size } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { distance } from "./distance.js";
import { device } from "./engines.js";

const precisions = ["int8", "q4_k"] as const;

async function statesOf(of: ReservoirModel, engine: Engine, steps = 5): Promise<Matrix> {
  const session = await engine.open(of, engine === cpuEngine ? {} : { plan: "streamed" });
  const states = Matrix.zeros(steps, of.size, of.precision) as Matrix;
  await session.run({ inputs: randomMatrix(steps, of.inputSize, of.precision, 5) }, { into: states });
  await session.dispose();
  return states;
}

afterAll(() => device.close());

describe.each(precisions)("weights of %s", (weightPrecision) => {
  const described = (options: ReservoirOptions): ReservoirOptions => ({
    arithmetic: "fast",
    storage: "dense",
    weightPrecision,
    ...options,
  });

  it.each(casesOf([1, 2, 31, 33, 255, 257, 513, 600], (size) => [1, 31, 257].includes(size)))(
    "stay within 1e-5 of the CPU's states over five steps, with %i neurons",
    async (size) => {
      const of = model(described({ size, connectionProbability: 0.4, noiseLevel: 0.01, inputSize: 3 }));
      expect(distance(await statesOf(of, device), await statesOf(of, cpuEngine))).toBeLessThan(1e-5);
    },
  );

  it.runIf(exhaustive || weightPrecision === "int8")("do so where a warp has several superblocks of a row", async () => {
    const initialState = { distribution: "uniform", scaling: 0.5 } as const;
    const n = onHardware ? 5000 : weightPrecision === "int8" ? 1100 : 2100;
    const of = model(
      described({ size: n, connectionProbability: 1, spectralRadius: null, leakRate: 1, activation: "identity", initialState }),
    );
    expect(distance(await statesOf(of, device, 1), await statesOf(of, cpuEngine, 1))).toBeLessThan(1e-5);
  });

  it.each([
    { activation: "identity", inputScaling: 1e6 },
    { activation: "relu", inputScaling: 1e25, spectralRadius: 0.5 },
    { inputScaling: 1e-12 },
    { spectralRadius: 1e-9 },
  ] as const)("do so whatever the size of states and weights: %o", async (options) => {
    const of = model(described({ size: 290, connectionProbability: 0.8, ...options }));
    expect(distance(await statesOf(of, device), await statesOf(of, cpuEngine))).toBeLessThan(1e-5);
  });

  it("do so where steps differ from row to row and from group to group, and rows are zeros", async () => {
    const size = 300;
    const weights = randomMatrix(size, size, "float32", 9, 0.1);
    const share = (r: number, c: number): number => 4 ** -((r % 3) + ((c >> 5) % 4)) * (c < 256 ? 1 : 2 ** -20);
    for (let r = 0; r < size; r++) for (let c = 0; c < size; c++) weights.data[r * size + c]! *= r % 5 === 0 ? 0 : share(r, c);
    const of = buildModel(resolveConfig(described({ size })), { weights });
    expect(distance(await statesOf(of, device), await statesOf(of, cpuEngine))).toBeLessThan(1e-5);
  });

  it.each([
    { size: 33, connectionProbability: 1, weightDistribution: "uniform", selfConnections: false },
    { size: 300, connectionProbability: 0.6, weightDistribution: "normal", selfConnections: false },
    { size: 70, connectionProbability: 0.7, weightDistribution: "bernoulli", selfConnections: true },
  ] as const)("drawn on the device are those drawn on the host: $weightDistribution, $size neurons", async (fields) => {
    const options = described({ ...fields, spectralRadius: null, seed: 11, inputScaling: 0.1 });
    const config = resolveConfig(options);
    const onHost = model(options);
    const draws = { ...unscaledDraws(config, seedKeys(config.seed)), factor: 1 };
    const drawn: ReservoirModel = { ...onHost, weights: undrawnMatrix(config.size), draws };
    const states = await statesOf(drawn, device);
    expect(bits(states.data)).toEqual(bits((await statesOf(onHost, device)).data));
    expect(distance(states, await statesOf(onHost, cpuEngine))).toBeLessThan(1e-5);
  });

  it("are as many bytes in the plan", async () => {
    const of = model(described({ size: 700, connectionProbability: 1, spectralRadius: null }));
    const { details } = device.plan(of, { plan: "streamed" });
    const rowBytes = weightPrecision === "int8" ? 2 * 512 : 3 * 144;
    const kernel = weightPrecision === "int8" ? "dense_step_f32_int8" : "dense_step_f32_q4k";
    expect(details).toMatchObject({ kernel, arithmetic: "fast", bytesPerStep: 700 * (rowBytes + 4) });
    expect(details["bytesBesideChunks"]).toBeLessThan(700 * 700 * 4);
    const session = await device.open(of, { plan: "streamed" });
    expect(session.plan.details).toMatchObject({ kernel, bytesPerStep: 700 * (rowBytes + 4) });
    await session.dispose();
  });

  it("have the CPU's bits where a plan with portable arithmetic runs them", async () => {
    const fast = model(described({ size: 100, connectionProbability: 0.5, noiseLevel: 0.01 }));
    const of = { ...fast, config: { ...fast.config, arithmetic: "portable" as const } };
    expect(bits((await statesOf(of, device)).data)).toEqual(bits((await statesOf(fast, cpuEngine)).data));
  });
});

const many = size(100_000, 0, 10_200);
it.runIf(onHardware)(`${many} dense neurons of 4.5 bits a weight run from their description`, async () => {
  const options = { size: many, connectionProbability: 1, weightPrecision: "q4_k", arithmetic: "fast", spectralRadius: 0.9 } as const;
  const of = (await modelOf(options, device)) as ReservoirModel;
  expect(of).toMatchObject({ radiusMethod: "circularLaw", config: { storage: "dense", weightPrecision: "q4_k" } });
  const states = await statesOf(of, device, 20);
  expect(states.data.every((x) => Math.abs(x) <= 1)).toBe(true);
  // Neurons of a large random network are independent of one another: none repeats.
  expect(new Set(states.row(19)).size).toBeGreaterThan(0.9 * many);
});

describe.runIf(!onHardware)("on a device without kernels for four bits", () => {
  const old = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ capability: "7.5" }) }) });
  afterAll(() => old.close());
  const options = { size: 64, connectionProbability: 1, arithmetic: "fast", weightPrecision: "q4_k", spectralRadius: null } as const;

  it("the steps' own values run in binary32", () => {
    expect(old.plan(model(options), { plan: "streamed" }).details).toMatchObject({ kernel: "dense_step_f32_fast" });
  });

  it("a W that the host does not hold is refused", async () => {
    const config = resolveConfig(options);
    const draws = { ...unscaledDraws(config, seedKeys(config.seed)), factor: 1 };
    const drawn: ReservoirModel = { ...model(options), weights: undrawnMatrix(64), draws };
    await expect(old.open(drawn, { plan: "streamed" })).rejects.toThrow(
      'W of 64 neurons in "q4_k" takes tensor cores of compute capability 8.0',
    );
  });
});
