// A column that never changes says nothing: added to any input it changes no prediction. Its
// z-scores are 0 (x less its mean, divided by 1), as scikit-learn's StandardScaler has them.
import { afterEach, describe, expect, it, vi } from "vitest";
import { AnomalyDetector, Classifier, FieldForecaster, Forecaster, Matrix, NvarForecaster } from "../../src/index.js";
import { ConceptorMemory } from "../../src/model/index.js";
import { fitAutoregression } from "../../src/series/index.js";
import { fitStandardisation, standardised } from "../../src/series/standardisation.js";
import { casesOf } from "../exhaustive.js";

afterEach(() => vi.restoreAllMocks());

const rows = 260;
const wave = Float64Array.from({ length: rows }, (_, t) => Math.sin(t / 6) + 0.5 * Math.sin(t / 17.3));
const mapped = wave.map((value, t) => 0.5 * value + 0.3 * (wave[t - 2] ?? 0) ** 2);
/** Columns beside one another. */
const table = (...columns: readonly ArrayLike<number>[]) =>
  Matrix.from(Array.from({ length: columns[0]!.length }, (_, t) => columns.map((column) => column[t]!)));
const constant = (value: number, length = rows) => new Float64Array(length).fill(value);
/** A constant, and one that is constant but for its last bit. */
const added = [1, 1e3, 1e6, -0.1].flatMap((value) => [
  [`${value}`, constant(value)] as const,
  [`${value} but for its last bit`, constant(value).map((each, t) => each * (1 + (t % 2) * 2 ** -52))] as const,
]);
const reservoir = { size: 40, seed: 1, precision: "float64" } as const;
/** At most a millionth of the spread of what is expected, in its first column. */
function same(made: Matrix, expected: Matrix) {
  const spread = Math.max(...expected.data) - Math.min(...expected.data);
  for (let t = 0; t < expected.rows; t++) expect(Math.abs(made.at(t, 0) - expected.at(t, 0))).toBeLessThanOrEqual(1e-6 * spread);
}

type Fit = (series: Matrix) => Promise<{ forecast(steps: number): Promise<Matrix>; dispose(): Promise<void> }>;
const combined: Fit = (rows) => Forecaster.fit(rows, { reservoir, horizon: 8, season: 12 });
const series: readonly (readonly [string, Fit])[] = [
  ["Forecaster", (rows) => Forecaster.fit(rows, { reservoir, washout: 40, readout: { lambda: 1e-2 } })],
  ["Forecaster with lags", (rows) => Forecaster.fit(rows, { reservoir, washout: 40, lags: 3, readout: { lambda: 1e-2 } })],
  [
    "Forecaster after differences and z-scores",
    (rows) => Forecaster.fit(rows, { reservoir, washout: 40, transforms: [{ difference: 1 }, "standardise"], readout: { lambda: 1e-2 } }),
  ],
  [
    "Forecaster that chooses",
    (rows) => Forecaster.fit(rows, { reservoir, horizon: 8, members: 1, choose: { lambdas: [1e-4, 1e-1], starts: 5 } }),
  ],
  ["Forecaster in float32", (rows) => Forecaster.fit(rows, { reservoir: { size: 40, seed: 1 }, washout: 40, readout: { lambda: 1e-2 } })],
  [
    "Forecaster on the simulated device",
    (rows) => Forecaster.fit(rows, { reservoir: { size: 20, seed: 1 }, engine: "sim", washout: 40, readout: { lambda: 1e-2 } }),
  ],
  ["NvarForecaster", (rows) => NvarForecaster.fit(rows, { delays: 3, degrees: [2], lambda: 1e-3 })],
  ["FieldForecaster", (rows) => FieldForecaster.fit(rows, { reservoir, groups: 1, shared: false, washout: 40, readout: { lambda: 1e-2 } })],
  ["Forecaster that combines members", combined],
  ["Forecaster that combines members, by each constant", combined],
  [
    "Forecaster that combines members on the simulated device",
    (rows) => Forecaster.fit(rows, { reservoir: { size: 10, seed: 1 }, engine: "sim", horizon: 4, choose: { starts: 3 } }),
  ],
  [
    "NvarForecaster on the simulated device",
    (rows) => NvarForecaster.fit(rows, { delays: 2, degrees: [2], lambda: 1e-3, arithmetic: "doubleDouble", engine: "sim" }),
  ],
  [
    "FieldForecaster on the simulated device",
    (rows) => FieldForecaster.fit(rows, { reservoir: { size: 12, seed: 1 }, engine: "sim", groups: 1, shared: false, washout: 20 }),
  ],
];

describe.each(casesOf(series, ([name]) => !/(members|NvarForecaster|^Forecaster) on the simulated|each constant/.test(name)))(
  "a constant column beside the series of a %s",
  (name, train) => {
    // Differences of last bits are no rounding error of their mean; a device computes as the host does.
    const exact = added.filter((_, i) => i % 2 === 0);
    const others = name.includes("differences") ? exact : name.endsWith("members") ? added.slice(4, 6) : added;
    const columns = name.includes("simulated") ? exact.slice(2, 3) : others;

    it("changes no forecast of the other", async () => {
      const first = wave.slice(0, name.includes("simulated") ? 90 : rows);
      const plain = await train(table(first));
      const expected = await plain.forecast(8);
      await plain.dispose();
      for (const [, column] of columns) {
        const model = await train(table(first, column));
        const made = await model.forecast(8);
        same(made, expected);
        for (let t = 0; t < 8; t++) expect(made.at(t, 1)).toBeCloseTo(column[0]!, 6);
        await model.dispose();
      }
    });
  },
);

describe("a constant column", () => {
  it.each(added)("of %s changes no prediction of targets from inputs", async (_, column) => {
    const train = async (...columns: ArrayLike<number>[]) => {
      const inputs = table(...columns);
      await using model = await Forecaster.fit({ inputs: inputs.subarray(0, 200), targets: table(mapped.slice(0, 200)) }, { reservoir });
      return await model.predict(inputs.subarray(200));
    };
    same(await train(wave, column), await train(wave));
  });

  it.each(["cpu", "sim"])("changes no class that a Classifier tells: engine %s", async (engine) => {
    const labels = Array.from({ length: 12 }, (_, b) => "ab"[b % 2]!);
    const cases = (...extra: readonly number[]) =>
      labels.map((_, b) =>
        Matrix.from(Array.from({ length: 24 }, (_, t) => [Math.sin((0.3 + 0.15 * (b % 2)) * t + b) + 0.2 * Math.sin(7 * b * t), ...extra])),
      );
    const settings = engine === "sim" ? ({ representation: "last+mean", engine } as const) : ({ engine } as const);
    const shares = async (...extra: readonly number[]) => {
      await using model = await Classifier.fit(cases(...extra), labels, { ...settings, reservoir: { size: 20, seed: 3 }, members: 1 });
      return await model.predictProba(cases(...extra));
    };
    const expected = await shares();
    for (const value of engine === "sim" ? [1e3] : [1, 1e3, 1e6]) same(await shares(value), expected);
  });

  // Of the first rows a detector cannot tell whether the last bit is all that ever changes.
  it.each(added.filter((_, i) => i % 2 === 0))("of %s changes nothing that an AnomalyDetector expects of another", async (_, column) => {
    const expected = async (...columns: ArrayLike<number>[]) => {
      // Columns share the rate of alarms, and bands leave out as much.
      const alarmRate = 1e-3 * columns.length;
      const detector = await AnomalyDetector.create({ columns: columns.map((__, c) => `c${c}`), alarmRate });
      const found = Array.from({ length: 3 * rows }, (__, t) => detector.update(columns.map((each) => each[t % rows]!)));
      return Matrix.from(
        found.slice(2 * rows).flatMap(({ expected: [value], lower: [low], upper: [high] }) => [[value!], [low!], [high!]]),
      );
    };
    same(await expected(wave, column), await expected(wave));
  });

  it("changes no pattern that a ConceptorMemory recalls", async () => {
    const recalled = async (...columns: ArrayLike<number>[]) => {
      const patterns = [table(...columns), table(...columns.map((column, c) => (c === 0 ? mapped : column)))];
      await using memory = await ConceptorMemory.store(patterns, { reservoir: { size: 40, seed: 2, precision: "float64" }, washout: 40 });
      return await memory.recall(0, 20);
    };
    const expected = await recalled(wave);
    for (const [, column] of added) same(await recalled(wave, column), expected);
  });

  it.each(added)("of %s is what an autoregression forecasts of it", (_, column) => {
    const made = fitAutoregression(table(wave, column), { order: 4, lambda: 1 }).forecast(table(wave, column), 5);
    for (let t = 0; t < 5; t++) expect(made.at(t, 1)).toBeCloseTo(column[0]!, 6);
  });

  it("has mean x and deviation 1, and so has one that changes by less than its mean is rounded", () => {
    const columns = [
      constant(1013),
      constant(1013).map((x, t) => x + (t % 2) * 2 ** -43),
      constant(1013).map((x, t) => x + (t % 2) * 1e-6),
    ];
    const { mean, deviation } = fitStandardisation([table(...columns)]);
    expect([...mean]).toEqual([1013, expect.closeTo(1013, 9), expect.closeTo(1013.0000005, 9)]);
    // By hand: half of the rows 1e-6 above the others has a deviation of 5e-7.
    expect([...deviation]).toEqual([1, 1, expect.closeTo(5e-7, 12)]);
    const after = standardised({ mean, deviation }, Matrix.from([[1013, 1014, 1013]]));
    expect([...after.data.subarray(0, 2)]).toEqual([0, expect.closeTo(1, 9)]);
  });

  it("is named by the warning that a reservoir is saturated", async () => {
    vi.resetModules();
    const fresh = await import("../../src/index.js");
    const spy = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const inputs = table(wave, constant(1013), wave);
    const options = { reservoir: { size: 40, seed: 1, inputScaling: 1 }, standardise: "targets" } as const;
    await using _model = await fresh.Forecaster.fit({ inputs: inputs.toArrays(), targets: [...mapped] }, options);
    expect(spy.mock.calls.map(([message]) => String(message)).join()).toContain(
      "input 1 drives it most, with a root mean square of 1.01e+3; standardise the inputs",
    );
  });
});
