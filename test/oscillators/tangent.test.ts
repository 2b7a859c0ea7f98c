// The derivative of a step of phase oscillators, and the exponents that it gives.
import { describe, expect, it } from "vitest";
import { analyse, lyapunovExponent, lyapunovSpectrum } from "../../src/analysis/index.js";
import { ReservoirComputer } from "../../src/index.js";
import { reservoirKinds } from "../../src/reservoir/registered/kind.js";

const shared = { kind: "oscillator", size: 12, precision: "float64", noise: 0.02, frequency: 0.5, seed: 9 } as const;

describe("the tangent of phase oscillators", () => {
  it.each([
    { coupling: "random" },
    { coupling: "random", connectionProbability: 0.4, input: "field" },
    { coupling: "meanField", harmonics: 2, order: true },
  ] as const)("is what a small change of phases becomes in a step: %o", async (options) => {
    const computer = await ReservoirComputer.create({ ...shared, ...options });
    const { model } = computer;
    const states = model.initialState.length;
    const step = reservoirKinds.get("oscillator").stepper!(model);
    const tangent = reservoirKinds.get("oscillator").tangent!(model);
    const phases = Array.from({ length: 12 }, (_, i) => 0.7 * i);
    const v = Float64Array.from({ length: 12 }, (_, i) => Math.cos(2.3 * i));
    const input = Float64Array.of(0.4);
    const end = (change: number) => {
      const x = new Float64Array(states);
      phases.forEach((phi, i) => {
        x[i] = Math.cos(phi + change * v[i]!);
        x[12 + i] = Math.sin(phi + change * v[i]!);
      });
      const next = new Float64Array(states);
      step(x, input, next, 5, 0);
      return { x, next };
    };
    const [before, after] = [end(-1e-5).next, end(1e-5).next];
    const followed = v.slice();
    tangent.follow(end(0).x, input, 5, 0, [followed]);
    for (let i = 0; i < 12; i++) {
      const sine = after[12 + i]! * before[i]! - after[i]! * before[12 + i]!;
      expect(followed[i]!).toBeCloseTo(Math.asin(sine) / 2e-5, 7);
    }
    await computer.dispose();
  });

  it("of one pulled phase is exp(-F tau) near where it is pulled to, but for the step's error", async () => {
    const one = {
      kind: "oscillator",
      size: 1,
      gain: 0,
      frequencySpread: 0,
      strength: 0,
      tau: 0.5,
      steps: 10,
      precision: "float64",
    } as const;
    expect(await lyapunovExponent(one, { washout: 60, length: 50 })).toBeCloseTo(-0.5, 3);
  });

  it("finds a reservoir that forgets at K = .7, and chaos at K = 2", async () => {
    const source = { kind: "oscillator", size: 40, frequencySpread: 0.02, gain: 0.1, seed: 1 } as const;
    expect(await lyapunovExponent(source, { washout: 200, length: 300 })).toBeLessThan(-0.02);
    expect(await lyapunovExponent({ ...source, strength: 2 }, { washout: 200, length: 300 })).toBeGreaterThan(0.01);
    const { exponents } = await lyapunovSpectrum(source, { washout: 50, length: 50, count: 3 });
    expect(exponents[1]).toBeLessThanOrEqual(exponents[0]!);
    await expect(lyapunovSpectrum(source, { count: 41 })).rejects.toThrow("at most 40");
  });

  it("stands among the measures of analyse, which say what they leave out", async () => {
    const measures = ["lyapunovExponent", "kernelRank", "informationDynamics"] as const;
    const found = await analyse({ kind: "oscillator", size: 6, seed: 3 }, { measures });
    expect(Object.keys(found.measures)).toEqual(["lyapunovExponent", "kernelRank"]);
    expect(found.leftOut[0]!.reason).toContain("a reservoir of the kind oscillator");
  });
});
