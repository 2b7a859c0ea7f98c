// Anomaly detectors. The numbers of the check series come from a program in C that was written
// apart from the package, and were repeated by ports in JavaScript and NumPy.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/random.js";
import {
  AnomalyDetector,
  type AnomalyOptions,
  type AnomalyRow,
  ArgumentError,
  Forecaster,
  loadModel,
  ModelFileError,
} from "../../src/index.js";
import { layoutOf, shared } from "../../src/model/anomaly/program.js";
import { decodeModelFile, encodeModelFile } from "../../src/model/model-file.js";
import { readTimes } from "../../src/series/time-stamps.js";
import { amount } from "../exhaustive.js";

const checkSeries = Array.from(
  { length: 1000 },
  (_, t) => Math.sin((2 * Math.PI * t) / 48) + 0.1 * Math.cos(1.7 * t) + 0.05 * Math.cos(0.37 * t * t),
);
checkSeries[600]! += 2;
checkSeries.fill(checkSeries[800]!, 800, 900);

const create = (options: AnomalyOptions = {}) => AnomalyDetector.create(options);

/** Normal numbers of a seed. */
function noise(seed: string, length: number): number[] {
  const stream = new RandomStream(seedKeys(seed).weights, 9);
  return Array.from({ length }, (_, t) => stream.normal(t, 0));
}

const limitOf = (detector: AnomalyDetector, column = 0): number => detector.state[layoutOf(detector.settings).limits[column]!]!;

describe("the check series", () => {
  // row, score, p, expected, lower, upper, R after the row
  const known: readonly (readonly (number | undefined)[])[] = [
    [2, 0, 1, 0.154753, undefined, undefined, 0.9],
    [22, 0.477838, 1, 0.345256, undefined, undefined, 0.9],
    [50, 0.865475, 1, -0.049173, undefined, undefined, 0.9],
    [100, 0.475036, 1, 0.444495, undefined, undefined, 0.9],
    [150, 0.536071, 0.261946, 0.525492, undefined, undefined, 0.9],
    [300, 0.514234, 0.379792, 0.986876, 0.657917, 1.31584, 0.9],
    [599, 0.40705, 0.335979, 0.163251, -0.114373, 0.440874, 0.9],
    [600, 1.37211, 3.46102e-24, 0.161778, -0.115401, 0.438956, 0.994554],
    [601, 0.737628, 1e-30, 2.35141, 2.06871, 2.63412, 0.994455],
    [850, 0.568982, 0.74746, -0.892973, -3.2559, 1.46995, 0.969999],
    [999, 0.518031, 0.0890588, -0.841146, -3.04061, 1.35832, 0.955653],
  ];

  it("has six digits of the prototype", async () => {
    const detector = await create({ size: 0 });
    const rows: AnomalyRow[] = [];
    const limits: number[] = [];
    for (const value of checkSeries) {
      rows.push(detector.update(value));
      limits.push(limitOf(detector));
    }
    const six = (value: number | undefined) => (value === undefined ? undefined : Number(value.toPrecision(6)));
    for (const [row, ...values] of known) {
      const { score, pValue, expected, lower, upper } = rows[row!]!;
      expect([row, ...[score, pValue, expected[0], lower[0], upper[0], limits[row!]].map(six)]).toEqual([row, ...values]);
    }
    expect(six(rows.reduce((sum, { score }) => sum + score, 0))).toBe(581.973);
    expect(six(rows.reduce((sum, { pValue }) => sum + Math.log(pValue), 0))).toBe(-1105.05);
    expect(rows.flatMap(({ alarm, row }) => (alarm ? [[row, alarm.by]] : []))).toEqual([
      [600, "novelty"],
      [850, "stuck"],
    ]);
    expect(rows[599]!.cause).toEqual({ column: "value", rows: expect.any(Number) });
    expect([rows[600]!.ongoing, rows[601]!.ongoing, rows[700]!.ongoing, rows[701]!.ongoing]).toEqual([false, true, true, false]);
    expect([rows[199]!.ready, rows[200]!.ready]).toEqual([false, true]);
  });

  it("has the same scores and alarms without a forecast and with a reservoir", async () => {
    const said = await Promise.all(
      [{ size: 0 }, { forecast: false }, { size: 50 }, { size: 50, seed: 2 }].map(async (options) => {
        const { rows } = (await create(options)).detect(checkSeries);
        return rows.map(({ score, alarm, cause, ongoing }) => ({ score, alarm, cause, ongoing }));
      }),
    );
    for (const each of said) expect(each).toEqual(said[0]);
  });
});

/** Scores by the formulas alone: scale, trace and banks of one column. */
function plainScores(series: readonly number[], patterns: number, radius: number): number[] {
  const banks = [radius / 1.25, radius, radius * 1.25].map((r) => ({ r, stored: [] as { y: number[]; used: number }[] }));
  const trace = new Array<number>(8).fill(0);
  let [m, s] = [series[0]!, 0];
  return series.map((x, t) => {
    const z = s > 0 ? (x - m) / s : x === m ? 0 : 8 * Math.sign(x - m);
    let score = 0;
    if (t >= 21) {
      for (let k = 0; k < 8; k++) trace[k]! += 2 ** -k * (Math.asinh(z / 2) - trace[k]!);
      for (const { r, stored } of banks) {
        const distances = stored.map(({ y }) => Math.max(...y.map((value, k) => Math.abs(value - trace[k]!))));
        const d = stored.length > 0 ? Math.min(...distances) : 0;
        score += d / r / 3 / 0.9;
        if (stored.length > 0 && d < r) stored[distances.indexOf(d)]!.used = t;
        else {
          if (stored.length === patterns) stored.splice(stored.indexOf(stored.reduce((a, b) => (b.used < a.used ? b : a))), 1);
          stored.push({ y: [...trace], used: t });
        }
      }
    }
    const share = 1 / (t + 2);
    const d = t >= 30 && s > 0 ? Math.max(-6 * s, Math.min(6 * s, x - m)) : x - m;
    m += share * d;
    s += share * (1.2533 * Math.abs(d) - s);
    if (t >= 3 && s > 0) s = Math.max(s, 1e-9 * Math.abs(m));
    return score;
  });
}

it("scores as the formulas do, also if banks are full and drop what was used longest ago", async () => {
  for (const [patterns, radius] of [
    [200, 0.36],
    [12, 0.36],
    [3, 0.2],
  ] as const) {
    const series = noise(`plain ${patterns}`, 700).map((value, t) => Math.sin(t / 20) + 0.3 * value + (t % 150 === 0 ? 4 : 0));
    // R stays at .9 up to the warm-up.
    const { rows } = (await create({ patterns, radius, forecast: false, warmUp: 690 })).detect(series);
    const expected = plainScores(series, patterns, radius);
    rows.slice(0, 690).forEach(({ score }, t) => {
      expect(score).toBeCloseTo(expected[t]!, 9);
    });
  }
});

describe("the bits", () => {
  const series = (columns: number) =>
    fc.array(
      fc.array(fc.oneof({ weight: 8, arbitrary: fc.double({ min: -3, max: 3, noNaN: true }) }, fc.constantFrom(Number.NaN, 0, 1e12)), {
        minLength: columns,
        maxLength: columns,
      }),
      {
        minLength: 31,
        maxLength: 180,
      },
    );
  const cases = fc.integer({ min: 1, max: 3 }).chain((columns) =>
    fc.record({
      columns: fc.constant(columns),
      rows: series(columns),
      steps: fc.array(fc.constantFrom(300_000, 300_000, 300_000, 0, 1_500_000, 400_000_000), { minLength: 180, maxLength: 180 }),
      cuts: fc.array(fc.integer({ min: 0, max: 180 }), { maxLength: 3 }),
      options: fc.record({
        size: fc.constantFrom(0, 7),
        forecast: fc.boolean(),
        rate: fc.constantFrom("atMost" as const, "exact" as const),
        patterns: fc.constantFrom(3, 200),
        mergeRows: fc.constantFrom(5, 100),
        missing: fc.constantFrom("hold" as const, "alarm" as const),
      }),
      timed: fc.boolean(),
    }),
  );

  it("are the same of update, of detect, and of a detector that was saved and opened in between", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ columns, rows, steps, cuts, options, timed }) => {
        const all = { columns, warmUp: 30, alarmRate: 0.05, ...options };
        let at = 1.7e12;
        const times = rows.map((_, t) => (at += steps[t]!));
        const detected = (await create(all)).detect(rows, timed ? { times } : {});
        let one = await create(all);
        const updated: AnomalyRow[] = [];
        for (const [t, row] of rows.entries()) {
          if (cuts.includes(t)) one = await AnomalyDetector.fromBytes(await one.toBytes());
          updated.push(timed ? one.update(row, times[t]) : one.update(row));
        }
        expect(updated).toEqual(detected.rows);
        const middle = Math.min(cuts[0] ?? 31, rows.length);
        const parts = await create(all);
        const slice = (from: number, to: number) => {
          for (let t = from; t < to; t++) parts.update(rows[t]!, timed ? times[t] : undefined);
        };
        slice(0, middle);
        expect((await AnomalyDetector.fromBytes(await parts.toBytes())).state).toEqual(parts.state);
        slice(middle, rows.length);
        expect(parts.state).toEqual(one.state);
      }),
      { numRuns: amount(25, 5) },
    );
  });

  it("are those of the call of a save, whatever comes before it ends", async () => {
    const detector = await create({ forecast: false });
    detector.detect(checkSeries.slice(0, 300));
    const state = detector.state;
    const pending = detector.toBytes();
    detector.update(7);
    expect((await AnomalyDetector.fromBytes(await pending)).state).toEqual(state);
  });

  it("go through a file", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "spillway-")), "detector.safetensors");
    const detector = await create({ columns: ["load"], size: 7 });
    detector.detect(checkSeries.slice(0, 300));
    await detector.save(path);
    const opened = await AnomalyDetector.load(path);
    expect(opened.settings).toEqual(detector.settings);
    expect(opened.update(3)).toEqual(detector.update(3));
    const loaded = await loadModel(path);
    expect(loaded.kind === "detector" && loaded.detector.rows).toBe(300);
  });
});

describe("the rate of alarms", () => {
  // alarms = rate rows + 10 ln(R now / R at first): what the rule of R sums up to.
  it("is what the limit says, exactly", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.constantFrom(0.1, 0.01, 0.001), async (seed, alarmRate) => {
        const detector = await create({ alarmRate, rate: "exact", forecast: false, mergeRows: 1 });
        const rows = 2000;
        const { incidents } = detector.detect(noise(seed, rows));
        expect(incidents.length).toBeCloseTo(alarmRate * (rows - 200) + 10 * Math.log(limitOf(detector) / 0.9), 6);
      }),
      { numRuns: 10 },
    );
  });

  it("shares the asked rate out between columns, each as a detector of its own if the limits have a least value", async () => {
    const [a, b] = [noise("a", 1500), noise("b", 1500).map((value, t) => value + Math.sin(t / 9))];
    const both = await create({ columns: ["a", "b"], alarmRate: 0.02, forecast: false });
    const one = await create({ alarmRate: 0.01, forecast: false });
    const other = await create({ alarmRate: 0.01, forecast: false });
    const columns = a.map((value, t) => [one.update(value), other.update(b[t]!)] as const);
    a.forEach((value, t) => {
      const { score, cause, alarm } = both.update([value, b[t]!]);
      expect(score).toBe(Math.max(...columns[t]!.map((said) => said.score)));
      const [first, second] = columns[t]!;
      if (cause && !alarm)
        expect(cause).toEqual({ ...(first.score >= second.score ? first : second).cause, column: first.score >= second.score ? "a" : "b" });
    });
    expect([limitOf(both, 0), limitOf(both, 1)]).toEqual([limitOf(one), limitOf(other)]);
  });

  // The same of several columns: R is the geometric mean of their limits, and alarms are incidents of all of them.
  it("is what the mean of the limits says of several columns, with values missing, merged or not", async () => {
    const asked = {
      columns: fc.integer({ min: 2, max: 5 }),
      alarmRate: fc.constantFrom(0.1, 0.01, 0.001),
      mergeRows: fc.constantFrom(1, 30),
    };
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.record(asked), fc.boolean(), async (seed, options, holes) => {
        const { columns, alarmRate } = options;
        const detector = await create({ ...options, rate: "exact", forecast: false, warmUp: 100 });
        const values = Array.from({ length: columns }, (_, c) => noise(`${seed} ${c}`, 1500));
        const mean = () => values.reduce((sum, _, c) => sum + Math.log(limitOf(detector, c)), 0) / columns;
        const at = (t: number) => values.map((column) => column[t]!);
        for (let t = 0; t < 100; t++) detector.update(at(t));
        const first = mean();
        let [alarms, rows] = [0, 0];
        for (let t = 100; t < 1500; t++) {
          // A row without any value is none; one with some moves the limits of these alone.
          const isGone = holes && t % 7 === 0;
          const { alarm } = detector.update(isGone ? at(t).fill(Number.NaN) : at(t));
          if (!isGone) rows++;
          if (alarm?.by === "novelty") alarms++;
        }
        expect(alarms).toBeCloseTo(alarmRate * rows + 10 * (mean() - first), 6);
        const before = Array.from(values, (_, c) => Math.log(limitOf(detector, c)));
        const { alarm } = detector.update(values.map((_, c) => (c === 0 ? Number.NaN : 0)));
        const moved = before.map((limit, c) => Math.log(limitOf(detector, c)) - limit);
        expect(moved[0]).toBe(0);
        expect(moved.reduce((sum, one) => sum + one, 0) / (columns - 1)).toBeCloseTo(0.1 * (Number(alarm !== undefined) - alarmRate), 9);
      }),
      { numRuns: 10 },
    );
  });

  it("gives p-values that are small as often as they say", async () => {
    const values = noise("p-values", 12_000);
    const rows = (await create({ size: 10 })).detect(values).rows.slice(1000);
    const share = (p: number) => rows.filter(({ pValue }) => pValue <= p).length / rows.length;
    // Three standard deviations of a binomial share, and the 20 % that forgetting may cost.
    expect(Math.abs(share(0.01) - 0.01)).toBeLessThan(0.002 + 3 * Math.sqrt(0.01 / rows.length));
    expect(Math.abs(share(0.1) - 0.1)).toBeLessThan(0.02 + 3 * Math.sqrt(0.1 / rows.length));
    // The band is made anew every 8 rows.
    const isOutside = ({ lower, upper }: AnomalyRow, t: number) => !(values[t + 1000]! >= lower[0]! && values[t + 1000]! <= upper[0]!);
    expect(rows.filter((row, t) => isOutside(row, t) !== row.pValue <= 0.001).length).toBeLessThan(0.0005 * rows.length);
  });

  it("gives p-values that recover from a beginning without any change", async () => {
    const values = noise("late", 9000).map((value, t) => (t < 300 ? 0 : value));
    const rows = (await create({ size: 0 })).detect(values).rows.slice(4000);
    const share = (p: number) => rows.filter(({ pValue }) => pValue <= p).length / rows.length;
    // The first errors after the change were large, and count among the earlier ones.
    expect(share(0.01)).toBeLessThan(0.018);
    expect(Math.abs(share(0.5) - 0.5)).toBeLessThan(0.1);
  });
});

describe("what raises an alarm", () => {
  const wave = Array.from({ length: 1200 }, (_, t) => Math.sin((2 * Math.PI * t) / 48));
  const waves = noise("wave", 1200).map((value, t) => wave[t]! + 0.1 * value);
  const alarms = ({ rows }: { readonly rows: readonly AnomalyRow[] }) =>
    rows.flatMap(({ row, alarm, cause }) => (alarm ? [{ row, by: alarm.by, cause }] : []));

  it("a broken relation of two columns, by surprise alone", async () => {
    // The second column repeats the first one a row later, until it is the other way round.
    const x = noise("relation", 3000);
    const rows = x.map((value, t) => [value, (t < 2500 ? 1 : -1) * (x[t - 1] ?? 0)]);
    const options = { columns: ["x", "echo"], size: 0, detect: "surprise", stuck: false } as const;
    const found = alarms((await create(options)).detect(rows)).filter(({ row }) => row >= 1000);
    expect(found[0]).toMatchObject({ by: "surprise", cause: { column: "echo", rows: 1 } });
    expect(found[0]!.row).toBeGreaterThanOrEqual(2500);
    expect(found[0]!.row).toBeLessThan(2510);
  });

  it("a value that stays, once, and only if it changed before", async () => {
    const held = waves.map((value, t) => (t >= 700 && t < 900 ? waves[700]! : value));
    expect(alarms((await create()).detect(held)).filter(({ by }) => by === "stuck")).toMatchObject([
      { row: 750, cause: { column: "value" } },
    ]);
    expect(alarms((await create({ stuck: false })).detect(held)).filter(({ by }) => by === "stuck")).toEqual([]);
    const { rows } = (await create()).detect(Array.from({ length: 1000 }, (_, t) => (t < 900 ? 5 : 6)));
    expect(rows.slice(0, 900).every(({ score, alarm }) => score === 0 && alarm === undefined)).toBe(true);
    expect(rows[900]!.alarm?.by).toBe("novelty");
  });

  it("a column that is missing for long, if that is asked", async () => {
    const rows = waves.map((value, t) => [value, t < 500 ? value : Number.NaN]);
    const asked = alarms((await create({ columns: ["a", "b"], missing: "alarm" })).detect(rows)).filter(({ by }) => by === "missing");
    expect(asked).toMatchObject([{ row: 600, cause: { column: "b" } }]);
    expect(alarms((await create({ columns: ["a", "b"] })).detect(rows)).filter(({ by }) => by === "missing")).toEqual([]);
  });

  it("one alarm for odd columns of one incident, whose columns it lists", async () => {
    const rows = waves.map((value, t) => [value + (t === 800 ? 4 : 0), value + (t >= 805 && t < 810 ? 4 : 0)]);
    const { incidents } = (await create({ columns: ["a", "b"], size: 0 })).detect(rows);
    const late = incidents.filter(({ start }) => start >= 700);
    expect(late).toMatchObject([{ start: 800, by: "novelty", columns: ["a", "b"] }]);
    expect(late[0]!.end).toBeGreaterThanOrEqual(805);
    expect(late[0]!.end).toBeLessThanOrEqual(900);
  });

  it("feedback: what is called an anomaly alarms again, what is called normal raises the limit", async () => {
    const burst = (t: number) => (t % 400 >= 300 && t % 400 < 303 && t >= 300 ? 3 : 0);
    const rows = waves.map((value, t) => value + burst(t));
    const run = async (verdict?: "normal" | "anomaly") => {
      const detector = await create({ forecast: false, radius: 0.5 });
      const found: number[] = [];
      for (const value of rows) {
        const { row, alarm } = detector.update(value);
        if (!alarm) continue;
        found.push(row);
        if (verdict) detector.feedback(row, verdict);
      }
      return { found, limit: limitOf(detector) };
    };
    const [none, anomaly, normal] = [await run(), await run("anomaly"), await run("normal")];
    expect(none.found).toContain(300);
    expect(anomaly.found.length).toBeGreaterThanOrEqual(none.found.length);
    expect(normal.limit).toBeGreaterThan(none.limit);
    const detector = await create({ forecast: false });
    detector.detect(rows.slice(0, 350));
    const [before, state] = [limitOf(detector), detector.state];
    detector.feedback(310, "normal");
    expect(limitOf(detector) / before).toBeCloseTo(Math.exp(0.1 * 0.999), 12);
    for (const at of [299, 401, -1, 1e9])
      expect(() => detector.feedback(at, "normal")).toThrow(/at is .*; it takes a row, or its time, of an incident/);
    expect(() => detector.feedback(310, "odd" as "normal")).toThrow(/verdict is "odd"; it takes "normal" or "anomaly"/);
    const banks = layoutOf(detector.settings).banks;
    detector.feedback(310, "anomaly");
    expect(banks.every((at) => detector.state[at]! < state[at]!)).toBe(true);
  });

  it("feedback by time", async () => {
    const detector = await create({ forecast: false });
    const start = Date.UTC(2024, 0, 1);
    const rows = waves.map((value, t) => value + (t === 700 ? 4 : 0));
    detector.detect(rows.slice(0, 720), { times: rows.slice(0, 720).map((_, t) => start + 60_000 * t) });
    const before = limitOf(detector);
    detector.feedback(new Date(start + 60_000 * 705).toISOString(), "normal");
    expect(limitOf(detector)).toBeGreaterThan(before);
    expect(() => detector.feedback(new Date(start + 60_000 * 500), "normal")).toThrow(ArgumentError);
  });
});

describe("missing rows and time", () => {
  const series = noise("time", 600).map((value, t) => Math.sin(t / 8) + 0.2 * value);
  const minute = 60_000;
  const start = Date.UTC(2024, 2, 1);

  it("a gap counts as so many missing rows", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4, max: 1001 }), fc.integer({ min: 20, max: 300 }), async (steps, at) => {
        const gapped = await create({ size: 5 });
        const filled = await create({ size: 5 });
        for (let t = 0; t < 400; t++) {
          const time = start + minute * (t < at ? t : t + steps - 1);
          if (t === at) for (let k = 0; k < steps - 1; k++) filled.update(Number.NaN, start + minute * (at + k));
          const said = gapped.update(series[t]!, time);
          const { row, ...rest } = filled.update(series[t]!, time);
          expect({ ...said, row, alarm: said.alarm?.by }).toEqual({ ...rest, row, alarm: rest.alarm?.by });
        }
        expect(gapped.rows).toBe(400);
      }),
      { numRuns: 8 },
    );
  });

  it("a longer gap begins the trace and the forecast anew, and keeps what is known", async () => {
    const detector = await create({ size: 5 });
    for (let t = 0; t < 500; t++) detector.update(series[t]!, start + minute * t);
    const banks = layoutOf(detector.settings).banks.map((at) => detector.state[at]!);
    const said = detector.update(series[500]!, start + minute * 5000);
    expect(layoutOf(detector.settings).banks.every((at, k) => detector.state[at]! >= banks[k]!)).toBe(true);
    expect(said.pValue).toBeGreaterThan(0);
    expect(said.alarm).toBeUndefined();
  });

  it("stamps that repeat or go back count as the next row, and are counted", async () => {
    const times = series.map((_, t) => start + minute * (t === 300 ? 299 : t === 400 ? 380 : t));
    const detector = await create({ size: 0 });
    detector.detect(series, { times });
    expect(detector.unordered).toBe(2);
    const strict = await create({ size: 0, missing: "error" });
    const state = strict.state;
    expect(() => strict.detect(series, { times })).toThrow(/time is \d+, not later than 2024-03-01T04:59:00.000Z of the row before/);
    expect(strict.state).toEqual(state);
  });

  it("reads stamps of every kind alike, and those of readTimes", async () => {
    const stamps = series.map((_, t) => new Date(start + minute * t));
    const columns = [stamps, stamps.map(Number), stamps.map((stamp) => stamp.toISOString()), readTimes(stamps)];
    const states = await Promise.all(
      columns.map(async (times) => {
        const detector = await create({ size: 3 });
        detector.detect(series, { times });
        return detector.state;
      }),
    );
    for (const state of states) expect(state).toEqual(states[0]);
  });

  it("nothing is expected of a column before its first value", async () => {
    const detector = await create({ columns: 2 });
    const expected = [
      [7, null],
      [8, null],
      [8, 3],
      [8, 3],
    ].map((row) => detector.update(row).expected);
    expect(expected).toEqual([
      [undefined, undefined],
      [expect.closeTo(7, 9), undefined],
      [expect.any(Number), undefined],
      [expect.any(Number), 3],
    ]);
  });

  it("a missing value is not scored, and its column alone", async () => {
    const detector = await create({ columns: 2, size: 0 });
    for (let t = 0; t < 400; t++) detector.update([series[t]!, series[t + 1]!]);
    const none = detector.update([Number.NaN, null]);
    expect(none).toMatchObject({ score: 0, pValue: Number.NaN, alarm: undefined, cause: undefined });
    const half = detector.update([9, Number.NaN]);
    expect(half.cause?.column).toBe("column 0");
    expect(half.pValue).toBeLessThan(0.01);
    expect(half.expected.every(Number.isFinite)).toBe(true);
  });
});

describe("bad input", () => {
  it("names row, column, value and what is taken, and leaves the state as it is", async () => {
    const detector = await create({ columns: ["load", "temperature"], size: 3 });
    for (const value of checkSeries.slice(0, 50)) detector.update([value, -value]);
    const state = detector.state;
    const refused: readonly (readonly [unknown, unknown, RegExp])[] = [
      [[1], undefined, /^row 50 has 1 values; the columns are load, temperature$/],
      [[1, 2, 3], undefined, /^row 50 has 3 values/],
      [1, undefined, /^row 50 has 1 values/],
      ["12", undefined, /^row 50: row is "12"; it takes 2 values$/],
      [{ load: 1 }, undefined, /^row 50: row is \{"load":1\}; it takes 2 values$/],
      [[1, "2"], undefined, /^row 50, column "temperature", is "2"; it takes a number, or null or NaN if it is missing$/],
      [[new Date(0), 2], undefined, /^row 50, column "load", is .*; it takes a number/],
      [[true, 2], undefined, /column "load", is true/],
      [[1n, 2], undefined, /column "load", is 1n; it takes a number/],
      [[1, 2], "yesterday", /^time is "yesterday", which is no time stamp/],
      [[1, 2], Number.NaN, /^time is NaN; it takes a date, a value of Temporal/],
      [[1, 2], new Date(Number.NaN), /^time is .*; it takes a date/],
      [[1, 2], {}, /^time is \{\}; it takes a date/],
      [[1, 2], 1e18, /^time is 1000000000000000000; it takes a date/],
    ];
    for (const [row, time, sentence] of refused) {
      expect(() => detector.update(row as number, time as number)).toThrow(sentence);
      expect(() => detector.update(row as number, time as number)).toThrow(ArgumentError);
      expect(detector.state).toEqual(state);
    }
    const series = checkSeries.map((value, t) => [value, t === 700 ? "x" : value]) as number[][];
    expect(() => detector.detect(series)).toThrow(/^series\[700\], column "temperature", is "x"/);
    expect(() => detector.detect([[1, 2]])).toThrow(/series has 1 rows; alarms are raised from row 200 on/);
    expect(() =>
      detector.detect(
        checkSeries.map((value) => [value, value]),
        { times: [1, 2] },
      ),
    ).toThrow(/times has 2 stamps and series 1000 rows/);
    expect(() => detector.detect(7 as unknown as number[])).toThrow(/series is 7; it takes a Matrix, or a list/);
    expect(detector.state).toEqual(state);
  });

  it("refuses options with their names", async () => {
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ alarmRate: 0 }, /alarmRate is 0; it takes a number above 0 and at most 0.1/],
      [{ alarmRate: 0.2 }, /alarmRate is 0.2/],
      [{ columns: [] }, /columns is an array of 0; it takes how many columns/],
      [{ columns: ["a", "a"] }, /columns\[1\] is "a"; it takes a name, different from the other columns'/],
      [{ columns: ["a", ""] }, /columns\[1\] is ""/],
      [{ columns: [3] }, /columns\[0\] is 3/],
      [{ columns: 0 }, /columns is 0/],
      [{ columns: 101 }, /columns is 101/],
      [{ plan: "named" }, /^a detector takes row after row in the calling thread, on no engine: leave plan out$/],
      [{ engine: "cuda" }, /leave engine out/],
      [{ sice: 1 }, /unknown field "sice": did you mean "size"/],
      [{ forecast: false, detect: "surprise" }, /detect is "surprise"; it takes only "novelty" if forecast is false/],
      [{ missing: "drop" }, /missing is "drop"/],
    ];
    for (const [options, sentence] of refused) await expect(create(options)).rejects.toThrow(sentence);
  });

  it("holds infinite values as missing, and counts them", async () => {
    const detector = await create({ size: 0 });
    for (const value of checkSeries.slice(0, 300)) detector.update(value);
    for (const value of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e301])
      expect(detector.update(value)).toMatchObject({ score: 0, pValue: Number.NaN });
    expect(detector.refused).toBe(3);
    const strict = await create({ missing: "error" });
    expect(() => strict.update(Number.POSITIVE_INFINITY)).toThrow(/row 0, column "value", is Infinity, and missing is "error"/);
    expect(() => strict.update(Number.NaN)).toThrow(/is NaN, and missing is "error"/);
    expect(strict.rows).toBe(0);
  });

  it("makes no number of any values that is no number", async () => {
    const value = fc.oneof(
      fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e300, max: 1e300 }),
      fc.constantFrom(0, -0, 5e-324, -5e-324, 1e300, -1e300, 1e12, 1e12 + 1, 1, 1e-300),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 40 }), fc.boolean(), async (values, isRepeated) => {
        const detector = await create({ size: 4, warmUp: 30 });
        for (let t = 0; t < 400; t++) {
          const said = detector.update(values[isRepeated ? Math.floor(t / 9) % values.length : t % values.length]!);
          expect(Number.isFinite(said.score) && said.pValue > 0 && said.pValue <= 1).toBe(true);
          for (const numbers of [said.expected, said.lower, said.upper])
            expect(numbers.every((number) => number === undefined || Number.isFinite(number))).toBe(true);
        }
        const [where] = [...detector.state.entries()].filter(([, number]) => !Number.isFinite(number));
        expect(where).toBeUndefined();
      }),
      { numRuns: amount(60, 10) },
    );
  });

  it("a scale of any size gives the same alarms", async () => {
    const series = noise("scale", 2500).map((value, t) => Math.sin(t / 40) + 0.2 * value + (t === 2000 ? 4 : 0));
    const alarmsOf = async (scale: number, offset: number) =>
      (await create({ size: 0 })).detect(series.map((value) => value * scale + offset)).incidents.map(({ start }) => start);
    const plain = await alarmsOf(1, 0);
    expect(plain).toContain(2000);
    // Powers of two: no bit is lost.
    for (const scale of [2 ** 900, 2 ** -900]) expect(await alarmsOf(scale, 0)).toEqual(plain);
    expect(await alarmsOf(2 ** 20, 2 ** 40)).toContain(2000);
  });
});

describe("model files", () => {
  it("are refused with the reason if they are of something else, damaged or cut", async () => {
    const detector = await create({ size: 3 });
    detector.detect(checkSeries);
    const bytes = await detector.toBytes();
    const file = await decodeModelFile(bytes, "x", "detector");
    const changed = async (change: (state: Float64Array) => void, notes: Record<string, string> = {}) => {
      const state = detector.state;
      change(state);
      return encodeModelFile("detector", {
        tensors: { state: { dtype: "F64", shape: [state.length], data: state } },
        metadata: { ...file.metadata, ...notes },
      });
    };
    const open = (data: Uint8Array) => AnomalyDetector.fromBytes(data, { source: "a.safetensors" });
    const [bank] = layoutOf(detector.settings).banks as [number];
    const nan = (state: Float64Array) => state.fill(Number.NaN, shared.row, 1);
    for (const [data, reason] of [
      [bytes.slice(0, -9), /a.safetensors: /],
      [await changed((state) => state.fill(201, bank, bank + 1)), /its state has a bank of 201 patterns; it takes up to 200/],
      [await changed((state) => state.fill(0.5, bank, bank + 1)), /a bank of 0.5 patterns/],
      [await changed(nan), /its tensor "state" holds NaN at 0/],
      [
        await changed(() => {}, { anomaly: '{"columns":["a","b"]}' }),
        /its tensor "state" is F64 \[\d+\]; by its description it takes F64 \[\d+\]/,
      ],
      [await changed(() => {}, { anomaly: '{"alarmRate":2}' }), /its anomaly cannot be used: AnomalyDetector: alarmRate is 2/],
    ] as const)
      await expect(open(data)).rejects.toThrow(reason);
    // Numbers by which the program finds things, each as it is not.
    const { whole } = layoutOf(detector.settings);
    expect(whole.length).toBe(37);
    for (const [at, most] of whole)
      for (const value of [-1, 0.5, most + 1, 1e300])
        if (value !== most + 1 || Number.isSafeInteger(value))
          await expect(open(await changed((state) => state.fill(value, at, at + 1)))).rejects.toThrow(
            `number ${at} of its state is ${value}`,
          );
    await expect(Forecaster.fromBytes(bytes)).rejects.toThrow(/it holds a detector, and a forecaster was asked for/);
    await expect(open(bytes.slice(0, 100))).rejects.toThrow();
    await expect(open(await encodeModelFile("classifier", { tensors: {}, metadata: {} }))).rejects.toThrow(ModelFileError);
  });
});
