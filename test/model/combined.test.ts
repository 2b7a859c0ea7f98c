// A forecaster of members that are combined: which take part, how they are weighed by forecasts
// from earlier rows, and what becomes of short series.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions, Matrix } from "../../src/index.js";
import { memberNames } from "../../src/model/forecaster/options.js";
import { typicalError } from "../../src/model/forecaster/tried.js";
import { toOnnx } from "../../src/model/onnx/index.js";
import { fitClassical } from "../../src/series/classical.js";
import { continueSmoothing } from "../../src/series/exponential-smoothing.js";
import { casesOf } from "../exhaustive.js";

const column = (rows: number, value: (t: number) => number) =>
  new Matrix(
    rows,
    1,
    Float64Array.from({ length: rows }, (_, t) => value(t)),
  );
const noise = (t: number) => Math.sin(1.7 * t * t);
/** A season of four rows, a trend and noise. */
const quarters = (rows: number) => column(rows, (t) => 100 + t + [5, -3, 4, -6][t % 4]! + noise(t));
const reservoir = { size: 20, seed: 1 };
const quick = { horizon: 4, season: 4, reservoir, members: memberNames } satisfies ForecasterOptions;
const made = (series: Matrix, options: Partial<ForecasterOptions> = {}) =>
  Forecaster.fit(series, { ...quick, ...options } as ForecasterOptions);
const namesOf = ({ choice }: Forecaster) => choice!.members!.map(({ name }) => name);
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

describe("a combination of members", () => {
  it("has the members that the rows are enough for", async () => {
    const classical = ["theta", "damped", "ets"];
    for (const [rows, names] of [
      [2, classical],
      [16, [...classical, "seasonalNaive"]],
      [40, classical],
      [48, ["loop", ...classical, "seasonalNaive"]],
      [160, ["loop", "direct", ...classical, "seasonalNaive"]],
    ] as const) {
      await using forecaster = await made(quarters(rows));
      const horizons = forecaster.choice!.validated!.rows / 4;
      const expected = names.filter((name) => name !== "seasonalNaive" || horizons >= 3);
      expect([rows, namesOf(forecaster)]).toEqual([rows, expected]);
    }
    await using plain = await made(quarters(160), { season: undefined });
    expect(namesOf(plain)).toEqual(["loop", "direct", "theta", "damped", "ets"]);
  });

  it("weighs classical members by their errors from earlier rows, as computed by hand", async () => {
    const series = quarters(40);
    const members = ["theta", "damped", "ets"] as const;
    await using forecaster = await made(series, { members });
    // The last quarter of 40 rows is 30 to 39; the last origin leaves four rows.
    const origins = [29, 30, 31, 32, 33, 34, 35, 36];
    expect(forecaster.choice!.starts.map(({ row }) => row)).toEqual(origins);
    const errors = members.map((name) => {
      const all = origins.flatMap((origin) => {
        const ahead = continueSmoothing(fitClassical(name, series.data.slice(0, origin), 4), 4);
        return [...ahead].map((value, k) => Math.abs(series.at(origin + k, 0) - value));
      });
      return sum(all) / all.length;
    });
    const power = (40 - 29) / 4;
    const raw = errors.map((error) => (error / Math.min(...errors)) ** -power);
    const weights = raw.map((each) => each / sum(raw));
    const ahead = members.map((name) => continueSmoothing(fitClassical(name, series.data.slice(), 4), 4));
    const forecast = await forecaster.forecast(4);
    for (const [m, weight] of weights.entries()) {
      expect(forecaster.choice!.members![m]!.weights[0]).toBeCloseTo(weight, 12);
      expect(forecaster.choice!.members![m]!.errors![0]).toBeCloseTo(errors[m]!, 12);
    }
    for (let k = 0; k < 4; k++) expect(forecast.at(k, 0)).toBeCloseTo(sum(ahead.map((each, m) => each[k]! * weights[m]!)), 9);
    await using equal = await made(series, { members, weights: "equal" });
    expect(equal.choice!.members!.map(({ weights: [own] }) => own)).toEqual([1 / 3, 1 / 3, 1 / 3]);
  });

  it("weighs each column by itself", async () => {
    const single = quarters(48);
    const two = Matrix.from(Array.from({ length: 48 }, (_, t) => [single.at(t, 0), 40 * noise(t)]));
    await using both = await made(two, { members: ["theta", "damped", "ets"] });
    await using one = await made(single, { members: ["theta", "damped", "ets"] });
    expect(both.choice!.members!.map(({ weights }) => weights[0])).toEqual(one.choice!.members!.map(({ weights }) => weights[0]));
    expect([...(await both.forecast(4)).column(0)]).toEqual([...(await one.forecast(4)).data]);
    expect(sum(both.choice!.members!.map(({ weights }) => weights[1]!))).toBeCloseTo(1, 12);
  });

  it("takes the median of the loop's candidates, each with its own lambda, and keeps every score", async () => {
    await using short = await made(quarters(160));
    expect(short.choice!.kept.map(({ candidate }) => candidate).toSorted()).toEqual([0, 1, 2, 3]);
    await using forecaster = await made(quarters(1000));
    const { candidates, scores, kept, members, errors } = forecaster.choice!;
    expect(candidates).toHaveLength(4);
    // Differences suit a trend; candidates that are half as bad again as the best are left out.
    expect(kept.map(({ candidate }) => candidate)).toEqual([1, 3]);
    expect(scores.filter(({ error }) => Number.isFinite(error)).length).toBeGreaterThan(20);
    for (const { candidate, lambda, score } of kept) {
      const own = scores.filter((pair) => pair.candidate === candidate && Number.isFinite(pair.error));
      const smoothed = own.map((_, i) => {
        const near = own.slice(Math.max(0, i - 1), i + 2).map(({ error }) => Math.log(error!));
        return Math.exp(sum(near) / near.length);
      });
      const best = smoothed.indexOf(Math.min(...smoothed));
      expect(lambda).toBe(own[best]!.lambda);
      expect(score).toBeCloseTo(smoothed[best]!, 9);
    }
    expect(members!.find(({ name }) => name === "direct")!.scores!.length).toBeGreaterThan(3);
    expect(errors.rows).toBe(8 * 4);
  });

  it("takes as the typical error of a candidate the geometric mean over origins", () => {
    const targets = column(6, () => 1);
    const off = (...errors: number[]) => column(6, (t) => 1 + errors[Math.floor(t / 2)]! * (t % 2 === 0 ? 1 : -1));
    const scale = Float64Array.of(2);
    expect(typicalError(targets, off(1, 8, 27), scale, 2)).toBeCloseTo(3, 12);
    // One origin from which all fail does not hide the others; none counts below a hundredth of the whole.
    expect(typicalError(targets, off(0.1, 50, 0.1), scale, 2)).toBeLessThan(typicalError(targets, off(4, 20, 4), scale, 2));
    expect(typicalError(targets, off(0, 2, 0), scale, 2)).toBeCloseTo(Math.cbrt((0.01 * Math.sqrt(1 / 3)) ** 2), 12);
    targets.data.fill(Number.NaN, 2, 4);
    expect(typicalError(targets, off(1, 8, 27), scale, 2)).toBeGreaterThan(0);
  });

  it("reads no row behind an origin: errors from there keep their bits if those rows change", async () => {
    const series = quarters(160);
    await using before = await made(series);
    const origins = before.choice!.starts.map(({ row }) => row);
    const at = origins[5]!;
    await using after = await made(
      column(160, (t) => series.at(t, 0) + (t >= at ? 30 + 7 * noise(t) : 0)),
      { weights: "equal" },
    );
    await using same = await made(series, { weights: "equal" });
    const rows = 4 * origins.filter((origin) => origin + 4 <= at).length;
    expect([...after.choice!.errors.subarray(0, rows).data]).toHaveLength(rows);
    // Lambdas are chosen by all origins, so the members whose lambda is another are left out here.
    for (const candidate of [0, 1, 2, 3]) expect(same.choice!.scores.some((pair) => pair.candidate === candidate)).toBe(true);
    await using classical = await made(series, { members: ["theta", "damped", "ets"], weights: "equal" });
    await using changed = await made(
      column(160, (t) => series.at(t, 0) + (t >= at ? 30 : 0)),
      {
        members: ["theta", "damped", "ets"],
        weights: "equal",
      },
    );
    expect([...changed.choice!.errors.subarray(0, rows).data]).toEqual([...classical.choice!.errors.subarray(0, rows).data]);
  });

  it("is the default with a horizon, but for options of a loop alone and several series", async () => {
    const series = quarters(200);
    await using left = await made(series, { members: undefined });
    await using named = await made(series);
    expect([...(await left.forecast(4)).data]).toEqual([...(await named.forecast(4)).data]);
    expect(left.settings.members).toEqual(memberNames);
    const ofLoop = [{ choose: {} }, { lags: 3 }, { transforms: [] }, { readout: {} }, { hold: true }, { washout: 20 }];
    for (const options of casesOf(ofLoop, (each) => "lags" in each || "readout" in each)) {
      await using alone = await made(series, { ...options, members: undefined });
      await using loop = await made(series, { ...options, members: ["loop"] });
      expect(alone.choice!.members).toBeUndefined();
      expect([...(await alone.forecast(4)).data]).toEqual([...(await loop.forecast(4)).data]);
    }
    const sequences = [quarters(200), quarters(240)];
    await using several = await Forecaster.fit({ sequences }, { ...quick, members: undefined });
    await using loop = await Forecaster.fit({ sequences }, { ...quick, members: ["loop"] });
    expect([...(await several.forecast(4)).data]).toEqual([...(await loop.forecast(4)).data]);
    await using opened = await Forecaster.fromBytes(await several.toBytes());
    expect([...(await opened.forecast(4)).data]).toEqual([...(await loop.forecast(4)).data]);
  }, 300_000);

  it("has the loop of earlier versions alone as its only member", async () => {
    const series = quarters(200);
    const choose = { starts: 3, lambdas: [1e-4, 1] };
    await using named = await made(series, { members: ["loop"], choose });
    await using described = await made(series, { members: 5, choose });
    expect(named.choice!.members).toBeUndefined();
    expect([...(await named.forecast(4)).data]).toEqual([...(await described.forecast(4)).data]);
  });

  it("goes on the same from a file, and after fitting again", async () => {
    for (const rows of [12, 160]) {
      await using forecaster = await made(quarters(rows));
      await using loaded = await Forecaster.fromBytes(await forecaster.toBytes());
      const asked = { intervals: [0.8], quantiles: [0.1] };
      const forecast = await forecaster.forecast(6, asked);
      expect(await loaded.forecast(6, asked)).toEqual(forecast);
      expect(loaded.choice).toEqual(forecaster.choice);
      expect(await loaded.toBytes()).toEqual(await forecaster.toBytes());
      await loaded.fit(quarters(rows));
      expect([...(await loaded.forecast(6)).data]).toEqual([...forecast.data]);
    }
  });

  it("takes the reservoir that more rows take, also if it was opened from a file", async () => {
    const series = quarters(203);
    const options = { reservoir: { seed: 1 }, members: ["loop", "theta"] as const };
    await using short = await made(series.subarray(0, 199), options);
    await using opened = await Forecaster.fromBytes(await short.toBytes());
    await opened.update(series.subarray(199));
    await using whole = await made(series, options);
    expect(opened.computer.model.size).toBe(100);
    expect(short.computer.model.size).toBe(60);
    expect([...(await opened.forecast(4)).data]).toEqual([...(await whole.forecast(4)).data]);
  }, 300_000);

  it("is no ONNX graph", async () => {
    await using forecaster = await made(quarters(20));
    await expect(toOnnx(forecaster)).rejects.toThrow(
      'the model combines members, which an ONNX graph does not hold; export it as C or WebAssembly, or fit it with members: ["loop"]',
    );
  });

  it("predicts one step in one call and in parts, and from a warm-up", async () => {
    await using forecaster = await made(quarters(160));
    const more = column(20, (t) => quarters(180).at(160 + t, 0));
    const { state } = forecaster;
    const whole = [...(await forecaster.predict(more)).data];
    forecaster.state = state;
    const parts = [...(await forecaster.predict(more.subarray(0, 7))).data, ...(await forecaster.predict(more.subarray(7))).data];
    expect(parts).toEqual(whole);
    const first = (await forecaster.forecast(1)).at(0, 0);
    expect(parts.at(-1)).toBeCloseTo(first, 4);
    const warmed = await forecaster.forecast(4, { warmup: quarters(160) });
    await using fresh = await made(quarters(160));
    for (let k = 0; k < 4; k++) expect(Math.abs(warmed.at(k, 0) - (await fresh.forecast(4)).at(k, 0))).toBeLessThan(1);
  });

  it.each([
    ["theta", 8],
    ["damped", 8],
    ["ets", 13],
    ["seasonalNaive", 4],
    ["direct", 8],
  ] as const)("keeps the season that %s follows in a warm-up, and refuses one too short to show it", async (member, least) => {
    const shifts = [5, -3, 4, -6];
    const series = column(160, (t) => 100 + shifts[t % 4]! + noise(t) / 5);
    await using forecaster = await made(series, { members: [member] });
    const isNear = (values: ArrayLike<number>) => Array.from(values).every((value, h) => Math.abs(value - (100 + shifts[h % 4]!)) < 2);
    for (let rows = 1; rows <= 16; rows++) {
      const forecast = forecaster.forecast(4, { warmup: series.subarray(160 - rows) });
      if (rows < least) {
        const sentence = `${rows} rows were seen; ${member} with a season of 4 rows takes at least ${least}, in warmup`;
        await expect(forecast).rejects.toThrow(sentence);
        continue;
      }
      expect(isNear((await forecast).data)).toBe(true);
    }
  });

  it("takes known inputs, time stamps and missing values", async () => {
    const series = quarters(160);
    const holes = column(160, (t) => (t % 37 === 5 ? Number.NaN : series.at(t, 0)));
    for (const missing of ["hold", "interpolate", "mask"] as const) {
      await using forecaster = await made(holes, { missing });
      expect(Math.abs((await forecaster.forecast(1)).at(0, 0) - (100 + 160 + 5))).toBeLessThan(8);
    }
    const known = column(160, (t) => (t % 10 === 0 ? 1 : 0));
    const pushed = column(160, (t) => series.at(t, 0) + 25 * known.at(t, 0));
    await using forecaster = await Forecaster.fit({ series: pushed, known }, quick);
    const ahead = await forecaster.forecast(4, { known: column(4, (k) => (k === 0 ? 1 : 0)) });
    expect(ahead.at(0, 0) - ahead.at(2, 0)).toBeGreaterThan(3);
    await using short = await Forecaster.fit({ series: pushed.subarray(0, 20), known: known.subarray(0, 20) }, quick);
    expect((await short.forecast(2, { known: column(2, () => 0) })).rows).toBe(2);
    const times = Array.from({ length: 160 }, (_, t) => new Date(Date.UTC(2000, 3 * t, 1)).toISOString().slice(0, 10));
    await using timed = await Forecaster.fit(series, { ...quick, times });
    expect((await timed.forecast(2)).times).toEqual(["2040-01-01", "2040-04-01"]);
  });

  it("keeps members and the forecast within bounds", async () => {
    const falling = column(40, (t) => Math.max(0, 30 - t) + (t % 3 === 0 ? 0.2 : 0));
    await using forecaster = await made(falling, { horizon: 12, season: undefined });
    expect(forecaster.bounds).toEqual([[0, null]]);
    const forecast = await forecaster.forecast(12, { intervals: [0.9], quantiles: [0.05] });
    const { lower } = forecast.bands![0]!;
    for (const values of [forecast, lower, forecast.quantiles![0]!.values]) expect(Math.min(...values.data)).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ["members that need more rows", quarters(30), { members: ["direct"] }, "members is direct and the series has 30 rows"],
    ["names and no horizon", quarters(30), { horizon: undefined, members: ["theta"] }, "horizon is missing"],
    ["names and a choice of the loop's", quarters(30), { members: ["loop", "ets"], choose: {} }, 'members: ["loop"]'],
    ["names and feedback", quarters(30), { members: ["ets"], reservoir: { feedback: {} } }, "reservoir.feedback was given"],
    ["weights of a loop alone", quarters(300), { members: ["loop"], weights: "equal" }, 'weights is "equal"'],
    [
      "a horizon far longer than the series",
      quarters(30),
      { horizon: 1001 },
      "horizon is 1001; it takes at most 1000 for a series of 30 rows",
    ],
    ["another name alone", quarters(30), { members: ["arima"] }, 'members[0] is "arima"; it takes "loop", "direct"'],
    ["another name", quarters(30), { members: ["theta", "etts"] }, 'members[1] is "etts"; it takes "loop", "direct"'],
    ["inputs and targets", { inputs: quarters(30), targets: quarters(30) }, {}, "horizon chooses by closed loops over a series"],
  ])("refuses %s", async (_, data, options, message) => {
    await expect(Forecaster.fit(data as never, { ...quick, ...options } as never)).rejects.toThrow(message);
  });
});

describe("quantiles", () => {
  it("are the ends of the bands, never cross, and widen with the steps", async () => {
    for (const rows of [10, 60]) {
      await using forecaster = await made(quarters(rows), { members: ["theta", "damped", "ets"] });
      const levels = [0.05, 0.1, 0.5, 0.9, 0.95];
      const forecast = await forecaster.forecast(6, { quantiles: levels, intervals: [0.8] });
      expect(forecast.quantiles!.map(({ level }) => level)).toEqual(levels);
      const values = forecast.quantiles!.map((each) => each.values);
      expect(values[1]).toEqual(forecast.bands![0]!.lower);
      expect(values[3]).toEqual(forecast.bands![0]!.upper);
      expect([...values[2]!.data]).toEqual([...forecast.data]);
      for (let k = 0; k < 6; k++) {
        for (let q = 1; q < levels.length; q++) expect(values[q]!.at(k, 0)).toBeGreaterThanOrEqual(values[q - 1]!.at(k, 0));
        if (k > 0) expect(values[4]!.at(k, 0) - forecast.at(k, 0)).toBeGreaterThan(values[4]!.at(k - 1, 0) - forecast.at(k - 1, 0));
      }
    }
  });

  it("of a loop alone are those of its bands too, as far as its starts allow", async () => {
    await using forecaster = await made(quarters(300), { members: 1, choose: { starts: 12, lambdas: [1e-2] } });
    const forecast = await forecaster.forecast(4, { quantiles: [0.1, 0.9], intervals: [0.8] });
    expect(forecast.quantiles!.map(({ values }) => values)).toEqual([forecast.bands![0]!.lower, forecast.bands![0]!.upper]);
    await expect(forecaster.forecast(4, { quantiles: [0.5, 0.999] })).rejects.toThrow("quantiles[1] is 0.999");
    await expect(forecaster.forecast(4, { quantiles: [1] })).rejects.toThrow("quantiles[0] is 1");
  });
});

describe("short series", () => {
  const shapes = [() => 7, () => 0, (t: number) => (t === 3 ? 1e6 : 1), (t: number) => 2 * t - 9, (t: number) => 50 * noise(t)];

  it("have finite forecasts within three ranges of the rows, bands and quantiles, from two rows on", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...shapes),
        fc.integer({ min: 2, max: 60 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 20 }),
        async (shape, rows, season, horizon) => {
          const series = column(rows, shape);
          await using forecaster = await Forecaster.fit(series, { horizon, season, reservoir });
          const forecast = await forecaster.forecast(horizon, { intervals: [0.8, 0.99], quantiles: [0.3] });
          const ends = forecast.bands!.flatMap(({ lower, upper }) => [...lower.data, ...upper.data]);
          expect([...forecast.data, ...ends, ...forecast.quantiles![0]!.values.data].every(Number.isFinite)).toBe(true);
          const [least, most] = [Math.min(...series.data), Math.max(...series.data)];
          const reach = 3 * (most - least) + 1e-9 * Math.max(1, Math.abs(most), Math.abs(least));
          for (const value of forecast.data)
            expect([shape, rows, value >= least - reach && value <= most + reach]).toEqual([shape, rows, true]);
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);
});
