// Series and horizons that cannot be forecast as asked: each is refused by a sentence that names the
// field and says what to do. test/cli/bad-forecasts.test.ts has them on the command line.
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions } from "../../src/index.js";
import { readTimes } from "../../src/series/index.js";

const rows = 60;
const value = (t: number) => 10 + Math.sin(0.9 * t) + ((t * 7) % 5);
const day = (t: number) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10);
/** Minutes between rows that have no step in common. */
const odd = (t: number) => new Date(Date.UTC(2024, 0, 1, 0, t * t * 7919 + t)).toISOString().slice(0, 16);
const of = <T>(count: number, each: (t: number) => T) => Array.from({ length: count }, (_, t) => each(t));
const series = of(rows, (t) => [value(t)]);
const constant = of(rows, () => [5]);
const halfMissing = of(rows, (t) => [value(t), Number.NaN]);
const known = of(rows, (t) => [t % 5]);
const how = { horizon: 4, members: ["theta", "ets"] } as const;
const loop = { horizon: 4, members: ["loop"] } as const;
const trained = (data: Parameters<typeof Forecaster.fit>[0], options: ForecasterOptions = how) => Forecaster.fit(data, options);

describe("a forecaster", () => {
  it.each<[string, () => Promise<unknown>, string, RegExp]>([
    [
      "a horizon longer than the data",
      () => trained(series, { ...how, horizon: 5000 }),
      "horizon",
      /at most 1000 for a series of 60 rows; take fewer steps, or more rows/,
    ],
    [
      "one of a loop",
      () => trained(series, { ...loop, horizon: 100 }),
      "horizon",
      /Take a shorter horizon, a shorter washout or more rows/,
    ],
    ["a constant series of a loop", () => trained(constant, loop), "horizon", /never changes in its training part.*; leave horizon out/],
    [
      "a column without a value",
      () => trained(halfMissing, { ...how, missing: "hold" }),
      "missing",
      /series\[0\]\[1\]: all 60 values of this column are missing; leave the column out/,
    ],
    ["stamps that fit no step", () => trained({ series, times: of(rows, odd) }), "times", /Bring the rows to one step first/],
    [
      "an unknown zone",
      async () => readTimes(of(3, day), { zone: "Mars/Phobos" }),
      "zone",
      /zone is "Mars\/Phobos"; it takes the name of a time zone, such as "Europe\/Berlin"/,
    ],
  ])("refuses %s", async (_, work, field, message) => {
    await expect(work()).rejects.toMatchObject({ name: "ArgumentError", field, message: expect.stringMatching(message) });
  });

  it("forecasts a constant series by itself, since members other than the loop need no change", async () => {
    await using model = await trained(constant, { horizon: 4 });
    expect([...(await model.forecast(4)).data]).toEqual([5, 5, 5, 5]);
  });

  it("refuses covariates that end before the horizon, by number and by stamp", async () => {
    await using plain = await trained({ series, known });
    await expect(plain.forecast(4, { known: known.slice(0, 2) })).rejects.toThrow(
      "known has 2 rows; 4 steps take as many; add them, or forecast fewer steps",
    );
    await using timed = await trained({ series, known, times: of(rows, day) });
    const two = { values: known.slice(0, 2), times: [day(rows), day(rows + 1)] };
    await expect(timed.forecast(4, { known: two })).rejects.toThrow(
      "known has no row of 2024-03-03, step 3 of 4; it takes one a step: add it, or forecast fewer",
    );
  });
});
