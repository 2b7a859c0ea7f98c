// Sweeps on the host: the scores are those of readouts trained and applied by hand, and "auto" works without a GPU.
import "../../src/index.js";
import { describe, expect, it } from "vitest";
import { sweepReadouts } from "../../src/model/index.js";
import { ridge } from "../../src/readout/index.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { randomMatrix } from "../engine/contract.js";

const data = { inputs: randomMatrix(60, 1, "float64", 1), targets: randomMatrix(60, 1, "float64", 2), washout: 10, validation: 20 };
const settings = [
  { spectralRadius: 0.5, leakRate: 0.7 },
  { spectralRadius: 1.1, inputScaling: 0.2, bias: 0.4, lambda: 0.1 },
];

describe("sweepReadouts", () => {
  it("scores what a reservoir and a readout made by hand give", async () => {
    const { scores, best, member } = await sweepReadouts({ reservoir: { size: 15 }, seeds: [1, 2], settings, ...data, engine: "cpu" });
    for (const [s, seed] of [1, 2].entries())
      for (const [i, { lambda = 1e-6, ...setting }] of settings.entries()) {
        await using computer = await ReservoirComputer.create({ size: 15, seed, ...setting }, { engine: "cpu" });
        const states = await computer.run(data.inputs);
        const readout = ridge({ lambda }).fit(states.subarray(0, 40), data.targets.subarray(0, 40), { washout: 10 });
        const predicted = readout.predict(states.subarray(40)).data;
        const wanted = Array.from(data.targets.subarray(40).data);
        const mean = wanted.reduce((sum, y) => sum + y, 0) / 20;
        const error = wanted.reduce((sum, y, t) => sum + (Math.fround(predicted[t]!) - y) ** 2, 0);
        const variance = wanted.reduce((sum, y) => sum + (y - mean) ** 2, 0);
        expect(scores.at(s, i)).toBeCloseTo(error / variance, 12);
        expect(member(s, i)).toMatchObject({ seed, lambda, score: scores.at(s, i) });
        if (member(s, i).score === best.score) expect(best.readout.weights.data).toEqual(readout.weights.data);
      }
  });

  it("takes the description's own seed and an engine by itself", async () => {
    const { engine, member } = await sweepReadouts({ reservoir: { size: 5, seed: 7 }, settings: [{}], ...data });
    expect(engine.reason).toMatch(/\w/);
    expect(member(0, 0).seed).toBe(7);
  });

  it.each([
    [{ settings: [] }, "settings is empty"],
    [{ settings: { lambda: 1 } }, "a sweep takes a list of at least one, such as [{lambda: 1e-6}]"],
    [{ seeds: [] }, "seeds is empty"],
    [{ reservoir: { size: 5, feedback: { size: 1 } } }, "reservoir has feedback"],
    [{ validation: 0 }, "validation is 0"],
    [{ validation: 50 }, "leave 0 to train on"],
    [{ targets: randomMatrix(59, 1, "float64", 2) }, "targets has 59 rows and inputs has 60"],
    [{ settings: [{ lambda: -1 }] }, "lambda"],
    [{ settings: [{ spectralRadius: -1 }] }, "spectralRadius"],
  ])("refuses %j", async (wrong, message) => {
    await expect(sweepReadouts({ reservoir: { size: 5 }, settings: [{}], ...data, engine: "cpu", ...wrong } as never)).rejects.toThrow(
      message,
    );
  });
});
