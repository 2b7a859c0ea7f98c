// Rows that follow those a forecaster was trained on: a fit of all rows to the bit, or the model as
// it is, moved on.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions, Matrix, NvarForecaster } from "../../src/index.js";
import { memberNames } from "../../src/model/forecaster/options.js";
import { amount } from "../exhaustive.js";

const noise = (t: number) => Math.sin(1.7 * t * t);
/** A season of four rows, a trend and noise. */
const quarters = (rows: number) => Array.from({ length: rows }, (_, t) => [100 + t + [5, -3, 4, -6][t % 4]! + 3 * noise(t)]);
const classical = { horizon: 3, season: 4, members: ["theta", "damped", "ets", "seasonalNaive"] } satisfies ForecasterOptions;
const days = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, t) => new Date(Date.UTC(2024, 0, 1 + from + t)).toISOString().slice(0, 10));

/** What of a series is given, of rows `from` up to (not with) `to`. */
interface Given {
  readonly missing: readonly number[];
  readonly isTimed: boolean;
  readonly isKnown: boolean;
  readonly isMarked: boolean;
}
function rowsOf(series: readonly number[][], { missing, isTimed, isKnown, isMarked }: Given, from: number, to: number) {
  const at = (t: number) => missing.includes(t) && t > 0;
  const rows = series.slice(from, to);
  return {
    series: rows.map((row, t) => (at(from + t) && !isMarked ? [Number.NaN] : row)),
    ...(isMarked && { filled: rows.map((_, t) => [at(from + t) ? 1 : 0]) }),
    ...(isKnown && { known: rows.map((_, t) => [(from + t) % 3]) }),
    ...(isTimed && { times: days(from, to) }),
  };
}

describe("update", () => {
  it("is a fit of all rows to the bit, wherever they are cut, of missing, known and timed rows too", async () => {
    const given = fc.record({
      missing: fc.array(fc.integer({ min: 1, max: 21 }), { maxLength: 3 }),
      isTimed: fc.boolean(),
      isKnown: fc.boolean(),
      isMarked: fc.boolean(),
    });
    const rows = fc.integer({ min: 6, max: 22 });
    const cuts = fc.array(fc.integer({ min: 2, max: 21 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(given, rows, cuts, fc.boolean(), async (how, count, asked, isOpened) => {
        const series = quarters(count);
        const options = { ...classical, missing: "hold" } as const;
        await using whole = await Forecaster.fit(rowsOf(series, how, 0, count), options);
        const ends = [...new Set([...asked.filter((cut) => cut < count), count])].sort((a, b) => a - b);
        let model = await Forecaster.fit(rowsOf(series, how, 0, ends[0]!), options);
        for (const [k, end] of ends.slice(1).entries()) {
          if (isOpened) model = await Forecaster.fromBytes(await model.toBytes());
          await model.update(rowsOf(series, how, ends[k]!, end));
        }
        const known = how.isKnown ? [[1], [0], [2]] : undefined;
        const [a, b] = [await whole.forecast(3, { known, quantiles: [0.1] }), await model.forecast(3, { known, quantiles: [0.1] })];
        expect(b.data).toEqual(a.data);
        expect(b.times).toEqual(a.times);
        expect(b.quantiles).toEqual(a.quantiles);
        expect(await model.toBytes()).toEqual(await whole.toBytes());
        await model.dispose();
      }),
      { numRuns: amount(100, 10) },
    );
  });

  it("moves the last row that the names of a table say, by stamps or numbers", async () => {
    const series = quarters(24);
    for (const times of [undefined, days(0, 24)]) {
      const to = (row: number) => ({ columns: ["x"], trainedTo: times?.[row] ?? `${row}` });
      const part = (from: number, end: number) => ({ series: series.slice(from, end), ...(times && { times: times.slice(from, end) }) });
      await using model = await Forecaster.fit(part(0, 18), { ...classical, table: to(17) });
      await model.update(part(18, 20), { weights: "keep" });
      expect(model.settings.table).toEqual(to(17));
      await using opened = await Forecaster.fromBytes(await model.toBytes());
      await opened.update(part(20, 24));
      await using again = await Forecaster.fromBytes(await opened.toBytes());
      for (const one of [opened, again]) expect(one.settings.table).toEqual(to(23));
    }
  });

  it("trains the loop and the direct member again", async () => {
    const series = quarters(170);
    const options = { horizon: 4, season: 4, members: memberNames, reservoir: { size: 10, seed: 1 } } satisfies ForecasterOptions;
    await using whole = await Forecaster.fit(series, options);
    await using model = await Forecaster.fit(series.slice(0, 90), options);
    await model.update(series.slice(90, 168));
    await model.update(series.slice(168));
    expect(await model.toBytes()).toEqual(await whole.toBytes());
  });

  it("keeps the weights that it has, and trains on these rows too when asked", async () => {
    const series = quarters(60);
    await using model = await Forecaster.fit({ series: series.slice(0, 40), times: days(0, 40) }, classical);
    const before = model.choice;
    await using still = await Forecaster.fromBytes(await model.toBytes());
    await model.update(series.slice(40, 50), { weights: "keep" });
    expect(model.choice).toBe(before);
    expect((await model.forecast(2)).times).toEqual(days(50, 52));
    // It moves on as `predict` does.
    await still.predict(series.slice(40, 50));
    expect((await model.forecast(4)).data).toEqual((await still.forecast(4)).data);
    await model.update(series.slice(50));
    await using whole = await Forecaster.fit({ series, times: days(0, 60) }, classical);
    expect(await model.toBytes()).toEqual(await whole.toBytes());
  });

  it("moves any forecaster on as it is", async () => {
    const wave = Matrix.from(Array.from({ length: 300 }, (_, t) => [Math.sin(0.3 * t)]));
    const reservoir = { size: 20, seed: 1 };
    for (const make of [
      () => Forecaster.fit(wave.subarray(0, 280), { reservoir }),
      () => Forecaster.fit(wave.subarray(0, 280), { reservoir: { ...reservoir, feedback: {} }, washout: 10 }),
      () => NvarForecaster.fit(wave.subarray(0, 280), { delays: 3 }),
    ] as const) {
      await using model = await make();
      await using other = await make();
      await model.update(wave.subarray(280), { weights: "keep" });
      await other.warmUp(wave.subarray(0));
      const [a, b] = [await model.forecast(5), await other.forecast(5)];
      for (let k = 0; k < 5; k++) expect(a.at(k, 0)).toBeCloseTo(b.at(k, 0), 3);
      await expect(model.update(wave.subarray(0, 1))).rejects.toThrow('weights is "fit" and only a combination of members keeps its rows');
    }
  });

  it("refuses rows that do not follow, and is as it was", async () => {
    const series = quarters(30);
    await using model = await Forecaster.fit({ series: series.slice(0, 20), times: days(0, 20) }, classical);
    const bytes = await model.toBytes();
    const rowsFrom = (from: number) => ({ series: series.slice(20, 22), times: days(from, from + 2) });
    const stop = new AbortController();
    stop.abort();
    for (const weights of ["fit", "keep"] as const) {
      const next = days(20, 21)[0]!;
      await expect(model.update(rowsFrom(21), { weights })).rejects.toThrow(
        `times[0] is ${days(21, 22)[0]!}; rows follow one another by the step of 1 day, so it takes ${next}`,
      );
      await expect(model.update([[1, 2]], { weights })).rejects.toThrow(/^series/);
      await expect(model.update({ series: [[1]], known: [[1]] }, { weights })).rejects.toThrow("known has 1 columns");
      await expect(model.update([[Number.NaN]], { weights })).rejects.toThrow("series");
    }
    await expect(model.update(rowsFrom(20), { signal: stop.signal })).rejects.toThrow();
    expect(await model.toBytes()).toEqual(bytes);
    await using none = await Forecaster.create(classical);
    await expect(none.update(series)).rejects.toThrow("fit");
  });
});
