// Figures of forecasts: bands, errors beside baselines, residuals, calibration.
import { describe, expect, it } from "vitest";
import { type Figure, plotCalibration, plotError, plotForecast, plotResiduals, toSvg } from "../../src/plot/index.js";
import { decoded } from "./decoded.js";

const named = (figure: Figure, name: string) => figure.data.find((trace) => trace["name"] === name)!;

describe("plotForecast with bands", () => {
  const prediction = [[1], [2], [3]];
  const band = (level: number, width: number) => ({
    level,
    lower: prediction.map(([value]) => [value! - width]),
    upper: prediction.map(([value]) => [value! + width]),
  });

  it("closes an area around the forecast for each level, the widest beneath, and says the levels", () => {
    const figure = plotForecast(prediction, undefined, { before: [[0]], bands: [band(0.5, 1), band(0.9, 2)], start: 7 });
    expect(figure.data.map(({ name }) => name)).toEqual(["90 %", "50 %", "target", "prediction"]);
    const area = named(figure, "90 %");
    expect(area).toMatchObject({ fill: "toself", line: { width: 0 } });
    expect(decoded(area["x"])).toEqual([7, 8, 9, 9, 8, 7, 7]);
    expect(decoded(area["y"])).toEqual([-1, 0, 1, 5, 4, 3, Number.NaN]);
    expect(figure.description).toBe("The prediction of value over 3 steps, with bands of 90 % and 50 % beside it.");
    expect(toSvg(figure).match(/<path d="M[^"]*Z" fill="#D55E00/g)).toHaveLength(2);
  });

  it("keeps labels that are no dates in their order, and breaks a legend that is too long for its line", () => {
    const figure = plotForecast(prediction, undefined, { before: [[0]], bands: [band(0.9, 2)], times: ["mon", "tue", "wed", "thu"] });
    const labels = [...toSvg(figure).matchAll(/text-anchor="middle"[^>]*>(\w{3})</g)].map(([, label]) => label);
    expect(labels).toEqual(["mon", "tue", "wed", "thu"]);
    expect(toSvg(figure, { width: 200 })).toContain('y1="56"');
    expect(toSvg(figure)).not.toContain('y1="56"');
  });

  it("leaves out steps whose ends are infinite, and keeps the stretches beside them", () => {
    const infinite = { level: 0.9, lower: [[0], [Number.NEGATIVE_INFINITY], [2]], upper: [[2], [Number.POSITIVE_INFINITY], [4]] };
    const area = named(plotForecast(prediction, prediction, { bands: [infinite] }), "90 %");
    expect(decoded(area["x"])).toEqual([0, 0, 0, 2, 2, 2]);
    expect(decoded(area["y"])).toEqual([0, 2, Number.NaN, 2, 4, Number.NaN]);
  });

  it("keeps the widest ends where neighbours share a point", () => {
    const long = Array.from({ length: 1000 }, (_, t) => [t === 501 ? 9 : 1]);
    const area = named(plotForecast(long, undefined, { bands: [{ level: 0.8, lower: long, upper: long }], maxPoints: 20 }), "80 %");
    const ends = decoded(area["y"]);
    expect(ends.length).toBeLessThan(30);
    expect(Math.max(...ends.filter(Number.isFinite))).toBe(9);
  });

  it("refuses what is no band of the forecast", () => {
    expect(() => plotForecast(prediction, undefined, { bands: [{ ...band(0.9, 1), level: 90 }] })).toThrow(
      "bands[0].level is 90; it takes a number between 0 and 1",
    );
    expect(() => plotForecast(prediction, undefined, { bands: [{ ...band(0.9, 1), upper: [[1]] }] })).toThrow("bands[0].upper is 1 x 1");
    expect(() => plotForecast(prediction, undefined, { withError: true })).toThrow("there is no target");
  });
});

describe("plotError", () => {
  it("draws every baseline's error on the same starts beside the model's", () => {
    const targets = [
      [[0], [0]],
      [[0], [0]],
    ];
    const figure = plotError(
      [
        [[3], [1]],
        [[4], [1]],
      ],
      targets,
      {
        statistic: "rms",
        baselines: [
          {
            name: "persistence",
            predictions: [
              [[1], [7]],
              [[1], [1]],
            ],
          },
        ],
      },
    );
    // Root mean squares: sqrt((9 + 16) / 2) and 1; of the baseline 1 and sqrt((49 + 1) / 2) = 5.
    expect(decoded(named(figure, "root mean square")["y"])).toEqual([Math.sqrt(12.5), 1]);
    expect(decoded(named(figure, "persistence")["y"])).toEqual([1, 5]);
    expect(figure.data.map(({ name }) => name)).toEqual(["persistence", "root mean square"]);
    expect(figure.description).toContain("persistence: 1 and 5.");
    expect(() => plotError(targets, targets, { baselines: [{ name: "x", predictions: [] }] })).toThrow("baselines[0] has 0 predictions");
  });
});

describe("plotResiduals", () => {
  it("stands at the rows of its forecasts, with the distribution below", () => {
    const figure = plotResiduals(
      [
        [[1], [2]],
        [[3], [Number.NaN]],
      ],
      [
        [[2], [2]],
        [[1], [0]],
      ],
      { starts: [10, 20], bins: 3 },
    );
    const [points, distribution] = figure.data;
    expect(points!["x"]).toEqual([10, 11, 20]);
    expect(decoded(points!["y"])).toEqual([1, 0, -2]);
    // One value in each third of [-2, 1].
    expect(decoded(distribution!["x"])).toEqual([-2, -2, -1, -1, 0, 0, 1, 1]);
    expect(decoded(distribution!["y"])).toEqual([0, 1 / 3, 1 / 3, 0, 0, 2 / 3, 2 / 3, 0]);
    expect(figure.description).toContain("1 values are not finite");
  });

  it("takes dates, and counts every value in the distribution though few are drawn", () => {
    const target = Array.from({ length: 90 }, (_, t) => [t % 9]);
    const days = target.map((_, t) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10));
    const figure = plotResiduals([target.map(() => [4])], [target], { times: [days], maxPoints: 30 });
    expect(figure.data[0]!["x"]).toHaveLength(30);
    expect(figure.data[0]!["x"]).toContain("2024-01-04");
    expect(figure.description).toContain("90 values of 1 forecast: mean 0, standard deviation 2.58");
    expect(() => plotResiduals([target], [target], { times: [["x"]] })).toThrow("times[0] holds 1 labels; the forecast has 90 rows");
  });
});

describe("plotCalibration", () => {
  it("draws shares against the diagonal and says the mean gap, by counts", () => {
    const figure = plotCalibration([0.5, 0.9], [0.4, 0.9], { counts: [30, 10] });
    expect(decoded(figure.data[1]!["y"])).toEqual([0.4, 0.9]);
    // 30 / 40 times 0.1.
    expect(figure.description).toContain("mean gap 7.5 %. 50 %: 40 % of 30; 90 %: 90 % of 10.");
    expect(() => plotCalibration([50], [0.5])).toThrow("nominal[0] is 50; it takes a share from 0 to 1");
    expect(() => plotCalibration([0.5], [])).toThrow("1 nominal and 0 measured shares");
  });
});
