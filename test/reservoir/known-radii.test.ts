import { describe, expect, it } from "vitest";
import type { ReservoirConfig } from "../../src/reservoir/config.js";
import { knownRadius } from "../../src/reservoir/known-radii.js";

const config = {
  ...{ size: 77, connectionProbability: 0.3, weightDistribution: "uniform", selfConnections: true, radiusMethod: "auto" },
  ...{ topology: { type: "erdosRenyi" }, seed: "known radii", spectralRadius: 0.9, leakRate: 1 },
} as unknown as ReservoirConfig;

/** Whether the radius of a description is measured. */
function isMeasured(changes: object): boolean {
  let measured = false;
  knownRadius({ ...config, ...changes }, () => {
    measured = true;
    return { radius: 2, method: "dense" };
  });
  return measured;
}

describe("knownRadius", () => {
  it("measures a drawn W once, whatever becomes of it", () => {
    expect(isMeasured({})).toBe(true);
    expect(isMeasured({})).toBe(false);
    expect(isMeasured({ spectralRadius: 1.2, leakRate: 0.3, inputScaling: 0.1, bias: 1, inputSize: 4, activation: "relu" })).toBe(false);
  });

  it("measures every other W", () => {
    isMeasured({});
    const others = [
      { seed: 1 },
      { size: 78 },
      { connectionProbability: 0.2 },
      { weightDistribution: "normal" },
      { selfConnections: false },
    ];
    for (const other of [...others, { topology: { type: "ring" } }, { radiusMethod: "krylov" }]) expect(isMeasured(other)).toBe(true);
  });
});
