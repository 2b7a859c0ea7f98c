// Scores of forecasts, quantiles and bands: against figures of numpy and scikit-learn's
// mean_pinball_loss, and by hand.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import {
  coverage,
  crps,
  mae,
  mase,
  metrics,
  msis,
  owa,
  pinball,
  rmsse,
  type ScoredForecast,
  type SeriesMetric,
  sharpness,
  smape,
  winklerScore,
  wql,
} from "../../src/metrics/index.js";

const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));
/** Columns side by side. */
const beside = (...columns: Matrix[]) => Matrix.from(Array.from(columns[0]!.data, (_, t) => columns.map(({ data }) => data[t]!)));

// 50 + round(10 sin(.9 t), 2) + t for t = 0 to 29; the last six are forecast, with these errors.
const rows = [
  ...[50, 58.83, 61.74, 57.27, 49.57, 45.22, 48.27, 57.17, 65.94, 68.7, 64.12, 56.42, 52.19, 55.38, 64.34, 73.04, 75.66],
  ...[70.97, 63.28, 59.16, 62.49, 71.5, 80.14, 82.61, 77.81, 70.13, 66.13, 69.6, 78.67, 87.23],
];
const training = column(...rows.slice(0, 24));
const target = column(...rows.slice(24));
const forecast = column(...[1.5, -2, 0.5, 3, -1, 2.25].map((error, k) => rows[24 + k]! + error));
const deciles = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const quantile = (level: number) =>
  new Matrix(
    6,
    1,
    Float64Array.from(forecast.data, (value) => value + (level - 0.5) * 10),
  );
const quantiles = deciles.map((level) => ({ level, values: quantile(level) }));
const band = { lower: column(...forecast.data.map((value) => value - 2)), upper: column(...forecast.data.map((value) => value + 1)) };

describe("against numpy and scikit-learn", () => {
  it.each([
    ["smape", smape(target, forecast), 2.2668208555979956],
    ["mase", mase(target, forecast, { training }), 0.29841016683121946],
    ["mase of a season of 7", mase(target, forecast, { training, season: 7 }), 0.24353598881900765],
    ["rmsse", rmsse(target, forecast, { training }), 0.3030565085526289],
    ["rmsse of a season of 7", rmsse(target, forecast, { training, season: 7 }), 0.2702119835935573],
    ["pinball", pinball(target, quantiles[1]!), 0.9166666666666666],
    ["crps", crps(target, quantiles), 1.3009259259258],
    ["wql", wql(target, quantiles), 0.01736226962554342],
    ["msis", msis(target, band, 0.8, { training, season: 7 }), 0.9622641509433961],
  ])("%s", (_, value, expected) => {
    expect(value).toBeCloseTo(expected, 11);
  });
});

describe("by hand", () => {
  it("sMAPE counts 0 / 0 as 0", () => {
    // 200 (0 + 1 / 3 + 1) / 3.
    expect(smape(column(0, 2, 0), column(0, 1, 5))).toBeCloseTo((200 * (1 / 3 + 1)) / 3, 12);
  });

  it("a scale of 0, or of too few rows, gives NaN", () => {
    expect(mase(column(1), column(2), { training: column(3, 3, 3) })).toBeNaN();
    expect(rmsse(column(1), column(2), { training: column(3, 4), season: 2 })).toBeNaN();
    expect(msis(column(1), { lower: column(0), upper: column(2) }, 0.9, { training: column(3, 3) })).toBeNaN();
  });

  it("OWA is of means over series", () => {
    // sMAPE (2 + 4) / (4 + 4) = 3/4, MASE (1 + 3) / (1 + 1) = 2.
    const own = [
      { smape: 2, mase: 1 },
      { smape: 4, mase: 3 },
    ];
    const naive2 = [
      { smape: 4, mase: 1 },
      { smape: 4, mase: 1 },
    ];
    expect(owa(own, naive2)).toBeCloseTo((0.75 + 2) / 2, 12);
    expect(owa(naive2, naive2)).toBe(1);
    expect(() => owa(own, naive2.slice(1))).toThrow("errors is of 2 series and naive2 of 1; they take as many, and at least one");
  });

  it("the pinball loss of the median is the mean absolute error", () => {
    expect(pinball(target, { level: 0.5, values: forecast })).toBeCloseTo(mae(target, forecast), 12);
  });

  it("bands: width, share inside, and what lies outside", () => {
    const ends = { lower: column(0, 0, 0), upper: column(2, 4, 2) };
    expect(sharpness(column(1, 1, 3), ends)).toBeCloseTo(8 / 3, 12);
    expect(coverage(column(1, 1, 3), ends)).toBeCloseTo(2 / 3, 12);
    // (2 + 4 + 2 + 20 (3 - 2)) / 3, over a mean step of 2.
    expect(winklerScore(column(1, 1, 3), ends, 0.9)).toBeCloseTo(28 / 3, 10);
    expect(msis(column(1, 1, 3), ends, 0.9, { training: column(1, 3, 5) })).toBeCloseTo(14 / 3, 10);
  });
});

/** Every score as a function of columns: target, forecast, training. */
const scores: Record<string, (y: Matrix, f: Matrix, x: Matrix) => number> = {
  smape: (y, f) => smape(y, f),
  mase: (y, f, x) => mase(y, f, { training: x }),
  rmsse: (y, f, x) => rmsse(y, f, { training: x }),
  pinball: (y, f) => pinball(y, { level: 0.3, values: f }),
  crps: (y, f) => crps(y, [{ level: 0.3, values: f }]),
  wql: (y, f) => wql(y, [{ level: 0.3, values: f }]),
  msis: (y, f, x) =>
    msis(y, { lower: f, upper: new Matrix(f.rows, f.cols, f.data.map((v) => v + 1) as Float64Array) }, 0.8, { training: x }),
  sharpness: (y, f) => sharpness(y, { lower: f, upper: new Matrix(f.rows, f.cols, f.data.map((v) => 3 * v) as Float64Array) }),
};

describe.each(Object.entries(scores))("%s", (_, score) => {
  const values = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 5, maxLength: 5 });

  it("of columns is the mean of theirs", () => {
    fc.assert(
      fc.property(values, values, values, values, (a, b, f, g) => {
        const x = beside(column(1, 4, 2), column(5, 6, 8));
        const both = score(beside(column(...a), column(...b)), beside(column(...f), column(...g)), x);
        const first = score(column(...a), column(...f), column(1, 4, 2));
        const second = score(column(...b), column(...g), column(5, 6, 8));
        expect(both).toBeCloseTo((first + second) / 2, 9);
      }),
    );
  });

  it("leaves out values that were not measured", () => {
    fc.assert(
      fc.property(values, values, (a, f) => {
        const x = column(1, 4, 2);
        const gone = score(column(...a, Number.NaN), column(...f, 7), x);
        expect(gone).toBeCloseTo(score(column(...a), column(...f), x), 9);
      }),
    );
  });

  it("refuses another shape", () => {
    expect(() => score(column(1, 2), column(1), column(1, 2, 4))).toThrow(/2 x 1|1 x 1/);
  });
});

describe("metrics of experiments", () => {
  const scoreOf = (name: string, forecasts: readonly ScoredForecast[], y: Matrix, f: Matrix, options: object = {}) => {
    const metric = metrics.get(name) as SeriesMetric;
    return metric.score(
      y,
      f,
      { ...(["msis", "coverage", "sharpness"].includes(name) && { level: 0.8 }), ...options },
      {
        ...{ norm: "std", threshold: 0.4, forecasts },
      },
    );
  };
  const once: ScoredForecast = { rows: 6, training, season: 7, naive2: () => column(77, 77, 77, 77, 77, 77), quantile };
  const twice = [
    once,
    {
      ...once,
      training: new Matrix(
        24,
        1,
        training.data.map((value) => 2 * value),
      ),
      rows: 6,
    },
  ];
  const [y2, f2] = [column(...target.data, ...target.data), column(...forecast.data, ...forecast.data)];

  it("are the mean over forecasts, each by the scale of its own training rows", () => {
    const own = mase(target, forecast, { training, season: 7 });
    expect(scoreOf("mase", twice, y2, f2)).toBeCloseTo((own + own / 2) / 2, 12);
    expect(scoreOf("smape", twice, y2, f2)).toBeCloseTo(smape(target, forecast), 12);
    expect(scoreOf("rmsse", [once], target, forecast)).toBeCloseTo(rmsse(target, forecast, { training, season: 7 }), 12);
  });

  it("leave out a forecast without a scale", () => {
    const constant = [once, { ...once, training: column(3, 3, 3, 3, 3, 3, 3, 3, 3) }];
    expect(scoreOf("mase", constant, y2, f2)).toBeCloseTo(mase(target, forecast, { training, season: 7 }), 12);
    expect(scoreOf("owa", constant.slice(1), target, forecast)).toBeNaN();
  });

  it("OWA is against Naive2", () => {
    const naive2 = once.naive2();
    const expected = (smape(target, forecast) / smape(target, naive2) + mae(target, forecast) / mae(target, naive2)) / 2;
    expect(scoreOf("owa", [once], target, forecast)).toBeCloseTo(expected, 12);
  });

  it("of quantiles are of all rows together, and NaN without quantiles", () => {
    expect(scoreOf("wql", twice, y2, f2)).toBeCloseTo(wql(target, quantiles), 12);
    expect(scoreOf("crps", [once], target, forecast)).toBeCloseTo(crps(target, quantiles), 12);
    expect(scoreOf("pinball", [once], target, forecast, { level: 0.2 })).toBeCloseTo(pinball(target, quantiles[1]!), 12);
    // The band of 80 % is from quantile .1 to .9: 4 either side.
    expect(scoreOf("sharpness", [once], target, forecast)).toBeCloseTo(8, 12);
    expect(scoreOf("coverage", [once], target, forecast)).toBe(1);
    expect(scoreOf("msis", [once], target, forecast)).toBeCloseTo(
      8 / (mae(target, forecast) / mase(target, forecast, { training, season: 7 })),
      9,
    );
    for (const name of ["wql", "crps", "pinball", "msis", "coverage", "sharpness"])
      expect(scoreOf(name, [{ ...once, quantile: undefined }], target, forecast, { level: 0.5 })).toBeNaN();
  });
});
