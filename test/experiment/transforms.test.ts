import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestLookAhead, transformSeries } from "../../src/experiment/transforms.js";
import { Matrix } from "../../src/numerics/index.js";

const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));

describe("transforms of a series", () => {
  it("squash is y -> tanh(y - 1)", () => {
    // Jaeger 2001, section 6; tanh(0.2) = 0.197375320224904.
    const { series } = transformSeries(column(1, 1.2), ["squash"]);
    expect(series.data[0]).toBe(0);
    expect(series.data[1]).toBeCloseTo(0.197375320224904, 15);
  });

  it("difference takes the value `lag` rows before away, and loses as many rows", () => {
    const { series, original, lost } = transformSeries(column(1, 2, 4, 8, 16), [{ difference: 2 }]);
    expect([...series.data]).toEqual([3, 6, 12]);
    expect([...original.data]).toEqual([4, 8, 16]);
    expect(lost).toBe(2);
  });

  it("undone on the true values, they give the series again, in one step and in closed loop", () => {
    const transforms = fc.array(fc.constantFrom("squash" as const, { difference: 1 }, { difference: 3 }), { maxLength: 3 });
    const values = fc.array(fc.double({ min: -1, max: 2, noNaN: true }), { minLength: 20, maxLength: 40 });
    fc.assert(
      fc.property(values, transforms, fc.nat(5), fc.boolean(), (data, list, start, closedLoop) => {
        const { series, original, undo } = transformSeries(column(...data), list);
        const restored = undo(series.subarray(start), start, closedLoop);
        restored.data.forEach((value, t) => {
          expect(value).toBeCloseTo(original.data[start + t]!, 9);
        });
      }),
    );
  });

  it("in closed loop, differences are added to what was predicted before", () => {
    const { undo } = transformSeries(column(10, 11, 12, 13), [{ difference: 2 }]);
    // Row 0 of the differences is time 2: 10 + 1, 11 + 1, then 11 + 1 and 12 + 1 of the predictions
    // themselves.
    expect([...undo(column(1, 1, 1, 1), 0, true).data]).toEqual([11, 12, 12, 13]);
  });

  it("in one step, every earlier value is the true one", () => {
    const { undo } = transformSeries(column(10, 20, 30, 40, 50), [{ difference: 1 }]);
    expect([...undo(column(1, 1, 1, 1), 0, false).data]).toEqual([11, 21, 31, 41]);
  });

  it("undoing squash holds predictions inside (-1, 1), so that none is infinite", () => {
    const { undo } = transformSeries(column(1, 1), ["squash"]);
    expect(undo(column(1.5, -2), 0, true).data.every(Number.isFinite)).toBe(true);
  });

  it("a difference longer than the series is refused", () => {
    expect(() => transformSeries(column(1, 2), [{ difference: 2 }])).toThrow(
      "a difference of 2 rows takes a longer series; this one has 2 rows",
    );
  });

  it("a one-step prediction may look as far ahead as the shortest difference", () => {
    expect(longestLookAhead([{ difference: 12 }, "standardise", { difference: 3 }])).toBe(3);
    expect(longestLookAhead(["squash"])).toBe(Number.POSITIVE_INFINITY);
  });
});
