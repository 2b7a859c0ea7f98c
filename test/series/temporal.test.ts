// Values of Temporal where dates are taken: of the runtime if it has them, else of a polyfill.
import { Temporal } from "temporal-polyfill";
import { describe, expect, it } from "vitest";
import { AnomalyDetector, Forecaster } from "../../src/model/index.js";
import { readTimes } from "../../src/series/index.js";
import "../../src/index.js";

const count = 48;
const first = Temporal.Instant.from("2024-03-30T12:00:00Z");
const instants = Array.from({ length: count }, (_, t) => first.add({ hours: t }));
const berlin = instants.map((instant) => instant.toZonedDateTimeISO("Europe/Berlin"));
const clocks = berlin.map((time) => time.toPlainDateTime());
const dates = instants.map((instant) => new Date(instant.epochMilliseconds));

describe("values of Temporal", () => {
  it("are the same instants as dates", () => {
    expect(readTimes(instants)).toEqual(readTimes(dates));
    const { wall, offsets, grid } = readTimes(berlin);
    expect(Array.from(wall, (at, t) => at - offsets![t]! * 60_000)).toEqual(dates.map(Number));
    // The clock went from two to three on 31 March.
    expect([offsets![0], offsets![count - 1], grid.step]).toEqual([60, 120, { count: 3_600_000, unit: "ms" }]);
  });

  it("without a zone show the clock of `zone`", () => {
    const axis = readTimes(clocks, { zone: "Europe/Berlin" });
    expect(Array.from(axis.wall, (at, t) => at - axis.offsets![t]! * 60_000)).toEqual(dates.map(Number));
    expect(readTimes(instants, { zone: "Europe/Berlin" }).wall).toEqual(axis.wall);
  });

  it("are days and months, of any calendar", () => {
    const days = Array.from({ length: 5 }, (_, t) => Temporal.PlainDate.from("2024-02-27").add({ days: t }));
    expect(readTimes(days)).toEqual(readTimes(days.map(String)));
    expect(readTimes(days.map((day) => day.withCalendar("gregory")))).toEqual(readTimes(days));
    const months = Array.from({ length: 5 }, (_, t) => Temporal.PlainYearMonth.from("2023-11").add({ months: t }));
    expect(readTimes(months).grid.step).toEqual({ count: 1, unit: "months" });
  });

  it("keep one form with and without fractions, and are refused below a millisecond", () => {
    const halves = Array.from({ length: 6 }, (_, t) => first.add({ milliseconds: 500 * t }));
    expect(readTimes(halves).grid.step).toEqual({ count: 500, unit: "ms" });
    expect(() => readTimes([first, first.add({ microseconds: 1 })])).toThrow("times[1]");
    expect(() => readTimes([first, Temporal.PlainTime.from("12:00") as never])).toThrow("it takes text, a date, a value of Temporal");
    expect(() => readTimes([first, clocks[0]!])).toThrow("a column takes one form");
  });

  it("are times of a forecast and of a detector", async () => {
    const series = instants.map((_, t) => Math.sin(t / 3));
    const ahead = [];
    for (const times of [dates, instants]) {
      await using forecaster = await Forecaster.create({ reservoir: { size: 20 }, washout: 4 });
      await forecaster.fit({ series, times });
      ahead.push((await forecaster.forecast(3)).toArrays());
    }
    expect(ahead[1]).toEqual(ahead[0]);
    const said = [];
    for (const times of [dates, instants]) {
      const detector = await AnomalyDetector.create({ columns: ["x"], warmUp: 40 });
      said.push(detector.detect(series, { times }));
      expect(() => detector.update([0], Temporal.PlainTime.from("12:00") as never)).toThrow("a value of Temporal");
    }
    const plain = (each: unknown) => JSON.stringify(each).replaceAll(".000Z", "Z");
    expect(plain(said[1])).toBe(plain(said[0]));
  });
});
