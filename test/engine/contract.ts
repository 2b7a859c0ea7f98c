// What every engine must do, as a suite: each behaviour is held against the TypeScript reference,
// bit for bit.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FloatArray, Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { accumulate } from "../../src/reservoir/engine/accumulate.js";
import { NonFiniteStateError } from "../../src/reservoir/engine/errors.js";
import { openEnsemble } from "../../src/reservoir/engine/one-by-one.js";
import type { Engine, EngineOptions, EnsembleOptions, SequenceInput } from "../../src/reservoir/engine.js";
import { featureCount, type LinearReadout, plainFeatures } from "../../src/reservoir/features.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import type { EngineModel } from "../../src/reservoir/spiking-model.js";
import { buildModel } from "../../src/reservoir/weights.js";
import { amount, casesOf } from "../exhaustive.js";

/** Runs an ensemble once. */
export async function runEnsembleOnce(
  engine: Engine,
  models: readonly EngineModel[],
  sequences: SequenceInput | readonly SequenceInput[],
  options: EnsembleOptions,
): Promise<Matrix[]> {
  const session = await openEnsemble(engine, models);
  try {
    return await session.run(sequences, options);
  } finally {
    await session.dispose();
  }
}

/** The bits of a typed array: -0 and 0 differ. */
export function bits(values: FloatArray): Uint32Array {
  return new Uint32Array(values.slice().buffer);
}

export function model(options: ReservoirOptions): ReservoirModel {
  return buildModel(resolveConfig(options));
}

/** Uniform values in (-1, 1), reproducible. */
export function randomMatrix(rows: number, cols: number, precision: "float32" | "float64", seed: number, scale = 1): Matrix {
  const stream = new RandomStream(seedKeys(seed).weights, 77);
  const out = Matrix.zeros(rows, cols, precision) as Matrix;
  for (let i = 0; i < out.data.length; i++) out.data[i] = scale * (2 * stream.uniform(0, i) - 1);
  return out;
}

export function randomReadout(of: ReservoirModel, outputs: number, features = plainFeatures, seed = 5): LinearReadout {
  const cols = featureCount(features, of.size, of.inputSize);
  const weights = randomMatrix(outputs, cols, "float64", seed, 1 / of.size) as Matrix<Float64Array>;
  const intercept = randomMatrix(outputs, 1, "float64", seed + 1, 0.1).data as Float64Array;
  return { features, stateSize: of.size, inputSize: of.inputSize, weights, intercept };
}

const reservoirs: fc.Arbitrary<ReservoirOptions> = fc
  .record({
    size: fc.integer({ min: 1, max: 130 }),
    inputSize: fc.integer({ min: 0, max: 5 }),
    precision: fc.constantFrom("float32" as const, "float64" as const),
    storage: fc.constantFrom("auto" as const, "dense" as const, "sparse" as const),
    connectionProbability: fc.constantFrom(0, 0.05, 0.1, 0.3, 1),
    spectralRadius: fc.constantFrom(null, 0.5, 0.95, 1.3),
    activation: fc.constantFrom("tanh" as const, "identity" as const, "relu" as const, "sigmoid" as const),
    weightDistribution: fc.constantFrom("uniform" as const, "normal" as const, "bernoulli" as const),
    bias: fc.constantFrom(0, 0.4),
    noiseLevel: fc.constantFrom(0, 0.01),
    feedback: fc.constantFrom(null, { size: 1 }, { size: 3, scaling: 0.5, density: 0.5 }),
    weightPrecision: fc.constantFrom("full" as const, "bfloat16" as const),
    selfConnections: fc.boolean(),
    seed: fc.integer({ min: 0, max: 1000 }),
    leaky: fc.constantFrom("one", "plain", "each"),
    initial: fc.boolean(),
  })
  .map(({ leaky, initial, ...rest }) => ({
    ...rest,
    // Linear reservoirs above radius 1 leave the finite numbers; that is another test's subject.
    spectralRadius: rest.activation === "identity" || rest.activation === "relu" ? 0.7 : rest.spectralRadius,
    leakRate: leaky === "one" ? 0.3 : leaky === "plain" ? 1 : Array.from({ length: rest.size }, (_, i) => (i + 1) / rest.size),
    ...(initial ? { initialState: { distribution: "uniform" as const, scaling: 0.5 } } : {}),
  }));

export function engineContract(name: string, engine: Engine, options: EngineOptions = {}, runs = 60): void {
  const sequenceFor = (of: ReservoirModel, steps: number, seed: number): SequenceInput<Matrix> => ({
    inputs: randomMatrix(steps, of.inputSize, of.precision, seed),
    ...(of.outputSize > 0 ? { teacher: randomMatrix(steps, of.outputSize, of.precision, seed + 1) } : {}),
  });

  const statesOf = async (on: Engine, of: ReservoirModel, sequence: SequenceInput, opts?: EngineOptions): Promise<Uint32Array> => {
    const session = await on.open(of, opts);
    const states = Matrix.zeros(sequence.inputs.rows, of.size, of.precision) as Matrix;
    await session.run(sequence, { into: states });
    await session.dispose();
    return bits(states.data);
  };

  /** The states, or what is said of a W of cycles that cancel, whose states grow without bound. */
  const outcomeOf = async (...given: Parameters<typeof statesOf>): Promise<Uint32Array | string> => {
    try {
      return await statesOf(...given);
    } catch (error) {
      if (error instanceof NonFiniteStateError) return error.message;
      throw error;
    }
  };

  describe(`${name}: the engine contract`, () => {
    it("says whether it can run here", async () => {
      const status = await engine.probe();
      expect(status.available).toBe(true);
      expect(status.reason).toMatch(/\w/);
    });

    it("gives the reference's bits on every configuration", async () => {
      await fc.assert(
        fc.asyncProperty(reservoirs, fc.integer({ min: 1, max: 40 }), async (config, steps) => {
          const of = model(config);
          const sequence = sequenceFor(of, steps, 3);
          expect(await outcomeOf(engine, of, sequence, options)).toEqual(await outcomeOf(referenceEngine, of, sequence));
        }),
        { numRuns: runs },
      );
    });

    it.each(
      casesOf(
        [
          ["dense", 300, "float32"],
          ["sparse", 700, "float32"],
          ["dense", 150, "float64"],
          ["sparse", 400, "float64"],
        ] as const,
        ([storage, , precision]) => (storage === "sparse") === (precision === "float32"),
      ),
    )("gives the reference's bits on %s N = %i in %s", async (storage, size, precision) => {
      const of = model({ size, inputSize: 2, storage, precision, seed: 4, noiseLevel: 1e-3, bias: 0.2 });
      const sequence = sequenceFor(of, 25, 8);
      expect(await statesOf(engine, of, sequence, options)).toEqual(await statesOf(referenceEngine, of, sequence));
    });

    it("gives a run cut in pieces, or made step by step, the bits of a run in one piece", async () => {
      const of = model({ size: 50, inputSize: 2, noiseLevel: 0.1, feedback: { size: 2 }, seed: 9 });
      const sequence = sequenceFor(of, 60, 2);
      const whole = await statesOf(engine, of, sequence, options);
      const session = await engine.open(of, options);
      const out = Matrix.zeros(60, 50, "float32");
      await session.run(
        { inputs: sequence.inputs.subarray(0, 13), teacher: sequence.teacher!.subarray(0, 13) },
        { into: out.subarray(0, 13) },
      );
      for (let t = 13; t < 40; t++) out.row(t).set(session.step(sequence.inputs.row(t), sequence.teacher!.row(t)));
      const saved = session.getState();
      session.reset();
      session.setState(saved);
      await session.run({ inputs: sequence.inputs.subarray(40), teacher: sequence.teacher!.subarray(40) }, { into: out.subarray(40) });
      expect(bits(out.data)).toEqual(whole);
      expect(session.getState().step).toBe(60);
      await session.dispose();
    });

    it("keeps every k-th state", async () => {
      const of = model({ size: 20, seed: 1 });
      const sequence = sequenceFor(of, 31, 6);
      const all = new Float32Array((await statesOf(engine, of, sequence, options)).buffer);
      const session = await engine.open(of, options);
      const kept = Matrix.zeros(4, 20, "float32");
      await session.run(sequence, { every: 7, into: kept });
      for (let k = 0; k < 4; k++) expect(kept.row(k)).toEqual(all.subarray(((k + 1) * 7 - 1) * 20, (k + 1) * 7 * 20));
      await session.dispose();
    });

    it("runs a batch of different lengths from the initial state, with its own noise each, and leaves its state alone", async () => {
      const of = model({ size: 33, inputSize: 1, noiseLevel: 0.05, seed: 3, initialState: { distribution: "normal", scaling: 0.1 } });
      const sequences = [5, 1, 17].map((steps, b) => sequenceFor(of, steps, 20 + b));
      const expected = await (await referenceEngine.open(of)).batch(sequences, {});
      const session = await engine.open(of, options);
      session.step(Float32Array.of(0.5));
      const before = session.getState();
      const all = await session.batch(sequences, {});
      const last = await session.batch(sequences, { keep: "last" });
      expect(session.getState()).toEqual(before);
      for (const [b, states] of all.entries()) {
        expect(bits(states.data)).toEqual(bits(expected[b]!.data));
        expect(last[b]!.data).toEqual(states.row(states.rows - 1));
      }
      expect(all[0]!.row(0)).not.toEqual(all[1]!.row(0));
      const [rest] = await session.batch(sequences.slice(2), { firstSequence: 2 });
      expect(rest).toEqual(all[2]);
      await session.dispose();
    });

    it.each([
      ["through the input", { inputSize: 3 }, 2, 1],
      ["through feedback weights", { inputSize: 1, feedback: { size: 2 } }, 2, 1],
    ] as const)("closes the loop %s with the reference's bits, in one call or two", async (_way, config, outputs, outside) => {
      for (const precision of ["float32", "float64"] as const) {
        const of = model({ size: 40, seed: 2, precision, ...config });
        const readout = randomReadout(of, outputs, { state: "squareHalf", input: true, squares: true });
        const inputs = randomMatrix(30, outside, precision, 4);
        const prefix = sequenceFor(of, 10, 1);
        const results: Uint32Array[] = [];
        for (const [on, opts] of [
          [referenceEngine, {}],
          [engine, options],
        ] as const) {
          const session = await on.open(of, opts);
          await session.run(prefix, {});
          const states = Matrix.zeros(30, 40, precision) as Matrix;
          const whole = await session.generate({ readout, steps: 30, inputs, into: states });
          session.reset();
          await session.run(prefix, {});
          const first = await session.generate({ readout, steps: 11, inputs: inputs.subarray(0, 11) });
          const second = await session.generate({ readout, steps: 19, inputs: inputs.subarray(11) });
          expect([...first.data, ...second.data]).toEqual([...whole.data]);
          results.push(bits(whole.data), bits(states.data));
          await session.dispose();
        }
        expect(results[2]).toEqual(results[0]);
        expect(results[3]).toEqual(results[1]);
      }
    });

    it("hands training rows to a sink in order, after the washout", async () => {
      const size = amount(2000, 600);
      const of = model({ size, connectionProbability: 10 / size, inputSize: 2, seed: 3 });
      const rows = amount(100, 50);
      const sequence = sequenceFor(of, rows, 12);
      const targets = randomMatrix(rows, 1, "float64", 1);
      const states = new Float32Array((await statesOf(engine, of, sequence, options)).buffer);
      const session = await engine.open(of, options);
      let row = 37;
      const sink = {
        features: plainFeatures,
        add(chunk: Matrix, inputs: Matrix, wanted: Matrix) {
          for (let t = 0; t < chunk.rows; t++, row++) {
            expect(chunk.row(t)).toEqual(states.subarray(row * size, (row + 1) * size));
            expect(inputs.row(t)).toEqual(sequence.inputs.row(row));
            expect(wanted.row(t)).toEqual(targets.row(row));
          }
        },
      };
      await accumulate(session, sequence, { targets, washout: 37, sink });
      expect(row).toBe(rows);
      await session.dispose();
    });

    it("runs an ensemble as its members alone", async () => {
      const models = [
        model({ size: 10, seed: 1 }),
        model({ size: 25, seed: 2, leakRate: 1 }),
        model({ size: 7, seed: 3, precision: "float64" }),
      ];
      const sequences = models.map((of) => sequenceFor(of, 20, 5));
      const states = await runEnsembleOnce(engine, models, sequences, { keep: "all" });
      const last = await runEnsembleOnce(engine, models, sequences, { keep: "last" });
      for (const [r, of] of models.entries()) {
        expect(bits(states[r]!.data)).toEqual(await statesOf(referenceEngine, of, sequences[r]!));
        expect(last[r]!.data).toEqual(states[r]!.row(19));
      }
    });

    it("names the step and the neuron where a state leaves the finite numbers, and keeps the states before it", async () => {
      const of = model({ size: 6, activation: "identity", leakRate: 1, topology: "ring", spectralRadius: 1e10, precision: "float32" });
      const session = await engine.open(of, options);
      const states = Matrix.zeros(40, 6, "float32");
      const inputs = Matrix.from(new Float32Array(40).fill(1), "float32");
      await expect(session.run({ inputs }, { into: states })).rejects.toMatchObject({ name: "NonFiniteStateError", step: 4 });
      expect(states.row(2).every((x) => x !== 0 && Number.isFinite(x))).toBe(true);
      await session.dispose();
    });

    it.each(["dense", "sparse"] as const)(
      "is left at the last finite state by such an error, and can go on from there (%s)",
      async (storage) => {
        const of = model({ size: 40, activation: "identity", leakRate: 1, spectralRadius: 1e10, storage });
        const session = await engine.open(of, options);
        const fresh = Matrix.zeros(3, 40, "float32");
        const inputs = Matrix.from(new Float32Array(40).fill(1), "float32");
        await session.run({ inputs: inputs.subarray(0, 3) }, { into: fresh });
        await expect(session.run({ inputs }, {})).rejects.toThrow(/not finite/);
        const { values, step, input } = session.getState();
        expect(values.every(Number.isFinite)).toBe(true);
        expect([step, input[0]]).toEqual([expect.any(Number), 1]);
        await expect(session.run({ inputs }, {})).rejects.toThrow(/neuron \d/);
        session.reset();
        const again = Matrix.zeros(3, 40, "float32");
        await session.run({ inputs: inputs.subarray(0, 3) }, { into: again });
        expect(bits(again.data)).toEqual(bits(fresh.data));
        await session.dispose();
      },
    );

    it.each(["what it predicts", "what its weights feed back"])(
      "ends a closed loop at the first output that is not finite, where the reference is left: %s",
      async (kind) => {
        const feedback = kind === "what its weights feed back" ? { size: 1 } : null;
        const of = model({ size: 20, feedback, seed: 6 });
        const weights = Matrix.zeros(1, 21, "float64");
        weights.row(0)[20] = 1e15;
        const features = { state: "plain", input: true, squares: false } as const;
        const readout: LinearReadout = { features, stateSize: 20, inputSize: 1, weights, intercept: Float64Array.of(0) };
        const inputs = feedback ? Matrix.from(Float32Array.of(1, 2, 1e30, 1, 2, 3), "float32") : undefined;
        const outcomes = [];
        for (const [on, opts] of [[engine, options] as const, [referenceEngine] as const]) {
          const session = await on.open(of, opts);
          await session.run(sequenceFor(of, 5, 1), {});
          const error = await session.generate({ readout, steps: 6, inputs }).catch((thrown: unknown) => thrown);
          outcomes.push({ error, state: session.getState() });
          await session.dispose();
        }
        expect(outcomes[0]!.error).toMatchObject({ name: "NonFiniteStateError", neuron: -1 });
        expect(outcomes[0]).toEqual(outcomes[1]);
      },
    );

    it("ends a run, a batch and a closed loop when it is disposed meanwhile", async () => {
      const of = model({ size: 300, seed: 1 });
      const sequence = { inputs: Matrix.zeros(200_000, 1, "float32") };
      for (const work of ["run", "batch", "generate"] as const) {
        const session = await engine.open(of, options);
        const disposed = new Promise<void>((resolve, reject) => setTimeout(() => session.dispose().then(resolve, reject), 5));
        const running =
          work === "run"
            ? session.run(sequence, {})
            : work === "batch"
              ? session.batch([sequence, sequence], { keep: "last" })
              : session.generate({ readout: randomReadout(of, 1), steps: 200_000 });
        await expect(running).rejects.toThrow(/was disposed/);
        await disposed;
      }
    });

    it("reports progress, and stops when asked with its state at the last finished step", async () => {
      const of = model({ size: 400, seed: 1 });
      const steps = 3_000_000 / 400;
      const sequence = { inputs: Matrix.zeros(steps, 1, "float32") };
      const session = await engine.open(of, options);
      const controller = new AbortController();
      const reported: number[] = [];
      const work = session.run(sequence, {
        signal: controller.signal,
        onProgress: (done) => {
          reported.push(done);
          controller.abort();
        },
      });
      await expect(work).rejects.toMatchObject({ name: "AbortError", total: steps });
      expect(session.getState().step).toBe(reported[0]);
      expect(reported[0]).toBeGreaterThan(0);
      await session.dispose();
    });

    it("can be disposed twice and says so when it is used afterwards", async () => {
      const session = await engine.open(model({ size: 5 }), options);
      await session.dispose();
      await session.dispose();
      expect(() => session.getState()).toThrow(/was disposed/);
      await expect(session.run({ inputs: Matrix.zeros(1, 1, "float32") }, {})).rejects.toThrow(/was disposed/);
    });

    it("describes its plan", () => {
      const plan = engine.plan(model({ size: 100 }), options);
      expect(plan.engine).toBe(engine.name);
      expect(plan.summary).toMatch(/\w/);
      expect(plan.bytes).toBeGreaterThan(0);
    });
  });
}
