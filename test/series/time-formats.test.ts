// Time stamps in forms that are named, and the forms that are proposed for a column.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTimes, timesAfter } from "../../src/series/index.js";
import { formatStamp, isIsoForm, isTimeForm, parseStamp } from "../../src/series/time-form.js";
import { fittingForms } from "../../src/series/time-formats.js";

// 17 March 2009, 16:05:09.250
const moment = Date.UTC(2009, 2, 17, 16, 5, 9, 250);
const minute = Date.UTC(2009, 2, 17, 16, 5);
const day = Date.UTC(2009, 2, 17);

const written: readonly (readonly [form: string, text: string, wall: number])[] = [
  ["DD.MM.YYYY", "17.03.2009", day],
  ["D.M.YYYY", "17.3.2009", day],
  ["MM/DD/YYYY", "03/17/2009", day],
  ["M/D/YY", "3/17/09", day],
  ["DD-MMM-YYYY", "17-Mar-2009", day],
  ["YYYYMMDD", "20090317", day],
  ["MMM D, YYYY", "Mar 17, 2009", day],
  ["MM/YYYY", "03/2009", Date.UTC(2009, 2, 1)],
  ["DD.MM.YYYY hh:mm", "17.03.2009 16:05", minute],
  ["DD/MM/YYYY h:mm A", "17/03/2009 4:05 PM", minute],
  ["YYYYMMDDThhmmZ", "20090317T1605Z", minute],
  ["DD.MM.YYYY hh:mm:ss.fff", "17.03.2009 16:05:09.250", moment],
];

describe("a form of time stamps", () => {
  it.each(written)("%s reads %s and writes it", (form, text, wall) => {
    expect(isTimeForm(form)).toBe(true);
    expect(parseStamp(text, undefined, form)).toEqual({ form, wall, offset: 0 });
    expect(formatStamp({ form, wall, offset: 0 })).toBe(text);
  });

  it("has the hours of noon and midnight of clocks with twelve hours", () => {
    const form = "YYYY-MM-DD h:mm A";
    for (const [text, hours] of [
      ["12:00 AM", 0],
      ["1:00 AM", 1],
      ["12:00 PM", 12],
      ["11:00 PM", 23],
    ] as const) {
      const wall = day + hours * 3_600_000;
      expect(parseStamp(`2009-03-17 ${text}`, undefined, form)).toEqual({ form, wall, offset: 0 });
      expect(formatStamp({ form, wall, offset: 0 })).toBe(`2009-03-17 ${text}`);
    }
  });

  it("takes years of two digits as from 1969 to 2068", () => {
    const year = (text: string) => new Date((parseStamp(text, undefined, "DD.MM.YY") as { wall: number }).wall).getUTCFullYear();
    expect(["01.01.69", "01.01.99", "01.01.00", "01.01.68"].map(year)).toEqual([1969, 1999, 2000, 2068]);
  });

  it("gives the stamp back that it wrote, at any time", () => {
    const forms = written.map(([form]) => form).filter((form) => form.includes("mm") && !form.includes("YY ") && form.includes("YYYY"));
    const walls = fc
      .integer({ min: Date.UTC(1970, 0, 1) / 60_000, max: Date.UTC(2069, 0, 1) / 60_000 - 1 })
      .map((minutes) => minutes * 60_000);
    fc.assert(
      fc.property(fc.constantFrom(...forms), walls, (form, wall) => {
        expect(parseStamp(formatStamp({ form, wall, offset: 0 }), undefined, form)).toEqual({ form, wall, offset: 0 });
      }),
    );
  });

  it.each([
    ["dd.mm.yyyy", "letters that are no part"],
    ["DD.MM", "no year"],
    ["YYYY hh", "an hour and no day"],
    ["YYYY-MM-DD mm", "minutes and no hour"],
    ["DD.MM.YYYY MMM", "the month twice"],
    ["YYYY-MM-DD hh:mm Uhr", "a word"],
    ["", "nothing"],
  ])("%s is none: it has %s", (form) => {
    expect(isTimeForm(form)).toBe(false);
    expect(() => readTimes(["01.01.2024", "02.01.2024"], { format: form })).toThrow("it takes the parts YYYY, YY, MM");
  });

  it("says of a stamp what is wrong", () => {
    expect(parseStamp("31.02.2024", undefined, "DD.MM.YYYY")).toBe("is no date: 2024-02 has 29 days");
    expect(parseStamp("13 PM", undefined, "DD.MM.YYYY h A")).toBe("is no time stamp of the form DD.MM.YYYY h A");
    expect(parseStamp("01.01.2024 13 PM", undefined, "DD.MM.YYYY h A")).toBe("is no time: hours with AM or PM go from 1 to 12");
    expect(parseStamp("2024-01-01", undefined, "DD.MM.YYYY")).toBe("is no time stamp of the form DD.MM.YYYY");
  });

  it("goes on in the same form", () => {
    expect(timesAfter(readTimes(["30/12/2023", "31/12/2023"], { format: "DD/MM/YYYY" }).grid, 1)).toEqual(["01/01/2024"]);
  });

  it("of ISO 8601 needs no name", () => {
    expect([isIsoForm("YYYY-MM-DDThh:mm:ss.fff+hh:mm"), isIsoForm("DD.MM.YYYY")]).toEqual([true, false]);
  });
});

describe("the forms that fit a column", () => {
  const days = Array.from({ length: 60 }, (_, t) => Date.UTC(2024, 0, 5 + t, 13, 30));
  it.each([
    "DD.MM.YYYY",
    "M/D/YYYY",
    "DD/MM/YYYY hh:mm",
    "D-MMM-YYYY",
    "M/D/YYYY h:mm A",
    "YYYYMMDD",
    "YYYY/MM/DD hh:mm:ss",
    "DD.MM.YY hh:mm",
  ])("are found by its days: %s", (form) => {
    expect(fittingForms(days.map((wall) => formatStamp({ form, wall, offset: 0 })))[0]).toBe(form);
  });

  it("begin with those in which the rows are in order", () => {
    // 1 to 3 February, or 2 January, February and March; then 1 February and 2 January, or 2 January
    // and 1 February.
    expect(fittingForms(["01/02/2024", "02/02/2024", "03/02/2024"]).slice(0, 2)).toEqual(["DD/MM/YYYY", "MM/DD/YYYY"]);
    expect(fittingForms(["01/02/2024", "02/01/2024"])[0]).toBe("MM/DD/YYYY");
  });

  it("are none for other texts", () => {
    expect(fittingForms(["Monday", "Tuesday"])).toEqual([]);
    expect(fittingForms(["01.01.2024", "x"])).toEqual([]);
  });
});
