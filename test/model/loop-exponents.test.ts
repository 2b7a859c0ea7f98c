// Lyapunov exponents of a trained closed loop, against its Jacobian by differences, a linear loop's
// eigenvalues, and those of the system that it was trained on.
import { describe, expect, it } from "vitest";
import { Matrix, matrixSpectralRadius } from "../../packages/numerics/src/index.js";
import { Forecaster, lorenz } from "../../src/index.js";
import { logDeterminant } from "../analysis/log-determinant.js";
import { exhaustive } from "../exhaustive.js";

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);
const wave = Array.from({ length: 400 }, (_, t) => [Math.sin(t / 5) + 0.3 * Math.sin(t / 1.7), Math.cos(t / 9)]);
const reservoir = { size: 9, connectionProbability: 1, leakRate: 0.7, precision: "float64", seed: 3 } as const;

describe("the exponents of a closed loop", () => {
  it.each([
    ["plain", {}, reservoir],
    ["squares in place", { transform: "squareHalf" }, reservoir],
    ["squares and inputs", { transform: "squares", input: true }, reservoir],
    ["sparse, with a cell", {}, { ...reservoir, connectionProbability: 0.4, leakRate: 1, cell: { type: "es2n", proximity: 0.3 } }],
  ])("are those of its Jacobian: %s", async (_name, readout, config) => {
    const options = { reservoir: config, readout: { ...readout, lambda: 1e-4 }, washout: 20, standardise: false, hold: false };
    await using forecaster = await Forecaster.fit(wave, options as never);
    const { computer, readout: trained } = forecaster;
    const { size } = computer.model;
    const directions = size + (trained.features.input ? 2 : 0);
    const { exponents } = await forecaster.lyapunovSpectrum({ length: 1, washout: 0, count: directions });
    // y = readout(x, u), then x = step(y): u is then y.
    const { state } = computer;
    const moved = async (index: number, by: number) => {
      const [values, input] = [state.values.slice(), state.input.slice()];
      if (index < size) values[index] = values[index]! + by;
      else input[index - size] = input[index - size]! + by;
      computer.state = { ...state, values, input };
      await computer.generate(1, trained);
      return [...computer.state.values, ...computer.state.input];
    };
    const jacobian = Matrix.zeros(directions, directions);
    for (let c = 0; c < directions; c++) {
      const [above, below] = [await moved(c, 1e-5), await moved(c, -1e-5)];
      for (let r = 0; r < directions; r++) jacobian.data[r * directions + c] = (above[r]! - below[r]!) / 2e-5;
    }
    expect(total(exponents)).toBeCloseTo(logDeterminant(jacobian), 5);
  });

  it("of a linear loop are ln of the sizes of its eigenvalues, by step or by unit of time", async () => {
    const options = {
      reservoir: { ...reservoir, activation: "identity", leakRate: 1 },
      readout: { lambda: 1e-3 },
      washout: 20,
      standardise: false,
      hold: false,
    };
    await using forecaster = await Forecaster.fit(wave, options as never);
    const { weights, inputWeights } = forecaster.computer.model as { weights: Matrix; inputWeights: Matrix };
    const readout = forecaster.readout.weights;
    const whole = Matrix.from(weights, "float64");
    for (let r = 0; r < 9; r++)
      for (let c = 0; c < 9; c++) for (let o = 0; o < 2; o++) whole.data[r * 9 + c]! += inputWeights.at(r, o) * readout.at(o, c);
    const { exponents } = await forecaster.lyapunovSpectrum({ count: 9, length: 3000 });
    expect(total(exponents)).toBeCloseTo(logDeterminant(whole), 8);
    const { radius } = await matrixSpectralRadius(whole);
    expect(exponents[0]!).toBeCloseTo(Math.log(radius), 3);
    const { exponents: scaled } = await forecaster.lyapunovSpectrum({ count: 9, length: 3000, dt: 0.5 });
    scaled.forEach((each, i) => {
      expect(each).toBeCloseTo(2 * exponents[i]!, 12);
    });
  });

  it.runIf(exhaustive)("of a forecaster of Lorenz-63 are those of the system: .906, 0 and -14.57, whose dimension is 2.06", async () => {
    const dt = 0.02;
    await using forecaster = await Forecaster.fit(lorenz(5000, { dt, discard: 1000 }), {
      reservoir: { size: 200, spectralRadius: 0.6, leakRate: 1, precision: "float64", seed: 1 },
      readout: { lambda: 1e-10, solver: "qr", transform: "squareHalf" },
      washout: 200,
    });
    const { state } = forecaster;
    const { exponents, dimension } = await forecaster.lyapunovSpectrum({ dt, length: 6000 });
    expect(exponents.length).toBe(3);
    expect(Math.abs(exponents[0]! - 0.9056)).toBeLessThan(0.06);
    expect(Math.abs(exponents[1]!)).toBeLessThan(0.03);
    expect(Math.abs(exponents[2]! + 14.572)).toBeLessThan(0.3);
    expect(Math.abs(dimension! - 2.062)).toBeLessThan(0.01);
    expect(forecaster.state).toEqual(state);
  });

  it("are of a loop that nothing else drives or answers", async () => {
    const fitted = async (options: object, data: unknown = wave) =>
      Forecaster.fit(data as never, { reservoir, washout: 20, ...options } as never);
    const known = wave.map((_, t) => [t % 7]);
    for (const [forecaster, sentence] of [
      [await fitted({ lags: 3 }), "the forecaster has lags; exponents"],
      [await fitted({ members: 2 }), "the forecaster has 2 members"],
      [await fitted({}, { series: wave, known }), "the forecaster has known inputs"],
      [await fitted({ reservoir: { ...reservoir, feedback: {} } }), "the forecaster has feedback"],
      [await fitted({ model: (row: Float64Array) => row }), "the forecaster has a model of yours"],
      [await fitted({}, { inputs: wave, targets: known }), "the forecaster has inputs with targets"],
      [await fitted({ reservoir: { kind: "oscillator", size: 9 } }), "the reservoir is of the kind oscillator"],
      [await fitted({ reservoir: { layers: [{}, {}], size: 9 } }), "the reservoir is composite"],
    ] as const) {
      await expect(forecaster.lyapunovSpectrum()).rejects.toThrow(sentence);
      await forecaster.dispose();
    }
    await using forecaster = await fitted({});
    await expect(forecaster.lyapunovSpectrum({ count: 10 })).rejects.toThrow("count is 10; it takes at most 9");
    await expect(forecaster.lyapunovSpectrum({ signal: AbortSignal.abort() })).rejects.toThrow("stopped after 0 of 5500 steps");
    await expect((await Forecaster.create({ reservoir })).lyapunovSpectrum()).rejects.toThrow("fit");
  });
});
