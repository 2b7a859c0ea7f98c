import { describe, expect, it } from "vitest";
import { type CalendarFeature, calendarColumns, calendarInputs, calendarKind, checkCalendar } from "../../src/series/calendar.js";
import { readTimes } from "../../src/series/index.js";

const inputs = (features: readonly CalendarFeature[], ...stamps: string[]) => {
  const { wall } = readTimes(
    stamps.length > 1 ? stamps : [stamps[0]!, "9999-12-31"].map((text) => text.padEnd(stamps[0]!.length, " 00:00")),
  );
  return calendarInputs(features, wall.subarray(0, stamps.length));
};
const row = (features: readonly CalendarFeature[], stamp: string) => [...inputs(features, stamp).row(0)];
const pairs = (turn: number, harmonics: number) =>
  Array.from({ length: 2 * harmonics }, (_, k) => (k % 2 === 0 ? Math.sin : Math.cos)(2 * Math.PI * turn * (1 + Math.floor(k / 2))));
const close = (values: readonly number[], expected: readonly number[]) => {
  expect(values).toHaveLength(expected.length);
  values.forEach((value, k) => {
    expect(value).toBeCloseTo(expected[k]!, 12);
  });
};

describe("the calendar as inputs", () => {
  it("an hour is a place in the day, with two harmonics", () => close(row(["hour"], "2024-01-01 06:30"), pairs(6.5 / 24, 2)));

  it("a weekday is a place in the week that begins on Monday, with three harmonics", () => {
    close(row(["weekday"], "2024-01-01 00:00"), pairs(0, 3));
    close(row(["weekday"], "2024-01-03 06:00"), pairs(54 / 168, 3));
    close(row(["weekday"], "2024-01-07"), pairs(6 / 7, 3));
    close(row(["weekday"], "1969-12-31 12:00"), pairs(2.5 / 7, 3));
  });

  it("a day of the year is a share of that year, leap years too", () => {
    close(row(["yearday"], "2023-01-01 00:00"), pairs(0, 2));
    close(row(["yearday"], "2023-12-31 12:00"), pairs(364.5 / 365, 2));
    close(row(["yearday"], "2024-12-31 12:00"), pairs(365.5 / 366, 2));
  });

  it("holidays are 1, all day", () => {
    const features = [{ holidays: ["2024-12-25"] }];
    expect([...inputs(features, "2024-12-24 23:00", "2024-12-25 00:00", "2024-12-25 01:00").data]).toEqual([0, 1, 1]);
  });

  it("come in the order of the list, with as many harmonics as asked for", () => {
    const features: CalendarFeature[] = ["hour", { holidays: ["2024-01-01"] }, { cycle: "yearday", harmonics: 1 }];
    expect(calendarColumns(features)).toBe(7);
    close(row(features, "2024-01-01 12:00"), [...pairs(0.5, 2), 1, ...pairs(0.5 / 366, 1)]);
  });

  it("go by the clock that the stamps show", () => {
    const zoned = readTimes(["2024-01-01T06:00+05:00", "2024-01-01T07:00+05:00"]);
    close([...calendarInputs(["hour"], zoned.wall).row(0)], pairs(0.25, 2));
  });

  it("are the same bits for the same place in the cycle, years apart", () => {
    const bits = (stamp: string) => row(["hour", "weekday"], stamp);
    expect(bits("1999-01-04 05:00")).toEqual(bits("2024-01-01 05:00"));
  });
});

describe("a list of calendar features", () => {
  it.each([
    [["hour", { cycle: "weekday", harmonics: 2 }], undefined],
    [["minute"], 'calendar[0] is "minute"; it takes "hour", "weekday"'],
    [[{ cycle: "hour", harmonic: 2 }], 'unknown field "calendar[0].harmonic": did you mean "harmonics"?'],
    [[{ holidays: ["2024-02-30"] }], 'calendar[0].holidays[0] is "2024-02-30"; it takes a day as YYYY-MM-DD'],
    ["hour", 'calendar is "hour"; it takes a list of'],
  ])("%j: %s", (value, sentence) => {
    const read = () => calendarKind.read(value, "calendar");
    if (sentence) expect(read).toThrow(sentence);
    else expect(read()).toEqual(value);
  });

  it.each([
    ["hour", ["2024-01-01", "2024-01-02"], 'calendar[0] is "hour"; it takes a step below a day; the rows are 1 day apart'],
    ["weekday", ["2024-01-01", "2024-01-08"], 'calendar[0] is "weekday"; it takes a step below a week; the rows are 7 days apart'],
    ["weekday", ["2024-01", "2024-02"], "a step below a week; the rows are 1 month apart"],
    ["yearday", ["2024", "2025"], "a step below a year; the rows are 1 year apart"],
  ] as const)("%s says nothing of rows at %j", (feature, stamps, sentence) => {
    expect(() => checkCalendar([feature], readTimes(stamps).grid.step)).toThrow(sentence);
  });

  it("suits its step", () => {
    checkCalendar(["hour", "weekday", "yearday"], readTimes(["2024-01-01 00:00", "2024-01-01 01:00"]).grid.step);
    checkCalendar(["weekday", "yearday"], readTimes(["2024-01-01", "2024-01-02"]).grid.step);
    checkCalendar(["yearday"], readTimes(["2024-01", "2024-02"]).grid.step);
  });
});
