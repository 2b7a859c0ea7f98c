// What comes later changes nothing that was said before: of every model that takes missing values,
// by every way to take them. Rows may be cut into calls anywhere, with the same bits.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Classifier, type ClassifierOptions, FieldForecaster, Forecaster, Matrix, NvarForecaster } from "../../src/index.js";
import { toWasm } from "../../src/model/index.js";
import { amount } from "../exhaustive.js";

const columns = 2;
const wave = (rows: number, from = 0) =>
  Matrix.from(Array.from({ length: rows }, (_, t) => [Math.sin((from + t) / 3), 2 + Math.cos((from + t) / 5)]));
/** Training rows, with gaps in the middle and at the end. */
const training = (() => {
  const rows = wave(120);
  for (let t = 7; t < 118; t += 9) rows.data[2 * t + (t % 2)] = Number.NaN;
  for (const t of [60, 61, 62, 119]) rows.data[2 * t] = Number.NaN;
  return rows;
})();

type Missing = "hold" | "interpolate" | "mask";
/** A model with one way to ask for predictions of rows, which moves it on. */
interface Asked {
  state: unknown;
  predict(rows: Matrix): Promise<Matrix>;
  warmUp(rows: Matrix): Promise<void>;
  score(rows: Matrix, options: { readonly metric: (target: Matrix) => number }): Promise<number>;
}
const reservoir = { size: 8, seed: 3, precision: "float64" } as const;
const base = { reservoir, washout: 10, readout: { lambda: 1e-2 } } as const;
const ways = ["hold", "interpolate", "mask"] as const;

async function forecaster(missing: Missing, more: object): Promise<Asked> {
  return (await Forecaster.fit(training, { ...base, missing, ...more })) as unknown as Asked;
}

/** Inputs and targets of the same table: column 0 is predicted from column 1. */
async function pairs(missing: Missing, feedback: boolean): Promise<Asked> {
  const column = (rows: Matrix, c: number) => Matrix.from([...rows.column(c)].map((value) => [value]));
  const pair = (rows: Matrix) => ({ inputs: column(rows, 1), targets: column(rows, 0) });
  const made = await Forecaster.fit(pair(training), {
    ...base,
    missing,
    reservoir: { ...reservoir, ...(feedback && { feedback: { scaling: 0.2 } }) },
  });
  return {
    get state() {
      return made.state;
    },
    set state(state) {
      made.state = state as typeof made.state;
    },
    predict: (rows) => made.predict(pair(rows).inputs, feedback ? { teacher: pair(rows).targets } : {}),
    warmUp: (rows) => made.warmUp(pair(rows)),
    score: (rows, options) => made.score(pair(rows), options),
  };
}

const kinds: readonly (readonly [string, (missing: Missing) => Promise<Asked>, readonly Missing[]])[] = [
  ["Forecaster", (missing) => forecaster(missing, {}), ways],
  ["Forecaster with transforms and lags", (missing) => forecaster(missing, { transforms: [{ log: 3 }, { difference: 2 }], lags: 3 }), ways],
  [
    "Forecaster of combined members",
    async (missing) =>
      (await Forecaster.fit(training, {
        reservoir,
        missing,
        horizon: 2,
        season: 4,
        members: ["loop", "direct", "theta", "damped", "ets", "seasonalNaive"],
      })) as unknown as Asked,
    ways,
  ],
  [
    "Forecaster with feedback",
    (missing) => forecaster(missing, { reservoir: { ...reservoir, feedback: { scaling: 0.2 } } }),
    ["hold", "interpolate"],
  ],
  ["Forecaster of inputs and targets", (missing) => pairs(missing, false), ["hold", "interpolate"]],
  ["Forecaster of inputs and targets with feedback", (missing) => pairs(missing, true), ["hold", "interpolate"]],
  [
    "NvarForecaster",
    async (missing) => (await NvarForecaster.fit(training, { delays: 3, degrees: [2], lambda: 1e-3, missing })) as unknown as Asked,
    ways,
  ],
  [
    "NvarForecaster in double-double",
    async (missing) =>
      (await NvarForecaster.fit(training, {
        delays: 2,
        degrees: [2],
        lambda: 1e-3,
        missing,
        arithmetic: "doubleDouble",
      })) as unknown as Asked,
    ways,
  ],
  ["FieldForecaster", async (missing) => (await FieldForecaster.fit(training, { ...base, groups: 2, missing })) as unknown as Asked, ways],
];
const all = kinds.flatMap(([name, open, modes]) => modes.map((missing) => [name, missing, open] as const));

/** Rows to go on with, of which any value may be missing, and a row of them. */
const cases = fc.integer({ min: 2, max: 14 }).chain((rows) =>
  fc.record({
    gaps: fc.array(fc.boolean(), { minLength: rows * columns, maxLength: rows * columns }),
    later: fc.array(fc.option(fc.double({ min: -1, max: 3, noNaN: true }), { nil: Number.NaN }), {
      minLength: rows * columns,
      maxLength: rows * columns,
    }),
    cut: fc.integer({ min: 1, max: rows - 1 }),
  }),
);
const rowsOf = (gaps: readonly boolean[]) => {
  const rows = wave(gaps.length / columns, 120);
  return new Matrix(
    rows.rows,
    columns,
    rows.data.map((value, i) => (gaps[i] ? Number.NaN : value)),
  );
};
const runs = amount(1000, 10);

describe.each<[string, ClassifierOptions]>([
  ["statistics", {}],
  ["statistics forwards, of inputs too, after a washout", { directions: "forward", input: true, washout: 1 }],
  ["last states and means", { representation: "last+mean" }],
  ["softmax of two members", { representation: "mean", members: 2, vote: "mean", readout: { type: "softmax" } }],
])("a Classifier by %s", (_, options) => {
  it("says of the first rows of a series the same whatever comes later, and in one call or several", async () => {
    const words = Array.from({ length: 16 }, (__, b) => wave(10 + b, 7 * b));
    const labels = words.map((__, b) => "ab"[b % 2]!);
    await using model = await Classifier.fit(words, labels, { ...options, reservoir });
    const { module, host } = await toWasm(model);
    const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
    const exported = (await load(module)) as { classify(rows: readonly (readonly number[])[]): { readonly shares: number[] } };
    const shares = async (...series: readonly Matrix[]) => {
      const made = await model.predictProba(series);
      return series.map((__, b) => [...made.row(b)]);
    };
    await fc.assert(
      fc.asyncProperty(cases, async ({ gaps, later, cut: first }) => {
        const [rows, cut] = [wave(gaps.length / columns + 2, 120), first + 2];
        const other = later.map((value) => (Number.isNaN(value) ? 9 : value));
        const changed = Matrix.from([...rows.subarray(0, cut).toArrays(), [other[0]!, other[1]!], ...wave(3, 500).toArrays()]);
        const [[alone], [whole]] = [await shares(rows.subarray(0, cut)), await shares(rows)];
        expect(await shares(rows, changed.subarray(0, cut), changed, rows.subarray(0, cut))).toEqual([
          whole,
          alone,
          (await shares(changed))[0],
          alone,
        ]);
        for (const each of [changed, rows.subarray(0, cut)]) exported.classify(each.toArrays());
        expect(exported.classify(rows.subarray(0, cut).toArrays()).shares).toEqual(alone);
      }),
      { numRuns: runs },
    );
  });
});

describe.each(all)("%s, missing: %s", (name, missing, open) => {
  it("says nothing by rows that come later, and the same of rows in parts", async () => {
    const model = await open(missing);
    const feedback = name.endsWith("with feedback") && !name.includes("inputs");
    const start = model.state;
    const ask = async (...parts: readonly Matrix[]) => {
      model.state = start;
      const out: number[] = [];
      for (const part of parts) {
        const made = feedback
          ? await (model as unknown as Forecaster).predict({ steps: part.rows }, { teacher: part })
          : await model.predict(part);
        out.push(...made.data);
      }
      return out;
    };
    await fc.assert(
      fc.asyncProperty(cases, async ({ gaps, later, cut }) => {
        const rows = rowsOf(gaps);
        const changed = new Matrix(
          rows.rows,
          columns,
          Float64Array.of(...rows.data.subarray(0, cut * columns), ...later.slice(cut * columns)),
        );
        const whole = await ask(rows);
        expect(whole.every(Number.isFinite)).toBe(true);
        const width = whole.length / rows.rows;
        expect((await ask(changed)).slice(0, cut * width)).toEqual(whole.slice(0, cut * width));
        expect(await ask(rows.subarray(0, cut), rows.subarray(cut))).toEqual(whole);
      }),
      { numRuns: runs },
    );
  });

  // The classical members of a combination are fitted to the rows of a warm-up.
  const warmed = name.includes("combined") ? [] : [missing];
  it.each(warmed)("is warmed up to the state that the same rows give in one call or as they come", async () => {
    const model = await open(missing);
    await fc.assert(
      fc.asyncProperty(cases, async ({ gaps, cut }) => {
        // A row that has all values, so that what follows can be held.
        const rows = Matrix.from([...wave(8, 100).toArrays(), ...rowsOf(gaps).toArrays()]);
        await model.warmUp(rows);
        const whole = JSON.stringify(model.state, (key, value) => (key === "step" ? undefined : value));
        await model.warmUp(rows.subarray(0, 8 + cut));
        const rest = rows.subarray(8 + cut);
        if (name.includes("inputs") || !name.endsWith("with feedback")) await model.predict(rest);
        else await (model as unknown as Forecaster).predict({ steps: rest.rows }, { teacher: rest });
        expect(JSON.stringify(model.state, (key, value) => (key === "step" ? undefined : value))).toBe(whole);
      }),
      { numRuns: runs },
    );
  });

  it("is scored by measured values alone", async () => {
    const model = await open(missing);
    await fc.assert(
      fc.asyncProperty(cases, async ({ gaps }) => {
        const rows = Matrix.from([...wave(4, 120).toArrays(), ...rowsOf(gaps).toArrays()]);
        const given = new Set([...rows.data].filter((value) => !Number.isNaN(value)));
        let count = 0;
        const metric = (target: Matrix) => {
          for (const value of target.data) expect(given.has(value)).toBe(true);
          count = target.rows;
          return 0;
        };
        await model.score(rows, { metric });
        expect(count).toBeGreaterThan(0);
      }),
      { numRuns: runs },
    );
  });
});

/** A model that chose by forecasts: a candidate, a lambda, no members. */
const chosen = { horizon: 3, missing: "hold", choose: { lambdas: [1e-2], starts: 6 } } as const;
const choosing = [
  ["Forecaster", (rows: Matrix, missing: Missing) => Forecaster.fit(rows, { ...base, ...chosen, members: 1, missing })],
  ["NvarForecaster", (rows: Matrix, missing: Missing) => NvarForecaster.fit(rows, { delays: 2, degrees: [2], ...chosen, missing })],
  ["FieldForecaster", (rows: Matrix, missing: Missing) => FieldForecaster.fit(rows, { ...base, ...chosen, groups: 2, missing })],
] as const;

describe.each(choosing.flatMap(([name, train]) => ways.map((missing) => [name, missing, train] as const)))(
  "%s, missing: %s",
  (_, missing, train) => {
    it("chooses and makes bands by forecasts that see no later row, and no filled target", async () => {
      const later = fc.record({
        gaps: fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
        from: fc.integer({ min: 2, max: 19 }),
        value: fc.double({ min: -1, max: 3, noNaN: true }),
      });
      await fc.assert(
        fc.asyncProperty(later, async ({ gaps, from, value }) => {
          // 80 rows, of which 60 train; the last 20 may have gaps and another end.
          const rows = wave(80);
          for (const t of [11, 30, 31]) rows.data[2 * t] = Number.NaN;
          gaps.forEach((gap, i) => {
            if (gap && i < 38) rows.data[120 + i] = Number.NaN;
          });
          const other = new Matrix(80, columns, rows.data.slice());
          for (let i = 2 * (60 + from); i < 160; i++) if (!Number.isNaN(rows.data[i]!) || i % 3 === 0) other.data[i] = value;
          await using one = await train(rows, missing);
          await using two = await train(other, missing);
          const { starts, errors, errorStarts = starts } = one.choice!;
          let compared = 0;
          for (const [k, { row }] of errorStarts.entries())
            for (let h = 0; h < 3; h++)
              for (let c = 0; c < columns; c++) {
                const error = errors.at(3 * k + h, c);
                expect(Number.isNaN(error)).toBe(Number.isNaN(rows.at(row + h, c)));
                if (row + h >= 60 + from) continue;
                expect(two.choice!.errors.at(3 * k + h, c)).toBe(error);
                compared++;
              }
          expect(compared).toBeGreaterThan(0);
        }),
        { numRuns: amount(300, 4) },
      );
    });
  },
);

describe("a random walk with gaps", () => {
  /** Steps of deviation 1; a quarter of the values missing, alone or in runs. */
  const walk = (rows: number) => {
    let word = 7;
    const uniform = () => {
      word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
      return (word + 0.5) / 2 ** 32;
    };
    const steps = Array.from({ length: rows }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
    let level = 0;
    return steps.map((step, t) => {
      level += step;
      return t > 0 && t < rows - 1 && uniform() < 0.25 ? Number.NaN : level;
    });
  };

  // No predictor can have a smaller error than the steps that came: 1 of a row after a measured
  // one, the square root of 2 two rows after it.
  it.each(ways)("is predicted no better than it can be: %s", async (missing) => {
    const measured = walk(2400);
    await using model = await Forecaster.fit(measured.slice(0, 1600), {
      reservoir: { size: 40, seed: 1, precision: "float64" },
      readout: { lambda: 1 },
      washout: 100,
      missing,
    });
    const from = 1600;
    const said = await model.predict(measured.slice(from));
    const errors: { readonly one: number[]; readonly two: number[] } = { one: [], two: [] };
    for (let t = 2; t < said.rows - 1; t++) {
      const row = from + t + (missing === "mask" ? 0 : 1);
      if (Number.isNaN(measured[row]!)) continue;
      const kind = !Number.isNaN(measured[row - 1]!) ? "one" : !Number.isNaN(measured[row - 2]!) ? "two" : undefined;
      if (kind) errors[kind].push((said.at(t, 0) - measured[row]!) ** 2);
    }
    const rmse = ({ length }: number[], sum: number) => Math.sqrt(sum / length);
    const [one, two] = [errors.one, errors.two].map((each) =>
      rmse(
        each,
        each.reduce((a, b) => a + b, 0),
      ),
    );
    // 450 and 110 squares: their mean is within 4 standard errors of its expectation.
    expect(one).toBeGreaterThan(Math.sqrt(1 - 4 * Math.sqrt(2 / errors.one.length)));
    expect(one).toBeLessThan(1.25);
    expect(two).toBeGreaterThan(Math.SQRT2 * Math.sqrt(1 - 4 * Math.sqrt(2 / errors.two.length)));
    expect(two).toBeLessThan(1.8);
  });
});
