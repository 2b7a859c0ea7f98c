// The protocol of the dysts benchmark, over three systems of our own integrator: with fixed
// candidates the choice and the forecasts have the same bits everywhere.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { choose, choosingSeries, forecast, medians, parseWithNaN, smape } from "../../bench/accuracy/dysts-protocol.mjs";
import { lorenz, mackeyGlass, rossler } from "../../src/index.js";

const column = (matrix: { column(c: number): Float64Array }) => Array.from(matrix.column(0));
/** 180 rows of a train and of a test trajectory, some 15 a period. */
const systems: Record<string, (discard: number) => number[]> = {
  Lorenz: (discard) => column(lorenz(180, { dt: 0.05, discard })),
  Rossler: (discard) => column(rossler(180, { dt: 0.4, discard })),
  MackeyGlass: (discard) => column(mackeyGlass(180 * 3 + discard, { tau: 17 })).filter((_, t) => t >= discard && (t - discard) % 3 === 0),
};
/** SHA-256 of the scores of all candidates and of the median forecast, first 16 digits. */
const bits = { Lorenz: "c2386c87db9a5999", Rossler: "8cd9ff7a34c0b3a2", MackeyGlass: "77b5f225256d8fc8" };

describe("the dysts protocol", () => {
  it.each(Object.keys(systems))("has the same bits for %s", async (name) => {
    const [train, test] = [systems[name]!(200), systems[name]!(900)];
    const tried = await choose(name, 0, train, 3);
    const forecasts = [];
    for (const { settings } of tried) forecasts.push(await forecast(settings, test));
    const numbers = Float64Array.from([
      ...tried.flatMap(({ k, score }: { k: number; score: number }) => [k, score]),
      ...medians(forecasts),
    ]);
    expect(createHash("sha256").update(new Uint8Array(numbers.buffer)).digest("hex").slice(0, 16)).toBe(bits[name as keyof typeof bits]);
  });

  it("scores 0 for what is right, 200 for another sign, and 100 for a third", () => {
    expect(smape([1, -2], [1, -2])).toBe(0);
    expect(smape([1, -2], [-1, 2])).toBe(200);
    expect(smape([3, 3], [1, 1])).toBe(100);
    expect(smape([0], [0])).toBe(0);
  });

  it("reads bare NaN, and then takes the first rows of the test series to choose by", () => {
    const { values } = parseWithNaN('{"values": [1, NaN,\n NaN], "name": "NaN, or not"}');
    expect(values).toEqual([1, null, null]);
    expect(
      choosingSeries(
        values,
        Array.from({ length: 180 }, (_, t) => t),
      ),
    ).toHaveLength(150);
    expect(choosingSeries([1, 2], [3, 4])).toEqual([1, 2]);
  });
});
