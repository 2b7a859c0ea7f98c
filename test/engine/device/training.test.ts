// Training on the device: Gram matrices that go on from a sink's sums, and sweeps, against the same
// work on the host, bit for bit.
import "../../../src/index.js";
import { afterAll, describe, expect, it } from "vitest";
import { Held } from "../../../packages/core/src/disposal.js";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { evaluateTogether } from "../../../src/engine/cuda/ensemble/evaluation.js";
import { Scaling } from "../../../src/engine/cuda/ensemble/scaling.js";
import { Uploads } from "../../../src/engine/cuda/ensemble/uploads.js";
import type { RealSlice } from "../../../src/engine/cuda/time-loop.js";
import { DeviceGrams, type RowShape } from "../../../src/engine/cuda/training/gram.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import { type SweepSetting, sweepReadouts } from "../../../src/model/index.js";
import { GramAccumulator, ridge } from "../../../src/readout/index.js";
import { accumulate } from "../../../src/reservoir/engine/accumulate.js";
import { type Evaluation, plainFeatures, registerEngine } from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";

const context = openTestDevice();
const stream = context.stream();
afterAll(() => context.dispose());

const everything = { state: "squareHalf", input: true, squares: true } as const;

describe("Gram matrices", () => {
  it.each(
    casesOf(
      [
        ["float32", plainFeatures, true, 9],
        ["float32", everything, true, 33],
        ["float32", plainFeatures, false, 70],
        ["float64", everything, false, 20],
      ] as const,
      (_, k) => k === 0,
    ),
  )("of %s rows of %j have the accumulator's bits, over blocks and calls", async (precision, features, constant, size) => {
    const shape: RowShape = { precision, size, inputSize: 2, outputs: 2, features, constant };
    const rows = 1100;
    const states = [0, 1].map((m) => randomMatrix(rows, size, precision, m));
    const inputs = randomMatrix(rows, 2, precision, 7);
    const targets = randomMatrix(rows, 2, "float64", 8);
    const grams = new DeviceGrams(context, shape, 2);
    grams.clear(stream);
    const all = new (precision === "float32" ? Float32Array : Float64Array)(2 * rows * size);
    for (const [m, each] of states.entries()) all.set(each.data, m * rows * size);
    const [x, u] = [all, inputs.data].map((values) => context.upload(values as Float32Array<ArrayBuffer>)) as unknown as [
      RealSlice,
      RealSlice,
    ];
    const y = context.upload(targets.data as Float64Array<ArrayBuffer>);
    for (const [from, to] of [
      [0, 33],
      [33, 1030],
      [1030, rows],
    ] as const)
      grams.add(stream, {
        ...{ rows: to - from, states: x.slice(from * size) as RealSlice, statePitch: rows * size, inputPitch: 0 },
        inputs: u.slice(from * 2) as RealSlice,
        targets: y.slice(from * 2),
      });
    for (const [m, each] of states.entries()) {
      const expected = new GramAccumulator({ stateSize: size, inputSize: 2, outputSize: 2, features, constant });
      expected.add(each, inputs, targets);
      const { sums, totals, rowsInBlock } = await grams.read(stream, m);
      expect(rowsInBlock).toBe(rows - 1024);
      const before = expected.portable!.blocks();
      expect(bits(sums.data)).toEqual(bits(before.sums.data));
      expect(bits(totals.data)).toEqual(bits(before.totals.data));
    }
    for (const buffer of [grams, x, u, y] as { dispose(): void }[]) buffer.dispose();
  });

  it("go on from the rows that a sink has, in a session too", async () => {
    const of = model({ size: 12, inputSize: 1, seed: 3 });
    const inputs = randomMatrix(60, 1, "float32", 1);
    const targets = randomMatrix(60, 1, "float64", 2);
    const readouts = await Promise.all(
      [device, referenceEngine].map(async (engine) => {
        const sink = ridge().accumulator({ stateSize: 12, inputSize: 1, outputSize: 1 });
        const session = await engine.open(of);
        await accumulate(session, { inputs: inputs.subarray(0, 25) }, { targets: targets.subarray(0, 25), washout: 5, sink });
        await accumulate(session, { inputs: inputs.subarray(25) }, { targets: targets.subarray(25), washout: 0, sink });
        await session.dispose();
        expect(sink.rows).toBe(55);
        return ridge().solve(sink).weights.data;
      }),
    );
    expect(bits(readouts[0]!)).toEqual(bits(readouts[1]!));
  });

  it("leave to a sink of another shape its own words", async () => {
    const session = await device.open(model({ size: 12, seed: 3 }));
    const sink = ridge().accumulator({ stateSize: 13, inputSize: 1, outputSize: 1 });
    const work = accumulate(
      session,
      { inputs: randomMatrix(5, 1, "float32", 1) },
      { targets: randomMatrix(5, 1, "float64", 2), washout: 0, sink },
    );
    await expect(work).rejects.toThrow("13");
    await session.dispose();
  });
});

describe("a sweep", () => {
  const name = "device under test";
  registerEngine(name, async () => device, { automatic: false });
  const rows = 40;
  const data = { inputs: randomMatrix(rows, 2, "float32", 4), targets: randomMatrix(rows, 2, "float64", 5), washout: 6, validation: 12 };
  const settings: SweepSetting[] = [
    { spectralRadius: 0.4, lambda: 1e-4 },
    { leakRate: 0.9, inputScaling: [0.5, 2], bias: 0.3, lambda: 1e-2 },
    { spectralRadius: 1.2, noiseLevel: 0.01, bias: 0 },
  ];

  it.each(
    casesOf(
      [
        ["sparse", { size: 20, storage: "sparse" as const, connectionProbability: 0.3, bias: 0.1 }, {}],
        [
          "dense",
          { size: 20, storage: "dense" as const, weightPrecision: "bfloat16" as const },
          { input: true, transform: "squareHalf" as const },
        ],
        [
          "binary64",
          {
            ...{ size: 18, precision: "float64" as const, activation: "sigmoid" as const },
            leakRate: Array.from({ length: 18 }, (_, r) => (r + 1) / 20),
          },
          { intercept: false, transform: "squares" as const },
        ],
      ] as const,
      (_, k) => k === 1,
    ),
  )("has the reference's scores and readout, %s", async (_name, reservoir, features) => {
    const options = { reservoir: { inputSize: 2, ...reservoir }, seeds: [1, "b"], settings, ...data, ...features };
    const ours = await sweepReadouts({ ...options, engine: name });
    const theirs = await sweepReadouts({ ...options, engine: "reference" });
    expect(ours.engine.name).toBe(device.name);
    expect(ours.scores.data.every((score) => score > 0 && score < 1e4)).toBe(true);
    expect(bits(ours.scores.data)).toEqual(bits(theirs.scores.data));
    expect(bits(ours.best.readout.weights.data)).toEqual(bits(theirs.best.readout.weights.data));
    expect(ours.best).toMatchObject(ours.member(theirs.best.seed === 1 ? 0 : 1, settings.indexOf(ours.best.setting)));
  });

  it("has NaN where lambda is too small or a state is not finite, and refuses to call such a member the best", async () => {
    const reservoir = { size: 40, inputSize: 2, activation: "identity" as const, leakRate: 1, connectionProbability: 0.5 };
    const wild = [{ lambda: 1e-300 }, { spectralRadius: 1e30 }, { spectralRadius: 0.5 }];
    const ours = await sweepReadouts({ reservoir, settings: wild, ...data, engine: name });
    const theirs = await sweepReadouts({ reservoir, settings: wild, ...data, engine: "reference" });
    expect([...ours.scores.data].map(Number.isNaN)).toEqual([true, true, false]);
    expect(bits(ours.scores.data)).toEqual(bits(theirs.scores.data));
    await expect(sweepReadouts({ reservoir, settings: wild.slice(1, 2), ...data, engine: name })).rejects.toThrow("no member has a score");
  });

  it("refuses fewer rows than weights without a penalty", async () => {
    const sweep = sweepReadouts({ reservoir: { size: 40, inputSize: 2 }, settings: [{ lambda: 0 }], ...data, engine: name });
    await expect(sweep).rejects.toThrow("22 rows do not determine 41 weights an output with lambda 0");
  });

  it("scales as many rows as a grid takes at once, each by its factor", async () => {
    using owned = new Held();
    const memory = new Uploads(owned, context, stream, "float32");
    const values = context.upload(Float64Array.of(0.1, 0.2, 0.3, 1, 2, 3));
    const rows = [0, 1, 1, 0, 1].map((draws, r) => ({ draws, factor: 1 - r / 7 }));
    const made = new Scaling(context, "float32", 2).scale(stream, memory, { values, columns: 3, label: "W" }, rows);
    const expected = rows.flatMap(({ draws, factor }) => [0.1, 0.2, 0.3].map((x, i) => Math.fround((draws === 0 ? x : i + 1) * factor)));
    expect([...(await stream.download(made))]).toEqual(expected);
    values.dispose();
  });

  it("has the same errors in waves and chunks as in one piece", async () => {
    const of = [1, 2].map((seed) => model({ size: 24, inputSize: 1, seed, storage: "dense" }));
    const bases = of.map((each) => ({
      ...{ model: each, draws: new Matrix(24, 24, Float64Array.from((each.weights as Matrix).data)) },
      ...{ inputDraws: new Matrix(24, 1, Float64Array.from(each.inputWeights.data)), biasDraws: Float64Array.from(each.bias) },
    }));
    const members = [0, 1, 1, 0, 1].map((base, m) => ({
      ...{ base, factor: 1 - m / 10, lambda: 1e-3, inputScaling: 1 - m / 20, bias: m / 4, leakRate: 0.3, noiseLevel: 0.01 },
    }));
    const asked = {
      ...{ inputs: randomMatrix(30, 1, "float32", 1), targets: randomMatrix(30, 1, "float64", 2) as Matrix<Float64Array> },
      ...{ washout: 3, trainRows: 20, features: plainFeatures, constant: true },
    };
    const taken = async (kind: "errors" | "predictions", budget?: number) => {
      const found: unknown[] = members.map(() => undefined);
      const take = (member: number, values: Float64Array | undefined) => {
        found[member] = values && bits(values.slice());
      };
      const work: Evaluation = { bases, members, ask: { kind, ...asked, take } };
      const { plan } = await evaluateTogether(context, "sim", work, budget)!;
      return { found, waves: plan.details["waves"] };
    };
    const small = onHardware ? 60_000 : 30_000;
    const { found: errors } = await taken("errors");
    expect((await taken("errors", 5 * 24 * 4 * 7)).found).toEqual(errors);
    const inWaves = await taken("errors", small);
    expect(inWaves.found).toEqual(errors);
    expect(inWaves.waves).toBeGreaterThan(2);
    // Predictions are taken of one wave while the device has the next.
    const { found: predictions } = await taken("predictions");
    expect(predictions).not.toContain(undefined);
    expect((await taken("predictions", small)).found).toEqual(predictions);
  });
});
