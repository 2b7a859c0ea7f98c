import { describe, expect, it, vi } from "vitest";
import {
  type FloatArray,
  isSparse,
  Matrix,
  matrixSpectralRadius,
  PowerIterationError,
  type SparseMatrix,
  toDense,
} from "../../packages/numerics/src/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import type { ReservoirMatrices } from "../../src/reservoir/options.js";
import { buildModel } from "../../src/reservoir/weights.js";

const build = (options: ReservoirOptions, own?: ReservoirMatrices): ReservoirModel => buildModel(resolveConfig(options), own);
const dense = (of: ReservoirModel) => Matrix.from(isSparse(of.weights) ? toDense(of.weights) : of.weights);
const nonzeros = (values: FloatArray) => values.filter((value) => value !== 0).length;

describe("weights", () => {
  it("are the same for the same seed, a number or its text, and others for another", () => {
    const one = build({ size: 50, seed: 1 });
    expect(build({ size: 50, seed: "1" })).toMatchObject({ weights: one.weights, inputWeights: one.inputWeights });
    expect(dense(build({ size: 50, seed: 2 })).data).not.toEqual(dense(one).data);
  });

  it("do not change when an unrelated part of the description does", () => {
    const plain = build({ size: 40, seed: 3 });
    const other = build({ size: 40, seed: 3, bias: 0.5, inputSize: 2, feedback: {}, leakRate: 1 });
    expect(dense(other).data).toEqual(dense(plain).data);
    expect(other.inputWeights.column(0)).not.toEqual(other.inputWeights.column(1));
  });

  it("draw leak rates from a range, as many in each octave, and the same for the same seed", () => {
    const rates = (from: number, to: number, seed = 1) =>
      build({ size: 4000, leakRate: { from, to }, seed, connectionProbability: 0.001, spectralRadius: null, precision: "float64" })
        .leakRate;
    const drawn = rates(0.0625, 1);
    for (const octave of [1, 2, 3, 4]) {
      const share = drawn.filter((a) => a <= 2 ** (1 - octave) && a > 2 ** -octave).length / 4000;
      expect(share).toBeCloseTo(0.25, 1);
    }
    expect(rates(0.0625, 1)).toEqual(drawn);
    expect(rates(0.0625, 1, 2)).not.toEqual(drawn);
    expect(Math.min(...rates(1, 0.5))).toBeGreaterThanOrEqual(0.5);
    expect(new Set(rates(0.3, 0.3))).toEqual(new Set([0.3]));
  });

  it("have the asked spectral radius, to rounding, where the dominant eigenvalues are complex as where they are real", () => {
    for (let seed = 0; seed < 10; seed++) {
      const of = build({ size: 120, spectralRadius: 0.9, seed, precision: "float64" });
      expect(matrixSpectralRadius(of.weights).radius).toBeCloseTo(0.9, 9);
    }
  });

  it("are scaled by power iteration if that is asked for, and are not made where it does not converge", () => {
    const positive = Matrix.from(dense(build({ size: 60, seed: 1 })).data.map(Math.abs));
    const weights = new Matrix(60, 60, positive.data);
    const options = { size: 60, spectralRadius: 0.8, radiusMethod: "power", precision: "float64" } as const;
    const of = build(options, { weights, rescale: true });
    expect(of.radiusMethod).toBe("power");
    expect(matrixSpectralRadius(of.weights).radius).toBeCloseTo(0.8, 9);
    expect(() => build({ ...options, seed: 1 })).toThrow(PowerIterationError);
  });

  it("have the asked density, no self-connection, and mean 0", () => {
    const w = dense(build({ size: 400, connectionProbability: 0.1, spectralRadius: null }));
    // Binomial: 159600 x 0.1, standard deviation 120; five of them.
    expect(Math.abs(nonzeros(w.data) - 15960)).toBeLessThan(600);
    for (let r = 0; r < 400; r++) expect(w.at(r, r)).toBe(0);
    const mean = w.data.reduce((sum, value) => sum + value, 0) / 15960;
    expect(Math.abs(mean)).toBeLessThan(5 * (Math.sqrt(1 / 3) / Math.sqrt(15960)));
  });

  it("may connect neurons to themselves when asked", () => {
    const w = dense(build({ size: 30, connectionProbability: 1, selfConnections: true, spectralRadius: null }));
    expect(nonzeros(w.data)).toBe(900);
  });

  it.each([
    ["uniform", 1 / 3],
    ["normal", 1],
    ["bernoulli", 1],
  ] as const)("of %s distribution have variance %d", (weightDistribution, variance) => {
    const { data } = dense(build({ size: 300, connectionProbability: 1, weightDistribution, spectralRadius: null }));
    const measured = data.reduce((sum, value) => sum + value * value, 0) / (300 * 299);
    expect(measured).toBeCloseTo(variance, 1.7);
    if (weightDistribution === "bernoulli") expect(new Set(data)).toEqual(new Set([0, 1, -1]));
  });

  it("scale inputs one by one and thin them out", () => {
    const of = build({ size: 500, inputSize: 2, inputScaling: [0.5, 4], inputConnectivity: 0.2, inputDistribution: "bernoulli" });
    expect(new Set(of.inputWeights.column(0))).toEqual(new Set([0, 0.5, -0.5]));
    expect(new Set(of.inputWeights.column(1))).toEqual(new Set([0, 4, -4]));
    expect(nonzeros(of.inputWeights.data) / 1000).toBeCloseTo(0.2, 1); // binomial, standard deviation .013
  });

  it("choose their storage by density and keep the choice in the description", () => {
    expect(build({ size: 100, connectionProbability: 0.1 }).config.storage).toBe("sparse");
    expect(build({ size: 100, connectionProbability: 0.5 }).config.storage).toBe("dense");
    const asked = build({ size: 100, connectionProbability: 0.5, storage: "sparse" });
    expect(isSparse(asked.weights)).toBe(true);
  });

  it("round to bfloat16 when asked: no weight has more than 8 significant bits", () => {
    const { data } = dense(build({ size: 60, connectionProbability: 1, weightPrecision: "bfloat16" }));
    const words = new Uint32Array(Float32Array.from(data).buffer);
    expect(words.every((word) => (word & 0xffff) === 0)).toBe(true);
    expect(nonzeros(data)).toBe(60 * 59);
  });

  it("of all zeros are legal and left unscaled", () => {
    const of = build({ size: 10, connectionProbability: 0 });
    expect(of.measuredRadius).toBe(0);
    expect(nonzeros(dense(of).data)).toBe(0);
  });
});

describe("a radius asked of connections that close no cycle", () => {
  /** What a process warns of that has not warned yet. */
  async function warningsOf(...descriptions: (ReservoirOptions | [ReservoirOptions, ReservoirMatrices])[]): Promise<string[]> {
    vi.resetModules();
    const { buildModel: build } = await import("../../src/reservoir/weights.js");
    const spy = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    for (const given of descriptions) {
      const [description, matrices] = Array.isArray(given) ? given : [given];
      build(resolveConfig(description), matrices);
    }
    const warnings = spy.mock.calls.map(([message]) => String(message));
    spy.mockRestore();
    return warnings;
  }

  it("leaves W as it was drawn, and says so once", async () => {
    const acyclic = Array.from({ length: 20 }, (_, seed) => ({ size: 10, seed })).filter((one) => build(one).measuredRadius === 0);
    expect(acyclic.length).toBeGreaterThan(5);
    const warnings = await warningsOf(...acyclic);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^the connections of this reservoir \(size 10, connectionProbability 0\.1, seed "?\d+"?\) close no cycle: its spectral radius is 0, not 0\.95, and W is left as it was drawn\. Take a connectionProbability of 0\.3 or more, another seed/,
    );
    // What it says to take.
    for (let seed = 0; seed < 100; seed++) expect(build({ size: 10, connectionProbability: 0.3, seed }).measuredRadius).toBeGreaterThan(0);
  });

  it("warns if the cycles cancel, so that W is scaled by a radius that is rounding", async () => {
    const cancelling = { size: 10, connectionProbability: 0.2, weightDistribution: "bernoulli", seed: 28 } as const;
    expect(build(cancelling).measuredRadius).toBeCloseTo(6.2e-6, 7);
    expect(await warningsOf({ ...cancelling, seed: 1 }, { ...cancelling, spectralRadius: null })).toEqual([]);
    const warnings = await warningsOf(cancelling, { ...cancelling, seed: 11 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^the connections of this reservoir \(size 10, connectionProbability 0\.2, seed 28\) close only cycles that cancel or are weak: its spectral radius is 6\.25e-6, where such weights have about 1\.1, so W is multiplied by 1\.52e\+5 for the radius 0\.95, and states may overflow\. Take /,
    );
  });

  it("advises a probability and a seed only where they change the connections", async () => {
    const topology = { type: "fixedInDegree", degree: 2 } as const;
    const [drawn] = await warningsOf({ size: 6, topology, weightDistribution: "bernoulli", seed: 154 });
    expect(drawn).toMatch(
      /^the connections of this reservoir \(size 6, topology "fixedInDegree", seed 154\) close only .* Take another seed, /,
    );
    // Rows of 1 and of -1: W^2 = 0, so the radius is 0 but for rounding.
    const weights = Array.from({ length: 40 }, (_, row) => Array.from({ length: 40 }, () => (row < 20 ? 1 : -1)));
    const [own] = await warningsOf([{ size: 40 }, { weights, rescale: true }]);
    expect(own).toMatch(
      /^the connections of matrices\.weights \(size 40\) close only cycles .* overflow\. matrices\.rescale: false uses these weights as they are$/,
    );
  });

  it("warns of neither of random weights of any size, nor of weights of one's own that are small", async () => {
    const random = [5, 20, 200].flatMap((size) => [1, 2, 3].map((seed) => ({ size, seed, connectionProbability: 0.5 })));
    expect(await warningsOf(...random)).toEqual([]);
    const weights = [[0, 1e-9], [1e-9, 1e-9]]; // biome-ignore format: a matrix
    expect(await warningsOf([{ size: 2 }, { weights, rescale: true }])).toEqual([]);
  });

  it("is meant if nobody asks for one, of a delay line, and of no connections at all", async () => {
    expect(
      await warningsOf(
        { size: 10, seed: 1, spectralRadius: null },
        { size: 10, topology: "delayLine" },
        { size: 10, connectionProbability: 0 },
        { size: 10, topology: "ring" },
      ),
    ).toEqual([]);
  });

  it("is refused for matrices of one's own that are to be rescaled", () => {
    const chain = Matrix.from([[0, 0], [1, 0]]); // biome-ignore format: a matrix
    expect(() => build({ size: 2 }, { weights: chain, rescale: true })).toThrow(
      "matrices.rescale is true; it takes false for weights whose spectral radius is 0",
    );
    expect(dense(build({ size: 2 }, { weights: chain })).at(1, 0)).toBe(1);
  });
});

describe("topologies", () => {
  const of = (topology: NonNullable<ReservoirOptions["topology"]>, more: Partial<ReservoirOptions> = {}) =>
    build({ size: 60, spectralRadius: 0.8, precision: "float64", topology, ...more });

  it("ring: equal weights of the radius, analytic", () => {
    const model = of("ring");
    expect(model).toMatchObject({ radiusMethod: "analytic", measuredRadius: 1 });
    const w = dense(model);
    expect(nonzeros(w.data)).toBe(60);
    for (let r = 0; r < 60; r++) expect(w.at(r, (r + 59) % 60)).toBe(0.8);
  });

  it("delay line: a nilpotent chain keeps its weight; with feedback it has the radius of the Toeplitz formula", () => {
    const chain = of({ type: "delayLine", weight: 0.7 });
    expect(chain.measuredRadius).toBe(0);
    expect(dense(chain).at(1, 0)).toBe(0.7);
    const both = of({ type: "delayLine", feedback: 0.3 });
    expect(both.radiusMethod).toBe("analytic");
    expect(matrixSpectralRadius(both.weights).radius).toBeCloseTo(0.8, 10);
  });

  it("cycle with jumps: ring weights and symmetric jumps of one length", () => {
    const w = dense(of({ type: "cycleWithJumps", jump: 15, jumpWeight: 0.25 }, { spectralRadius: null }));
    expect(w.at(15, 0)).toBe(0.25);
    expect(w.at(0, 15)).toBe(0.25);
    expect(w.at(0, 45)).toBe(0.25);
    expect(w.at(1, 0)).toBe(1);
    expect(nonzeros(w.data)).toBe(60 + 8);
    expect(matrixSpectralRadius(of({ type: "cycleWithJumps", jump: 7 }).weights).radius).toBeCloseTo(0.8, 10);
  });

  it("fixed in-degree: every row has as many, none of its own", () => {
    const w = of({ type: "fixedInDegree", degree: 7 }).weights as SparseMatrix;
    for (let r = 0; r < 60; r++) {
      const row = w.columns.subarray(w.rowOffsets[r]!, w.rowOffsets[r + 1]!);
      expect(row.length).toBe(7);
      expect(row).not.toContain(r);
      expect([...row]).toEqual([...new Set(row)].sort((a, b) => a - b));
    }
  });

  it("small world: rewiring 0 is the lattice, rewiring 1 is not, and the degree stays", () => {
    const lattice = dense(of({ type: "smallWorld", neighbours: 4, rewiring: 0 }));
    for (const c of [1, 2, 58, 59]) expect(lattice.at(0, c)).not.toBe(0);
    expect(nonzeros(lattice.data)).toBe(240);
    const random = dense(of({ type: "smallWorld", neighbours: 4, rewiring: 1 }));
    expect(nonzeros(random.data)).toBe(240);
    expect([1, 2, 58, 59].every((c) => random.at(0, c) !== 0)).toBe(false);
  });

  it("orthogonal: W W^T is the radius squared times one, entries spread like a Haar matrix's", () => {
    const w = dense(of("orthogonal"));
    for (let i = 0; i < 60; i++) {
      for (let j = 0; j <= i; j++) {
        let product = 0;
        for (let k = 0; k < 60; k++) product += w.at(i, k) * w.at(j, k);
        expect(product).toBeCloseTo(i === j ? 0.64 : 0, 12);
      }
    }
    const fourth = w.data.reduce((sum, value) => sum + (value / 0.8) ** 4, 0) / 3600;
    expect(fourth).toBeCloseTo(3 / (60 * 62), 4);
    expect(w.data.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0) / 3600).toBeCloseTo(0.5, 1);
  });

  it("block diagonal: nothing between blocks", () => {
    const w = dense(of({ type: "blockDiagonal", blocks: 4 }, { connectionProbability: 1 }));
    for (let r = 0; r < 60; r++) {
      for (let c = 0; c < 60; c++) expect(w.at(r, c) !== 0).toBe(r !== c && Math.floor(r / 15) === Math.floor(c / 15));
    }
  });

  it.each([1, 2, 3])("all exist for %i neurons", (size) => {
    for (const type of ["erdosRenyi", "fixedInDegree", "ring", "delayLine", "smallWorld", "orthogonal"] as const) {
      expect(build({ size, topology: type }).weights.rows).toBe(size);
    }
    expect(build({ size, topology: { type: "blockDiagonal", blocks: size } }).weights.rows).toBe(size);
  });
});

describe("a user's own matrices", () => {
  const w = [
    [0, 0.5],
    [-0.5, 0],
  ];

  it("are taken as they are, dense or CSR, and rescaled only when asked", () => {
    expect(dense(build({ size: 2, storage: "dense" }, { weights: w })).toArrays()).toEqual(w);
    const csr = {
      rows: 2,
      cols: 2,
      rowOffsets: Uint32Array.of(0, 1, 2),
      columns: Uint32Array.of(1, 0),
      values: Float64Array.of(0.5, -0.5),
    };
    expect(dense(build({ size: 2 }, { weights: csr })).toArrays()).toEqual(w);
    const scaled = build({ size: 2, spectralRadius: 2 }, { weights: csr, rescale: true });
    expect(dense(scaled).toArrays()).toEqual([
      [0, 2],
      [-2, 0],
    ]);
    expect(scaled.config.topology).toEqual({ type: "custom" });
  });

  it("may be any of input weights, bias, feedback and initial state", () => {
    const of = build(
      { size: 2, inputSize: 1 },
      {
        inputWeights: [[1], [2]],
        bias: [3, 4],
        feedbackWeights: [
          [5, 6, 7],
          [8, 9, 10],
        ],
        initialState: [0.1, 0.2],
      },
    );
    expect(of.inputWeights.toArrays()).toEqual([[1], [2]]);
    expect([...of.bias]).toEqual([3, 4]);
    expect(of.outputSize).toBe(3);
    expect(of.feedbackWeights!.row(1)).toEqual(Float32Array.of(8, 9, 10));
    expect([...of.initialState]).toEqual([Math.fround(0.1), Math.fround(0.2)]);
  });

  it.each([
    [{ weights: [[1, 2]] }, 'matrices.weights is "1 x 2"; it takes a 2 x 2 matrix'],
    [{ inputWeights: [[1]] }, 'matrices.inputWeights is "1 x 1"; it takes a 2 x 1 matrix'],
    [{ bias: [1, 2, 3] }, 'matrices.bias is "3 x 1"; it takes a 2 x 1 matrix'],
    [
      {
        weights: [
          [0, Number.NaN],
          [0, 0],
        ],
      },
      "matrices.weights[0, 1] is NaN; it takes finite numbers",
    ],
    [
      { weights: { rows: 2, cols: 2, rowOffsets: Uint32Array.of(0, 2, 2), columns: Uint32Array.of(1, 0), values: Float64Array.of(1, 1) } },
      "matrices.weights: row 0 has column 0 after column 1; columns must rise and none may occur twice",
    ],
  ])("of a wrong kind are refused: %j", (own, sentence) => {
    expect(() => build({ size: 2 }, own)).toThrow(sentence);
  });
});

describe("a radius asked of own weights", () => {
  const weights = [
    [0, 0.5],
    [0.5, 0],
  ];
  /** What a fresh process warns of. */
  async function warningsOf(config: Partial<ReservoirOptions>, matrices: ReservoirMatrices): Promise<string[]> {
    vi.resetModules();
    await import("../../src/index.js");
    const { ReservoirComputer } = await import("../../src/reservoir/index.js");
    const spy = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    await using computer = await ReservoirComputer.create({ ...config, size: 2 }, { engine: "reference", matrices });
    // The eigenvalues of W are -0.5 and 0.5.
    expect(computer.model.measuredRadius).toBe(matrices.rescale ? 0.5 : 0);
    const warnings = spy.mock.calls.map(([message]) => String(message));
    spy.mockRestore();
    return warnings;
  }

  it("is warned of, unless it is said what is meant", async () => {
    expect(await warningsOf({ spectralRadius: 0.9 }, { weights })).toEqual([
      "spectralRadius is 0.9 and matrices.weights is used as it is: its own spectral radius holds. " +
        "matrices.rescale: true scales it to the description's, false says that this is meant",
    ]);
    for (const rescale of [true, false]) expect(await warningsOf({ spectralRadius: 0.9 }, { weights, rescale })).toEqual([]);
    expect(await warningsOf({}, { weights })).toEqual([]);
    expect(await warningsOf({ spectralRadius: null }, { weights })).toEqual([]);
  });
});
