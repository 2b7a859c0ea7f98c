// Plasticity of rates: rate-Hebbian learning, Oja's rule, intrinsic plasticity; and that what is
// learnt is saved with the reservoir.
import { describe, expect, it } from "vitest";
import { Matrix, matrixSpectralRadius, RandomStream, type SparseMatrix, seedKeys, toDense } from "../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../src/index.js";
import { decodeReservoir, encodeReservoir } from "../../src/model/index.js";
import { intrinsicPlasticity, oja, RateHebbianPlasticity } from "../../src/spikes/index.js";

const draws = new RandomStream(seedKeys("rate plasticity").weights, 0);
const noise = (rows: number, cols: number, scale = 1) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, i) => scale * (2 * draws.uniform(cols, i) - 1)),
  );

describe("the rate-Hebbian rule", () => {
  const free = { minWeight: 0, maxWeight: 10, heterosynaptic: false, homeostatic: false, learningRate: 0.1, decay: 0.01 };

  it("changes a weight by eta x_i(t) x_j(t-1) - decay W_ij", () => {
    const plasticity = new RateHebbianPlasticity(new Matrix(2, 2, Float64Array.of(0, 0.5, -0.5, 0)), { profile: free });
    plasticity.apply([
      [0.2, 0.4],
      [0.6, 0.8],
    ]);
    const learnt = plasticity.weights as Matrix;
    expect(learnt.at(0, 1)).toBeCloseTo(0.5 + 0.1 * 0.6 * 0.4 - 0.01 * 0.5, 12);
    expect(learnt.at(1, 0)).toBeCloseTo(-0.5 + 0.1 * 0.8 * 0.2 + 0.01 * 0.5, 12);
    expect([learnt.at(0, 0), learnt.at(1, 1)]).toEqual([0, 0]);
  });

  it("goes on between calls where it ended", () => {
    const states = noise(20, 3);
    const learn = (...parts: readonly Matrix[]) => {
      const plasticity = new RateHebbianPlasticity(new Matrix(3, 3, new Float64Array(9).fill(0.3)), { profile: free });
      for (const part of parts) plasticity.apply(part);
      return plasticity.weights;
    };
    expect(learn(states.slice(0, 7), states.slice(7))).toEqual(learn(states));
  });

  it("keeps every sign and holds the spectral radius that is asked for", () => {
    const weights = noise(50, 50, 0.5);
    const plasticity = new RateHebbianPlasticity(weights, { profile: "optical", maxRadius: 0.9 });
    plasticity.apply(noise(100, 50));
    const learnt = plasticity.weights as Matrix;
    expect(learnt.data.map(Math.sign)).toEqual(weights.data.map(Math.sign));
    expect(matrixSpectralRadius(learnt).radius).toBeCloseTo(0.9, 9);
  });

  it("holds each neuron's sums where the profile is heterosynaptic", () => {
    const weights = noise(20, 20, 3);
    const plasticity = new RateHebbianPlasticity(weights, { profile: { ...free, heterosynaptic: true } });
    plasticity.apply(noise(50, 20));
    const positive = (matrix: Matrix, r: number) => [...matrix.row(r)].filter((w) => w > 0).reduce((a, b) => a + b, 0);
    for (let r = 0; r < 20; r++) expect(positive(plasticity.weights as Matrix, r)).toBeCloseTo(positive(weights, r), 9);
    expect(plasticity.statistics.updates).toBe(49 * 400);
  });

  it("refuses weights that are not square, and states of another width", () => {
    expect(() => new RateHebbianPlasticity(Matrix.zeros(2, 3))).toThrow(
      "the shape of weights is a 2 x 3 matrix; it takes as many rows as columns",
    );
    expect(() => new RateHebbianPlasticity(Matrix.zeros(2, 2)).apply([[1, 2, 3]])).toThrow(
      "the number of columns of states is 3; it takes 2",
    );
  });
});

describe("Oja's rule", () => {
  it("turns a neuron into the first principal direction, at length 1", () => {
    // Covariance [[2, 1], [1, 2]] / 3 of uniform numbers: directions (1, 1) and (1, -1), variances
    // 1 and 1/3.
    const sources = noise(20_000, 2);
    for (let t = 0; t < sources.rows; t++) {
      const [a, b] = sources.row(t) as Float64Array;
      sources.row(t).set([(Math.sqrt(3) * (a! + b!) + (a! - b!)) / 2, (Math.sqrt(3) * (a! + b!) - (a! - b!)) / 2]);
    }
    const learnt = oja(new Matrix(1, 2, Float64Array.of(1, -0.5)), sources, { learningRate: 0.002 }) as Matrix;
    expect(Math.abs(learnt.data[0]!)).toBeCloseTo(Math.SQRT1_2, 1);
    expect(learnt.data[1]! / learnt.data[0]!).toBeCloseTo(1, 1);
    expect(Math.sqrt(learnt.data[0]! ** 2 + learnt.data[1]! ** 2)).toBeCloseTo(1, 1);
  });

  it("takes outputs from elsewhere: one step is eta y (x - y w)", () => {
    const learnt = oja(new Matrix(1, 2, Float64Array.of(0.5, -1)), [[2, 3]], { learningRate: 0.1, targets: [0.4] }) as Matrix;
    expect(learnt.data[0]).toBeCloseTo(0.5 + 0.1 * 0.4 * (2 - 0.4 * 0.5), 12);
    expect(learnt.data[1]).toBeCloseTo(-1 + 0.1 * 0.4 * (3 + 0.4), 12);
  });

  it("says so when it grows without bound", () => {
    expect(() => oja(new Matrix(1, 1, Float64Array.of(2)), noise(2000, 1, 100), { learningRate: 1 })).toThrow(
      "learningRate is 1; it takes a smaller number",
    );
  });
});

describe("intrinsic plasticity", () => {
  const inputs = noise(4000, 1);
  const reservoir = (activation: "sigmoid" | "tanh", extra = {}) =>
    ReservoirComputer.create({ size: 40, inputSize: 1, activation, leakRate: 1, spectralRadius: 0.6, seed: 3, ...extra } as never, {
      engine: "reference",
    });

  it("of sigmoid neurons brings the mean activity to mu, and the distribution to an exponential's spread", async () => {
    const { model } = await reservoir("sigmoid");
    const before = intrinsicPlasticity(model, inputs, { mean: 0.2, learningRate: 1e-9 });
    const after = intrinsicPlasticity(model, inputs, { mean: 0.2, learningRate: 0.005, epochs: 6 });
    const average = (values: Float64Array) => values.reduce((a, b) => a + b, 0) / values.length;
    expect(Math.abs(average(before.activityMean) - 0.2)).toBeGreaterThan(0.2);
    expect(average(after.activityMean)).toBeCloseTo(0.2, 1);
    // An exponential distribution deviates by its mean.
    expect(average(before.activityDeviation)).toBeLessThan(0.1);
    expect(average(after.activityDeviation)).toBeCloseTo(0.2, 1);
  });

  it("of tanh neurons brings the deviation to sigma around the mean", async () => {
    const { model } = await reservoir("tanh", { inputScaling: 0.3, inputConnectivity: 1 });
    const { activityDeviation, activityMean } = intrinsicPlasticity(model, inputs, {
      mean: 0,
      standardDeviation: 0.3,
      learningRate: 0.002,
      epochs: 8,
    });
    // One neuron of the 40 has inputs so weak that its gain still grows.
    expect(activityDeviation.filter((deviation) => Math.abs(deviation - 0.3) < 0.02).length).toBeGreaterThanOrEqual(39);
    for (const mean of activityMean) expect(Math.abs(mean)).toBeLessThan(0.1);
  });

  it("gives a model that runs as its gains and biases say, and that a file brings back", async () => {
    const { model } = await reservoir("tanh", { precision: "float64", bias: 0.3 });
    const { model: learnt, gain, bias } = intrinsicPlasticity(model, inputs.slice(0, 500), { learningRate: 0.01 });
    const row = (weights: Matrix | SparseMatrix) => ("rowOffsets" in weights ? toDense(weights) : weights).row(5);
    expect([...row(learnt.weights)]).toEqual([...row(model.weights)].map((w) => w * gain[5]!));
    expect(learnt.bias[5]).toBe(gain[5]! * model.bias[5]! + bias[5]!);
    const computer = await ReservoirComputer.fromModel(learnt, { engine: "reference" });
    const { computer: back } = await decodeReservoir(await encodeReservoir(computer), { engine: "reference" });
    const states = await computer.run(inputs.slice(0, 20));
    expect(await back.run(inputs.slice(0, 20))).toEqual(states);
  });

  it("refuses other activations and inputs of another width", async () => {
    const { model } = await reservoir("sigmoid");
    expect(() => intrinsicPlasticity({ ...model, activation: "relu" }, inputs)).toThrow(
      'activation is "relu"; it takes "sigmoid" or "tanh"',
    );
    expect(() => intrinsicPlasticity(model, [[1, 2]])).toThrow(
      "the number of columns of inputs is 2; it takes 1, the reservoir's inputSize",
    );
    expect(() => intrinsicPlasticity(model, inputs, { mean: 1.5 })).toThrow("mean is 1.5; it takes a number between 0 and 1");
  });
});
