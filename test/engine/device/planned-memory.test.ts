// A plan states how much of the device's memory its loop takes, and the loop then takes that much:
// what does not fit is refused before it is begun.
import { afterAll, describe, expect, it } from "vitest";
import { choices } from "../../../src/engine/cuda/plan.js";
import { shapeOf } from "../../../src/engine/cuda/shape.js";
import type { ReservoirOptions } from "../../../src/reservoir/config.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { buildModel } from "../../../src/reservoir/weights.js";
import { casesOf } from "../../exhaustive.js";
import { openTestDevice } from "../../gpu/device/device.js";
import { model } from "../contract.js";

const context = openTestDevice();
afterAll(() => context.dispose());

async function bytesOf(of: ReservoirModel): Promise<{ planned: number; taken: number }> {
  const target = { engine: "here", device: context.info, memory: 2 ** 27 };
  const { loop: plan } = choices(shapeOf(of), target, { plan: "streamed" })[0]!;
  const loop = (await plan.open(context, of, {}))!;
  const taken = loop.bytes;
  loop.dispose();
  return { planned: plan.bytes, taken };
}

/** A W whose first rows are full and whose others have one connection. */
function withHubs(size: number, hubs: number): ReservoirModel {
  const weights = Array.from({ length: size }, (_, r) => Array.from({ length: size }, (_, c) => (r < hubs || c === 0 ? 0.1 : 0)));
  return buildModel(resolveConfig({ size, storage: "sparse" }), { weights });
}

describe("the streamed plan's bytes", () => {
  it.each<[string, ReservoirOptions]>(
    casesOf(
      [
        ["one neuron", { size: 1, storage: "dense" }],
        ["dense rows", { size: 200, storage: "dense", precision: "float64" }],
        ["rows of eight bits", { size: 200, storage: "dense", arithmetic: "fast", weightPrecision: "int8" }],
        ["rows of four bits", { size: 200, storage: "dense", arithmetic: "fast", weightPrecision: "q4_k" }],
        ["no connections", { size: 5, connectionProbability: 0, storage: "sparse" }],
        ["a connection a row", { size: 301, connectionProbability: 1 / 300, storage: "sparse" }],
        ["ten connections a row", { size: 300, connectionProbability: 1 / 30, storage: "sparse", weightPrecision: "bfloat16" }],
        ["rows that are read four entries at a time", { size: 130, connectionProbability: 0.5, storage: "sparse" }],
      ],
      (_, k) => k % 2 === 0,
    ),
  )("are enough for %s", async (_, options) => {
    const { planned, taken } = await bytesOf(model({ spectralRadius: null, ...options }));
    expect(taken).toBeGreaterThan(0);
    expect(planned).toBeGreaterThanOrEqual(taken);
  });

  it.each([1, 3, 5])("are enough for rows of which %i are far longer than the others", async (hubs) => {
    const { planned, taken } = await bytesOf(withHubs(120, hubs));
    expect(planned).toBeGreaterThanOrEqual(taken);
  });
});
