// Missing values in a forecaster's series: filled, masked, counted.
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions, Matrix, nrmse } from "../../src/index.js";
import type { ForecasterMember } from "../../src/model/forecaster/member.js";
import { decodeModelFile, encodeModelFile } from "../../src/model/model-file.js";

/** Two waves that a forecast can go on with. */
const wave = (rows: number) => Matrix.from(Array.from({ length: rows }, (_, t) => [Math.sin(t / 5), 2 + Math.cos(t / 7)]));
const whole = wave(400);
/** The same without some values: every 11th of column 0, and three in a row of column 1. */
const gapped = new Matrix(400, 2, whole.data.slice());
for (let t = 10; t < 400; t += 11) gapped.data[2 * t] = Number.NaN;
for (const t of [100, 101, 102]) gapped.data[2 * t + 1] = Number.NaN;
const small: ForecasterOptions = { reservoir: { size: 60, seed: 2 }, washout: 30, readout: { lambda: 1e-4 } };

describe("a series with missing values", () => {
  it("is refused, unless it is said what becomes of them", async () => {
    await expect(Forecaster.fit(gapped, small)).rejects.toThrow("NaN");
    await expect(Forecaster.create({ ...small, missing: "drop" as never })).rejects.toThrow('"error", "hold", "interpolate" or "mask"');
  });

  it.each(["hold", "interpolate"] as const)("is trained on what %s fills, as on one that was filled before", async (missing) => {
    await using forecaster = await Forecaster.fit(gapped.subarray(0, 300), { ...small, missing });
    const filled = new Matrix(300, 2, gapped.data.slice(0, 600));
    for (let i = 0; i < 600; i++) {
      if (!Number.isNaN(filled.data[i]!)) continue;
      let next = i;
      while (Number.isNaN(filled.data[next]!)) next += 2;
      const before = filled.data[i - 2]!;
      const steps = (next - i) / 2 + 1;
      const line = (filled.data[next]! - before) / steps;
      for (let k = i, n = 1; k < next; k += 2, n++) filled.data[k] = missing === "hold" ? before : before + line * n;
    }
    await using plain = await Forecaster.fit(filled, small);
    expect(await forecaster.forecast(20)).toEqual(await plain.forecast(20));
    expect(forecaster.missingCounts).toEqual([27, 3]);
  });

  it("keeps its last row in the model's file, to hold what comes", async () => {
    for (const missing of ["hold", "interpolate", "mask"] as const) {
      await using forecaster = await Forecaster.fit(gapped.subarray(0, 300), { ...small, missing });
      await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
      const rows = [
        [Number.NaN, Number.NaN],
        [0.5, 2],
      ];
      const last = gapped.row(299);
      const held = await forecaster.predict(
        [[...last], [0.5, 2]].slice(0, missing === "mask" ? 0 : 2).concat(missing === "mask" ? rows : []),
      );
      expect((await opened.predict(rows)).data).toEqual(held.data);
    }
  });

  it("leaves rows out at the start of a warm-up that nothing before them can hold", async () => {
    for (const missing of ["hold", "interpolate", "mask"] as const) {
      await using forecaster = await Forecaster.fit(gapped.subarray(0, 300), { ...small, missing });
      const warmup = [[Number.NaN, 1], [0.2, Number.NaN], ...gapped.subarray(200, 300).toArrays()];
      const made = await forecaster.forecast(5, { warmup });
      expect(made.data).toEqual((await forecaster.forecast(5, { warmup: [[0.2, 1], ...warmup.slice(2)] })).data);
      forecaster.reset();
      await expect(forecaster.predict([[Number.NaN, 1]])).rejects.toThrow("row 0 has a missing value and there is none before it to hold");
    }
  });

  it("may be held with a mask, which forecasts need not be given", async () => {
    await using forecaster = await Forecaster.fit(gapped.subarray(0, 300), { ...small, missing: "mask" });
    expect(forecaster.known).toBe(0);
    expect(forecaster.computer.model.inputSize).toBe(4);
    const made = await forecaster.forecast(20);
    expect(nrmse(whole.subarray(300, 320), made)).toBeLessThan(0.5);
    // From other rows, with gaps of their own, and from a file.
    expect(await forecaster.forecast(20, { warmup: gapped.subarray(0, 300) })).toEqual(made);
    await using again = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(await again.forecast(20)).toEqual(made);
    const ahead = await forecaster.predict(gapped.subarray(300, 340));
    expect(nrmse(whole.subarray(300, 340), ahead)).toBeLessThan(0.5);
    expect(await forecaster.score(gapped.subarray(341))).toBeLessThan(0.5);
  });

  it("tells of one gap as of many: the mask has no z-scores", async () => {
    const rare = new Matrix(400, 2, whole.data.slice());
    rare.data[2 * 150] = Number.NaN;
    const known = Matrix.from(Array.from({ length: 400 }, (_, t) => [3 + Math.cos(t / 5)]));
    const options = { ...small, missing: "mask", horizon: 10, members: 1, choose: { lambdas: [1e-4], starts: 4 } } as const;
    await using forecaster = await Forecaster.fit({ series: rare, known }, options);
    const { inputScale } = (forecaster.members[0] as ForecasterMember).preprocessing;
    expect(inputScale.mean[2]).toBeCloseTo(3, 0);
    expect([...inputScale.mean.subarray(3)]).toEqual([0, 0]);
    expect([...inputScale.deviation.subarray(3)]).toEqual([1, 1]);
  });

  it("keeps the z-scores of a mask that an earlier file has", async () => {
    await using forecaster = await Forecaster.fit(gapped.subarray(0, 300), { ...small, missing: "mask" });
    const { kind, tensors, metadata } = await decodeModelFile(await forecaster.toBytes(), "here");
    const earlier = { ...tensors, "inputs.mean": { ...tensors["inputs.mean"]!, data: Float64Array.of(0, 2, 0.09, 0.01) } };
    await using opened = await Forecaster.fromBytes(await encodeModelFile(kind, { tensors: earlier, metadata }));
    expect([...(opened.members[0] as ForecasterMember).preprocessing.inputScale.mean]).toEqual([0, 2, 0.09, 0.01]);
  });

  it("may have known inputs beside the mask", async () => {
    const known = Matrix.from(Array.from({ length: 400 }, (_, t) => [Math.cos(t / 5)]));
    await using forecaster = await Forecaster.fit(
      { series: gapped.subarray(0, 300), known: known.subarray(0, 300) },
      { ...small, missing: "mask" },
    );
    expect(forecaster.known).toBe(1);
    expect((await forecaster.forecast(5, { known: known.subarray(300, 305) })).rows).toBe(5);
    await expect(forecaster.forecast(5)).rejects.toThrow("this forecaster takes 1 known inputs for each of the 5 steps");
  });

  it("may have time stamps and the calendar beside the mask", async () => {
    const times = Array.from({ length: 400 }, (_, t) => new Date(Date.UTC(2024, 0, 1, t)).toISOString().slice(0, 16));
    const options = { ...small, missing: "mask", calendar: ["hour"] } as const;
    await using forecaster = await Forecaster.fit({ series: gapped.subarray(0, 300), times: times.slice(0, 300) }, options);
    expect(forecaster.known).toBe(0);
    const made = await forecaster.forecast(12);
    const warmup = { series: gapped.subarray(0, 300), times: times.slice(0, 300) };
    expect((await forecaster.forecast(12, { warmup })).data).toEqual(made.data);
    expect(nrmse(whole.subarray(300, 312), made)).toBeLessThan(0.5);
    expect(await forecaster.score(gapped.subarray(300))).toBeLessThan(0.5);
  });

  it("goes with transforms, and with sequences of different lengths", async () => {
    const sequences = [gapped.subarray(0, 120), gapped.subarray(88, 300)];
    for (const missing of ["hold", "mask"] as const) {
      await using forecaster = await Forecaster.fit({ sequences }, { ...small, missing, transforms: [{ log: 2 }, { difference: 2 }] });
      expect(forecaster.missingCounts).toEqual([10 + 19, 3 + 3]);
      expect(nrmse(whole.subarray(300, 310), await forecaster.forecast(10))).toBeLessThan(0.5);
    }
  });

  it("without a value to start from, or with none at all in a column, is an error that says so", async () => {
    const late = [
      [Number.NaN, 1],
      [2, 3],
      [4, 5],
    ];
    await expect(Forecaster.fit(late, { ...small, missing: "hold" })).rejects.toThrow("series[0][0]: the value is missing");
    const empty = [
      [1, Number.NaN],
      [2, Number.NaN],
      [3, Number.NaN],
    ];
    await expect(Forecaster.fit(empty, { ...small, missing: "mask" })).rejects.toThrow(
      "all 3 values of this column are missing; leave the column out",
    );
    const pairs = { inputs: [1, 2, 3], targets: [1, Number.NaN, 3] };
    await expect(Forecaster.fit(pairs, { ...small, missing: "mask" })).rejects.toThrow("it is for a series");
  });
});
