// FieldForecaster: local reservoirs along a ring. Turned fields, one group, files, errors.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FieldForecaster, Forecaster, loadModel, Matrix, rmse } from "../../src/index.js";
import { lorenz96 } from "../../src/tasks/index.js";

const sites = 12;
const field = lorenz96(700, { N: sites, dt: 0.02, discard: 2000 });
const train = field.subarray(0, 600);
const options = {
  groups: 6,
  halo: 2,
  reservoir: { size: 100, seed: 3, leakRate: 1, inputScaling: 0.1, spectralRadius: 0.3 },
  readout: { lambda: 1e-5 },
  engine: "cpu",
} as const;
/** The field turned by a number of sites. */
const turned = (matrix: Matrix, by: number) =>
  new Matrix(
    matrix.rows,
    sites,
    matrix.data.map((_, i) => matrix.at(Math.floor(i / sites), (i + by) % sites)),
  );

let model: FieldForecaster;
beforeAll(async () => {
  model = await FieldForecaster.fit(train, options);
});
afterAll(() => model.dispose());

describe("FieldForecaster", () => {
  it("turns its forecast with the field by a group, bit for bit", async () => {
    const straight = await model.forecast(40, { warmup: field.subarray(500, 600) });
    const other = await model.forecast(40, { warmup: turned(field.subarray(500, 600), 2) });
    expect(other.data).toEqual(turned(straight, 2).data);
  });

  it("follows the field for a while", async () => {
    const forecast = await model.forecast(20);
    const persistence = Array.from({ length: 20 }, () => field.row(599));
    const truth = field.subarray(600, 620);
    expect(rmse(truth, forecast)).toBeLessThan(0.2 * rmse(truth, persistence));
  });

  it("of one group without a halo is a plain reservoir, bit for bit", async () => {
    const one = { reservoir: { size: 80, seed: 5 }, readout: { lambda: 1e-4 } };
    for (const shared of [false, true]) {
      // A shared scale is that of all sites together, which a plain reservoir does not have.
      await using local = await FieldForecaster.fit(train, { ...one, groups: 1, shared, standardise: !shared, hold: !shared });
      await using plain = await Forecaster.fit(train, { ...one, standardise: !shared, hold: !shared });
      expect((await local.forecast(30)).data).toEqual((await plain.forecast(30)).data);
    }
  });

  it("draws and trains each group for itself if asked", async () => {
    await using own = await FieldForecaster.fit(train, { ...options, shared: false });
    expect(own.readouts).toHaveLength(6);
    expect(own.computers[0]!.model.weights).not.toEqual(own.computers[1]!.model.weights);
    const persistence = Array.from({ length: 10 }, () => field.row(599));
    const truth = field.subarray(600, 610);
    expect(rmse(truth, await own.forecast(10))).toBeLessThan(0.5 * rmse(truth, persistence));
  });

  it("has the same bits on the reference engine", async () => {
    const small = { ...options, reservoir: { size: 20, seed: 1 } };
    await using reference = await FieldForecaster.fit(train.subarray(0, 200), { ...small, engine: "reference" });
    await using cpu = await FieldForecaster.fit(train.subarray(0, 200), small);
    expect((await reference.forecast(20)).data).toEqual((await cpu.forecast(20)).data);
  });

  it("goes on from its file as it would itself, and puts its state back", async () => {
    for (const shared of [true, false]) {
      await using made = await FieldForecaster.fit(train.subarray(0, 300), { ...options, shared });
      const path = join(mkdtempSync(join(tmpdir(), "field-")), "model.safetensors");
      await made.save(path);
      const opened = await loadModel(path);
      expect(opened.kind).toBe("field");
      await using again = (opened as { forecaster: FieldForecaster }).forecaster;
      const first = await made.forecast(15);
      expect((await again.forecast(15)).data).toEqual(first.data);
      expect((await made.forecast(15)).data).toEqual(first.data);
      expect(await again.toBytes()).toEqual(await made.toBytes());
    }
  });

  it("holds forecasts to the range of its data", async () => {
    await using wild = await FieldForecaster.fit(train, {
      ...options,
      reservoir: { size: 20, seed: 1, spectralRadius: 3, inputScaling: 5 },
    });
    const forecast = await wild.forecast(200);
    expect(Math.max(...forecast.data.map(Math.abs))).toBeLessThan(20);
  });

  it("says what is wrong", async () => {
    const trained = (wrong: object, data: Matrix = train) => FieldForecaster.fit(data, { ...options, ...wrong });
    await expect(trained({ groups: 5 })).rejects.toThrow("groups is 5 and the field has 12 sites; it takes a divisor of that");
    await expect(trained({ halo: 6 })).rejects.toThrow("halo is 6, so that a group of 2 sees 14 of 12 sites; it takes at most 5");
    await expect(trained({ washout: 599 })).rejects.toThrow("washout is 599 and the series gives 599 rows to train on");
    await expect(trained({ group: 5 })).rejects.toThrow('unknown field "group": did you mean "groups"?');
    await expect(trained({ reservoir: { size: 9, feedback: {} } })).rejects.toThrow("reservoir.feedback is set");
    await expect(trained({ readout: { solver: "dual" } })).rejects.toThrow("readout keeps every row");
    await expect(trained({ readout: { lambdas: [] } })).rejects.toThrow("lambdas");
    await expect(model.forecast(3, { warmup: [[1, 2]] })).rejects.toThrow("warmup has 2 columns; this forecaster takes 12");
    await expect(model.forecast(0)).rejects.toThrow("steps is 0");
    const unfitted = await FieldForecaster.create(options);
    await expect(unfitted.forecast(3)).rejects.toThrow("not trained yet");
    const signal = AbortSignal.abort();
    await expect(trained({ signal })).rejects.toThrow("stopped");
  });
});
