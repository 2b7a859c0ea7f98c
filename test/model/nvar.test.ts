// NvarForecaster: features in the published order, exact systems recovered exactly, the same bits
// everywhere, and a file that goes on as the model did.

import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadModel, lorenz, Matrix, ModelFileError, NotFittedError, NvarForecaster, validPredictionTime } from "../../src/index.js";
import { NvarFeatures, numbers } from "../../src/model/nvar/features.js";
import { henon, lorenz96 } from "../../src/tasks/index.js";

/** The Hénon map, a polynomial of degree 2, in integers of 400 bits after the point. */
function exactHenon(length: number): { high: number[][]; low: number[][] } {
  const bits = 400n;
  const one = 1n << bits;
  let [x, y] = [one / 10n, one / 7n];
  const high: number[][] = [];
  const low: number[][] = [];
  const split = (value: bigint): [number, number] => {
    const first = Number(value >> (bits - 200n)) / 2 ** 200;
    return [first, Number((value >> (bits - 200n)) - BigInt(first * 2 ** 200)) / 2 ** 200];
  };
  for (let t = 0; t < length; t++) {
    const [a, b] = [split(x), split(y)];
    high.push([a[0], b[0]]);
    low.push([a[1], b[1]]);
    [x, y] = [one - (14n * ((x * x) >> bits)) / 10n + y, (3n * x) / 10n];
  }
  return { high, low };
}

/** Steps until a forecast of the map is .1 off. */
function stepsValid(forecast: Matrix, truth: readonly number[][]): number {
  const at = truth.findIndex((row, t) => Math.abs(forecast.at(t, 0) - row[0]!) > 0.1);
  return at < 0 ? truth.length : at;
}

const lorenz63 = lorenz(1200, { dt: 0.02, discard: 200 });

describe("the features of NVAR", () => {
  it("are the delays, oldest first, and their monomials", () => {
    const features = new NvarFeatures({ delays: 2, stride: 1, degrees: [2], neighbours: null }, 2);
    const out = numbers(features.count, false);
    features.write({ high: Float64Array.of(3, 4, 1, 2) }, { t: 1, group: 0 }, features.scratch(false), out);
    expect([...out.high]).toEqual([3, 4, 1, 2, 9, 12, 3, 6, 16, 4, 8, 1, 2, 4]);
  });

  it("are as many as ReservoirPy's NVAR(3, 2) has for 10 inputs: 495", () => {
    expect(new NvarFeatures({ delays: 3, stride: 2, degrees: [2], neighbours: null }, 10).count).toBe(495);
  });

  it("leave out degrees that were not asked for", () => {
    const features = new NvarFeatures({ delays: 1, stride: 1, degrees: [3], neighbours: null }, 2);
    const out = numbers(features.count, false);
    features.write({ high: Float64Array.of(2, 5) }, { t: 0, group: 0 }, features.scratch(false), out);
    expect([...out.high]).toEqual([2, 5, 8, 20, 50, 125]);
  });

  it("have the same values in double-double", () => {
    const features = new NvarFeatures({ delays: 1, stride: 1, degrees: [2, 3], neighbours: null }, 1);
    const out = numbers(features.count, true);
    features.write({ high: Float64Array.of(1), low: Float64Array.of(2 ** -60) }, { t: 0, group: 0 }, features.scratch(true), out);
    expect([...out.low!]).toEqual([2 ** -60, 2 ** -59, 3 * 2 ** -60]);
  });

  it("see neighbours across the end of a ring", () => {
    const features = new NvarFeatures({ delays: 1, stride: 1, degrees: [], neighbours: 1 }, 4);
    const out = numbers(features.count, false);
    features.write({ high: Float64Array.of(10, 11, 12, 13) }, { t: 0, group: 0 }, features.scratch(false), out);
    expect([...out.high]).toEqual([13, 10, 11]);
  });
});

describe("NvarForecaster", () => {
  it("finds the coefficients of the Hénon map", async () => {
    const model = await NvarForecaster.fit(henon(500, { discard: 10 }), { delays: 1, target: "value", lambda: 0, standardise: false });
    const [x] = model.readout.weights.toArrays();
    // x, y, x^2, x y, y^2
    expect(x!.map((value) => Math.round(value * 1e9) / 1e9 + 0)).toEqual(
      [0, expect.closeTo(0.3, 9), -1.4, 0, 0].map((v, i) => (i === 1 ? expect.anything() : v)),
    );
    expect(model.readout.intercept[0]).toBeCloseTo(1, 9);
  });

  it("follows an exact map twice as long in double-double as in binary64", async () => {
    const { high, low } = exactHenon(600);
    const options = { delays: 1, target: "value", lambda: 0, standardise: false } as const;
    const plain = await NvarForecaster.fit(high.slice(0, 300), options);
    const both = { high: high.slice(0, 300), low: low.slice(0, 300) };
    const exact = await NvarForecaster.fit(both, { ...options, arithmetic: "doubleDouble" });
    const rest = high.slice(300);
    // .6 bits are lost a step (Lyapunov exponent .419): some 80 steps of 53 bits, 170 of 106.
    expect(stepsValid(await plain.forecast(300), rest)).toBeGreaterThan(60);
    expect(stepsValid(await exact.forecast(300), rest)).toBeGreaterThan(140);
  });

  it("has the same bits everywhere, in either arithmetic", async () => {
    const hashes = [];
    for (const arithmetic of ["float64", "doubleDouble"] as const) {
      const model = await NvarForecaster.fit(lorenz63.subarray(0, 120), { delays: 2, stride: 3, arithmetic, lambda: 1e-4 });
      const { data } = await model.forecast(50);
      hashes.push(createHash("sha256").update(new Uint8Array(data.buffer)).digest("hex").slice(0, 16));
    }
    expect(hashes).toEqual(bits);
  });

  it("forecasts Lorenz-63 for some Lyapunov times with its defaults", async () => {
    const model = await NvarForecaster.fit(lorenz63.subarray(0, 700));
    const forecast = await model.forecast(500);
    const valid = validPredictionTime(lorenz63.subarray(700), forecast, { dt: 0.02, lyapunovExponent: 0.9056 });
    expect(valid.lyapunovTimes).toBeGreaterThan(2);
  });

  it("forecasts a turned ring as the turned forecast, bit for bit", async () => {
    const field = lorenz96(400, { N: 12, discard: 500 });
    const model = await NvarForecaster.fit(field.subarray(0, 300), { delays: 1, neighbours: 2, standardise: false });
    const turned = (matrix: Matrix) =>
      new Matrix(
        matrix.rows,
        12,
        matrix.data.map((_, i) => matrix.at(Math.floor(i / 12), (i + 5) % 12)),
      );
    const straight = await model.forecast(60, { warmup: field.subarray(0, 20) });
    const other = await model.forecast(60, { warmup: turned(field.subarray(0, 20)) });
    expect(other.data).toEqual(turned(straight).data);
  });

  it("goes on from its file as it would itself", async () => {
    for (const arithmetic of ["float64", "doubleDouble"] as const) {
      const model = await NvarForecaster.fit(lorenz63.subarray(0, 100), { arithmetic });
      const path = join(mkdtempSync(join(tmpdir(), "nvar-")), "model.safetensors");
      await model.save(path);
      const opened = await loadModel(path);
      expect(opened.kind).toBe("nvar");
      const again = (opened as { forecaster: NvarForecaster }).forecaster;
      expect((await again.forecast(20)).data).toEqual((await model.forecast(20)).data);
      expect(await again.toBytes()).toEqual(await model.toBytes());
    }
  });

  it("predicts a step at a time and moves on, and a forecast puts the state back", async () => {
    const model = await NvarForecaster.fit(lorenz63.subarray(0, 600), { stride: 2 });
    const first = await model.forecast(1);
    expect((await model.forecast(5)).row(0)).toEqual(first.row(0));
    const predicted = await model.predict(lorenz63.subarray(600, 603));
    const next = await model.forecast(1);
    expect(next.row(0)).toEqual(predicted.row(2));
    const warm = await model.forecast(1, { warmup: lorenz63.subarray(0, 603) });
    expect(warm.row(0)).toEqual(next.row(0));
    expect(await model.score(lorenz63.subarray(603, 800))).toBeLessThan(0.01);
  });

  it("takes series that do not touch", async () => {
    const sequences = [lorenz63.subarray(0, 300), lorenz63.subarray(500, 700)];
    const model = await NvarForecaster.fit({ sequences });
    expect(model.readout.training!.rows).toBe(299 + 199 - 2);
    expect((await model.forecast(1)).row(0)).toEqual((await model.forecast(1, { warmup: sequences[1]! })).row(0));
  });

  it("holds a loop that would run away to the range of its data", async () => {
    const wild = await NvarForecaster.fit(lorenz63.subarray(0, 60), { degrees: [2, 3, 4], lambda: 1e-9 });
    const forecast = await wild.forecast(1000);
    expect(forecast.data.every((value) => Math.abs(value) < 100)).toBe(true);
  });

  it("stops on a signal", async () => {
    const signal = AbortSignal.abort();
    await expect(NvarForecaster.fit(lorenz63, { signal })).rejects.toThrow("stopped after 0");
  });

  it("says what is wrong", async () => {
    const train = (data: never, options = {}) => NvarForecaster.fit(data, options);
    const rows = lorenz63.subarray(0, 40) as never;
    await expect(train(lorenz63.subarray(0, 3) as never, { delays: 4 })).rejects.toThrow(
      "series has 3 rows; 4 delays with stride 1 reach over 4",
    );
    await expect(train(rows, { neighbours: 2 })).rejects.toThrow("a column sees 5, and the series has 3; it takes at most 1");
    await expect(train(rows, { degrees: [40], delays: 9 })).rejects.toThrow("fewer delays");
    await expect(train(rows, { degrees: [1] })).rejects.toThrow("degrees[0] is 1; it takes");
    await expect(train(rows, { delay: 2 })).rejects.toThrow('unknown field "delay": did you mean "delays"?');
    await expect(train(rows, { lambda: 0, degrees: [2, 3] })).rejects.toThrow("do not determine");
    await expect(train({ inputs: rows, targets: rows } as never)).rejects.toThrow("this forecaster goes on with a series");
    await expect(train({ high: rows, low: rows } as never)).rejects.toThrow('they take arithmetic "doubleDouble"');
    await expect(train([[1], [Number.NaN], [2], [3]] as never)).rejects.toThrow("row 1");
    const constant = Array.from({ length: 50 }, () => [1]) as never;
    await expect(train(constant, { lambda: 0, arithmetic: "doubleDouble" })).rejects.toThrow("do not determine");
    const model = await NvarForecaster.create();
    await expect(model.forecast(3)).rejects.toThrow(NotFittedError);
    const trained = await train(rows);
    await expect(trained.forecast(3, { warmup: [[1, 2, 3]] })).rejects.toThrow("warmup has 1 rows without a missing value");
    await expect(trained.predict([[1, 2]])).rejects.toThrow("inputs has 2 columns; this forecaster takes 3");
    const bytes = await trained.toBytes();
    bytes[bytes.length - 1]! ^= 1;
    await expect(NvarForecaster.fromBytes(bytes)).rejects.toThrow(ModelFileError);
  });
});

const bits = ["42655bb4c291df72", "d4a6f8bfc74a4143"];
