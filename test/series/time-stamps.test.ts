import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { closeGaps, describeAxis, readTimes, type TimeAxis, timesAfter } from "../../src/series/index.js";
import { formatStamp, parseStamp } from "../../src/series/time-form.js";
import { columnAfter, columnTexts, stepsAfter } from "../../src/series/time-grid.js";
import { itWithData } from "../data.js";
import { Random } from "../fuzz/random.js";

const stamp = (text: string, unit?: "s" | "ms") => {
  const read = parseStamp(text, unit);
  if (typeof read === "string") throw new Error(read);
  return read;
};
const following = (stamps: readonly string[], steps: number) => {
  const { grid } = readTimes(stamps);
  return timesAfter(grid, steps);
};
const columnOf = (folder: string, file: string) =>
  readFileSync(join(folder, "series", file), "utf8")
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => line.split(",")[0]!.replaceAll('"', ""));
const lastOf = (axis: TimeAxis) => columnTexts(axis).at(-1);

describe("a time stamp", () => {
  it.each([
    ["1949", "YYYY", Date.UTC(1949, 0, 1)],
    ["1949-03", "YYYY-MM", Date.UTC(1949, 2, 1)],
    ["2020-02-29", "YYYY-MM-DD", Date.UTC(2020, 1, 29)],
    ["2017-01-01 13:05", "YYYY-MM-DD hh:mm", Date.UTC(2017, 0, 1, 13, 5)],
    ["2017-01-01T13:05:09", "YYYY-MM-DDThh:mm:ss", Date.UTC(2017, 0, 1, 13, 5, 9)],
    ["2017-01-01T13:05:09.25Z", "YYYY-MM-DDThh:mm:ss.ffZ", Date.UTC(2017, 0, 1, 13, 5, 9, 250)],
    ["2017-01-01 13:05:09.250000", "YYYY-MM-DD hh:mm:ss.ffffff", Date.UTC(2017, 0, 1, 13, 5, 9, 250)],
    [" 1969-12-31 ", "YYYY-MM-DD", Date.UTC(1969, 11, 31)],
  ])("%s has the form %s and, without a zone, counts as UTC", (text, form, wall) => {
    expect(stamp(text)).toEqual({ form, wall, offset: 0 });
  });

  it.each([
    ["2017-01-01T13:00+01:00", "YYYY-MM-DDThh:mm+hh:mm", 60],
    ["2017-01-01T13:00-0930", "YYYY-MM-DDThh:mm+hhmm", -570],
    ["2017-01-01 13:00:00+05", "YYYY-MM-DD hh:mm:ss+hh", 300],
  ])("%s keeps what its clock shows and how far its zone is ahead", (text, form, offset) => {
    expect(stamp(text)).toEqual({ form, wall: Date.UTC(2017, 0, 1, 13), offset });
  });

  it.each([
    ["1483228800", "s", Date.UTC(2017, 0, 1)],
    ["1483228800.5", "s", Date.UTC(2017, 0, 1) + 500],
    ["-1.5", "s", -1500],
    ["1483228800000", "ms", Date.UTC(2017, 0, 1)],
  ] as const)("%s counts %s since 1970", (text, unit, wall) => {
    expect(stamp(text, unit)).toEqual({ form: unit, wall, offset: 0 });
  });

  it.each([
    ["2017-13-01", undefined, "there is no month 13"],
    ["2019-02-29", undefined, "2019-02 has 28 days"],
    ["1900-02-29", undefined, "1900-02 has 28 days"],
    ["2017-01-01 24:00", undefined, "hours go from 00 to 23"],
    ["2017-01-01 23:60", undefined, "minutes go from 00 to 59"],
    ["2017-01-01 23:59:60", undefined, "seconds go from 00 to 59"],
    ["2017-01-01 10:00+24:00", undefined, "a zone takes hours from 00 to 23"],
    ["2017-01-01 10:00:00.0001", undefined, "finer than a millisecond"],
    ["1483228800", undefined, 'give its unit: "s" or "ms"'],
    ["Jan 1 2000", undefined, "is no time stamp; it takes YYYY, YYYY-MM"],
    ["01.02.2000", undefined, "is no time stamp"],
    ["", undefined, "is no time stamp"],
    ["2017-01-01", "s", "is no number of seconds since 1970"],
    ["1483228800000", "s", "outside the years 0 to 9999; is s its unit?"],
  ] as const)("%s with unit %s is refused: %s", (text, unit, reason) => {
    expect(parseStamp(text, unit)).toContain(reason);
  });

  it("has the same text after it was read, in every form, year and zone", () => {
    const forms = ["YYYY", "YYYY-MM", "YYYY-MM-DD", "YYYY-MM-DD hh:mm", "YYYY-MM-DDThh:mm:ss", "YYYY-MM-DD hh:mm:ss.fffZ"];
    const zoned = ["YYYY-MM-DDThh:mm+hh:mm", "YYYY-MM-DD hh:mm:ss+hhmm"];
    for (let k = 0; k < 2000; k++) {
      const random = new Random("stamps", "1", k);
      const draw = () => random.word() / 2 ** 32;
      const form = [...forms, ...zoned, "s", "ms"][k % 10]!;
      const wall = Math.floor(-62_167_219_200_000 + draw() * 315_569_519_999_000);
      const offset = form.includes("+") ? Math.floor(draw() * 1680) - 840 : 0;
      const text = formatStamp({ form, wall, offset });
      const read = stamp(text, form === "s" || form === "ms" ? form : undefined);
      expect(read.form).toBe(form);
      expect(formatStamp(read)).toBe(text);
      // The machine's own calendar, which knows UTC alone here.
      if (form.length > 4)
        expect(text.slice(0, 10)).toBe(
          new Date(wall)
            .toISOString()
            .slice(0, 10)
            .slice(0, form.indexOf("DD") < 0 ? 7 : 10),
        );
    }
  });
});

describe("the step of a time column", () => {
  it.each([
    [["2001", "2002", "2003"], "step 1 year, 2001 to 2003, no gap"],
    [["2001-01", "2001-04", "2001-07"], "step 3 months, 2001-01 to 2001-07, no gap"],
    [["2020-01-31", "2020-02-29", "2020-03-31"], "step 1 month, 2020-01-31 to 2020-03-31, no gap"],
    [["2020-01-30", "2020-02-29", "2020-03-30"], "step 1 month, 2020-01-30 to 2020-03-30, no gap"],
    [["2020-02-27", "2020-02-28", "2020-02-29"], "step 1 day, 2020-02-27 to 2020-02-29, no gap"],
    [["2020-01-01", "2020-01-08", "2020-01-15"], "step 7 days, 2020-01-01 to 2020-01-15, no gap"],
    [["2020-01-01 00:00", "2020-01-01 00:15", "2020-01-01 00:30"], "step 15 minutes, 2020-01-01 00:00 to 2020-01-01 00:30, no gap"],
    [["2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 04:00"], "step 1 hour, 2020-01-01 00:00 to 2020-01-01 04:00, 1 gap of 2 rows"],
    [["2001-01", "2001-02", "2001-04", "2001-05"], "step 1 month, 2001-01 to 2001-05, 1 gap of 1 row"],
  ])("of %j: %s", (stamps, said) => {
    expect(describeAxis(readTimes(stamps))).toBe(said);
  });

  it("is an hour through both changes of daylight saving time, if the stamps say their zone", () => {
    const spring = ["2020-03-29T01:00+01:00", "2020-03-29T03:00+02:00", "2020-03-29T04:00+02:00"];
    const autumn = ["2020-10-25T02:00+02:00", "2020-10-25T02:00+01:00", "2020-10-25T03:00+01:00"];
    for (const stamps of [spring, autumn]) expect(describeAxis(readTimes(stamps))).toMatch(/^step 1 hour, .*no gap$/);
  });

  it("is a day or a month of the calendar through a change of daylight saving time", () => {
    expect(describeAxis(readTimes(["2020-03-28T00:00+01:00", "2020-03-29T00:00+01:00", "2020-03-30T00:00+02:00"]))).toContain("step 1 day");
    expect(describeAxis(readTimes(["2020-03-01T00:00+01:00", "2020-04-01T00:00+02:00", "2020-05-01T00:00+02:00"]))).toContain(
      "step 1 month",
    );
  });

  it("goes on as the calendar does, in the form and the zone of the last stamp", () => {
    expect(following(["2020-11", "2020-12"], 2)).toEqual(["2021-01", "2021-02"]);
    expect(following(["2019-12-31", "2020-01-31"], 3)).toEqual(["2020-02-29", "2020-03-31", "2020-04-30"]);
    expect(following(["2019-12-30", "2020-01-30"], 2)).toEqual(["2020-02-29", "2020-03-30"]);
    expect(following(["2019-02-28", "2020-02-28"], 1)).toEqual(["2021-02-28"]);
    expect(following(["2020-12-30 12:00", "2020-12-31 12:00"], 1)).toEqual(["2021-01-01 12:00"]);
    expect(following(["2020-10-25T02:00+02:00", "2020-10-25T02:00+01:00"], 1)).toEqual(["2020-10-25T03:00+01:00"]);
  });

  it("counts the steps to a stamp, and says which stamps are not on its grid", () => {
    const { grid } = readTimes(["2020-01-31", "2020-02-29"]);
    const steps = (text: string) => stepsAfter(grid, stamp(text).wall, stamp(text).offset);
    expect([steps("2020-02-29"), steps("2020-03-31"), steps("2019-12-31"), steps("2020-03-30")]).toEqual([0, 1, -2, undefined]);
    for (let k = 1; k < 40; k++) expect(stepsAfter(grid, columnAfter(grid, k).wall[k - 1]!, 0)).toBe(k);
  });

  it("takes dates and numbers of a unit as stamps too", () => {
    expect(describeAxis(readTimes([new Date(0), new Date(1000)]))).toContain("step 1 second");
    expect(describeAxis(readTimes([0, 3600, 7200], { unit: "s" }))).toBe("step 1 hour, 0 to 7200, no gap");
  });

  it("does not go beyond the year 9999", () => {
    expect(() => following(["9998", "9999"], 1)).toThrow("1 steps after 9999 lie beyond the year 9999");
  });
});

describe("time stamps that are no series", () => {
  it.each([
    [["2020-01-01", "2020-01"], 'times[1]: "2020-01" has the form YYYY-MM and the rows before it YYYY-MM-DD; a column takes one form'],
    [["2020-01-01", "soon"], 'times[1]: "soon" is no time stamp'],
    [
      ["2020-01-03", "2020-01-02", "2020-01-01"],
      "times[1] (2020-01-02) is earlier than the row before it, and so is every row: turn the rows round",
    ],
    [
      ["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-02"],
      "times[2] (2020-01-01) is earlier than the row before it; it is the only such row. Sort the rows; or are these several series?",
    ],
    [
      ["2020-01-01", "2020-01-01", "2020-01-02", "2020-01-02"],
      "times[1] (2020-01-01) has the time of the row before it; there are 2 such rows. Leave repeated rows out",
    ],
    [
      ["2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 02:00", "2020-01-01 02:30"],
      "times[3] (2020-01-01 02:30) comes 30 minutes after the row before it, which is no multiple of the step of 1 hour",
    ],
    [["2020"], "the time stamps of 1 row have no step; it takes at least two rows"],
  ])("%j: %s", (stamps, sentence) => {
    expect(() => readTimes(stamps)).toThrow(sentence);
  });
});

describe("gaps", () => {
  const times = readTimes(["2020-01-01", "2020-01-02", "2020-01-05", "2020-01-06"]);
  const series = Matrix.from([[1], [2], [8], [9]], "float64");
  const close = (policy: "error" | "interpolate" | "hold" | "split") => closeGaps({ series, times }, policy);

  it("are refused by their row and number", () => {
    expect(() => close("error")).toThrow(
      'times[2] (2020-01-05): 2 rows before it are missing, at a step of 1 day; it is the only gap. Set `gaps` to "interpolate", "hold" or "split"',
    );
  });

  it("are filled by a line, or by the last row", () => {
    expect([...close("interpolate")[0]!.series.data]).toEqual([1, 2, 4, 6, 8, 9]);
    const [held] = close("hold");
    expect([...held!.series.data]).toEqual([1, 2, 2, 2, 8, 9]);
    expect(describeAxis(held!.times)).toBe("step 1 day, 2020-01-01 to 2020-01-06, no gap");
    expect(columnTexts(held!.times)).toEqual(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05", "2020-01-06"]);
  });

  it("split a series into parts", () => {
    const parts = close("split");
    expect(parts.map((part) => [...part.series.data])).toEqual([
      [1, 2],
      [8, 9],
    ]);
    expect(parts.map((part) => describeAxis(part.times))).toEqual([
      "step 1 day, 2020-01-01 to 2020-01-02, no gap",
      "step 1 day, 2020-01-05 to 2020-01-06, no gap",
    ]);
  });

  it("are not filled with more rows than there are", () => {
    const wide = readTimes(["2020-01-01", "2020-01-02", "9999-01-01"]);
    const three = Matrix.from([[1], [2], [3]], "float64");
    expect(() => closeGaps({ series: three, times: wide }, "hold")).toThrow(
      "the gaps take 2914268 rows and the series has 3; filling takes at most as many",
    );
  });
});

describe("published tables", () => {
  itWithData("the load of France is an hourly table without a gap", "load_rte", (folder) => {
    const column = columnOf(folder, "load_rte.csv");
    expect(column).toHaveLength(17_520);
    const axis = readTimes(column);
    expect(describeAxis(axis)).toBe("step 1 hour, 2017-01-01 00:00:00 to 2018-12-31 23:00:00, no gap");
    expect(columnTexts(axis)).toEqual(column);
  });

  itWithData("each seventh row deleted leaves 2,502 gaps of one hour", "load_rte", (folder) => {
    const axis = readTimes(columnOf(folder, "load_rte.csv").filter((_, row) => row % 7 !== 6));
    expect(axis.gaps).toHaveLength(2502);
    expect(axis.gaps.every(({ missing }) => missing === 1)).toBe(true);
    expect(lastOf(axis)).toBe("2018-12-31 23:00:00");
  });

  itWithData("rows that are turned round or repeated are refused", "load_rte", (folder) => {
    const column = columnOf(folder, "load_rte.csv");
    expect(() => readTimes(column.toReversed())).toThrow(
      "times[1] (2018-12-31 22:00:00) is earlier than the row before it, and so is every row",
    );
    const twice = column.flatMap((text, row) => (row < 500 ? [text, text] : [text]));
    expect(() => readTimes(twice)).toThrow("times[1] (2017-01-01 00:00:00) has the time of the row before it; there are 500 such rows");
    expect(() => readTimes([...column.slice(0, 500), ...column])).toThrow(
      "times[500] (2017-01-01 00:00:00) is earlier than the row before it; it is the only",
    );
  });

  itWithData("the sunspots are monthly", "monthly-sunspots", (folder) => {
    const column = columnOf(folder, "monthly-sunspots.csv");
    const axis = readTimes(column);
    expect(column).toHaveLength(2820);
    expect(describeAxis(axis)).toBe("step 1 month, 1749-01 to 1983-12, no gap");
    expect(timesAfter(axis.grid, 2)).toEqual(["1984-01", "1984-02"]);
  });

  itWithData("the transformer temperatures are hourly", "ETTh1", (folder) => {
    expect(describeAxis(readTimes(columnOf(folder, "ETTh1.csv")))).toBe("step 1 hour, 2016-07-01 00:00:00 to 2018-06-26 19:00:00, no gap");
  });
});
