// A Forecaster that knows the time of its rows: the stamps of its forecasts, the calendar as an
// input, and what is known of rows to come.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Forecaster } from "../../src/index.js";
import type { ForecasterOptions } from "../../src/model/index.js";
import { calendarInputs } from "../../src/series/calendar.js";
import { readTimes } from "../../src/series/index.js";

const hour = (t: number) => new Date(Date.UTC(2024, 0, 1) + t * 3_600_000).toISOString().slice(0, 16).replace("T", " ");
const rows = 400;
const times = Array.from({ length: rows }, (_, t) => hour(t));
const value = (t: number) => Math.sin((2 * Math.PI * t) / 24) + (Math.floor(t / 24) % 7 >= 5 ? -1 : 0) + 0.1 * Math.sin(t * t);
const series = Matrix.from(
  Array.from({ length: rows }, (_, t) => [value(t)]),
  "float64",
);
const known = Matrix.from(
  Array.from({ length: rows + 24 }, (_, t) => [Math.cos(t / 5)]),
  "float64",
);
const options: ForecasterOptions = { reservoir: { size: 30 }, washout: 30, readout: { lambda: 1e-2 }, engine: "reference" };
const calendar = ["hour", "weekday"] as const;
const message = async (work: () => Promise<unknown>) =>
  work().then(
    () => "no error",
    (error: Error) => error.message,
  );
const fitTimed = (more: Partial<ForecasterOptions> = {}) => Forecaster.fit({ series, times }, { ...options, ...more });

describe("a forecast of a series with time stamps", () => {
  it("carries its own, in the form of the series", async () => {
    await using forecaster = await fitTimed();
    const { values, times: ahead } = await forecaster.forecast(3);
    expect(ahead).toEqual([hour(400), hour(401), hour(402)]);
    expect([values.rows, values.cols]).toEqual([3, 1]);
  });

  it("is the matrix itself, the same as without stamps", async () => {
    await using plain = await Forecaster.fit(series, options);
    await using timed = await Forecaster.fit(series, { ...options, times });
    const without = await plain.forecast(5);
    expect(without.times).toBeUndefined();
    expect([...(await timed.forecast(5)).data]).toEqual([...without.data]);
  });

  it("starts after the warm-up, and after rows that were predicted", async () => {
    await using forecaster = await fitTimed();
    const warmup = { series: series.subarray(100, 200), times: times.slice(100, 200) };
    expect((await forecaster.forecast(1, { warmup })).times).toEqual([hour(200)]);
    expect((await forecaster.forecast(1)).times).toEqual([hour(400)]);
    await forecaster.predict(series.subarray(0, 7));
    expect((await forecaster.forecast(1)).times).toEqual([hour(407)]);
    expect((await forecaster.forecast(1, { warmup: series.subarray(0, 50) })).times).toBeUndefined();
    forecaster.reset();
    expect((await forecaster.forecast(1)).times).toBeUndefined();
  });

  it("keeps calendar months", async () => {
    const months = Array.from({ length: 120 }, (_, t) => `${2000 + Math.floor(t / 12)}-${String(1 + (t % 12)).padStart(2, "0")}`);
    await using forecaster = await Forecaster.fit(
      { series: series.subarray(0, 120), times: months },
      { ...options, calendar: ["yearday"] },
    );
    expect((await forecaster.forecast(3)).times).toEqual(["2010-01", "2010-02", "2010-03"]);
  });
});

describe("the calendar of a series", () => {
  it("is the same as known inputs made of it", async () => {
    const { wall, grid } = readTimes(times);
    const all = readTimes(Array.from({ length: rows + 24 }, (_, t) => hour(t))).wall;
    await using byCalendar = await fitTimed({ calendar });
    await using byHand = await Forecaster.fit({ series, known: calendarInputs(calendar, wall) }, options);
    const ahead = calendarInputs(calendar, all.subarray(rows));
    expect([...(await byCalendar.forecast(24)).data]).toEqual([...(await byHand.forecast(24, { known: ahead })).data]);
    expect(grid.step).toEqual({ count: 3_600_000, unit: "ms" });
  });

  it("stands beside other known inputs", async () => {
    await using forecaster = await Forecaster.fit({ series, known: known.subarray(0, rows), times }, { ...options, calendar });
    const ahead = known.subarray(rows);
    const made = await forecaster.forecast(24, { known: ahead });
    expect(made.times!.at(-1)).toBe(hour(423));
    const shuffled = [...Array.from({ length: 24 }, (_, k) => 23 - k)];
    const timed = {
      values: Matrix.from(
        shuffled.map((k) => [ahead.data[k]!]),
        "float64",
      ),
      times: shuffled.map((k) => hour(rows + k)),
    };
    expect([...(await forecaster.forecast(24, { known: timed })).data]).toEqual([...made.data]);
  });

  it("follows the rows of predict and score", async () => {
    await using forecaster = await Forecaster.fit(
      { series: series.subarray(0, 300), times: times.slice(0, 300) },
      { ...options, calendar },
    );
    await using all = await Forecaster.fit({ series: series.subarray(0, 300), times: times.slice(0, 300) }, { ...options, calendar });
    const rest = series.subarray(300, 340);
    const score = await forecaster.score(rest);
    expect(await forecaster.score({ series: rest, times: times.slice(300, 340) })).toBe(score);
    expect(score).toBeLessThan(0.3);
    await all.predict(rest);
    const warmed = await forecaster.forecast(2, { warmup: { series: series.subarray(0, 340), times: times.slice(0, 340) } });
    expect([...(await all.forecast(2)).data]).toEqual([...warmed.data]);
  });

  it("is learnt from several series", async () => {
    const parts = [
      { series: series.subarray(0, 150), times: times.slice(0, 150) },
      { series: series.subarray(200), times: times.slice(200) },
    ];
    await using forecaster = await Forecaster.fit({ sequences: parts }, { ...options, calendar });
    expect((await forecaster.forecast(1)).times).toEqual([hour(400)]);
  });

  it("is kept in the model file, with form, step and last stamp", async () => {
    await using forecaster = await fitTimed({ calendar });
    const made = await forecaster.forecast(24);
    await using again = await Forecaster.fromBytes(await forecaster.toBytes(), { engine: "reference" });
    const { times: ahead, data } = await again.forecast(24);
    expect([...data]).toEqual([...made.data]);
    expect(ahead).toEqual(made.times);
  });
});

describe("time stamps that do not fit", () => {
  it.each<[string, () => Promise<unknown>, string]>([
    ["too few", () => Forecaster.fit({ series, times: times.slice(1) }, options), "times has 399 stamps and the series 400 rows"],
    [
      "none for the calendar",
      () => Forecaster.fit(series, { ...options, calendar }),
      "times is missing; calendar takes the time stamps of the rows",
    ],
    [
      "with a gap",
      () => Forecaster.fit({ series, times: times.map((_, t) => hour(t < 100 ? t : t + 2)) }, options),
      "times[100] (2024-01-05 06:00): 2 rows before it are missing, at a step of 1 hour; 1 gap in all. Close them first (closeGaps)",
    ],
    [
      "of another step in each series",
      () =>
        Forecaster.fit(
          {
            sequences: [
              { series, times },
              { series: series.subarray(0, 50), times: times.filter((_, t) => t % 2 === 0).slice(0, 50) },
            ],
          },
          options,
        ),
      "sequences[1] has a step of 2 hours and sequences[0] a step of 1 hour; they take the same",
    ],
    [
      "of a day for hours",
      () =>
        Forecaster.fit(series.subarray(0, 99), {
          ...options,
          times: times.slice(0, 99).map((_, t) => hour(24 * t).slice(0, 10)),
          calendar,
        }),
      'calendar[0] is "hour"; it takes a step below a day',
    ],
    [
      "beside several series",
      () => Forecaster.fit({ sequences: [series] }, { ...options, times }),
      "times was given beside sequences; give each its own",
    ],
  ])("%s are refused", async (_, work, sentence) => expect(await message(work)).toContain(sentence));

  it.each<[string, (forecaster: Forecaster) => Promise<unknown>, string]>([
    [
      "no stamps in the warm-up",
      (forecaster) => forecaster.forecast(2, { warmup: series }),
      "warmup.times is missing; this forecaster takes the calendar of its rows",
    ],
    [
      "a reset",
      async (forecaster) => {
        forecaster.reset();
        await forecaster.forecast(2);
      },
      "the time of the next row is not known after a reset",
    ],
    [
      "rows off the grid",
      (forecaster) =>
        forecaster.forecast(2, { warmup: { series: series.subarray(0, 2), times: ["2025-01-01 00:30", "2025-01-01 01:30"] } }),
      "warmup.times[0] (2025-01-01 00:30) is not on the grid of the training rows, which go on from 2024-01-17 15:00 by the step of 1 hour",
    ],
    [
      "rows that do not follow one another",
      (forecaster) =>
        forecaster.forecast(2, { warmup: { series: series.subarray(0, 2), times: ["2025-01-01 00:00", "2025-01-01 02:00"] } }),
      "warmup.times[1] (2025-01-01 02:00) is 2 steps after the row before it; rows follow one another by the step of 1 hour",
    ],
    [
      "known inputs that it does not take",
      (forecaster) => forecaster.forecast(2, { known: known.subarray(0, 2) }),
      "known was given; this forecaster was trained without known inputs beside the calendar",
    ],
  ])("%s: a forecast by the calendar is refused", async (_, work, sentence) => {
    await using forecaster = await fitTimed({ calendar });
    expect(await message(() => work(forecaster))).toContain(sentence);
  });

  it("known inputs that end before the horizon are refused, with the first stamp that is missing", async () => {
    await using forecaster = await Forecaster.fit({ series, known: known.subarray(0, rows), times }, options);
    expect(await message(() => forecaster.forecast(24, { known: known.subarray(rows, rows + 20) }))).toContain(
      "known has 20 rows; 24 steps take as many; the first that is missing is that of 2024-01-18 12:00",
    );
    expect(await message(() => forecaster.forecast(24))).toContain("the first that is missing is that of 2024-01-17 16:00");
    const timed = { values: known.subarray(rows, rows + 20), times: Array.from({ length: 20 }, (_, k) => hour(rows + k)) };
    expect(await message(() => forecaster.forecast(24, { known: timed }))).toContain("known has no row of 2024-01-18 12:00, step 21 of 24");
  });
});
