// Sweeps by closed loops on the host: the scores are those of reservoirs and readouts run by hand.
import "../../src/index.js";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { type ForecastSweepOptions, sweepForecasts } from "../../src/model/index.js";
import { ridge } from "../../src/readout/index.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";

const long = mackeyGlass(260);
const rows = Array.from(long.data as Float64Array, (value) => value - 0.9);
const series = [rows.slice(0, 140), rows.slice(100, 220)];
const settings = [
  { spectralRadius: 0.5, leakRate: 0.7, lambda: 1e-6 },
  { spectralRadius: 1.1, inputScaling: 0.2, bias: 0.4, lambda: 1e-2 },
];
const options = { reservoir: { size: 30, connectionProbability: 0.3 }, seeds: [1, 2], settings, series, washout: 20, horizon: 8 };

/** One forecast as a user makes it. */
async function byHand(seed: number, setting: (typeof settings)[number], values: readonly number[], end: number, fitted: number) {
  const { lambda, ...own } = setting;
  await using computer = await ReservoirComputer.create({ ...options.reservoir, seed, ...own }, { engine: "cpu" });
  const states = await computer.run(values.slice(0, end));
  const targets = Float64Array.from(values.slice(1, fitted));
  const readout = ridge({ lambda }).fit(states.subarray(0, fitted - 1), targets, { washout: 20 });
  const forecast = [readout.predict(states.subarray(end - 1, end)).data[0]!];
  while (forecast.length < 8) {
    const y = Math.fround(forecast.at(-1)!);
    forecast[forecast.length - 1] = y;
    forecast.push(readout.predict(Matrix.from([Array.from(computer.step([y]))])).data[0]!);
  }
  return forecast.map(Math.fround);
}

describe("sweepForecasts", () => {
  it.each([false, true])("scores closed loops from every start, with a readout each: %s", async (refit) => {
    const starts = [-8, 80];
    const reported: number[][] = [];
    const loss: ForecastSweepOptions["loss"] = (forecasts, targets, s) => {
      reported.push([s, ...targets.data, ...forecasts.data]);
      return forecasts.data[0]!;
    };
    const { scores } = await sweepForecasts({ ...options, starts, refit, hold: false, loss, engine: "cpu" });
    for (const [s, values] of series.entries())
      for (const [b, seed] of [1, 2].entries())
        for (const [i, setting] of settings.entries()) {
          const origins = [80, values.length - 8];
          const first = await byHand(seed, setting, values, 80, 80);
          const second = await byHand(seed, setting, values, origins[1]!, refit ? origins[1]! : 80);
          const targets = origins.flatMap((start) => values.slice(start, start + 8));
          const [found] = reported.filter(([of, ...rest]) => of === s && rest[16] === scores[s]!.at(b, i));
          expect(found!.slice(1, 17)).toEqual(targets);
          expect(Math.max(...found!.slice(17).map((y, t) => Math.abs(y - [...first, ...second][t]!)))).toBeLessThan(1e-5);
        }
  });

  it("names the best, without those that have no score", async () => {
    let calls = 0;
    const loss = () => [3, Number.NaN, 1, 2][calls++ % 4]!;
    const { best, member } = await sweepForecasts({ ...options, series: [series[0]!], starts: [-8], loss, engine: "cpu" });
    expect(best(9).map(({ seed, setting, score }) => [seed, settings.indexOf(setting as never), score])).toEqual([
      [2, 0, 1],
      [2, 1, 2],
      [1, 0, 3],
    ]);
    expect(best()[0]).toEqual(member(1, 0));
    expect(() => best(1, 1)).toThrow("there is no series 1; there are 1");
  });

  it("holds outputs to the range of what trained", async () => {
    const forecasts: number[] = [];
    const loss: ForecastSweepOptions["loss"] = ({ data }) => {
      forecasts.push(...data);
      return 0;
    };
    const wild = { ...options, settings: [{ spectralRadius: 1.4, lambda: 1e-9 }], series: [series[0]!.map((y) => 3 * y)], loss };
    const extent = (values: readonly number[]) => Math.max(...values.map(Math.abs));
    await sweepForecasts({ ...wild, starts: [40], horizon: 90, engine: "cpu" });
    expect(extent(forecasts)).toBeLessThan(3);
  });

  it.each([
    [{ starts: [] }, "starts is an array of 0"],
    [{ starts: [-7] }, "a start is row 133 and horizon is 8; series[0] has 140 rows"],
    [{ starts: [21] }, "the first start is row 21 of series[0] and washout is 20; it takes 22 or more"],
    [{ series: [] }, "series is an array of 0"],
    [{ horizon: 0 }, "horizon is 0"],
    [{ loss: "nrmse" }, "loss"],
    [{ settings: [{ lambda: 0 }], starts: [40] }, "19 rows do not determine 31 weights"],
    [{ reservoir: { size: 5, feedback: { size: 1 } } }, "reservoir has feedback"],
    [{ series: [[[1, 2]]] }, "series[0]"],
  ])("refuses %j", async (wrong, message) => {
    await expect(sweepForecasts({ ...options, starts: [-8], engine: "cpu", ...wrong } as never)).rejects.toThrow(message);
  });
});
