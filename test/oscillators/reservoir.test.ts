// Phase oscillators as a reservoir: closed forms of the physics, and everything that takes any
// reservoir.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { memoryCapacity } from "../../src/analysis/index.js";
import { parseExperiment, runExperiment } from "../../src/experiment/index.js";
import { Classifier, Forecaster, loadReservoir, Matrix, ReservoirComputer, saveReservoir } from "../../src/index.js";
import type { RegisteredModel } from "../../src/reservoir/index.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-oscillators-"));
afterAll(() => rmSync(folder, { recursive: true }));

const drive = Float32Array.from({ length: 60 }, (_, t) => ((t * 37) % 50) / 25 - 1);
/** No force but coupling: a pull that nothing notices. */
const free = { kind: "oscillator", pull: 1e-30, gain: 0, inputSize: 0, precision: "float64" } as const;
const still = (rows: number) => Matrix.zeros(rows, 0);
const columnOf = ({ matrices }: RegisteredModel, name: string) => (matrices[name] as Matrix).data;
/** The same model with other natural frequencies and first phases. */
const withPhases = (model: RegisteredModel, frequencies: readonly number[], phases: readonly number[]): RegisteredModel => ({
  ...model,
  matrices: { ...model.matrices, frequencies: new Matrix(frequencies.length, 1, Float64Array.from(frequencies)) },
  initialState: Float64Array.from([...phases.map(Math.cos), ...phases.map(Math.sin)]),
});

describe("coupled phase oscillators", () => {
  it.each([0.5, 1.2, 1.5, 2, 4])(
    "with Lorentz frequencies of half width 1/2 and coupling %f lock at R = sqrt(1 - 1 / K)",
    async (strength) => {
      const expected = Math.sqrt(Math.max(0, 1 - 1 / strength));
      const lorentz = { coupling: "meanField", strength, frequencySpread: 0.5, frequencyDistribution: "lorentz", order: true } as const;
      await using computer = await ReservoirComputer.create({ ...free, ...lorentz, size: 1000, tau: 0.1, steps: 1, seed: 3 });
      await computer.run(still(600));
      const states = await computer.run(still(400));
      const mean = Array.from({ length: 400 }, (_, t) => states.at(t, 2000)).reduce((a, b) => a + b) / 400;
      if (expected > 0) expect(Math.abs(mean - expected)).toBeLessThan(0.02);
      else expect(mean).toBeLessThan(3 / Math.sqrt(1000));
    },
  );

  it.each([0.3, 0.8])("two of them lock where the sine of their difference is d / K: %f", async (d) => {
    const { model } = await ReservoirComputer.create({
      ...free,
      size: 2,
      coupling: "meanField",
      strength: 1,
      tau: 0.1,
      frequencySpread: 1,
    });
    await using computer = await ReservoirComputer.fromModel(withPhases(model, [d / 2, -d / 2], [0, 0]));
    const [c0, c1, s0, s1] = (await computer.run(still(2000))).row(1999) as unknown as [number, number, number, number];
    expect(s0 * c1 - c0 * s1).toBeCloseTo(d, 6);
  });

  it.each([1.5, 3])("two of them that do not lock beat at sqrt(d^2 - 1): %f", async (d) => {
    const { model } = await ReservoirComputer.create({
      ...free,
      ...{ size: 2, coupling: "meanField", strength: 1, tau: 0.05, steps: 1, frequencySpread: 1 },
    });
    await using computer = await ReservoirComputer.fromModel(withPhases(model, [d / 2, -d / 2], [0, 0]));
    const states = await computer.run(still(8000));
    let turned = 0;
    let before = 0;
    for (let t = 0; t < 8000; t++) {
      const [c0, c1, s0, s1] = states.row(t) as unknown as [number, number, number, number];
      const difference = Math.atan2(s0 * c1 - c0 * s1, c0 * c1 + s0 * s1);
      turned += difference - before - 2 * Math.PI * Math.round((difference - before) / (2 * Math.PI));
      before = difference;
    }
    // Within a turn of 400 units of time.
    expect(Math.abs(turned / 400 - Math.sqrt(d * d - 1))).toBeLessThan((2 * Math.PI) / 400);
  });

  it.each([
    [0.5, 0.697775],
    [2, 0.2425],
  ])("pulled in noise of D = %f keep a mean cosine of I1(F / D) / I0(F / D) to their phase", async (noise, exact) => {
    const pulled = { coupling: "meanField", strength: 0, frequencySpread: 0, pull: 1, gain: 0, noise, tau: 1, steps: 50 } as const;
    await using computer = await ReservoirComputer.create({ kind: "oscillator", ...pulled, size: 2000, seed: 4, precision: "float64" });
    const bias = columnOf(computer.model, "bias");
    await computer.run(Matrix.zeros(10, 1));
    let sum = 0;
    for (let round = 0; round < 10; round++) {
      const states = (await computer.run(Matrix.zeros(3, 1))).row(2);
      for (let i = 0; i < 2000; i++) sum += states[i]! * Math.cos(bias[i]!) + states[2000 + i]! * Math.sin(bias[i]!);
    }
    expect(Math.abs(sum / 20_000 - exact)).toBeLessThan(0.012);
  });

  it("have a step of order two", async () => {
    const made = await ReservoirComputer.create({ ...free, size: 20, strength: 1, frequency: 1, frequencySpread: 1, seed: 5 });
    const end = async (steps: number) => {
      const config = { ...made.model.config, tau: 5, steps };
      await using computer = await ReservoirComputer.fromModel({ ...made.model, config });
      return (await computer.run(still(1))).row(0);
    };
    const exact = await end(4096);
    const errors = await Promise.all([64, 128, 256].map(async (n) => Math.max(...(await end(n)).map((x, i) => Math.abs(x - exact[i]!)))));
    expect(errors[0]! / errors[1]!).toBeGreaterThan(3.4);
    expect(errors[1]! / errors[2]!).toBeGreaterThan(3.7);
    expect(errors[1]! / errors[2]!).toBeLessThan(4.2);
  });

  it.each(["float32", "float64"] as const)(
    "near their phase are an oscillator in a bath: <x^2> = kT / k within a hundredth: %s",
    async (precision) => {
      const bath = { coupling: "meanField", strength: 0, frequencySpread: 0, pull: 1, gain: 0, noise: 0.001, tau: 0.5, steps: 5 } as const;
      await using computer = await ReservoirComputer.create({ kind: "oscillator", ...bath, size: 2000, seed: 2, precision });
      const bias = columnOf(computer.model, "bias");
      await computer.run(Matrix.zeros(20, 1));
      let sum = 0;
      for (let round = 0; round < 30; round++) {
        const states = (await computer.run(Matrix.zeros(4, 1))).row(3);
        for (let i = 0; i < 2000; i++) sum += (states[2000 + i]! * Math.cos(bias[i]!) - states[i]! * Math.sin(bias[i]!)) ** 2;
      }
      expect(sum / 60_000 / 0.001).toBeGreaterThan(0.99);
      expect(sum / 60_000 / 0.001).toBeLessThan(1.01);
    },
  );

  it("spread freely by D: <cos phi> = exp(-D t)", async () => {
    const config = {
      ...free,
      coupling: "meanField",
      strength: 0,
      frequencySpread: 0,
      noise: 0.5,
      tau: 1,
      steps: 20,
      size: 20_000,
    } as const;
    const { model } = await ReservoirComputer.create(config);
    const zeros = new Array<number>(config.size).fill(0);
    await using computer = await ReservoirComputer.fromModel(withPhases(model, zeros, zeros));
    const states = (await computer.run(still(1))).row(0);
    const mean = Array.from(states.subarray(0, config.size)).reduce((a, b) => a + b) / config.size;
    expect(mean).toBeGreaterThan(Math.exp(-0.5) - 0.015);
    expect(mean).toBeLessThan(Math.exp(-0.5) + 0.015);
  });

  it("stay on the circle, and their harmonics and R are those of their phases", async () => {
    await using computer = await ReservoirComputer.create({
      kind: "oscillator",
      size: 30,
      harmonics: 3,
      order: true,
      precision: "float64",
    });
    const states = (await computer.run(drive)).row(59);
    expect(states.length).toBe(181);
    const phases = Array.from({ length: 30 }, (_, i) => Math.atan2(states[30 + i]!, states[i]!));
    phases.forEach((phi, i) => {
      expect(states[i]! ** 2 + states[30 + i]! ** 2).toBeCloseTo(1, 14);
      expect(states[120 + i]!).toBeCloseTo(Math.cos(3 * phi), 12);
      expect(states[150 + i]!).toBeCloseTo(Math.sin(3 * phi), 12);
    });
    const mean = (f: (x: number) => number) => phases.reduce((sum, phi) => sum + f(phi), 0) / 30;
    expect(states[180]!).toBeCloseTo(Math.hypot(mean(Math.cos), mean(Math.sin)), 12);
  });

  it("forget where they started", async () => {
    await using computer = await ReservoirComputer.create({ kind: "oscillator", size: 50, frequencySpread: 0.02, seed: 4 });
    const series = Float32Array.from({ length: 400 }, (_, t) => drive[t % 60]!);
    const one = (await computer.run(series)).row(399).slice();
    const turned = computer.model.initialState.map((_, i, all) => (i < 50 ? -all[50 + i]! : all[i - 50]!));
    computer.state = { values: turned, input: [0], output: [], step: 0 } as never;
    const two = (await computer.run(series)).row(399);
    expect(Math.max(...two.map((x, i) => Math.abs(x - one[i]!)))).toBeLessThan(1e-4);
  });
});

const cases = [
  { kind: "oscillator", size: 20, inputSize: 1, noise: 0.01, seed: 7 },
  { kind: "oscillator", size: 20, inputSize: 1, connectionProbability: 0.2, input: "field", precision: "float64", seed: 7 },
  { kind: "oscillator", size: 20, inputSize: 1, coupling: "meanField", inputs: "one", harmonics: 2, order: true, seed: 7 },
] as const;

describe("the kind oscillator, as any reservoir", () => {
  it.each(cases)("has the same bits on both engines, in one run and in pieces: %o", async (config) => {
    await using reference = await ReservoirComputer.create(config, { engine: "reference" });
    await using cpu = await ReservoirComputer.create(config, { engine: "cpu" });
    const whole = await reference.run(drive);
    const first = await cpu.run(drive.subarray(0, 25));
    const { state } = cpu;
    const second = await cpu.run(drive.subarray(25));
    expect([...first.data, ...second.data]).toEqual([...whole.data]);
    cpu.state = state;
    expect((await cpu.run(drive.subarray(25))).data).toEqual(second.data);
    expect((await cpu.batch([drive, drive]))[0]!.data).toEqual(whole.data);
  });

  it("draws other noise for every sequence of a batch", async () => {
    await using computer = await ReservoirComputer.create(cases[0]);
    const [one, two] = await computer.batch([drive, drive]);
    expect(one!.data).not.toEqual(two!.data);
  });

  it.each(cases)("is saved and loaded with its bits and its state: %o", async (config) => {
    await using computer = await ReservoirComputer.create(config);
    await computer.run(drive);
    const path = join(folder, "oscillators.safetensors");
    await saveReservoir(path, computer);
    const { computer: loaded } = await loadReservoir(path);
    await using _ = loaded;
    expect((await loaded.run(drive)).data).toEqual((await computer.run(drive)).data);
  });

  it.each([
    [{ size: 5, pull: 0 }, "pull is 0; it takes a number above 0"],
    [{ size: 5, tau: 3, steps: 2 }, "steps is 2; it takes at least 7"],
    [{ size: 5, coupling: "meanField", connectionProbability: 0.5 }, "connectionProbability is 0.5; it takes 1 for meanField"],
    [{ size: 5, spectralRadius: 1 }, 'unknown field "spectralRadius"'],
    [{ size: 5, strenght: 1 }, 'did you mean "strength"'],
  ])("refuses %o", async (options, message) => {
    await expect(ReservoirComputer.create({ kind: "oscillator", ...options } as never)).rejects.toThrow(message);
  });

  it("names the kinds that there are for one that is not known", async () => {
    await expect(ReservoirComputer.create({ kind: "oscilator", size: 5 } as never)).rejects.toThrow("did you mean oscillator?");
  });

  it("takes every readout, forecasts in a closed loop, and is saved in a forecaster", async () => {
    const wave = Float64Array.from({ length: 400 }, (_, t) => Math.sin(t / 5) + 0.4 * Math.sin(t / 3));
    const reservoir = { kind: "oscillator", size: 60, inputSize: 1 } as const;
    await using forecaster = await Forecaster.create({ reservoir, readout: { lambda: 1e-6 }, washout: 50 });
    await forecaster.fit(wave.subarray(0, 380));
    const made = await forecaster.forecast(20);
    const worst = Math.max(...Array.from({ length: 20 }, (_, k) => Math.abs(made.at(k, 0) - wave[380 + k]!)));
    expect(worst).toBeLessThan(0.1);
    await using online = await Forecaster.create({ reservoir, readout: { type: "rls" }, washout: 50 });
    await online.fit(wave);
    const path = join(folder, "forecaster.safetensors");
    await forecaster.save(path);
    await using loaded = await Forecaster.load(path);
    expect((await loaded.forecast(20)).data).toEqual(made.data);
  });

  it("classifies", async () => {
    const cases = Array.from({ length: 40 }, (_, b) =>
      Float64Array.from({ length: 50 }, (__, t) => Math.sin((t + 3 * b) / (b % 2 === 0 ? 3 : 5))),
    );
    const labels = cases.map((_, b) => (b % 2 === 0 ? "fast" : "slow"));
    await using classifier = await Classifier.create({ reservoir: { kind: "oscillator", size: 12 } });
    await classifier.fit(cases.slice(0, 30), labels.slice(0, 30));
    expect(await classifier.predict(cases.slice(30))).toEqual(labels.slice(30));
  });

  it("remembers some seven inputs", async () => {
    const source = { kind: "oscillator", size: 100, frequencySpread: 0.02, gain: 0.1, seed: 1 } as const;
    const { total } = await memoryCapacity(source, { maxDelay: 25, length: 1500, heldOut: 800 });
    expect(total).toBeGreaterThan(6);
    expect(total).toBeLessThan(10);
  });

  it("runs from an experiment file", async () => {
    const shared = { name: "osc", data: { task: "narma" }, task: { type: "predict" }, split: { train: 600, test: 200 } };
    const result = await runExperiment(parseExperiment({ ...shared, reservoir: { kind: "oscillator", size: 40, coupling: "meanField" } }));
    expect(result.result.config.reservoir).toMatchObject({ kind: "oscillator", strength: 0.45 });
    expect(result.result.seeds[0]!.scores["nrmse"]).toBeLessThan(1);
    expect(() => parseExperiment({ ...shared, reservoir: { kind: "pendulum", size: 4 } })).toThrow(
      'reservoir.kind is "pendulum"; it takes one of "spiking", "oscillator"',
    );
  });
});
