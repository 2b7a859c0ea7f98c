// The spectral radius with the Krylov iteration on the device: the host's bits, for matrices from
// the host and for those that the device draws.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import {
  isSparse,
  Matrix,
  matrixSpectralRadius,
  PowerIterationError,
  type SparseMatrix,
  SpectralRadiusError,
  seedKeys,
  toDense,
  toSparse,
} from "../../../packages/numerics/src/index.js";
import { wholeMatrix } from "../../../packages/numerics/src/spectrum/components.js";
import { iterate } from "../../../packages/numerics/src/spectrum/krylov.js";
import { summarize } from "../../../packages/numerics/src/spectrum/structure.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { deviceEngine } from "../../../src/engine/cuda/index.js";
import { iterateOnDevice } from "../../../src/engine/cuda/spectrum/krylov.js";
import { blockOperator } from "../../../src/engine/cuda/spectrum/operators.js";
import { type CreateOptions, ReservoirComputer, type ReservoirOptions } from "../../../src/index.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import { EngineCapacityError } from "../../../src/reservoir/engine.js";
import { modelOf } from "../../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { drawWeights } from "../../../src/reservoir/recurrent-weights.js";
import { drawnMatrix, unscaledDraws } from "../../../src/reservoir/weight-draws.js";
import { buildDrawnModel, buildModel } from "../../../src/reservoir/weights.js";
import { WorkPacer } from "../../../src/reservoir/work.js";
import { casesOf } from "../../exhaustive.js";
import { checked, onHardware, size } from "../../gpu/device/device.js";
import { model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";

afterAll(() => device.close());

const krylov = { method: "krylov" } as const;
const random = (n: number, p: number, seed: number): SparseMatrix =>
  drawWeights(resolveConfig({ size: n, connectionProbability: p, seed, storage: "sparse" })).matrix as SparseMatrix;

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("the Krylov iteration on the device has the host's bits", () => {
  it.each(
    casesOf(
      [
        [5, 1],
        [33, 0.4],
        [65, 0.7],
        [129, 0.06],
      ],
      ([n]) => n! < 50,
    ),
  )("on a random matrix of %i rows and density %f, dense and sparse", async (n, p) => {
    const sparse = random(n, p, n);
    for (const matrix of [sparse, toDense(sparse)]) {
      const found = await device.device.spectralRadius(matrix, krylov);
      expect(found).toEqual(matrixSpectralRadius(matrix, krylov));
      expect(Math.abs(found.radius / matrixSpectralRadius(matrix, { method: "dense" }).radius - 1)).toBeLessThan(1e-9);
    }
  });

  it("over restarts, and on to attempts with more vectors", async () => {
    const [few, more] = [random(size(500, 70, 70), 0.1, 1), random(size(2500, 80, 80), size(0.01, 0.05, 0.05), 2)];
    for (const matrix of [few, more])
      expect(await device.device.spectralRadius(matrix, krylov)).toEqual(matrixSpectralRadius(matrix, krylov));
  });

  it("in every attempt by itself, whether it converges or not, also with powers of W", async () => {
    const block = wholeMatrix(random(90, 0.1, 5));
    const { count } = summarize(block);
    const [context, pacer] = [device.context(), new WorkPacer({}, 1)];
    const stream = context.stream();
    const attempts = [
      { full: 12, kept: 4, restarts: 3, power: 1 },
      { full: 13, kept: 5, restarts: 4, power: 3 },
      { full: 20, kept: 8, restarts: 30, power: 2 },
    ];
    for (const attempt of casesOf(attempts, ({ restarts }) => restarts < 10)) {
      const task = { attempt, exponent: 1 };
      const operator = blockOperator(context, stream, block, count, task.exponent);
      const found = await iterateOnDevice(context, stream, operator, block.size, task, pacer);
      expect(found).toEqual(iterate(block, count, task));
      expect(found.restarts).toBeGreaterThan(2);
      operator.dispose();
    }
    stream.dispose();
  });

  it("whatever the size of the weights, and in both precisions", async () => {
    const matrix = randomMatrix(40, 40, "float64", 6);
    for (const factor of [2 ** -900, 1, 2 ** 900]) {
      const scaled = new Matrix(40, 40, matrix.data.map((w) => w * factor) as Float64Array); // biome-ignore format: one line
      expect(await device.device.spectralRadius(scaled, krylov)).toEqual(matrixSpectralRadius(scaled, krylov));
    }
    const single = Matrix.from(matrix, "float32");
    expect(await device.device.spectralRadius(single, krylov)).toEqual(matrixSpectralRadius(single, krylov));
  });

  it("where the space ends before the basis is full", async () => {
    const ones = new Matrix(50, 50, new Float64Array(2500).fill(1));
    expect(await device.device.spectralRadius(ones, krylov)).toEqual(matrixSpectralRadius(ones, krylov));
    expect((await device.device.spectralRadius(ones, krylov)).radius).toBeCloseTo(50, 11);
  });

  it("and refuses what rounding hides, as the host does", async () => {
    const cancelling = Matrix.from([[1, -1], [1, -1]]); // biome-ignore format: a matrix
    expect(() => matrixSpectralRadius(cancelling, krylov)).toThrow(SpectralRadiusError);
    await expect(device.device.spectralRadius(cancelling, krylov)).rejects.toThrow(SpectralRadiusError);
  });

  it("and leaves structure, small blocks and the circular law to the host", async () => {
    const blocks = buildModel(resolveConfig({ size: 60, topology: { type: "blockDiagonal", blocks: 3 }, spectralRadius: null })).weights;
    for (const method of ["auto", "dense", "krylov", "circularLaw"] as const)
      expect(await device.device.spectralRadius(blocks, { method })).toEqual(matrixSpectralRadius(blocks, { method }));
    const before = device.context().poolStatistics().usedHigh;
    expect((await device.device.spectralRadius(random(200, 0.1, 1))).method).toBe("dense");
    expect(device.context().poolStatistics().usedHigh).toBe(before);
  });
});

describe("power iteration on the device has the host's bits", () => {
  const power = { method: "power" } as const;
  /** Random weights without a sign, whose dominant eigenvalue is real and far from the others. */
  const positive = (n: number, p: number): SparseMatrix => {
    const matrix = random(n, p, n);
    return { ...matrix, values: matrix.values.map((w) => Math.abs(w)) as Float64Array };
  };

  it.each(
    casesOf(
      [
        [1, 1],
        [5, 1],
        [65, 0.7],
        [129, 0.06],
        [600, 0.02],
      ],
      ([n]) => n! < 100,
    ),
  )(
    "on a positive matrix of %i rows and density %f, dense and sparse, in both precisions, whatever the size of the weights",
    async (n, p) => {
      const sparse = n === 1 ? toSparse(Matrix.from([[-3]])) : positive(n, p); // biome-ignore format: one line
      const radius = matrixSpectralRadius(sparse).radius;
      for (const matrix of [sparse, toDense(sparse), { ...sparse, values: Float32Array.from(sparse.values) }]) {
        const found = await device.device.spectralRadius(matrix, power);
        expect(found).toEqual(matrixSpectralRadius(matrix, power));
        expect(Math.abs(found.radius / radius - 1)).toBeLessThan(matrix === sparse || "data" in matrix ? 1e-9 : 1e-6);
      }
      const huge = { ...sparse, values: sparse.values.map((w) => w * 2 ** 900) };
      expect(await device.device.spectralRadius(huge, power)).toEqual({
        radius: matrixSpectralRadius(sparse, power).radius * 2 ** 900,
        method: "power",
      });
    },
  );

  it("also where it is 0, and where the iteration does not converge, of which both say the same", async () => {
    for (const matrix of [Matrix.zeros(3, 3), Matrix.zeros(0, 0), Matrix.from([[0, 2, 3], [0, 0, 4], [0, 0, 0]])]) // biome-ignore format: a matrix
      expect(await device.device.spectralRadius(matrix, power)).toEqual({ radius: 0, method: "power" });
    const rotation = Matrix.from([[0.6, -0.8], [0.8, 0.6]]); // biome-ignore format: a matrix
    const said = await device.device.spectralRadius(rotation, power).catch((error) => error);
    expect(said).toBeInstanceOf(PowerIterationError);
    expect(said).toEqual(thrown(() => matrixSpectralRadius(rotation, power)));
  });

  it("for every reservoir that asks for it, drawn or of own weights, of any size", async () => {
    const launched = new Set<string>();
    using context = openDevice({ driver: simulatedDriver({ onLaunch: ({ kernel }) => void launched.add(kernel) }) });
    const outcome = async (options: ReservoirOptions, on: CreateOptions) => {
      launched.clear();
      const made = await ReservoirComputer.create(options, on).catch((error: unknown) => error as Error);
      if (made instanceof Error) return [made.name, made.message];
      await using computer = made;
      const { weights, measuredRadius } = computer.model;
      return [isSparse(weights) ? weights.values : weights.data, measuredRadius];
    };
    const found: unknown[] = [];
    for (const storage of ["dense", "sparse"] as const)
      for (let seed = 0; seed < 6; seed++) {
        const options = { size: 6, storage, connectionProbability: 0.8, radiusMethod: "power", seed } as const;
        const there = await outcome(options, { context });
        expect(
          [...launched].filter((name) => name.startsWith("power_iteration")),
          `seed ${seed}`,
        ).not.toEqual([]);
        expect(there, `seed ${seed}`).toEqual(await outcome(options, { engine: "cpu" }));
        found.push(there[0]);
      }
    // Some have a real dominant eigenvalue, others a complex pair.
    expect(new Set(found.map((each) => each === "PowerIterationError")).size).toBe(2);
    const matrices = { weights: Matrix.from([[1, 2], [2, 1]]), rescale: true }; // biome-ignore format: a matrix
    const own = { size: 2, radiusMethod: "power", spectralRadius: 0.9 } as const;
    expect(await outcome(own, { context, matrices })).toEqual([Float32Array.of(0.3, 0.6, 0.6, 0.3), expect.closeTo(3, 12)]);
    expect([...launched]).toContain("power_iteration_f64");
  });

  it("of a W that it draws itself, which is told if it is not in binary64", async () => {
    const options = { size: 70, storage: "dense", radiusMethod: "power", seed: 4 } as const;
    for (const connectionProbability of casesOf([1, 0.3], (p) => p < 1)) {
      const config = resolveConfig({ ...options, connectionProbability });
      const here = thrown(() => buildModel(config));
      expect(here).toBeInstanceOf(PowerIterationError);
      expect(await buildDrawnModel(config, device.device).catch((error) => error)).toEqual(here);
    }
    const config = resolveConfig({ ...options, connectionProbability: 1, radiusMethod: "circularLaw" });
    const drawn = drawnMatrix({ draws: (await buildDrawnModel(config, device.device)).draws!, config });
    await expect(device.device.spectralRadius(drawn, power)).rejects.toThrow(
      /method is "power"; it takes "krylov" or "circularLaw" for a dense W/,
    );
  });

  it("stops when it is told to, refuses what does not fit, and gives all of its memory back", async () => {
    const before = device.context().held().length;
    const signal = AbortSignal.abort("enough");
    await expect(device.device.spectralRadius(positive(50, 0.5), { ...power, signal })).rejects.toThrow(/stopped after 0/);
    expect(device.context().held().length).toBe(before);
    const small = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 16 }) }) });
    await expect(small.device.spectralRadius(positive(200, 0.3), power)).rejects.toThrow(/a power iteration on 200 rows .* would take/);
    small.close();
  });
});

describe("a W that is drawn on the device", () => {
  const drawnOnes = [
    { size: 70, connectionProbability: 1, storage: "dense" },
    { size: 90, connectionProbability: 0.3, storage: "dense" },
    { size: 90, connectionProbability: 0.2, storage: "sparse" },
  ] as const;

  it.each(casesOf(drawnOnes, ({ connectionProbability }) => connectionProbability < 0.3))(
    "is scaled by the radius that the host iterates to: $storage, p = $connectionProbability",
    async (fields) => {
      const config = resolveConfig({ ...fields, weightDistribution: "normal", radiusMethod: "krylov", seed: 4 });
      const drawn = await buildDrawnModel(config, device.device);
      const { radius } = matrixSpectralRadius(drawWeights(config).matrix, krylov);
      expect(drawn).toMatchObject({ measuredRadius: radius, radiusMethod: "krylov" });
      expect(drawn.draws!.factor).toBe(0.95 / radius);
    },
  );

  it("and rounded has the radius of its rounded values", async () => {
    for (const [storage, connectionProbability] of [["dense", 0.9], ["sparse", 0.2]] as const) // biome-ignore format: two rows
      for (const [precision, weightPrecision] of casesOf(
        [
          ["float32", "full"],
          ["float32", "bfloat16"],
          ["float64", "full"],
        ] as const,
        ([, weights]) => weights === "bfloat16",
      )) {
        const config = resolveConfig({
          size: 40,
          connectionProbability,
          storage,
          precision,
          weightPrecision,
          radiusMethod: "circularLaw",
          seed: 9,
        });
        const drawn = await buildDrawnModel(config, device.device);
        const found = await device.device.spectralRadius(drawnMatrix({ draws: drawn.draws!, config }), krylov);
        expect(found).toEqual(matrixSpectralRadius(buildModel(config).weights, krylov));
      }
  });

  it("has the circular law's radius if that is asked for, and the iteration's if nothing is", async () => {
    const config = resolveConfig({ size: 80, connectionProbability: 0.5, storage: "sparse", seed: 7, precision: "float64" });
    const draws = unscaledDraws(config, seedKeys(config.seed));
    const { matrix } = drawWeights(config);
    const law = await device.device.spectralRadius({ draws, rounding: "none" }, { method: "circularLaw" });
    expect(law).toEqual(matrixSpectralRadius(matrix, { method: "circularLaw" }));
    expect(await device.device.spectralRadius({ draws, rounding: "none" })).toEqual(matrixSpectralRadius(matrix, krylov));
  });
});

it("refuses an iteration that does not fit the device, with the numbers, before anything is allocated", async () => {
  const small = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 16 }) }) });
  const refusal = small.device.spectralRadius(random(100, 0.2, 1), krylov);
  await expect(refusal).rejects.toThrow(EngineCapacityError);
  await expect(refusal).rejects.toThrow(
    /Krylov iteration on 100 rows with .* nonzeros on .* would take .* and the limit is .*"circularLaw"/,
  );
  expect(small.context().poolStatistics().usedHigh).toBe(0);
  small.close();
});

it("takes a full W of more than 2^32 connections as dense: it lacks memory, not numbers for its connections", async () => {
  const small = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 16 }) }) });
  const config = resolveConfig({ size: 70_000, connectionProbability: 1 });
  const draws = unscaledDraws(config, seedKeys(config.seed));
  const refusal = small.device.spectralRadius({ draws, rounding: "none" }, krylov);
  await expect(refusal).rejects.toThrow(/Krylov iteration on 70000 rows with 4,899,930,000 nonzeros on .* would take 36\.\d GiB/);
  await expect(refusal).rejects.toThrow(EngineCapacityError);
  small.close();
});

it("stops between restarts when it is told to", async () => {
  const signal = AbortSignal.abort("enough");
  await expect(device.device.spectralRadius(random(100, 0.2, 1), { ...krylov, signal })).rejects.toThrow(/stopped after 0/);
});

it("gives all of its memory back", async () => {
  const before = device.context().held().length;
  await device.device.spectralRadius(random(64, 0.3, 1), krylov);
  await buildDrawnModel(resolveConfig({ size: 64, radiusMethod: "krylov" }), device.device);
  expect(device.context().held().length).toBe(before);
});

it("a reservoir can ask for the circular law, which is read from row sums", () => {
  const options = { size: 400, connectionProbability: 0.2, seed: 3 } as const;
  const estimated = model({ ...options, radiusMethod: "circularLaw" });
  const measured = model(options);
  expect([measured.radiusMethod, estimated.radiusMethod]).toEqual(["krylov", "circularLaw"]);
  // Uniform values of variance 1/3, 80 a row.
  expect(estimated.measuredRadius / Math.sqrt(80 / 3)).toBeCloseTo(1, 1);
  expect(estimated.measuredRadius / measured.measuredRadius).toBeCloseTo(1, 1);
});

it.runIf(onHardware && !checked)("measures 20,000 dense neurons and 200,000 sparse ones beside the circular law", async () => {
  for (const options of [
    { size: 20_000, connectionProbability: 1, weightPrecision: "bfloat16", radiusMethod: "krylov" },
    { size: 200_000, connectionProbability: 10 / 200_000 },
  ] as const) {
    const start = performance.now();
    const of = (await modelOf({ ...options, seed: 1 }, device)) as ReservoirModel;
    const seconds = ((performance.now() - start) / 1000).toFixed(2);
    const law = Math.sqrt((options.size * options.connectionProbability) / 3);
    console.log(`${options.size} neurons: radius ${of.measuredRadius} by ${of.radiusMethod}, circular law ${law.toFixed(4)}, ${seconds} s`);
    expect(of.radiusMethod).toBe("krylov");
    expect(of.measuredRadius / law).toBeGreaterThan(1);
    expect(of.measuredRadius / law).toBeLessThan(1.03);
  }
});
