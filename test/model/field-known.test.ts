// What a field forecaster knows beforehand: inputs of the user's, the calendar, and which values
// were missing. Of one group it is a Forecaster, bit for bit.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { FieldForecaster, type FieldOptions, Forecaster, type ForecasterData, Matrix, nrmse, rmse } from "../../src/index.js";
import type { FieldGroups } from "../../src/model/field/groups.js";

const sites = 8;
const rows = 420;
const hour = (t: number) => new Date(Date.UTC(2024, 0, 1) + t * 3_600_000).toISOString().slice(0, 16);
const times = Array.from({ length: rows }, (_, t) => hour(t));
const draws = new RandomStream(seedKeys("drive").weights, 0);
/** A drive that nothing of the past tells, and the field that spreads along a ring under it. */
const drive = Matrix.from(Array.from({ length: rows }, (_, t) => [Math.tanh(draws.normal(t, 0))]));
const field = Matrix.zeros(rows, sites);
for (let q = 0; q < sites; q++) field.data[q] = Math.sin((2 * Math.PI * q) / sites);
for (let t = 1; t < rows; t++)
  for (let q = 0; q < sites; q++) {
    const at = (site: number) => field.at(t - 1, (site + sites) % sites);
    field.row(t)[q] = Math.tanh(0.5 * at(q) + 0.7 * at(q - 1) - 0.3 * at(q + 1)) + 0.4 * drive.at(t, 0);
  }
const train = 360;
/** The field with a value missing here and there, and a site that was silent for a while. */
const gapped = new Matrix(rows, sites, field.data.slice());
for (let t = 5; t < rows; t++) if (t % 7 === 3) gapped.row(t)[(3 * t) % sites] = Number.NaN;
for (let t = 100; t < 110; t++) gapped.row(t)[5] = Number.NaN;

const small: FieldOptions = { groups: 4, halo: 2, reservoir: { size: 60, seed: 4 }, readout: { lambda: 1e-5 }, engine: "cpu" };
const { groups: _, halo: __, ...plain } = small;
const part = (from: number, to: number, series = field): ForecasterData => ({
  series: series.subarray(from, to),
  known: drive.subarray(from, to),
  times: times.slice(from, to),
});

describe("known inputs of a field", () => {
  it.each<[string, Partial<FieldOptions>]>([
    ["alone", {}],
    ["with the calendar", { calendar: ["hour"] }],
    ["with a mask of missing values", { missing: "mask" }],
    ["with mask, calendar and transforms", { missing: "mask", calendar: ["hour"], transforms: [{ log: 9 }, { difference: 2 }] }],
  ])("of one group are those of a Forecaster, bit for bit: %s", async (_, more) => {
    const series = more.missing ? gapped : field;
    const data = part(0, train, series);
    await using one = await FieldForecaster.fit(data, { ...plain, ...more, groups: 1, shared: false });
    await using other = await Forecaster.fit(data as never, { ...plain, ...(more as object) });
    expect(one.known).toBe(1);
    expect(one.calendar).toEqual(other.calendar);
    expect(one.missingCounts).toEqual(other.missingCounts);
    const known = drive.subarray(train, train + 6);
    expect(await one.forecast(6, { known })).toEqual(await other.forecast(6, { known }));
    expect(await one.forecast(6, { known, warmup: data })).toEqual(await other.forecast(6, { known, warmup: data as never }));
    const next = part(train, rows, series);
    expect(await one.score(next)).toBe(await other.score(next as never));
    await using again = await FieldForecaster.fromBytes(await one.toBytes());
    expect(await again.forecast(6, { known: { values: drive, times } })).toEqual(await one.forecast(6, { known }));
    const beforehand = drive.subarray(train, train + 40);
    const inputs = series.subarray(train, train + 40);
    const predicted = await other.predict(inputs, { known: beforehand });
    expect(await one.predict(inputs, { known: beforehand })).toEqual(predicted);
    expect(await again.predict(inputs, { known: beforehand })).toEqual(predicted);
    expect(again.state).toEqual(one.state);
  });

  it("and what was missing choose lambda and make bands as a Forecaster's do", async () => {
    const options = { washout: 40, horizon: 6, missing: "mask", choose: { lambdas: [1e-6, 1e-2, 10], starts: 20 } } as const;
    const data = { series: gapped.subarray(0, train), known: drive.subarray(0, train) };
    const { readout: _, ...bare } = plain;
    await using one = await FieldForecaster.fit(data, { ...bare, ...options, groups: 1, shared: false });
    await using other = await Forecaster.fit(data, { ...bare, ...options, members: 1 });
    expect(one.choice!.starts).toEqual(other.choice!.starts);
    for (const [k, { score }] of other.choice!.scores.entries()) expect(one.choice!.scores[k]!.score).toBeCloseTo(score!, 4);
    const unmeasured = ({ choice }: FieldForecaster | Forecaster) => Array.from(choice!.errors.data, Number.isNaN);
    expect(unmeasured(one)).toEqual(unmeasured(other));
    expect(unmeasured(one)).toContain(true);
    const known = drive.subarray(train, train + 6);
    const [a, b] = await Promise.all([one, other].map(async (model) => (await model.forecast(6, { known, intervals: [0.8] })).bands![0]!));
    a!.upper.data.forEach((end, i) => {
      expect(end).toBeCloseTo(b!.upper.data[i]!, 3);
    });
  });

  it("are worth what they tell", async () => {
    await using told = await FieldForecaster.fit({ series: field.subarray(0, train), known: drive.subarray(0, train) }, small);
    await using blind = await FieldForecaster.fit(field.subarray(0, train), small);
    const came = field.subarray(train, train + 20);
    const forecast = await told.forecast(20, { known: drive.subarray(train, train + 20) });
    expect(nrmse(came, forecast)).toBeLessThan(0.3);
    expect(nrmse(came, forecast)).toBeLessThan(0.3 * nrmse(came, await blind.forecast(20)));
  });

  it("are the same for every group: a turned field has the turned forecast, with its mask", async () => {
    const turned = (matrix: Matrix, by: number) =>
      new Matrix(
        matrix.rows,
        sites,
        matrix.data.map((_, i) => matrix.at(Math.floor(i / sites), (i + by) % sites)),
      );
    await using model = await FieldForecaster.fit(part(0, train, gapped), { ...small, missing: "mask", calendar: ["hour"] });
    const known = drive.subarray(train, train + 20);
    const straight = await model.forecast(20, { known });
    const warmup = { ...(part(0, train) as object), series: turned(gapped.subarray(0, train), 2) };
    expect((await model.forecast(20, { known, warmup })).data).toEqual(turned(straight, 2).data);
  });

  it("says what is wrong, as a Forecaster does", async () => {
    await using model = await FieldForecaster.fit(part(0, train), { ...small, reservoir: { size: 20 } });
    await using bare = await FieldForecaster.fit(field.subarray(0, train), { ...small, reservoir: { size: 20 } });
    const known = drive.subarray(train, train + 4);
    await expect(model.forecast(4)).rejects.toThrow(
      `known is missing; this forecaster takes 1 known inputs for each of the 4 steps; the first that is missing is that of ${hour(train)}`,
    );
    await expect(model.forecast(5, { known })).rejects.toThrow("known has 4 rows; 5 steps take as many");
    await expect(model.forecast(4, { known: field.subarray(0, 4) })).rejects.toThrow("known has 8 columns; this forecaster takes 1");
    await expect(bare.forecast(4, { known })).rejects.toThrow("known was given; this forecaster was trained without known inputs");
    await expect(model.forecast(4, { known, warmup: field })).rejects.toThrow("warmup.known is missing");
    await expect(model.predict(field)).rejects.toThrow("known is missing");
    const short = { series: field, known: drive.subarray(1) };
    await expect(FieldForecaster.fit(short, small)).rejects.toThrow("known has 419 rows and series has 420");
    await expect(FieldForecaster.fit(field, { ...small, calendar: ["hour"] })).rejects.toThrow(
      "calendar takes the time stamps of the rows",
    );
    model.reset();
    await expect(model.forecast(4, { known })).rejects.toThrow("there is no row to go on from after a reset; give warmup");
  });
});

describe("missing values of a field", () => {
  it("are held and told of, and a forecast from rows with gaps is better than the last row", async () => {
    await using model = await FieldForecaster.fit(part(0, train, gapped), { ...small, missing: "mask" });
    const known = drive.subarray(train, train + 10);
    const came = field.subarray(train, train + 10);
    const last = Array.from({ length: 10 }, () => field.row(train - 1));
    expect(rmse(came, await model.forecast(10, { known }))).toBeLessThan(0.5 * rmse(came, last));
    const { inputScale } = (model.members[0] as FieldGroups).preprocessing;
    const mask = (scores: Float64Array) => scores.subarray(field.cols + drive.cols);
    expect([...mask(inputScale.mean), ...mask(inputScale.deviation)]).toEqual([
      ...new Array(field.cols).fill(0),
      ...new Array(field.cols).fill(1),
    ]);
    expect(model.missingCounts.reduce((sum, count) => sum + count)).toBe(gapped.subarray(0, train).data.filter(Number.isNaN).length);
  });

  it("count for nothing in a score", async () => {
    await using model = await FieldForecaster.fit(field.subarray(0, train), { ...small, missing: "hold" });
    const test = gapped.subarray(train + 1, train + 41);
    const { state } = model;
    const predicted = await model.predict(test.subarray(0, -1));
    model.state = state;
    const kept = Array.from({ length: 39 }, (_, t) => t).filter((t) => !test.row(t + 1).some(Number.isNaN));
    expect(kept.length).toBeLessThan(39);
    const of = (matrix: Matrix, by: number) => kept.map((t) => Array.from(matrix.row(t + by)));
    expect(await model.score(test)).toBe(nrmse(of(test, 1), of(predicted, 0)));
  });
});
