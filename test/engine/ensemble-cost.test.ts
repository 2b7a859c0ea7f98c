// What a step of many reservoirs is modelled at on an H200, beside what was measured there; "auto"
// goes by it.
import { describe, expect, it } from "vitest";
import { type DeviceInfo, openDevice } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { ensembleMicroseconds } from "../../src/engine/cuda/ensemble/cost.js";
import type { ModelShape } from "../../src/reservoir/shape.js";

const simulated = openDevice({ driver: simulatedDriver({ multiprocessors: 132 }) });
const h200: DeviceInfo = { ...simulated.info, attributes: { ...simulated.info.attributes, clockKilohertz: 1_980_000 } };
simulated.dispose();

const members = (count: number, size: number, density = 1, more: Partial<ModelShape> = {}): ModelShape[] =>
  new Array<ModelShape>(count).fill({
    ...{ size, inputSize: 1, outputSize: 0, storage: density < 1 ? "sparse" : "dense", nonzeros: density * size * size },
    ...{ precision: "float32", weightPrecision: "full", noisy: false, arithmetic: "portable" },
    ...more,
  } as ModelShape);

describe("a step of an ensemble", () => {
  // Million reservoir-steps a second by events, bench/results/gpu-ensemble-2026-11-21.md.
  it.each([
    [1056, 64, 1, 1135.9],
    [1056, 128, 1, 428.4],
    [1056, 200, 1, 145.3],
    [1056, 256, 1, 109.4],
    [1056, 200, 0.1, 265.9],
    [264, 1000, 0.1, 10.5],
  ])("of %i members of %i neurons, density %f, is within 30 %% of what was measured", (count, size, density, measured) => {
    const modelled = count / ensembleMicroseconds(members(count, size, density), h200)!;
    expect(modelled / measured).toBeGreaterThan(0.7);
    expect(modelled / measured).toBeLessThan(1.3);
  });

  it("takes its least time for a few members, and shapes one after the other", () => {
    const one = ensembleMicroseconds(members(2, 64), h200)!;
    expect(ensembleMicroseconds(members(132, 64), h200)).toBe(one);
    expect(ensembleMicroseconds([...members(100, 64), ...members(100, 50)], h200)).toBe(2 * one);
  });

  it("is not known where members are too large for a multiprocessor or run faster one after the other", () => {
    expect(ensembleMicroseconds(members(5, 40_000), h200)).toBeUndefined();
    expect(ensembleMicroseconds(members(5, 1000), h200)).toBeUndefined();
    expect(ensembleMicroseconds(members(1000, 300), h200)).toBeDefined();
  });
});
