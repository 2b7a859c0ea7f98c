// Stamps that a local clock shows. The offsets are those of the laws: the European Union changes at
// 01:00 UTC of the last Sundays of March and October (directive 2000/84/EC), Victoria at 02:00
// standard time (16:00 UTC of the day before) of the first Sundays of October and April (since
// 2008).
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { calendarInputs } from "../../src/series/calendar.js";
import { closeGaps, describeAxis, readTimes, timesAfter } from "../../src/series/index.js";
import { zonesExplaining } from "../../src/series/local-times.js";
import { axisOnGrid, stampsOnGrid } from "../../src/series/on-grid.js";
import { readTimeColumn } from "../../src/series/time-stamps.js";
import { offsetAt, offsetsShowing } from "../../src/series/time-zone.js";
import { amount } from "../exhaustive.js";

const hour = 3_600_000;
const sundays = new Map<string, number>();
/** The n-th Sunday of a month (1 to 12), or its last one (-1), at midnight UTC. */
function sunday(year: number, month: number, n: number): number {
  const key = `${year} ${month} ${n}`;
  if (!sundays.has(key)) sundays.set(key, findSunday(year, month, n));
  return sundays.get(key)!;
}
function findSunday(year: number, month: number, n: number): number {
  const days = Array.from({ length: 31 }, (_, k) => new Date(Date.UTC(year, month - 1, k + 1)));
  const found = days.filter((day) => day.getUTCMonth() === month - 1 && day.getUTCDay() === 0);
  return found.at(n < 0 ? n : n - 1)!.getTime();
}
const berlin = (instant: number) => {
  const year = new Date(instant).getUTCFullYear();
  return instant >= sunday(year, 3, -1) + hour && instant < sunday(year, 10, -1) + hour ? 120 : 60;
};
const melbourne = (instant: number) => {
  const year = new Date(instant).getUTCFullYear();
  return instant >= sunday(year, 4, 1) - 8 * hour && instant < sunday(year, 10, 1) - 8 * hour ? 600 : 660;
};
/** What the clock on the wall shows, as text. */
const shown = (instant: number, offset: number, form: "iso" | "de" = "iso") => {
  const text = new Date(instant + offset * 60_000).toISOString().slice(0, 16).replace("T", " ");
  return form === "iso" ? text : text.replace(/(\d+)-(\d+)-(\d+)/, "$3.$2.$1");
};
const zones = [
  ["Europe/Berlin", berlin, Date.UTC(1996, 0, 1), Date.UTC(2036, 0, 1)],
  ["Australia/Melbourne", melbourne, Date.UTC(2008, 5, 1), Date.UTC(2036, 0, 1)],
] as const;

describe.each(zones)("the clock of %s", (zone, law, from, to) => {
  it("is ahead of UTC by what the law says, at any instant and about each change", () => {
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (instant) => offsetAt(zone, instant) === law(instant)),
      { numRuns: amount(2000, 500) },
    );
    for (let instant = from; instant < to; instant += hour)
      if (law(instant) !== law(instant - hour))
        expect([offsetAt(zone, instant - 1), offsetAt(zone, instant)]).toEqual([law(instant - hour), law(instant)]);
  });

  it("tells instants apart by their order, whatever the step and the start", () => {
    const steps = fc.constantFrom(15, 30, 60, 120).map((minutes) => minutes * 60_000);
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: from / hour, max: to / hour - 9000 }),
        fc.integer({ min: 2, max: 9000 }),
        (step, start, rows) => {
          const instants = Array.from({ length: rows }, (_, t) => start * hour + t * step);
          const axis = readTimes(
            instants.map((instant) => shown(instant, law(instant))),
            { zone },
          );
          expect(Array.from(axis.wall, (wall, row) => wall - axis.offsets![row]! * 60_000)).toEqual(instants);
          expect([axis.gaps, axis.grid.step]).toEqual([[], { count: step, unit: "ms" }]);
          const ahead = Array.from({ length: 100 }, (_, k) => start * hour + (rows + k) * step);
          expect(timesAfter(axis.grid, 100)).toEqual(ahead.map((instant) => shown(instant, law(instant))));
        },
      ),
      { numRuns: amount(40, 10) },
    );
  });

  it("shows the repeated hour twice and the missing one never", () => {
    const change =
      sunday(2024, zone === "Europe/Berlin" ? 10 : 4, zone === "Europe/Berlin" ? -1 : 1) + (zone === "Europe/Berlin" ? hour : -8 * hour);
    const wall = change + law(change) * 60_000;
    expect(offsetsShowing(zone, wall)).toEqual([law(change - 1), law(change)]);
    expect(offsetsShowing(zone, wall + hour)).toEqual([law(change)]);
    const spring =
      sunday(2024, zone === "Europe/Berlin" ? 3 : 10, zone === "Europe/Berlin" ? -1 : 1) + (zone === "Europe/Berlin" ? hour : -8 * hour);
    const left = spring + law(spring - 1) * 60_000;
    expect(offsetsShowing(zone, left)).toEqual([]);
    expect(() => readTimes([shown(left - hour, 0), shown(left, 0)], { zone })).toThrow(`its clock left that hour out`);
  });
});

/** The hours of Berlin about the end of daylight saving time in 2024, as its clock shows them. */
const autumn = Array.from({ length: 72 }, (_, t) => Date.UTC(2024, 9, 26) + t * hour);
const autumnTexts = autumn.map((instant) => shown(instant, berlin(instant), "de"));
const reading = { zone: "Europe/Berlin", format: "DD.MM.YYYY hh:mm" };

describe("a column of a local clock", () => {
  it("is said with its zone", () => {
    expect(describeAxis(readTimes(autumnTexts, reading))).toBe(
      "step 1 hour, 26.10.2024 02:00 to 29.10.2024 00:00, clock of Europe/Berlin, no gap",
    );
  });

  it("has gaps where rows are missing, and fills them on its clock", () => {
    const kept = autumnTexts.filter((_, t) => t < 23 || t > 25);
    const times = readTimes(kept, reading);
    expect(times.gaps).toEqual([{ row: 23, missing: 3 }]);
    const [filled] = closeGaps({ series: Matrix.zeros(kept.length, 1), times }, "hold");
    expect(Array.from(filled!.times.wall, (wall, row) => wall - filled!.times.offsets![row]! * 60_000)).toEqual(autumn);
  });

  it("gives the calendar the hour that the clock shows", () => {
    const { wall } = readTimes(autumnTexts, reading);
    const hourOf = (t: number) => (new Date(autumn[t]!).getUTCHours() + berlin(autumn[t]!) / 60) % 24;
    const inputs = calendarInputs([{ cycle: "hour", harmonics: 1 }], wall);
    for (let t = 0; t < autumn.length; t++) expect(inputs.data[2 * t]).toBeCloseTo(Math.sin((2 * Math.PI * hourOf(t)) / 24), 12);
  });

  it("keeps the time of the day from day to day, and the day from month to month", () => {
    const daily = readTimes(["2024-10-25 18:00", "2024-10-26 18:00"], { zone: "Europe/Berlin" });
    expect(daily.grid.step).toEqual({ count: 1, unit: "days" });
    expect(timesAfter(daily.grid, 2)).toEqual(["2024-10-27 18:00", "2024-10-28 18:00"]);
    const monthly = readTimes(["2024-01-31", "2024-02-29"], { zone: "Europe/Berlin" });
    expect(timesAfter(monthly.grid, 2)).toEqual(["2024-03-31", "2024-04-30"]);
  });

  it.each([
    ["UTC", (instant: number) => `${new Date(instant).toISOString().slice(0, 16)}Z`],
    ["seconds since 1970", (instant: number) => String(instant / 1000)],
    ["a zone of its own", (instant: number) => `${shown(instant, 330)}+05:30`],
  ])("may be written in %s: the calendar takes the zone, the stamps stay what they are", (_, write) => {
    const unit = write(0) === "0" ? "s" : undefined;
    const axis = readTimes(autumn.map(write), { zone: "Europe/Berlin", unit });
    expect(Array.from(axis.wall, (wall) => new Date(wall).getUTCHours())).toEqual(
      autumn.map((each) => new Date(each + berlin(each) * 60_000).getUTCHours()),
    );
    if (!write(0).includes("+")) expect(timesAfter(axis.grid, 1)).toEqual([write(autumn.at(-1)! + hour)]);
  });

  it("goes on from the grid of a model, read with its zone and form or without", () => {
    const trained = readTimes(autumnTexts.slice(0, 20), reading).grid;
    const later = axisOnGrid(readTimeColumn(autumnTexts.slice(20, 40), { format: reading.format }), trained);
    expect([later.gaps, later.grid.offset]).toEqual([[], 60]);
    expect(stampsOnGrid({ start: autumnTexts[20]! }, trained, 30, "rows")!.wall).toEqual(
      readTimes(autumnTexts.slice(20, 50), reading).wall,
    );
  });

  it("is recognised by the hours that are repeated and left out", () => {
    const year = (law: (instant: number) => number, step: number) =>
      readTimeColumn(
        Array.from({ length: 17_520 / (step / (hour / 2)) }, (_, t) => Date.UTC(2012, 0, 1) + t * step).map((each) =>
          shown(each, law(each)),
        ),
      );
    expect(zonesExplaining(year(berlin, hour), hour)).toContain("Europe/Berlin");
    expect(zonesExplaining(year(berlin, hour), hour)).not.toContain("America/New_York");
    expect(zonesExplaining(year(melbourne, hour / 2), hour / 2)).toContain("Australia/Melbourne");
    const machine = vi.spyOn(Intl.DateTimeFormat.prototype, "resolvedOptions");
    for (const timeZone of ["Australia/Melbourne", "Europe/Berlin"]) {
      machine.mockReturnValue({ timeZone } as Intl.ResolvedDateTimeFormatOptions);
      const [first] = zonesExplaining(year(melbourne, hour / 2), hour / 2);
      expect(first === timeZone).toBe(timeZone === "Australia/Melbourne");
    }
    machine.mockRestore();
    // Rows that are merely out of order are no clock.
    const column = readTimeColumn(["2012-01-01 00:00", "2012-01-01 01:00", "2012-01-01 00:00", "2012-01-01 02:00"]);
    expect(zonesExplaining(column, hour)).toEqual([]);
  });

  it("takes a zone that there is", () => {
    expect(() => readTimes(["2024-01-01", "2024-01-02"], { zone: "Europe/Berln" })).toThrow(
      'zone is "Europe/Berln"; it takes the name of a time zone, such as "Europe/Berlin"',
    );
  });
});
