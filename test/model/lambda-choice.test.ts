// Lambda chosen by forecasts, and bands, of models that are no Forecaster: fields and polynomials.
import { describe, expect, it } from "vitest";
import { RandomStream } from "../../packages/numerics/src/index.js";
import { FieldForecaster, type FieldOptions, Forecaster, Matrix, NvarForecaster, rmse } from "../../src/index.js";
import { coverage } from "../../src/metrics/index.js";
import { AdaptiveConformal } from "../../src/series/index.js";
import { lorenz, lorenz96 } from "../../src/tasks/index.js";

const field = lorenz96(900, { N: 6, dt: 0.05, discard: 500 });
const own: FieldOptions = { groups: 3, halo: 1, reservoir: { size: 60, seed: 3 }, washout: 40, engine: "cpu" };

describe("lambda of a field", () => {
  it("is that of a Forecaster, with the same scores and bands, for one group", async () => {
    const options = {
      reservoir: { size: 40, seed: 5 },
      washout: 40,
      horizon: 10,
      choose: { lambdas: [1e-4, 1, 100] },
      engine: "cpu",
    } as const;
    const data = field.subarray(0, 400);
    await using one = await FieldForecaster.fit(data, { ...options, groups: 1, shared: false });
    await using plain = await Forecaster.fit(data, { ...options, members: 1 });
    expect(one.choice!.starts).toEqual(plain.choice!.starts);
    expect(one.choice!.kept[0]!.lambda).toBe(plain.choice!.kept[0]!.lambda);
    for (const [k, { score }] of plain.choice!.scores.entries()) expect(one.choice!.scores[k]!.score).toBeCloseTo(score!, 4);
    const bands = [one, plain].map(async (model) => (await model.forecast(10, { intervals: [0.8] })).bands![0]!.upper.data);
    const [a, b] = await Promise.all(bands);
    a!.forEach((end, i) => {
      expect(end).toBeCloseTo(b![i]!, 3);
    });
  });

  it("forecasts better than the worst that was tried, and is kept in the file with its bands", async () => {
    const lambdas = [1e-8, 1e-2, 1e4];
    await using chosen = await FieldForecaster.fit(field.subarray(0, 800), { ...own, horizon: 20, choose: { lambdas, starts: 12 } });
    const { choice } = chosen;
    expect(choice!.scores.map(({ lambda }) => lambda)).toEqual(lambdas);
    expect(chosen.readouts[0]!.training!.details["lambda"]).toBe(choice!.kept[0]!.lambda);
    await using worst = await FieldForecaster.fit(field.subarray(0, 800), { ...own, readout: { lambda: 1e4 } });
    const truth = field.subarray(800, 820);
    expect(rmse(truth, await chosen.forecast(20))).toBeLessThan(rmse(truth, await worst.forecast(20)));
    await using again = await FieldForecaster.fromBytes(await chosen.toBytes());
    const made = await chosen.forecast(20, { intervals: [0.9, 0.5] });
    expect((await again.forecast(20, { intervals: [0.9, 0.5] })).bands).toEqual(made.bands);
    expect(made.bands!.map(({ level }) => level)).toEqual([0.9, 0.5]);
  });

  it("has bands above 0 after a logarithm", async () => {
    const positive = new Matrix(
      500,
      6,
      field.subarray(0, 500).data.map((value) => Math.exp(value / 4)),
    );
    await using model = await FieldForecaster.fit(positive, { ...own, transforms: ["log"], horizon: 10, choose: { lambdas: [1] } });
    const [band] = (await model.forecast(10, { intervals: [0.9] })).bands!;
    expect(Math.min(...band!.lower.data)).toBeGreaterThan(0);
  });

  it("says what it takes", async () => {
    await using plain = await FieldForecaster.fit(field.subarray(0, 200), own);
    await expect(plain.forecast(5, { intervals: [0.9] })).rejects.toThrow(
      "intervals was given; this forecaster knows no errors of forecasts to take them from; fit it with a horizon",
    );
    const horizon = (more: object) => FieldForecaster.fit(field.subarray(0, 300), { ...own, ...more });
    const noHorizon = "there are settings to choose from and no horizon; say how many steps are forecast";
    await expect(horizon({ choose: { lambdas: [1] } })).rejects.toThrow(noHorizon);
    await expect(NvarForecaster.create({ choose: { lambdas: [1] } })).rejects.toThrow(noHorizon);
    await expect(horizon({ horizon: 200 })).rejects.toThrow("horizon is 200 and the series has 300 rows");
    await expect(horizon({ horizon: 5, choose: { keep: 2 } })).rejects.toThrow('unknown field "choose.keep"');
    await expect(horizon({ horizon: 5, readout: { selection: "gcv", lambdas: [1] } })).rejects.toThrow("leave one of the two out");
    await using near = await horizon({ horizon: 5, choose: { lambdas: [1], starts: 9 } });
    await expect(near.forecast(6, { intervals: [0.9] })).rejects.toThrow("at most 5 with intervals");
    await expect(near.forecast(5, { intervals: [0.95] })).rejects.toThrow("forecasts from 12 starts inside the training part");
  });
});

describe("errors of a field's forecasts", () => {
  it("are measured from all starts that fit, and bands of any kind are made of them", async () => {
    const options = { ...own, members: 2, horizon: 5, choose: { lambdas: [1e-2], starts: 4 } };
    await using model = await FieldForecaster.fit(field.subarray(0, 400), options);
    const { errorStarts = [], targets, errors, starts } = model.choice!;
    expect(starts).toHaveLength(4);
    expect(errorStarts).toEqual(Array.from({ length: 16 }, (_, k) => ({ sequence: 0, row: 300 + 6 * k })));
    await using early = await FieldForecaster.fit(field.subarray(0, 300), { ...own, members: 2, readout: { lambda: 1e-2 } });
    for (const [k, { row }] of errorStarts.entries()) {
      const forecast = await early.forecast(5, { warmup: field.subarray(0, row) });
      forecast.data.forEach((value, i) => {
        expect(targets.data[k * 30 + i]! - errors.data[k * 30 + i]!).toBeCloseTo(value, 3);
      });
    }
    const forecast = await model.forecast(5, { intervals: [0.9] });
    const adaptive = new AdaptiveConformal(errors, 5);
    const before = adaptive.band(400, forecast);
    for (let t = 400; t < 405; t++) adaptive.reveal(t, field.row(t));
    expect(Math.min(...before.upper.data.map((end, i) => end - before.lower.data[i]!))).toBeGreaterThan(0);
    expect(adaptive.band(405, forecast).upper.data).not.toEqual(before.upper.data);
    await using opened = await FieldForecaster.fromBytes(await model.toBytes());
    expect(opened.choice).toMatchObject({ errorStarts, targets, errors });
  });

  it("leave the state at the end of the training data", async () => {
    const trained = (horizon?: number) =>
      FieldForecaster.fit(field.subarray(0, 300), {
        ...own,
        ...(horizon ? { horizon, choose: { lambdas: [1], starts: 3 } } : { readout: { lambda: 1 } }),
      });
    await using chosen = await trained(4);
    await using plain = await trained();
    expect((await chosen.forecast(6)).data).toEqual((await plain.forecast(6)).data);
  });
});

describe("lambda of polynomials", () => {
  const noise = new RandomStream([1, 2], 0);
  const noisy = Matrix.from(lorenz(3000, { dt: 0.03 }));
  for (let i = 0; i < noisy.data.length; i++) noisy.data[i] = noisy.data[i]! + 0.3 * noise.normal(i, 0);

  it("is larger for noise, and better than without", async () => {
    // Of loops that leave the series: where they are held decides which lambda looks best.
    const options = { delays: 1, degrees: [2, 3, 4, 5], bounds: [null, null] } as const;
    const train = noisy.subarray(0, 600);
    const chosen = await NvarForecaster.fit(train, { ...options, horizon: 30 });
    expect(chosen.choice!.kept[0]!.lambda).toBeGreaterThan(1e-4);
    const plain = await NvarForecaster.fit(train, options);
    let [a, b] = [0, 0];
    for (let start = 700; start < 2900; start += 100) {
      const warmup = noisy.subarray(start - 10, start);
      const truth = noisy.subarray(start, start + 30);
      a += rmse(truth, await chosen.forecast(30, { warmup }));
      b += rmse(truth, await plain.forecast(30, { warmup }));
    }
    expect(a).toBeLessThan(b);
  });

  it("has bands that hold about their share", async () => {
    const model = await NvarForecaster.fit(noisy.subarray(0, 1500), { delays: 1, horizon: 10 });
    const inside: number[] = [];
    for (let start = 1600; start < 2980; start += 20) {
      const [band] = (await model.forecast(10, { warmup: noisy.subarray(start - 2, start), intervals: [0.8] })).bands!;
      inside.push(coverage(noisy.subarray(start, start + 10), band!));
    }
    const share = inside.reduce((sum, one) => sum + one, 0) / inside.length;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.92);
    const again = await NvarForecaster.fromBytes(await model.toBytes());
    expect((await again.forecast(10, { intervals: [0.8] })).bands).toEqual((await model.forecast(10, { intervals: [0.8] })).bands);
  });

  it("has errors from all starts that fit, of forecasts of a model of the first rows", async () => {
    const options = { delays: 2, degrees: [2] };
    const model = await NvarForecaster.fit(noisy.subarray(0, 400), {
      ...options,
      ...{ horizon: 6, choose: { lambdas: [1e-3], starts: 3 } },
    });
    const { errorStarts = [], targets, errors } = model.choice!;
    expect(errorStarts).toEqual(Array.from({ length: 14 }, (_, k) => ({ sequence: 0, row: 300 + 7 * k })));
    const early = await NvarForecaster.fit(noisy.subarray(0, 300), { ...options, lambda: 1e-3 });
    for (const [k, { row }] of errorStarts.entries()) {
      const forecast = await early.forecast(6, { warmup: noisy.subarray(0, row) });
      forecast.data.forEach((value, i) => {
        expect(targets.data[k * 18 + i]! - errors.data[k * 18 + i]!).toBeCloseTo(value, 9);
      });
    }
    const opened = await NvarForecaster.fromBytes(await model.toBytes());
    expect(opened.choice).toMatchObject({ errorStarts, targets, errors });
  });

  it("that is said is the only one that is tried", async () => {
    const model = await NvarForecaster.fit(noisy.subarray(0, 400), { delays: 1, lambda: 0.01, horizon: 5 });
    expect(model.choice!.scores.map(({ lambda }) => lambda)).toEqual([0.01]);
    await expect((await NvarForecaster.fit(noisy.subarray(0, 400), { delays: 1 })).forecast(5, { intervals: [0.9] })).rejects.toThrow(
      "knows no errors of forecasts",
    );
  });

  it("is chosen in double-double too", async () => {
    const model = await NvarForecaster.fit(noisy.subarray(0, 150), {
      ...{ delays: 1, arithmetic: "doubleDouble", horizon: 5, choose: { lambdas: [1e-4, 1], starts: 4 } },
    } as const);
    expect(model.choice!.scores).toHaveLength(2);
    expect((await model.forecast(5, { intervals: [0.5] })).bands).toHaveLength(1);
  });
});
