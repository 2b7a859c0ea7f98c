// The axes of SVG figures: ticks of time at round times, each with a label of its own; names fit.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toSvg } from "../../src/plot/index.js";
import { dateTicks } from "../../src/plot/svg/scale.js";

const labels = (from: string, to: string) => dateTicks(Date.parse(from), Date.parse(to)).map(({ label }) => label);

describe("the ticks of a time axis", () => {
  it.each([
    ["2026-03-26T11:00Z", "2026-03-30T07:00Z", ["2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30"]],
    ["2026-01-01T10:02Z", "2026-01-01T11:00Z", ["10:10", "10:20", "10:30", "10:40", "10:50", "11:00"]],
    ["2007-02-01T00:00Z", "2020-01-01T00:00Z", ["2008", "2010", "2012", "2014", "2016", "2018", "2020"]],
    ["2025-11-15T00:00Z", "2026-10-01T00:00Z", ["2026-01", "2026-03", "2026-05", "2026-07", "2026-09"]],
    ["2026-01-01T00:00:00.100Z", "2026-01-01T00:00:01.100Z", ["00.200", "00.400", "00.600", "00.800", "01.000"]],
  ])("from %s to %s", (from, to, expected) => {
    expect(labels(from, to)).toEqual(expected);
  });

  it("lie within the range, in order, one to ten of them, and no two have one label", () => {
    const range = fc.tuple(fc.integer({ min: 0, max: 4_000_000_000_000 }), fc.integer({ min: 60, max: 3_000_000_000_000 }));
    fc.assert(
      fc.property(range, ([low, span]) => {
        const ticks = dateTicks(low, low + span);
        expect(ticks.length).toBeGreaterThanOrEqual(1);
        expect(ticks.length).toBeLessThanOrEqual(10);
        for (const [k, { at }] of ticks.entries()) {
          expect(at >= low && at <= low + span).toBe(true);
          if (k > 0) expect(at).toBeGreaterThan(ticks[k - 1]!.at);
        }
        expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
      }),
    );
  });
});

it("names on the left of a panel are within the picture", () => {
  const name = "reservoir.spectralRadius";
  const data = [{ type: "bar", orientation: "h", x: [1, 2], y: [name, "b"] }];
  const svg = toSvg({ title: "Importance", description: "bars", data, layout: {} });
  const [, right] = new RegExp(`<text x="([\\d.]+)"[^>]*>${name}</text>`).exec(svg)!;
  // A letter of 12 px is at most 7 px wide on average.
  expect(Number(right)).toBeGreaterThanOrEqual(7 * name.length);
});
