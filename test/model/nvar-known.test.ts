// What NVAR knows beforehand, and what becomes of missing values: rows that touch one train
// nothing.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { lorenz, Matrix, NvarForecaster, nrmse, rmse } from "../../src/index.js";
import { calendarInputs } from "../../src/series/calendar.js";
import { readTimeColumn } from "../../src/series/time-stamps.js";

const draws = new RandomStream(seedKeys("nvar known").weights, 0);
const rows = 300;
const train = 240;
const hour = (t: number) => new Date(Date.UTC(2024, 0, 1, t)).toISOString().slice(0, 16);
const times = Array.from({ length: rows }, (_, t) => hour(t));
const known = Matrix.from(Array.from({ length: rows }, (_, t) => [Math.tanh(draws.normal(t, 0))]));
/** y(t + 1) = .5 y(t) + .4 k(t + 1) y(t) - .3 y(t)^2 + .2 k(t + 1), of degree 2 in both. */
const driven = Matrix.zeros(rows, 1);
for (let t = 0; t + 1 < rows; t++) {
  const [y, k] = [driven.data[t]!, known.data[t + 1]!];
  driven.data[t + 1] = 0.5 * y + 0.4 * k * y - 0.3 * y * y + 0.2 * k;
}
const part = (from: number, to: number) => ({
  series: driven.subarray(from, to),
  known: known.subarray(from, to),
  times: times.slice(from, to),
});
const exact = { delays: 1, lambda: 1e-12 } as const;
/** A series without some values. */
function holed(series: Matrix, share: number): Matrix<Float64Array> {
  const out = Matrix.from(series, "float64");
  out.data.forEach((_, i) => {
    if (i >= series.cols && draws.uniform(i, 1) < share) out.data[i] = Number.NaN;
  });
  return out;
}

describe("known inputs of NVAR", () => {
  it("stand in its monomials: a driven law is found as it is", async () => {
    const model = await NvarForecaster.fit(part(0, train), exact);
    expect(model.known).toBe(1);
    const came = driven.subarray(train);
    expect(rmse(came, await model.forecast(60, { known: known.subarray(train) }))).toBeLessThan(1e-6);
    const blind = await NvarForecaster.fit(driven.subarray(0, train), exact);
    expect(rmse(came, await blind.forecast(60))).toBeGreaterThan(0.1);
  });

  it("are of the row that is predicted, and the state goes on as the series does", async () => {
    const model = await NvarForecaster.fit(part(0, train), exact);
    const ahead = known.subarray(train, train + 9);
    const forecast = await model.forecast(9, { known: ahead });
    expect(forecast.times).toEqual(times.slice(train, train + 9));
    expect(await model.forecast(9, { known: { values: known, times } })).toEqual(forecast);
    expect(await model.forecast(9, { known: ahead, warmup: part(0, train) })).toEqual(forecast);
    const again = await NvarForecaster.fromBytes(await model.toBytes());
    expect(await again.forecast(9, { known: ahead })).toEqual(forecast);
    expect([again.known, again.grid]).toEqual([1, model.grid]);
    const predicted = await again.predict(driven.subarray(train, train + 9), { known: ahead });
    expect(predicted.row(0)).toEqual(forecast.row(0));
    expect((await again.forecast(1, { known: known.subarray(train + 9, train + 10) })).times).toEqual([times[train + 9]]);
    expect(await model.score(part(train, rows))).toBeLessThan(1e-6);
  });

  it("may be the calendar, which it makes itself", async () => {
    const calendar = ["hour"] as const;
    const wall = readTimeColumn(times, {}, String).wall;
    const made = calendarInputs(calendar, wall);
    const model = await NvarForecaster.fit({ series: driven.subarray(0, train), times: times.slice(0, train) }, { calendar });
    const byHand = await NvarForecaster.fit({ series: driven.subarray(0, train), known: made.subarray(0, train) });
    expect([model.known, model.calendar]).toEqual([0, calendar]);
    const forecast = await byHand.forecast(20, { known: made.subarray(train, train + 20) });
    expect((await model.forecast(20)).data).toEqual(forecast.data);
    const again = await NvarForecaster.fromBytes(await model.toBytes());
    expect((await again.forecast(20)).data).toEqual(forecast.data);
  });

  it("choose lambda, and have bands", async () => {
    const model = await NvarForecaster.fit(part(0, train), { delays: 1, horizon: 5, choose: { lambdas: [1e-9, 100], starts: 12 } });
    expect(model.choice!.kept[0]!.lambda).toBe(1e-9);
    const { bands } = await model.forecast(5, { known: known.subarray(train, train + 5), intervals: [0.8] });
    expect(rmse(bands![0]!.lower, bands![0]!.upper)).toBeLessThan(1e-3);
  });

  it("say what is wrong, as a Forecaster's do", async () => {
    const model = await NvarForecaster.fit(part(0, train), exact);
    const bare = await NvarForecaster.fit(driven.subarray(0, train), exact);
    const { state } = model;
    await expect(model.forecast(4)).rejects.toThrow(
      `this forecaster takes 1 known inputs for each of the 4 steps; the first that is missing is that of ${times[train]}`,
    );
    await expect(model.forecast(4, { known: known.subarray(0, 3) })).rejects.toThrow("known has 3 rows; 4 steps take as many");
    await expect(bare.forecast(4, { known })).rejects.toThrow("known was given; this forecaster was trained without known inputs");
    await expect(model.forecast(4, { known, warmup: driven })).rejects.toThrow("warmup.known is missing");
    await expect(model.predict(driven)).rejects.toThrow("known is missing");
    expect(model.state).toEqual(state);
    await expect(NvarForecaster.fit({ series: driven, known: known.subarray(1) }, exact)).rejects.toThrow(
      "known has 299 rows and series has 300",
    );
    await expect(NvarForecaster.fit(driven, { calendar: ["hour"] })).rejects.toThrow("calendar takes the time stamps of the rows");
  });
});

describe("missing values of NVAR", () => {
  const whole = lorenz(900, { dt: 0.02 });
  const gapped = holed(whole.subarray(0, 800), 0.05);
  // The last rows are there, as a forecast goes on from them.
  gapped.data.set(whole.subarray(795, 800).data, 795 * 3);
  const options = { delays: 1, degrees: [2, 3, 4] };
  const came = whole.subarray(800, 850);

  it("are held and left out of training with mask, which is far better than training on what was filled", async () => {
    const errors = await Promise.all(
      (["mask", "interpolate", "hold"] as const).map(async (missing) => {
        const model = await NvarForecaster.fit(gapped, { ...options, missing });
        expect(model.missingCounts.reduce((sum, count) => sum + count)).toBe(gapped.data.filter(Number.isNaN).length);
        return nrmse(came, await model.forecast(50));
      }),
    );
    expect(errors[0]).toBeLessThan(1e-3);
    expect(errors[0]).toBeLessThan(0.1 * Math.min(errors[1]!, errors[2]!));
  });

  it("leave out the rows that see or predict one, of each column of a ring by itself", async () => {
    const count = async (more: object) =>
      (await NvarForecaster.fit(gapped, { ...options, ...more, missing: "mask" })).readout.training!.rows;
    const measured = (t: number, c: number) => !Number.isNaN(gapped.at(t, (c + 3) % 3));
    let [all, ring] = [0, 0];
    for (let t = 0; t < 799; t++) {
      if ([0, 1, 2].every((c) => measured(t, c) && measured(t + 1, c))) all++;
      for (let c = 0; c < 3; c++) if (measured(t, c) && measured(t + 1, c)) ring++;
    }
    expect(await count({})).toBe(all);
    expect(await count({ neighbours: 0 })).toBe(ring);
  });

  it("count for nothing in scores and bands", async () => {
    const model = await NvarForecaster.fit(gapped, { ...options, missing: "mask", horizon: 10, choose: { lambdas: [1e-6], starts: 20 } });
    const { starts, errors } = model.choice!;
    const wanted = starts.flatMap(({ row }) => Array.from(gapped.subarray(row, row + 10).data, Number.isNaN));
    expect(Array.from(errors.data, Number.isNaN)).toEqual(wanted);
    const test = holed(whole.subarray(800), 0.05);
    const { state } = model;
    const predicted = await model.predict(test);
    model.state = state;
    const kept = Array.from({ length: 99 }, (_, t) => t).filter((t) => !test.row(t + 1).some(Number.isNaN));
    const of = (matrix: Matrix, by: number) => kept.map((t) => Array.from(matrix.row(t + by)));
    expect(await model.score(test)).toBe(nrmse(of(test, 1), of(predicted, 0)));
  });

  it("may be in double-double: low parts are filled as high ones are", async () => {
    const low = new Matrix(800, 3, new Float64Array(2400).fill(1e-18));
    for (const missing of ["hold", "interpolate", "mask"] as const) {
      const both = await NvarForecaster.fit({ high: gapped, low }, { arithmetic: "doubleDouble", missing });
      const high = await NvarForecaster.fit(gapped, { arithmetic: "doubleDouble", missing });
      expect(rmse(await both.forecast(5), await high.forecast(5))).toBeLessThan(1e-9);
    }
  });

  it("in every row are an error that says what to do", async () => {
    const every = Matrix.from(whole.subarray(0, 100), "float64");
    for (let t = 1; t < 100; t += 2) every.data[3 * t] = Number.NaN;
    await expect(NvarForecaster.fit(every, { missing: "mask" })).rejects.toThrow(
      "every row that could train sees or predicts a missing value; fill them: missing hold or interpolate, or take fewer delays",
    );
    await expect(NvarForecaster.fit(every)).rejects.toThrow("NaN");
  });
});
