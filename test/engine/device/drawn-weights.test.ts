// A W that is drawn on the device: the same bits as the one that the host draws, in every
// distribution and type of weight.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import {
  Matrix,
  matrixSpectralRadius,
  type SparseMatrix,
  SpectralRadiusError,
  seedKeys,
  storedValues,
} from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import { deviceEngine } from "../../../src/engine/cuda/index.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import { EngineCapacityError } from "../../../src/reservoir/engine.js";
import { modelOf } from "../../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { drawWeights } from "../../../src/reservoir/recurrent-weights.js";
import { isDrawnInPlace, radiusOfRows, unscaledDraws, type WeightDraws } from "../../../src/reservoir/weight-draws.js";
import { buildDrawnModel } from "../../../src/reservoir/weights.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, size } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";
import { unreadable } from "./unreadable.js";

afterAll(() => device.close());

/** An engine that says it draws, whose squares add up to 100 a row. */
const engineOf = (asked: WeightDraws[]) => ({
  ...cpuEngine,
  cost: { ...cpuEngine.cost!, limit: 1e12 },
  device: {
    ...device.device,
    drawRowSums: async (draws: WeightDraws) => {
      asked.push(draws);
      const nonzeros = Math.round(-Math.expm1(draws.logMiss) * draws.size ** 2);
      return { sums: new Float64Array(draws.size), squares: new Float64Array(draws.size).fill(100), nonzeros };
    },
  },
});

async function statesOf(of: ReservoirModel, engine: typeof cpuEngine, steps = 4, plan = "streamed"): Promise<Uint32Array> {
  const session = await engine.open(of, engine === device ? { plan } : {});
  const states = Matrix.zeros(steps, of.size, of.precision) as Matrix;
  await session.run({ inputs: randomMatrix(steps, 1, of.precision, 3) }, { into: states });
  await session.dispose();
  return bits(states.data);
}

describe("a W drawn on the device", () => {
  it.each([
    { size: 33, connectionProbability: 1, weightDistribution: "uniform", selfConnections: false },
    { size: 40, connectionProbability: 0.3, weightDistribution: "normal", selfConnections: false },
    { size: 70, connectionProbability: 0.55, weightDistribution: "bernoulli", selfConnections: true },
    { size: 65, connectionProbability: 1, weightDistribution: "normal", selfConnections: true },
  ] as const)("has the host's bits: $weightDistribution, p = $connectionProbability, $size neurons", async (fields) => {
    for (const precision of ["float32", "float64"] as const)
      for (const weightPrecision of casesOf(
        ["full", "bfloat16"] as const,
        (each) => each === (precision === "float32" ? "bfloat16" : "full"),
      )) {
        const options = { ...fields, precision, weightPrecision, spectralRadius: null, storage: "dense", seed: 11, bias: 0.1 } as const;
        const drawn = await buildDrawnModel(resolveConfig(options), device.device);
        const expected = await statesOf(model(options), cpuEngine);
        for (const plan of ["streamed", "named"]) expect(await statesOf(drawn, device, 4, plan), plan).toEqual(expected);
      }
  });

  it.each(["uniform", "normal"] as const)("has the radius that the circular law gives on the host, %s", async (weightDistribution) => {
    const options = {
      size: 90,
      connectionProbability: 0.4,
      weightDistribution,
      storage: "dense",
      seed: 5,
      precision: "float64",
      radiusMethod: "circularLaw",
    } as const;
    const config = resolveConfig(options);
    const host = model({ ...options, spectralRadius: null }).weights;
    const { radius } = matrixSpectralRadius(host, { method: "circularLaw" });
    const draws = unscaledDraws(config, seedKeys(config.seed));
    expect(radiusOfRows(await device.device.drawRowSums(draws))).toBe(radius);
    const drawn = await buildDrawnModel(config, device.device);
    expect(drawn).toMatchObject({ measuredRadius: radius, radiusMethod: "circularLaw", draws: { factor: 0.95 / radius } });
  });

  it.each([
    { size: 40, connectionProbability: 0.2, weightDistribution: "uniform", selfConnections: false },
    { size: 65, connectionProbability: 0.02, weightDistribution: "normal", selfConnections: true },
    { size: 130, connectionProbability: 0.5, weightDistribution: "bernoulli", selfConnections: false },
  ] as const)("has the host's bits in slices: $weightDistribution, p = $connectionProbability, $size neurons", async (fields) => {
    for (const precision of ["float32", "float64"] as const)
      for (const weightPrecision of casesOf(
        ["full", "bfloat16"] as const,
        (each) => each === (precision === "float32" ? "bfloat16" : "full"),
      )) {
        const options = { ...fields, precision, weightPrecision, spectralRadius: null, storage: "sparse", seed: 12, bias: 0.1 } as const;
        const drawn = await buildDrawnModel(resolveConfig(options), device.device);
        const host = model(options);
        expect(drawn.draws!.nonzeros).toBe(storedValues(host.weights));
        const expected = await statesOf(host, cpuEngine);
        for (const plan of ["streamed", "named"]) expect(await statesOf(drawn, device, 4, plan), plan).toEqual(expected);
      }
  });

  it("has the host's bits in slices whose columns take 32 bits", async () => {
    const size = 66_000;
    const options = { size, connectionProbability: 1.5 / size, spectralRadius: null, storage: "sparse", seed: 3 } as const;
    const drawn = await buildDrawnModel(resolveConfig(options), device.device);
    expect(await statesOf(drawn, device, 1)).toEqual(await statesOf(model(options), cpuEngine, 1));
  });

  it.each(["uniform", "normal", "bernoulli"] as const)(
    "comes in CSR form with the host's columns and values, %s",
    async (weightDistribution) => {
      for (const selfConnections of [false, true]) {
        const config = resolveConfig({ size: 150, connectionProbability: 0.07, weightDistribution, selfConnections, seed: 21 });
        const found = await device.device.drawSparse(unscaledDraws(config, seedKeys(config.seed)));
        expect(found).toEqual(drawWeights(config).matrix);
      }
    },
  );

  it("is asked of a device for connections by the million, and for nothing that does not fit there", async () => {
    const config = resolveConfig({ size: 150, connectionProbability: 0.07 });
    const small = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 14 }) }) });
    await expect(small.device.drawSparse(unscaledDraws(config, seedKeys(1)))).rejects.toThrow(
      /connections of 150 neurons on .* would take .* let the host draw them/,
    );
    small.close();
    const asked: number[] = [];
    const engine = {
      ...cpuEngine,
      device: {
        ...device.device,
        drawSparse: async (draws: WeightDraws) => {
          asked.push(draws.size);
          throw new EngineCapacityError("it", 2, 1, "no");
        },
      },
    };
    const large = { connectionProbability: 2e6 / 40_000 ** 2, spectralRadius: null };
    const drawn = await modelOf({ size: 40_000, ...large }, engine);
    expect(storedValues((drawn as ReservoirModel).weights)).toBe(storedValues(model({ size: 40_000, ...large }).weights));
    await modelOf({ size: 39_900, ...large }, engine);
    expect(asked).toEqual([40_000]);
  });

  it("has its radius measured by a device that can, and by the host if it does not fit there", async () => {
    const options = { size: 40_000, connectionProbability: 2e6 / 40_000 ** 2, spectralRadius: 0.8, radiusMethod: "circularLaw" } as const;
    const host = model(options);
    const refused = () => Promise.reject(new EngineCapacityError("it", 2, 1, "no"));
    const drawnHere = { ...device.device, drawSparse: refused };
    const measured = await modelOf(options, {
      ...cpuEngine,
      device: { ...drawnHere, spectralRadius: async () => ({ radius: 4, method: "krylov" }) },
    });
    expect(measured).toMatchObject({ measuredRadius: 4, radiusMethod: "krylov" });
    const first = (of: ReservoirModel) => (of.weights as SparseMatrix).values[0]!;
    expect(first(measured as ReservoirModel) / first(host)).toBeCloseTo(host.measuredRadius / 4, 6);
    const full = { ...drawnHere, spectralRadius: refused };
    expect(await modelOf(options, { ...cpuEngine, device: full })).toMatchObject({
      measuredRadius: host.measuredRadius,
      radiusMethod: "circularLaw",
    });
  });

  const methods = [
    { radiusMethod: "circularLaw" },
    { radiusMethod: "krylov" },
    // Power iteration fails for the complex pairs of most random matrices.
    { radiusMethod: "power", spectralRadius: null },
  ] as const;
  const plans = [
    { plan: "cluster", size: 128, connectionProbability: 1 },
    { plan: "grid", size: 70, connectionProbability: 1 },
    { plan: "grid", size: 130, connectionProbability: 0.55, storage: "sparse" },
    { plan: "grid", size: 70, connectionProbability: 1, precision: "float64" },
    { plan: "streamed", size: 130, connectionProbability: 0.55, weightPrecision: "bfloat16" },
  ] as const;

  it.each(plans)(
    "is in place for the plan $plan of $size neurons, p = $connectionProbability, and never read",
    async ({ plan, ...fields }) => {
      const distributions = casesOf(["uniform", "normal", "bernoulli"] as const, (_, index) => index === fields.size % 3);
      for (const weightDistribution of distributions)
        for (const method of casesOf(methods, (each) => each.radiusMethod === "circularLaw")) {
          const options = { ...fields, weightDistribution, ...method, seed: 8, bias: 0.1 };
          const drawn = (await modelOf(options, { ...device, device: { ...device.device, leastDrawn: 1 } })) as ReservoirModel;
          const host = model(options);
          const { config } = host;
          // Measured here, as a process measures the radius of a description once for all its models.
          const found =
            config.spectralRadius === null
              ? { radius: 0, method: "unscaled" }
              : matrixSpectralRadius(drawWeights(config).matrix, { method: config.radiusMethod });
          expect(drawn).toMatchObject({ config, measuredRadius: found.radius, radiusMethod: found.method });
          const guarded = { ...drawn, weights: unreadable(drawn.weights) };
          const session = await device.open(guarded, { plan });
          expect(session.plan.details).toMatchObject({ plan, drawn: "on the device" });
          await session.dispose();
          expect(await statesOf(guarded, device, 4, plan)).toEqual(await statesOf(host, cpuEngine));
        }
    },
  );

  it("is dense or sparse as the host has it, whose share of connections is not quite that of the description", async () => {
    const engine = { ...device, device: { ...device.device, leastDrawn: 1 } };
    const found = new Set<string>();
    for (let seed = 0; seed < 12; seed++) {
      const options = { size: 280, connectionProbability: 0.2509, spectralRadius: null, seed };
      const host = model(options);
      expect((await modelOf(options, engine)) as ReservoirModel).toMatchObject({ config: host.config });
      found.add(host.config.storage);
    }
    expect(found.size).toBe(2);
  });

  it("is drawn by the host if it does not fit on the device or its iteration does not converge", async () => {
    for (const error of [new EngineCapacityError("it", 2, 1, "no"), new SpectralRadiusError(310, 1, 5)]) {
      const options = { size: 310, connectionProbability: 0.25, seed: error.name };
      const asked: number[] = [];
      const spectralRadius = async () => {
        asked.push(1);
        throw error;
      };
      const engine = { ...device, device: { ...device.device, leastDrawn: 301, spectralRadius } };
      const drawn = (await modelOf(options, engine)) as ReservoirModel;
      expect(drawn.draws).toBeUndefined();
      const host = model(options);
      expect(drawn).toMatchObject({ measuredRadius: host.measuredRadius, radiusMethod: "krylov" });
      expect(asked).toEqual([1]);
      const named = modelOf({ ...options, radiusMethod: "krylov" }, engine);
      if (error instanceof SpectralRadiusError) await expect(named).rejects.toBe(error);
      else expect((await named) as ReservoirModel).toMatchObject({ measuredRadius: host.measuredRadius });
    }
  });

  it("has its radius measured once in a process", async () => {
    let asked = 0;
    const spectralRadius = async () => ({ radius: 2 + asked++, method: "krylov" as const });
    const engine = { ...device, device: { ...device.device, leastDrawn: 301, spectralRadius } };
    const create = async (wanted: number) =>
      (await modelOf({ size: 310, connectionProbability: 1, spectralRadius: wanted, seed: "once" }, engine)) as ReservoirModel;
    expect((await create(1)).draws!.factor).toBe(0.5);
    expect((await create(3)).draws!.factor).toBe(1.5);
    expect(asked).toBe(1);
  });

  it("stays on the device above 1.02e8 connections, dense or sparse", async () => {
    const asked: WeightDraws[] = [];
    const engine = engineOf(asked);
    const sparse = await modelOf({ size: 100_000, connectionProbability: 0.011, spectralRadius: 0.5 }, engine);
    expect(sparse).toMatchObject({ measuredRadius: 10, radiusMethod: "circularLaw", draws: { nonzeros: 1.1e8, factor: 0.05 } });
    const dense = await modelOf({ size: 11_000, connectionProbability: 0.9 }, engine);
    expect((dense as ReservoirModel).draws).toMatchObject({ factor: 0.095 });
    expect((dense as ReservoirModel).draws!.nonzeros).toBeUndefined();
    expect(asked.map(({ size }) => size)).toEqual([100_000, 11_000]);
  });

  it("is not to be read on the host if it does not fit there", async () => {
    const reason = "neurons was drawn on the device that runs it; the host does not hold its values";
    const dense = await modelOf({ size: 11_000, connectionProbability: 1 }, engineOf([]));
    expect(() => ((dense as ReservoirModel).weights as Matrix).data).toThrow(`W of 11000 ${reason}`);
    const sparse = await modelOf({ size: 60_000, connectionProbability: 0.05 }, engineOf([]));
    expect(() => ((sparse as ReservoirModel).weights as SparseMatrix).columns).toThrow(`W of 60000 ${reason}`);
  });

  it("is drawn on the host, with the same bits, when somebody reads it there", async () => {
    const options = { size: 40, connectionProbability: 1, radiusMethod: "circularLaw", seed: 4, spectralRadius: 0.8 } as const;
    for (const weightPrecision of ["full", "bfloat16"] as const) {
      const config = resolveConfig({ ...options, weightPrecision });
      const [drawn, host] = [await buildDrawnModel(config, device.device), model({ ...options, weightPrecision })];
      expect(bits((drawn.weights as Matrix).data)).toEqual(bits((host.weights as Matrix).data));
      expect(drawn.measuredRadius).toBe(host.measuredRadius);
    }
  });

  it.each(["float32", "float64"] as const)("has fewer connections than expected, %s", async (precision) => {
    // Without connections of a neuron to itself rows have 47 entries; from 48 on a lane loads four at
    // once.
    const options = { size: 48, storage: "sparse", connectionProbability: 1, spectralRadius: null, precision } as const;
    const session = await device.open(await buildDrawnModel(resolveConfig(options), device.device), { plan: "streamed" });
    const host = await cpuEngine.open(model(options), {});
    const inputs = randomMatrix(3, 1, precision, 5);
    const [mine, expected] = [Matrix.zeros(3, 48, precision) as Matrix, Matrix.zeros(3, 48, precision) as Matrix];
    await session.run({ inputs }, { into: mine });
    await host.run({ inputs }, { into: expected });
    expect(bits(mine.data)).toEqual(bits(expected.data));
    await session.dispose();
    await host.dispose();
  });

  it.each([
    [{ size: 8192, connectionProbability: 1, radiusMethod: "circularLaw" }, true],
    [{ size: 1000 }, true],
    [{ size: 5000, connectionProbability: 0.02, spectralRadius: null }, true],
    [{ size: 999, connectionProbability: 1, radiusMethod: "circularLaw" }, false],
    [{ size: 5000, connectionProbability: 0.01 }, false],
    [{ size: 5000, connectionProbability: 1, radiusMethod: "dense" }, false],
    [{ size: 5000, connectionProbability: 1, arithmetic: "integer" }, false],
    [{ size: 5000, topology: { type: "ring" } }, false],
    [{ size: 11_000, connectionProbability: 1 }, true],
  ] as const)("%o is drawn where it runs, from 1000 neurons on: %s", (options, inPlace) => {
    const config = resolveConfig(options);
    expect(isDrawnInPlace(config, { leastDrawn: 1000 })).toBe(inPlace);
    expect(isDrawnInPlace(config, { leastDrawn: Number.POSITIVE_INFINITY })).toBe(config.size > 10_000);
    expect(isDrawnInPlace(config, undefined)).toBe(false);
  });

  const [many, steps] = [size(100_000, 0, 10_200), size(50, 0, 4)];
  it.runIf(onHardware)(`runs ${many} dense neurons with bfloat16 weights`, async () => {
    const options = { size: many, connectionProbability: 1, weightPrecision: "bfloat16", spectralRadius: 0.9, seed: 1 } as const;
    const of = (await modelOf(options, device)) as ReservoirModel;
    expect(of.radiusMethod).toBe("circularLaw");
    expect(of.measuredRadius / Math.sqrt(many / 3)).toBeCloseTo(1, 2);
    const session = await device.open(of);
    const inputs = randomMatrix(steps, 1, "float32", 3);
    const states = Matrix.zeros(steps, many, "float32");
    await session.run({ inputs }, { into: states });
    const start = performance.now();
    await session.run({ inputs }, {});
    console.log(`${many} dense neurons, bfloat16: ${((performance.now() - start) / steps).toFixed(2)} ms a step, ${session.plan.summary}`);
    // Neurons of a large random network are independent of one another: the states' spread is that
    // of mean-field theory, and none repeats.
    expect(new Set(states.row(steps - 1)).size).toBeGreaterThan(0.9 * many);
    await session.dispose();
  });
});
