// State-affine systems as a reservoir: their equation, and everything that takes any reservoir.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { rowDot } from "../../../packages/numerics/src/index.js";
import { analyse, informationCapacity, lyapunovExponent, lyapunovSpectrum } from "../../../src/analysis/index.js";
import { parseExperiment, runExperiment } from "../../../src/experiment/index.js";
import { Classifier, Forecaster, loadReservoir, Matrix, ReservoirComputer, saveReservoir } from "../../../src/index.js";
import { quantumReservoir } from "../../../src/reservoir/index.js";
import { denseProduct } from "../../../src/reservoir/state-affine/step.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-state-affine-"));
afterAll(() => rmSync(folder, { recursive: true }));

const drive = Float64Array.from({ length: 300 }, (_, t) => ((t * 37) % 50) / 25 - 1);
const inputs = new Matrix(150, 2, drive);
const described = { kind: "stateAffine", size: 20, inputSize: 2, functions: ["u", "u^2", "sqrt(u(1-u))"], seed: 5 } as const;
const small = quantumReservoir({ qubits: 3, virtualNodes: 4, seed: 4 });

describe("a state-affine system", () => {
  it("is x' = (A + sum of g_k B_k) x + b + sum of g_k c_k", async () => {
    await using computer = await ReservoirComputer.create(described);
    const states = await computer.run(inputs);
    const { transition, transitionOffset } = computer.model.matrices as Record<string, Matrix>;
    expect([transition!.rows, transition!.cols, transitionOffset!.cols]).toEqual([140, 20, 7]);
    let x = new Float64Array(20);
    for (let t = 0; t < 150; t++) {
      const gains = [1];
      for (const u of inputs.row(t)) {
        const s = (u + 1) / 2;
        gains.push(s, s * s, Math.sqrt(s * (1 - s)));
      }
      x = Float64Array.from(x, (_, i) => {
        let sum = 0;
        for (const [k, g] of gains.entries()) {
          sum += g * transitionOffset!.at(i, k);
          for (let j = 0; j < 20; j++) sum += g * transition!.at(k * 20 + i, j) * x[j]!;
        }
        return sum;
      });
      for (let i = 0; i < 20; i++) expect(states.at(t, i)).toBeCloseTo(x[i]!, 12);
    }
  });

  it("forgets its start at least as fast as its contraction says, whatever the input", async () => {
    await using computer = await ReservoirComputer.create({ ...described, contraction: 0.9 });
    const start = computer.state;
    const distance = async (values: Float64Array) => {
      const ends: ArrayLike<number>[] = [];
      for (const first of [start.values, values]) {
        computer.state = { ...start, values: first };
        ends.push((await computer.run(inputs.subarray(0, 60))).row(59).slice());
      }
      return Math.hypot(...Array.from(ends[0]!, (value, i) => value - ends[1]![i]!));
    };
    expect(await distance(new Float64Array(20).fill(1))).toBeLessThanOrEqual(0.9 ** 60 * Math.sqrt(20));
  });

  it("cuts inputs at the ends of their range", async () => {
    await using computer = await ReservoirComputer.create({ ...described, inputSize: 1, range: [0, 2] });
    const inside = await computer.run(new Matrix(3, 1, Float64Array.of(0, 2, 2)));
    computer.reset();
    expect(await computer.run(new Matrix(3, 1, Float64Array.of(-7, 2, 1e9)))).toEqual(inside);
  });

  it("without modulation has all of its exponents at ln of the contraction, whose spectrum is exact", async () => {
    const exponents = await lyapunovSpectrum({ ...described, inputSize: 1, size: 8, modulation: 0, contraction: 0.9 }, { length: 100 });
    for (const exponent of exponents.exponents) expect(exponent).toBeCloseTo(Math.log(0.9), 12);
  });

  it.each(["float32", "float64"] as const)(
    "runs with the same bits on cpu and reference, by runs, steps and batches (%s)",
    async (precision) => {
      const found = await Promise.all(
        ["cpu", "reference"].map(async (engine) => {
          await using computer = await ReservoirComputer.create({ ...described, precision }, { engine });
          return await computer.run(inputs);
        }),
      );
      expect(found[0]).toEqual(found[1]);
      await using computer = await ReservoirComputer.create({ ...described, precision });
      const stepped = Array.from({ length: 150 }, (_, t) => Array.from(computer.step(inputs.row(t))));
      expect(stepped).toEqual(Array.from({ length: 150 }, (_, t) => Array.from(found[0]!.row(t))));
      expect((await computer.batch([inputs]))[0]).toEqual(found[0]);
    },
  );

  it("multiplies in the portable order", () => {
    for (const cols of [1, 31, 32, 33, 64, 101]) {
      const matrix = new Matrix(
        3,
        cols,
        Float64Array.from({ length: 3 * cols }, (_, i) => Math.sin(i)),
      );
      const x = Float64Array.from({ length: cols }, (_, i) => Math.cos(3 * i));
      const out = new Float64Array(3);
      denseProduct(matrix)(x, out);
      expect([...out]).toEqual([0, 1, 2].map((r) => rowDot(matrix, r, x)));
    }
  });

  it.each([
    [{ kind: "stateAffine" }, "size"],
    [{ ...described, functions: ["u", "u"] }, "functions[1]"],
    [{ ...described, functions: ["u", "v"] }, "functions[1]"],
    [{ ...described, range: [1, 1] }, "range"],
    [{ ...described, contraction: 1 }, "contraction"],
    [{ ...small, inputSize: 2 }, "inputSize"],
    [{ ...small, size: 16 }, "size"],
    [{ ...small, functions: ["u"] }, "functions"],
    [{ ...small, feedback: { size: 1 } }, "feedback"],
  ])("refuses %j by the name of the field", async (options, field) => {
    await expect(ReservoirComputer.create(options as never)).rejects.toMatchObject({ field: expect.stringContaining(field) });
  });
});

describe("everything that takes a reservoir takes qubits", () => {
  const series = new Matrix(
    400,
    1,
    Float64Array.from({ length: 400 }, (_, t) => Math.sin(t / 5) + 0.3 * Math.sin(t / 2)),
  );

  it("model files, with matrices and what states leave out", async () => {
    const file = join(folder, "reservoir.safetensors");
    await using computer = await ReservoirComputer.create(small);
    await computer.run(series.subarray(0, 50));
    await saveReservoir(file, computer);
    const { computer: loaded } = await loadReservoir(file);
    await using _ = loaded;
    expect(loaded.model).toEqual(computer.model);
    expect(await loaded.run(series.subarray(50, 100))).toEqual(await computer.run(series.subarray(50, 100)));
  });

  it("forecasters, which give them z-scores in a range of 3, and their files", async () => {
    await using forecaster = await Forecaster.fit(series, { reservoir: small, washout: 50 });
    expect(forecaster.computer.model.config).toMatchObject({ range: [-3, 3], size: 15 });
    const forecast = await forecaster.forecast(20);
    const truth = Array.from({ length: 20 }, (_, k) => Math.sin((400 + k) / 5) + 0.3 * Math.sin((400 + k) / 2));
    const error = Math.sqrt(truth.reduce((sum, value, k) => sum + (value - forecast.at(k, 0)) ** 2, 0) / 20);
    expect(error).toBeLessThan(0.2);
    const file = join(folder, "forecaster.safetensors");
    await forecaster.save(file);
    await using loaded = await Forecaster.load(file);
    expect(await loaded.forecast(20)).toEqual(forecast);
  });

  it("forecasters with a horizon, whose size for rate reservoirs is not theirs", async () => {
    const reservoir = { kind: "stateAffine", quantum: { qubits: 2, virtualNodes: 4 } } as const;
    await using forecaster = await Forecaster.fit(series.subarray(0, 300), { reservoir, horizon: 5, washout: 30 });
    expect(forecaster.computer.model.config).toMatchObject({ size: 3 });
  });

  it("classifiers", async () => {
    const cases = Array.from(
      { length: 40 },
      (_, k) =>
        new Matrix(
          30,
          1,
          Float64Array.from({ length: 30 }, (_, t) => Math.sin((t + k) / (k % 2 ? 2 : 3))),
        ),
    );
    const labels = cases.map((_, k) => (k % 2 ? "fast" : "slow"));
    await using classifier = await Classifier.fit(cases.slice(0, 30), labels.slice(0, 30), { reservoir: small });
    expect(await classifier.predict(cases.slice(30))).toEqual(labels.slice(30));
  });

  it("experiments, where the size follows from the qubits", async () => {
    const experiment = parseExperiment({
      name: "qubits",
      data: { task: "mackeyGlass", length: 600 },
      reservoir: { kind: "stateAffine", quantum: { qubits: 3 } },
      task: { type: "predict" },
      seed: 1,
    } as never);
    const { result } = await runExperiment(experiment);
    expect(result.config.reservoir).toMatchObject({ size: 15, range: [-3, 3], quantum: { virtualNodes: 10 } });
    expect(result.seeds[0]!.scores["nrmse"]).toBeLessThan(0.2);
  });

  it("measures: capacities no larger than the states are many, a negative exponent, the echo state index", async () => {
    const { total, rank } = await informationCapacity(small, {
      length: 2000,
      degrees: [
        [1, 10],
        [2, 5],
      ],
    } as never);
    expect(rank).toBe(12);
    expect(total).toBeGreaterThan(3);
    expect(total).toBeLessThan(12.5);
    expect(await lyapunovExponent(small, { length: 200 })).toBeLessThan(0);
    const found = await analyse(small, { measures: ["echoStateIndex", "informationDynamics"] });
    expect(found.measures.echoStateIndex?.meets).toBe(true);
    expect(found.leftOut.map(({ measure }) => measure)).toEqual(["informationDynamics"]);
  });
});
