// One Forecaster for every model: what it does alike for reservoirs, polynomials of delays and
// fields.
import { describe, expect, it } from "vitest";
import { FieldForecaster, Forecaster, lorenz, Matrix, NvarForecaster, nrmse } from "../../src/index.js";
import { decodeModelFile, encodeModelFile } from "../../src/model/model-file.js";

const series = lorenz(420);
const training = series.subarray(0, 360);
const reservoir = { size: 20, seed: 1 };
const models = {
  forecaster: () => Forecaster.fit(training, { reservoir, washout: 30, members: 2, missing: "hold" }),
  nvar: () => NvarForecaster.fit(training, { delays: 3, degrees: [2], lambda: 1e-4, missing: "hold" }),
  field: () => FieldForecaster.fit(training, { reservoir, washout: 30, groups: 3, shared: false, missing: "hold" }),
};
const constructors = { forecaster: Forecaster, nvar: NvarForecaster, field: FieldForecaster };
const kinds = Object.keys(models) as (keyof typeof models)[];
const bits = async (made: Promise<Matrix>) => [...(await made).data];

describe.each(kinds)("a forecaster of kind %s", (kind) => {
  it("says its kind, its columns and its position, and goes back there", async () => {
    await using model = await models[kind]();
    expect([model.kind, model.columns]).toEqual([kind, 3]);
    const { state } = model;
    const first = await bits(model.forecast(5));
    await model.predict(series.subarray(360, 380));
    expect(await bits(model.forecast(5))).not.toEqual(first);
    model.state = state as never;
    expect(await bits(model.forecast(5))).toEqual(first);
    expect(() => (model.state = { ...state, members: [] } as never)).toThrow("one that this forecaster's `state` gave");
  });

  it("predicts the same in one call and in parts, and from a warm-up", async () => {
    await using model = await models[kind]();
    const whole = await bits(model.predict(series.subarray(360, 400), { warmup: training }));
    const parts = [
      ...(await bits(model.predict(series.subarray(360, 371), { warmup: training }))),
      ...(await bits(model.predict(series.subarray(371, 400)))),
    ];
    expect(parts).toEqual(whole);
    await model.warmUp(training);
    expect(await bits(model.predict(series.subarray(360, 400)))).toEqual(whole);
  });

  it("scores one-step predictions after a washout, with the metric that is given", async () => {
    await using model = await models[kind]();
    const test = series.subarray(360, 400);
    const score = await model.score(test, { washout: 7 });
    const predicted = (await model.predict(test.subarray(0, 39))).subarray(7);
    expect(score).toBeCloseTo(nrmse(test.subarray(8), predicted), 14);
    await expect(model.score(test, { washout: 39 })).rejects.toThrow("washout is 39 and there are 39 rows to score");
  });

  it("stays where it was if a prediction is stopped", async () => {
    await using model = await models[kind]();
    const first = await bits(model.forecast(5));
    const rows = Matrix.from(Array.from({ length: 5000 }, (_, t) => [...series.row(t % 400)]));
    const stop = new AbortController();
    const predicting = model.predict(rows, { warmup: series.subarray(0, 50), signal: stop.signal, onProgress: () => stop.abort() });
    stop.abort();
    await expect(predicting).rejects.toThrow();
    expect(await bits(model.forecast(5))).toEqual(first);
  });

  it("holds a missing value by the last row, in whatever call that was", async () => {
    await using model = await models[kind]();
    const gap = Matrix.from(series.subarray(200, 220), "float64");
    const held = Matrix.from(gap, "float64");
    gap.data[0] = Number.NaN;
    held.data[0] = series.at(199, 0);
    const warmup = series.subarray(0, 200);
    expect(await bits(model.predict(gap, { warmup }))).toEqual(await bits(model.predict(held, { warmup })));
    gap.data[0] = held.data[0]!;
    gap.data[33] = Number.NaN;
    held.data[33] = held.data[30]!;
    const whole = await bits(model.predict(held, { warmup }));
    const parts = [...(await bits(model.predict(gap.subarray(0, 11), { warmup }))), ...(await bits(model.predict(gap.subarray(11, 20))))];
    expect(parts).toEqual(whole);
  });

  it("is kept in a file that only its own kind opens, also after a reset", async () => {
    await using model = await models[kind]();
    const bytes = await model.toBytes();
    await using again = await constructors[kind].fromBytes(bytes);
    expect(await bits(again.forecast(5))).toEqual(await bits(model.forecast(5)));
    expect(await again.toBytes()).toEqual(bytes);
    for (const other of kinds.filter((each) => each !== kind))
      await expect(constructors[other].fromBytes(bytes)).rejects.toThrow(`it holds a ${kind}, and a ${other} was asked for`);
    model.reset();
    await using empty = await constructors[kind].fromBytes(await model.toBytes());
    const warmup = { warmup: training };
    expect(await bits(empty.forecast(5, warmup))).toEqual(await bits(model.forecast(5, warmup)));
  });
});

describe("the last rows of a series", () => {
  it("are all that polynomials of delays go on from", async () => {
    const model = await models.nvar();
    expect(await bits(model.forecast(5, { history: series.subarray(380, 400) }))).toEqual(
      await bits(model.forecast(5, { warmup: series.subarray(380, 400) })),
    );
    await expect(model.forecast(5, { history: series.subarray(0, 2) })).rejects.toThrow(
      "history has 2 rows; this forecaster takes at least 3",
    );
    await expect(model.predict(series, { precision: "float32" })).rejects.toThrow("NVAR predicts in float64");
    model.reset();
    await expect(model.forecast(5)).rejects.toThrow("there is no row to go on from after a reset; give warmup");
  });
});

describe("a file from before the note of the preprocessing had its name", () => {
  it("forecasts the same", async () => {
    await using model = await Forecaster.fit(training, { reservoir, washout: 30, lags: 2, transforms: [{ difference: 1 }] });
    const { tensors, metadata } = await decodeModelFile(await model.toBytes(), "model", "forecaster");
    const { preprocessing, ...notes } = metadata;
    expect(preprocessing).toBeDefined();
    await using earlier = await Forecaster.fromBytes(
      await encodeModelFile("forecaster", { tensors, metadata: { ...notes, road: preprocessing! } }),
    );
    expect(await bits(earlier.forecast(8))).toEqual(await bits(model.forecast(8)));
  });
});
