// Several series in one call of a combination: each weighed by itself, beside a readout that the
// windows of all of them train.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Forecaster, type ForecasterOptions, ReservoirComputer } from "../../src/index.js";

const noise = (t: number) => Math.sin(1.7 * t * t);
/** A series of one family: the same oscillation in other units, phases and levels. */
const waves = (s: number, rows = 40) =>
  Array.from({ length: rows }, (_, t) => 10 ** (s % 4) * (20 + s + 3 * Math.sin(0.7 * t + s) + 0.05 * noise(t + 9 * s)));
const keys = Array.from({ length: 12 }, (_, s) => `shop ${s}`);
const sequences = new Map(keys.map((key, s) => [key, waves(s)]));
const options = { horizon: 4, members: ["theta", "damped", "ets", "pooled"] } satisfies ForecasterOptions;
const namesOf = (model: Forecaster, key: string) => model.choiceOf(key)!.members!.map(({ name }) => name);
const weightOf = (model: Forecaster, key: string, wanted: string) =>
  model.choiceOf(key)!.members!.find(({ name }) => name === wanted)!.weights[0]!;

describe("a combination of several series", () => {
  it("without a pooled member forecasts of each what it forecasts of that series alone", async () => {
    const members = ["direct", "theta", "ets", "seasonalNaive"] as const;
    const own = { horizon: 4, season: 7, members } as const;
    const all = new Map([
      ["long", waves(1, 160)],
      ["short", waves(2, 5)],
      ["middle", waves(3, 50)],
    ]);
    await using model = await Forecaster.fit({ sequences: all }, own);
    expect(model.keys).toEqual([...all.keys()]);
    for (const [key, series] of all) {
      await using alone = await Forecaster.fit(series, own);
      const asked = { intervals: [0.8], quantiles: [0.3] };
      const [a, b] = [await alone.forecast(6, asked), await model.forecast(6, { ...asked, key })];
      expect(b).toEqual(a);
      expect(model.choiceOf(key)).toEqual(alone.choice);
    }
    // Series by key are combined by default, those of a list are the runs of one loop.
    await using usual = await Forecaster.fit({ sequences: all }, { horizon: 4, season: 7 });
    await using named = await Forecaster.fit({ sequences: all }, { ...own, members: [...members, "damped", "pooled"] });
    expect(usual.choiceOf("short")).toEqual(named.choiceOf("short"));
    expect((await usual.forecast(4, { key: "long" })).data).toEqual((await named.forecast(4, { key: "long" })).data);
    await using loop = await Forecaster.fit({ sequences: [...all.values()].map((series) => series.concat(series)) }, { horizon: 4 });
    expect([loop.keys, loop.choice?.members]).toEqual([[], undefined]);
    // A list has its indices as keys.
    await using list = await Forecaster.fit({ sequences: [...all.values()] }, own);
    expect((await list.forecast(4, { key: "2" })).data).toEqual((await model.forecast(4, { key: "middle" })).data);
  });

  it("keeps the season of a series in a warm-up, and refuses one too short to show it", async () => {
    const seasonal = (s: number) => Array.from({ length: 60 }, (_, t) => 100 + s + [5, -3, 4, -6][t % 4]! + noise(t) / 5);
    const all = new Map(["a", "b"].map((key, s) => [key, seasonal(s)]));
    await using model = await Forecaster.fit({ sequences: all }, { horizon: 4, season: 4, members: ["pooled"] });
    for (let rows = 1; rows <= 16; rows++) {
      const made = model.forecast(4, { key: "a", warmup: all.get("a")!.slice(60 - rows) });
      if (rows < 8)
        await expect(made).rejects.toThrow(`${rows} rows were seen; pooled with a season of 4 rows takes at least 8, in warmup`);
      else for (const [h, value] of (await made).data.entries()) expect(Math.abs(value - 100 - [5, -3, 4, -6][h]!)).toBeLessThan(3);
    }
    expect((await model.forecast(1, { warmup: [[100], [101]] })).data.every(Number.isFinite)).toBe(true);
  });

  it("learns from all of them what one is too short to show", async () => {
    await using model = await Forecaster.fit({ sequences }, options);
    let better = 0;
    for (const [s, key] of keys.entries()) {
      expect(namesOf(model, key)).toEqual(["theta", "damped", "ets", "pooled"]);
      const weights = model.choiceOf(key)!.members!.map(({ weights: [own] }) => own!);
      expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
      await using alone = await Forecaster.fit(waves(s), { ...options, members: ["theta", "damped", "ets"] });
      const truth = waves(s, 44).slice(40);
      const error = (said: ArrayLike<number>) => truth.reduce((sum, value, k) => sum + Math.abs(value - said[k]!), 0);
      const [pooled, single] = [await model.forecast(4, { key }), await alone.forecast(4)];
      if (error(pooled.data) < 0.5 * error(single.data)) better++;
      expect(weightOf(model, key, "pooled")).toBeGreaterThan(0.5);
    }
    expect(better).toBeGreaterThanOrEqual(10);
  });

  it("forecasts a series in other units in those units", async () => {
    const pooled = { horizon: 4, members: ["pooled"] } as const;
    await using model = await Forecaster.fit({ sequences }, pooled);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 11 }), fc.double({ min: 1e-3, max: 1e3, noNaN: true }), async (s, unit) => {
        const rows = waves(s);
        const plain = await model.forecast(4, { warmup: rows });
        const other = await model.forecast(4, { warmup: rows.map((value) => unit * value) });
        for (let k = 0; k < 4; k++) expect(other.data[k]! / unit / plain.data[k]!).toBeCloseTo(1, 5);
      }),
      { numRuns: 20 },
    );
  });

  it("takes the season out of each series and puts it back", async () => {
    const level = (s: number, t: number) => 50 + 5 * s + 4 * Math.sin(0.5 * t + s);
    const seasonal = (s: number, rows: number) =>
      Array.from({ length: rows }, (_, t) => level(s, t) * [1.4, 0.8, 1, 0.8][(t + s) % 4]! + 0.05 * noise(t + 5 * s));
    const all = new Map(keys.map((key, s) => [key, seasonal(s, 48)]));
    await using model = await Forecaster.fit({ sequences: all }, { ...options, season: 4, members: ["pooled"] });
    for (const [s, key] of keys.entries()) {
      const said = await model.forecast(6, { key });
      const truth = seasonal(s, 54).slice(48);
      for (const [k, value] of truth.entries()) expect(Math.abs(said.data[k]! - value)).toBeLessThan(0.15 * value);
    }
  });

  it("weighs a new series by its own rows, with the readout of the others", async () => {
    await using model = await Forecaster.fit({ sequences }, options);
    const before = await model.forecast(4, { key: "shop 3" });
    const rows = waves(20, 44);
    const said = await model.forecast(4, { warmup: rows.slice(0, 40), quantiles: [0.1] });
    for (let k = 0; k < 4; k++) expect(Math.abs(said.data[k]! - rows[40 + k]!)).toBeLessThan(0.05 * rows[40 + k]!);
    expect(said.quantiles![0]!.values.data[0]).toBeLessThan(said.data[0]!);
    const tiny = await model.forecast(2, { warmup: [3, 4] });
    expect(tiny.data.every(Number.isFinite)).toBe(true);
    // Rows of a series that is known are warmed up on with the weights that it has.
    const later = await model.forecast(4, { key: "shop 3", warmup: waves(3, 44) });
    expect(later.data).not.toEqual(before.data);
    expect((await model.forecast(4, { key: "shop 3" })).data).toEqual(before.data);
  });

  it("is one file, with the same bits when opened", async () => {
    const all = new Map([...sequences, ["long", waves(30, 170)], ["longer", waves(31, 180)]]);
    const times = Array.from({ length: 180 }, (_, t) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10));
    const timed = new Map([...all].map(([key, series]) => [key, { series, times: times.slice(0, series.length) }]));
    await using model = await Forecaster.fit({ sequences: timed }, { ...options, members: ["direct", ...options.members] });
    const bytes = await model.toBytes();
    await using opened = await Forecaster.fromBytes(bytes);
    expect(opened.keys).toEqual(model.keys);
    for (const key of ["shop 0", "long", "longer"]) {
      expect(await opened.forecast(5, { key, intervals: [0.5] })).toEqual(await model.forecast(5, { key, intervals: [0.5] }));
      expect(opened.choiceOf(key)).toEqual(model.choiceOf(key));
    }
    expect((await opened.forecast(1, { key: "shop 1" })).times).toEqual([times[40]]);
    expect((await opened.forecast(4, { warmup: waves(20) })).data).toEqual((await model.forecast(4, { warmup: waves(20) })).data);
    expect(await opened.toBytes()).toEqual(bytes);
    // The pooled reservoir and readout are written once, and so is the reservoir of direct members.
    const more = new Map([...timed, ...keys.map((key, s) => [`${key} again`, { series: waves(s), times: times.slice(0, 40) }] as const)]);
    await using larger = await Forecaster.fit({ sequences: more }, { ...options, members: ["direct", ...options.members] });
    expect((await larger.toBytes()).length - bytes.length).toBeLessThan(12 * 6000);
  });

  it("refuses what names no series, and is as it was", async () => {
    await using model = await Forecaster.fit({ sequences }, options);
    await expect(model.forecast(4)).rejects.toThrow('key is missing; say which of "shop 0", "shop 1"');
    await expect(model.forecast(4, { key: "shop 33" })).rejects.toThrow('key is "shop 33"; it takes one of "shop 0"');
    await expect(model.update([1, 2])).rejects.toThrow("was trained on several series");
    expect(() => model.choiceOf("none")).toThrow("key");
    await using one = await Forecaster.fit(waves(1), { horizon: 4, members: ["theta", "ets"] });
    await expect(one.forecast(2, { key: "a" })).rejects.toThrow('key is "a"; it takes nothing: this forecaster has one model');
    const bad = new Map([...sequences, ["odd", [1, Number.NaN, 2]]]);
    await expect(model.fit({ sequences: bad })).rejects.toThrow('sequences["odd"]');
    const far = { ...options, horizon: 1001 };
    await expect(Forecaster.fit({ sequences }, far)).rejects.toThrow("horizon is 1001; it takes at most 1000 for a series of 40 rows");
    await expect(model.fit({ sequences: new Map() })).rejects.toThrow("sequences is empty");
    const wide = new Map<string, number[] | number[][]>([
      ["a", waves(1)],
      ["b", waves(2).map((value) => [value, value])],
    ]);
    await expect(model.fit({ sequences: wide })).rejects.toThrow("columns");
    expect((await model.forecast(4, { key: "shop 1" })).rows).toBe(4);
  });

  it("gives the reservoirs of all series back when it is trained on one", async () => {
    const all = new Map([
      ["long", waves(1, 160)],
      ["short", waves(2, 20)],
    ]);
    // The direct member takes part in the long series alone, which is not the last.
    await using model = await Forecaster.fit({ sequences: all }, { horizon: 4, members: ["direct", "theta"] });
    const saved = await model.toBytes();
    await using again = await Forecaster.fromBytes(saved);
    const disposed = vi.spyOn(ReservoirComputer.prototype, "dispose");
    await again.fit(waves(3, 30));
    expect(disposed).toHaveBeenCalledTimes(1);
    disposed.mockRestore();
  });
});
