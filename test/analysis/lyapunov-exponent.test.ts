import { describe, expect, it } from "vitest";
import { lyapunovExponent } from "../../src/analysis/index.js";
import { ReservoirComputer } from "../../src/index.js";

const ring = { size: 10, topology: "ring", activation: "identity", precision: "float64" } as const;

describe("the largest conditional Lyapunov exponent", () => {
  it.each([0.9, 1, 1.002])("of a linear ring of radius %d is its logarithm", async (spectralRadius) => {
    expect(await lyapunovExponent({ ...ring, spectralRadius, leakRate: 1 })).toBeCloseTo(Math.log(spectralRadius), 12);
  });

  it("of a leaky linear ring is ln(1 - a + a r), its largest effective eigenvalue being real", async () => {
    expect(await lyapunovExponent({ ...ring, spectralRadius: 0.9, leakRate: 0.3 })).toBeCloseTo(Math.log(0.7 + 0.27), 10);
  });

  it("of a tanh neuron at its fixed point x = tanh(2x) is ln(2 (1 - x^2))", async () => {
    let x = 1;
    for (let i = 0; i < 200; i++) x = Math.tanh(2 * x);
    const config = {
      size: 1,
      inputSize: 0,
      topology: "ring",
      spectralRadius: 2,
      leakRate: 1,
      precision: "float64",
      initialState: [0.5],
    } as const;
    expect(await lyapunovExponent(config)).toBeCloseTo(Math.log(2 * (1 - x * x)), 10);
  });

  it("of a sigmoid neuron at its fixed point x = s(4x) is ln(4 x (1 - x))", async () => {
    let x = 0.9;
    for (let i = 0; i < 2000; i++) x = 1 / (1 + Math.exp(-4 * x));
    const config = {
      size: 1,
      inputSize: 0,
      topology: "ring",
      spectralRadius: 4,
      activation: "sigmoid",
      leakRate: 1,
      precision: "float64",
    } as const;
    expect(await lyapunovExponent({ ...config, initialState: [0.9] })).toBeCloseTo(Math.log(4 * x * (1 - x)), 8);
  });

  it("of relu neurons that are all off, without leak, is minus infinity", async () => {
    const config = { size: 4, topology: "ring", spectralRadius: 0.9, activation: "relu", leakRate: 1 } as const;
    await using off = await ReservoirComputer.create(config, { matrices: { bias: [-9, -9, -9, -9] } });
    expect(await lyapunovExponent(off)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("of a delay line, where every difference leaves at the end, is minus infinity", async () => {
    expect(await lyapunovExponent({ size: 10, topology: "delayLine", activation: "identity", leakRate: 1 })).toBe(Number.NEGATIVE_INFINITY);
  });

  it("is the growth of the distance of two trajectories that start close together", async () => {
    const config = { size: 40, spectralRadius: 2, leakRate: 1, inputScaling: 0.1, precision: "float64", seed: 9 } as const;
    const inputs = Float64Array.from({ length: 3000 }, (_, t) => 0.8 * Math.sin(12.9 * t * t));
    const exponent = await lyapunovExponent(config, { inputs, washout: 500, length: 2500 });
    await using a = await ReservoirComputer.create(config);
    await using b = await ReservoirComputer.create(config);
    let sum = 0;
    for (let t = 0; t < 500; t++) a.step([inputs[t]!]);
    const start = a.state;
    b.state = { ...start, values: start.values.map((value, i) => value + 1e-8 * Math.cos(i)) as Float64Array };
    for (let t = 500; t < 3000; t++) {
      const distance = () => Math.hypot(...a.state.values.map((value, i) => value - b.state.values[i]!));
      const before = distance();
      a.step([inputs[t]!]);
      b.step([inputs[t]!]);
      sum += Math.log(distance() / before);
      const { values } = a.state;
      const scale = 1e-8 / distance();
      b.state = { ...b.state, values: b.state.values.map((value, i) => values[i]! + (value - values[i]!) * scale) as Float64Array };
    }
    expect(exponent).toBeGreaterThan(0);
    expect(sum / 2500).toBeCloseTo(exponent, 2);
  });

  it("takes the user's inputs, and says how many rows it wants", async () => {
    const quiet = new Float64Array(300);
    const options = { washout: 100, length: 200 };
    expect(await lyapunovExponent({ ...ring, spectralRadius: 0.5, leakRate: 1 }, { ...options, inputs: quiet })).toBeCloseTo(
      Math.log(0.5),
      12,
    );
    await expect(lyapunovExponent(ring, { ...options, inputs: quiet.subarray(1) })).rejects.toThrow(
      'inputs is "299 rows"; it takes 300: washout 100 and length 200',
    );
  });
});
