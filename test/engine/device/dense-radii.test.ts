// Spectral radii of many dense blocks on the device (kernels/dense_radius.cu): the host's bits.
import { afterAll, describe, expect, it } from "vitest";
import { Matrix, matrixSpectralRadius, RandomStream } from "../../../packages/numerics/src/index.js";
import { wholeMatrix } from "../../../packages/numerics/src/spectrum/components.js";
import { type DenseBlock, denseBlock, denseEigenvalues, modulus } from "../../../packages/numerics/src/spectrum/dense.js";
import type { ReservoirOptions } from "../../../src/reservoir/config.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import { BaseDrawing, type Draw, KeptBases } from "../../../src/reservoir/evaluate/base-drawing.js";
import { ReservoirEnsemble, registerEngine } from "../../../src/reservoir/index.js";
import { drawWeights } from "../../../src/reservoir/recurrent-weights.js";
import { buildModel } from "../../../src/reservoir/weights.js";
import { size } from "../../gpu/device/device.js";
import { randomMatrix } from "../contract.js";
import { device } from "./engines.js";

afterAll(() => device.close());

/** max |lambda| by the host's QR algorithm, of the matrix as it is. */
function hostRadius(matrix: Matrix): number {
  const { re, im } = denseEigenvalues(wholeMatrix(matrix));
  return re.reduce((most, x, i) => Math.max(most, modulus(x, im[i]!)), 0);
}

const blockOf = (matrix: Matrix): DenseBlock => denseBlock(wholeMatrix(matrix));

async function expectHostBits(matrices: readonly Matrix[]): Promise<void> {
  const found = await device.device.denseRadii(matrices.map(blockOf));
  expect(Array.from(found!)).toEqual(matrices.map(hostRadius));
}

const made = (n: number, valueAt: (row: number, column: number) => number): Matrix =>
  new Matrix(
    n,
    n,
    Float64Array.from({ length: n * n }, (_, p) => valueAt(Math.floor(p / n), p % n)),
  );

const uniform = (n: number, seed: number): Matrix => randomMatrix(n, n, "float64", seed);

function normal(n: number, seed: number): Matrix {
  const stream = new RandomStream([seed, 1], 0);
  return made(n, (r, c) => stream.normal(r, c));
}

describe("radii of dense blocks on the device have the host's bits", () => {
  it("of random matrices of many sizes in one launch", async () => {
    const sizes = Array.from({ length: size(80, 24) }, (_, i) => i + 1);
    await expectHostBits(sizes.flatMap((n) => [uniform(n, n), normal(n, n)]));
  });

  it.each([31, 32, 33, 40, 100])("of a random matrix of %i rows", async (n) => {
    await expectHostBits([uniform(n, 1), normal(n, 2)].slice(0, n < 64 ? 2 : size(2, 1)));
  });

  it("of structured matrices: defective, triangular, zero, permutations, nearly symmetric, rotations", async () => {
    const random = normal(12, 3);
    const at = (r: number, c: number) => random.data[r * 12 + c]!;
    await expectHostBits([
      ...[2, 5, 9].map((n) => made(n, (r, c) => (r === c ? 0.75 : c === r + 1 ? 1 : 0))),
      ...[3, 8].map((n) => made(n, (r, c) => (r === c ? 1 : r === c + 1 ? 3 : 0))),
      made(10, (r, c) => (c >= r ? at(r, c) : 0)),
      made(10, (r, c) => (c <= r ? at(r, c) : 0)),
      made(6, () => 0),
      made(1, () => -2.5),
      ...[2, 3, 7, 12].map((n) => made(n, (r, c) => Number(c === (r + 1) % n))),
      made(11, (r, c) => Number(c === (5 * r + 3) % 11)),
      made(12, (r, c) => at(Math.min(r, c), Math.max(r, c)) + 1e-14 * at(r, c)),
      made(12, (r, c) => at(Math.min(r, c), Math.max(r, c))),
      made(12, (r, c) => at(r, c) - at(c, r)),
      ...[0.1, 1, 3].map((angle) => made(2, (r, c) => (r === c ? Math.cos(angle) : (r - c) * Math.sin(angle)))),
      made(8, (r, c) => (r >> 1 === c >> 1 ? (r === c ? 0.6 : (r - c) * 0.8) : c > r ? 0.1 : 0)),
      made(9, () => 1),
      made(2, (r) => (r === 0 ? 1 : -1)),
      made(6, (r, c) => (r + c) % 2),
    ]);
  });

  it("of 2 x 2 blocks of each kind of standard form", async () => {
    const values = [0, 1, -1, 0.5, -0.25, 2 ** -30, -(2 ** -52)];
    const blocks: Matrix[] = [];
    for (const a of [1, -0.5]) for (const b of values) for (const c of values) for (const d of [1, 0, -0.5]) blocks.push(made(2, (r, s) => [a, b, c, d][2 * r + s]!)); // biome-ignore format: all combinations
    await expectHostBits(blocks);
  });

  it("whatever the size of the weights, subnormal ones too", async () => {
    const matrices = [2 ** 500, 2 ** -500, 2 ** 1020, 2 ** -1020, 2 ** -1068].flatMap((factor) =>
      [normal(9, 4), uniform(14, 5)].map((matrix) => made(matrix.rows, (r, c) => matrix.data[r * matrix.cols + c]! * factor)),
    );
    await expectHostBits(matrices);
    await expectHostBits([made(8, (r, c) => normal(8, 6).data[8 * r + c]! * 2 ** (100 * (r - c)))]);
  });

  it("and a NaN if the iteration does not converge, where the host throws", async () => {
    const never = made(4, () => Number.NaN);
    expect(() => hostRadius(never)).toThrow("did not find 4 of the 4 eigenvalues");
    const found = await device.device.denseRadii([blockOf(uniform(5, 1)), blockOf(never), blockOf(uniform(3, 2))]);
    expect(Array.from(found!)).toEqual([hostRadius(uniform(5, 1)), Number.NaN, hostRadius(uniform(3, 2))]);
  });

  it("of as many matrices as a sweep draws at a time", async () => {
    await expectHostBits(Array.from({ length: size(64, 3) }, (_, seed) => normal(size(200, 65), seed)));
    if (size(1, 0)) await expectHostBits([uniform(512, 1), normal(511, 2), uniform(300, 3)]);
  });
});

describe("the radii of what many seeds draw", () => {
  const draws = ({ name = "device", ...of }: Partial<ReservoirOptions> & { readonly name?: string }, seeds = 8): Draw[] =>
    Array.from({ length: seeds }, (_, s) => ({
      key: `${s}`,
      config: resolveConfig({ size: 64, connectionProbability: 0.2, seed: `${name} ${s}`, ...of }),
    }));

  /** Draws on an engine that computes radii so; the number of blocks of each call. */
  async function drawn(of: readonly Draw[], radii: typeof device.device.denseRadii = (blocks) => device.device.denseRadii(blocks)) {
    const calls: number[] = [];
    const denseRadii = (blocks: readonly DenseBlock[]) => {
      calls.push(blocks.length);
      return radii(blocks);
    };
    const drawing = new BaseDrawing(
      of,
      { ...device, device: { ...device.device, leastRadii: 8, denseRadii } },
      { done: () => 0, total: 1 },
    );
    const bases = await drawing.draw({ from: 0, to: of.length });
    await drawing.dispose();
    for (const { draws: matrix, drawn: found } of bases)
      expect(found.measured()).toEqual(matrixSpectralRadius(matrix, { method: of[0]!.config.radiusMethod }));
    return { calls, phases: drawing.profile().phases };
  }

  it("are the host's, by one call for all of them", async () => {
    const { calls, phases } = await drawn(draws({}));
    expect(calls).toEqual([8]);
    expect(phases.find(({ phase }) => phase === "radius")!.milliseconds).toBeGreaterThan(0);
    expect((await drawn(draws({}))).calls).toEqual([]);
  });

  it("are computed though another evaluation keeps one of the bases meanwhile", async () => {
    const of = draws({ name: "kept", size: 65 }, 9);
    const options = { done: () => 0, total: 1 };
    const early = new BaseDrawing(of.slice(8), device, options);
    const [base] = await early.draw({ from: 0, to: 1 });
    await early.dispose();
    let calls = 0;
    class LaterKept extends KeptBases {
      override get(key: string) {
        // Both the constructor and the start of a draw ask for all of them.
        return ++calls > 18 && key === "8" ? base : undefined;
      }
    }
    const engine = { ...device, device: { ...device.device, leastRadii: 8 } };
    const drawing = new BaseDrawing(of, engine, { ...options, kept: new LaterKept() });
    expect(await drawing.draw({ from: 0, to: 9 })).toHaveLength(9);
    await drawing.dispose();
  });

  it("are the host's of several components too", async () => {
    const several = draws({ size: 130, topology: { type: "blockDiagonal", blocks: 2 }, connectionProbability: 0.3 });
    const { calls } = await drawn(several, async (blocks) =>
      Float64Array.from(blocks, ({ n, ld, values, exponent }) => hostRadius(made(n, (r, c) => values[r * ld + c]!)) * 2 ** exponent),
    );
    expect(calls).toEqual([16]);
  });

  it.each([
    ["do not converge", async (blocks: readonly DenseBlock[]) => new Float64Array(blocks.length).fill(Number.NaN)],
    ["find no memory", async () => undefined],
  ])("are measured by the host if they %s", async (what, radii) => {
    expect((await drawn(draws({ name: what }), radii)).calls).toEqual([8]);
  });

  it("are the host's work for fewer matrices, smaller ones and other methods", async () => {
    expect((await drawn(draws({ weightDistribution: "normal" }, 7))).calls).toEqual([]);
    expect((await drawn(draws({ size: 63 }))).calls).toEqual([]);
    expect((await drawn(draws({ radiusMethod: "krylov" }))).calls).toEqual([]);
  });

  it("fail with the device", async () => {
    const broken = () => Promise.reject(new Error("the device is lost"));
    await expect(drawn(draws({ connectionProbability: 0.4 }), broken)).rejects.toThrow("the device is lost");
  });
});

it("an ensemble of many members has the models that are made one by one", async () => {
  const engine = "device that measures radii";
  registerEngine(engine, async () => ({ ...device, device: { ...device.device, leastRadii: 8 } }), { automatic: false });
  const of = (seed: string) => ({ size: 64, connectionProbability: 0.3, seed });
  const seeds = Array.from({ length: 8 }, (_, s) => `ensemble ${s}`);
  await using ensemble = await ReservoirEnsemble.create([...seeds.map(of), { size: 20, seed: 3 }], { engine });
  for (const [r, seed] of [...seeds, 3].entries()) {
    const alone = buildModel(resolveConfig(r === 8 ? { size: 20, seed } : of(seed as string)));
    expect(ensemble.models[r]).toEqual(alone);
    expect(alone.measuredRadius).toBe(matrixSpectralRadius(drawWeights(resolveConfig({ ...alone.config })).matrix).radius);
  }
});
