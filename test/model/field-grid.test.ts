// FieldForecaster beyond a plain ring: open ends, grids, several values a site; and what it has in
// common with a Forecaster: predictions, states, transforms, time stamps, files.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FieldForecaster, type FieldOptions, Forecaster, Matrix, rmse } from "../../src/index.js";
import { lorenz96 } from "../../src/tasks/index.js";

/**
 * FitzHugh-Nagumo on a grid: u' = u - u^3 / 3 - v + 0.5 + D lap u, v' = 0.08 (u + 0.7 - 0.8 v),
 * Euler steps of 0.05 and a row each 0.4; waves run from where the phase was ahead. T x 2 height
 * width.
 */
function waves(rows: number, [height, width]: readonly [number, number], isOpen: boolean): Matrix<Float64Array> {
  const cells = height * width;
  const at = (r: number, c: number) => {
    const [y, x] = isOpen
      ? [Math.min(height - 1, Math.max(0, r)), Math.min(width - 1, Math.max(0, c))]
      : [(r + height) % height, (c + width) % width];
    return 2 * (y * width + x);
  };
  let now = Float64Array.from({ length: 2 * cells }, (_, i) => {
    const [y, x] = [Math.floor(i / 2 / width), (i >> 1) % width];
    const phase = 2 * Math.sin((2 * Math.PI * x) / width + 1) + 1.5 * Math.cos((2 * Math.PI * y) / height) + 0.3 * x * (isOpen ? 1 : 0);
    return i % 2 === 0 ? 1.5 * Math.cos(phase) : 0.5 + 0.5 * Math.sin(phase);
  });
  const out = Matrix.zeros(rows, 2 * cells);
  for (let t = 0; t < rows; t++) {
    out.data.set(now, t * 2 * cells);
    for (let sub = 0; sub < 8; sub++) {
      const next = now.slice();
      for (let r = 0; r < height; r++)
        for (let c = 0; c < width; c++) {
          const i = at(r, c);
          const [u, v] = [now[i]!, now[i + 1]!];
          const around = now[at(r - 1, c)]! + now[at(r + 1, c)]! + now[at(r, c - 1)]! + now[at(r, c + 1)]!;
          next[i] = u + 0.05 * (u - u ** 3 / 3 - v + 0.5 + 0.8 * (around - 4 * u));
          next[i + 1] = v + 0.05 * 0.08 * (u + 0.7 - 0.8 * v);
        }
      now = next;
    }
  }
  return out;
}

const shape = [8, 12] as const;
const grid = waves(560, shape, false);
const options: FieldOptions = {
  shape,
  channels: 2,
  groups: [4, 6],
  halo: [1, 2],
  reservoir: { size: 100, seed: 3 },
  readout: { lambda: 1e-4 },
  engine: "cpu",
};
/** The field turned down and along by some sites. */
const turned = (field: Matrix, down: number, along: number) =>
  new Matrix(
    field.rows,
    field.cols,
    field.data.map((_, i) => {
      const [t, site] = [Math.floor(i / field.cols), Math.floor((i % field.cols) / 2)];
      const [r, c] = [(Math.floor(site / shape[1]) + down) % shape[0], ((site % shape[1]) + along) % shape[1]];
      return field.at(t, 2 * (r * shape[1] + c) + (i % 2));
    }),
  );
const persistence = (field: Matrix, row: number, steps: number) => Array.from({ length: steps }, () => field.row(row));

let model: FieldForecaster;
beforeAll(async () => {
  model = await FieldForecaster.fit(grid.subarray(0, 500), options);
});
afterAll(() => model.dispose());

describe("a field on a grid", () => {
  it("is forecast better than by its last row", async () => {
    const truth = grid.subarray(500, 540);
    expect(rmse(truth, await model.forecast(40))).toBeLessThan(0.2 * rmse(truth, persistence(grid, 499, 40)));
  });

  it.each([
    ["down", 2, 0],
    ["along", 0, 2],
    ["both ways", 4, 6],
  ])("turned by groups %s has the turned forecast, bit for bit", async (_, down, along) => {
    const straight = await model.forecast(20, { warmup: grid.subarray(400, 500) });
    const other = await model.forecast(20, { warmup: turned(grid.subarray(400, 500), down, along) });
    expect(other.data).toEqual(turned(straight, down, along).data);
  });

  it("of one row is the line", async () => {
    const line = lorenz96(300, { N: 12, dt: 0.02, discard: 500 });
    const small: FieldOptions = { groups: 6, halo: 2, reservoir: { size: 30, seed: 1 }, readout: { lambda: 1e-3 } };
    await using one = await FieldForecaster.fit(line, small);
    await using other = await FieldForecaster.fit(line, { ...small, shape: [1, 12], groups: [1, 6], halo: [0, 2] });
    await using stationary = await FieldForecaster.fit(line, {
      ...small,
      shape: [12, 1],
      groups: [6, 1],
      halo: [2, 0],
      edges: ["periodic", "open"],
    });
    expect((await other.forecast(20)).data).toEqual((await one.forecast(20)).data);
    expect((await stationary.forecast(20)).data).toEqual((await one.forecast(20)).data);
  });
});

describe("a field with open ends", () => {
  const line = waves(600, [1, 24], true);
  const train = line.subarray(0, 500);
  const open: FieldOptions = { ...options, shape: undefined, groups: 8, halo: 2, edges: "open", readout: { lambda: 1 } };

  it("is forecast better than as a ring, and than by its last row", async () => {
    await using ends = await FieldForecaster.fit(train, open);
    await using ring = await FieldForecaster.fit(train, { ...open, edges: "periodic" });
    const truth = line.subarray(500, 540);
    const error = rmse(truth, await ends.forecast(40));
    expect(error).toBeLessThan(0.2 * rmse(truth, persistence(line, 499, 40)));
    expect(error).toBeLessThan(rmse(truth, await ring.forecast(40)));
  });

  it("has a readout for each way that groups lie to the ends", async () => {
    await using ends = await FieldForecaster.fit(train, { ...open, reservoir: { size: 20 } });
    expect(ends.readouts).toHaveLength(3);
    // A halo of 5 reaches beyond the end from the second group of 3 sites too.
    await using wide = await FieldForecaster.fit(train, { ...open, halo: 5, reservoir: { size: 20 } });
    expect(wide.readouts).toHaveLength(5);
    await using half = await FieldForecaster.fit(grid, { ...options, edges: ["open", "periodic"], reservoir: { size: 20 } });
    expect(half.readouts).toHaveLength(3);
    await using all = await FieldForecaster.fit(grid, { ...options, edges: "open", reservoir: { size: 20 } });
    expect(all.readouts).toHaveLength(9);
  });
});

describe("a field forecaster as a Forecaster", () => {
  const line = lorenz96(460, { N: 6, dt: 0.02, discard: 500 });
  const train = line.subarray(0, 400);
  const own = { reservoir: { size: 40, seed: 5 }, readout: { lambda: 1e-4 }, shared: false, engine: "cpu" } as const;
  const { shared: _, ...plainOptions } = own;
  const hour = (t: number) => new Date(Date.UTC(2024, 0, 1) + t * 3_600_000).toISOString().slice(0, 16);
  const times = Array.from({ length: 400 }, (_, t) => hour(t));

  it.each<[string, Partial<FieldOptions>]>([
    ["plain", {}],
    ["transformed", { transforms: [{ log: 30 }, { difference: 2 }] }],
    ["with gaps filled", { missing: "interpolate" }],
  ])("of one group predicts, scores and goes on as one does, bit for bit: %s", async (_, more) => {
    const data = train.subarray(0, 300);
    const holed = new Matrix(300, 6, data.data.slice());
    if (more.missing) holed.data.fill(Number.NaN, 600, 607);
    await using field = await FieldForecaster.fit(holed, { ...own, ...more, groups: 1 });
    await using plain = await Forecaster.fit(holed, { ...plainOptions, ...(more as object) });
    expect(field.missingCounts).toEqual(plain.missingCounts);
    const { state } = field;
    const rows = line.subarray(300, 360);
    expect(await field.score(rows)).toBe(await plain.score(rows));
    expect((await field.predict(rows)).data).toEqual((await plain.predict(rows)).data);
    expect((await field.forecast(20)).data).toEqual((await plain.forecast(20)).data);
    field.state = state;
    expect((await field.forecast(20, { warmup: train })).data).toEqual((await plain.forecast(20, { warmup: train })).data);
    await field.warmUp(train);
    await plain.warmUp(train);
    expect((await field.predict(line.subarray(400, 410))).data).toEqual((await plain.predict(line.subarray(400, 410))).data);
  });

  it("carries time stamps on", async () => {
    await using field = await FieldForecaster.fit({ series: train, times }, { ...own, groups: 3, halo: 1 });
    expect((await field.forecast(2)).times).toEqual([hour(400), hour(401)]);
    await field.predict(line.subarray(400, 410));
    await using again = await FieldForecaster.fromBytes(await field.toBytes());
    expect((await again.forecast(1)).times).toEqual([hour(410)]);
    expect((await again.forecast(1, { warmup: train })).times).toBeUndefined();
    expect(again.grid).toEqual(field.grid);
  });

  it("is trained on several series, each from the initial state", async () => {
    const parts = [train.subarray(0, 250), train.subarray(250)];
    await using field = await FieldForecaster.fit({ sequences: parts }, { ...own, groups: 1, washout: 20 });
    await using plain = await Forecaster.fit({ sequences: parts }, { ...plainOptions, washout: 20 });
    expect((await field.forecast(20)).data).toEqual((await plain.forecast(20)).data);
  });

  it("has the same transform at every site if weights are shared", async () => {
    const positive = new Matrix(
      train.rows,
      6,
      train.data.map((value) => (value + 30) ** 2),
    );
    const shared: FieldOptions = { ...own, shared: true, groups: 3, halo: 1, transforms: ["boxCox", { difference: 1 }] };
    await using field = await FieldForecaster.fit(positive, shared);
    const turn = (matrix: Matrix) =>
      new Matrix(
        matrix.rows,
        6,
        matrix.data.map((_, i) => matrix.at(Math.floor(i / 6), (i + 2) % 6)),
      );
    const straight = await field.forecast(10, { warmup: positive });
    expect((await field.forecast(10, { warmup: turn(positive) })).data).toEqual(turn(straight).data);
    await using again = await FieldForecaster.fromBytes(await field.toBytes());
    expect((await again.forecast(10)).data).toEqual(straight.data);
    const history = positive.subarray(390);
    expect((await again.forecast(10, { history })).data).toEqual(straight.data);
    again.reset();
    await expect(again.forecast(10)).rejects.toThrow("0 rows were seen; differences of 1 rows in all take at least 1, in warmup");
  });

  it("puts all groups back if a prediction is stopped", async () => {
    const stop = new AbortController();
    const { state } = model;
    await expect(model.predict(grid.subarray(500), { signal: stop.signal, onProgress: () => stop.abort() })).rejects.toThrow("stopped");
    expect(model.state).toEqual(state);
  });

  it("says what is wrong", async () => {
    const trained = (wrong: object, data: object = grid) => FieldForecaster.fit(data as Matrix, { ...options, ...wrong });
    await expect(trained({ shape: [8, 8] })).rejects.toThrow("shape is 8 x 8, which is 64 sites; the field has 96");
    await expect(trained({ channels: 5 })).rejects.toThrow("channels is 5 and the series has 192 columns; it takes a divisor of that");
    await expect(trained({ groups: 4 })).rejects.toThrow("groups is 4 and the field is a grid; give one number for each direction");
    await expect(trained({ groups: [3, 6] })).rejects.toThrow("groups[0] is 3 and the field has 8 rows; it takes a divisor of that");
    await expect(trained({ halo: [1, 6] })).rejects.toThrow("halo[1] is 6, so that a group of 2 sees 14 of 12 columns; it takes at most 5");
    await expect(trained({ halo: [1, 11], edges: "open" })).rejects.toThrow(
      "halo[1] is 11, and there are 10 of 12 columns beside a group; it takes at most 10",
    );
    await expect(trained({ shape: undefined })).rejects.toThrow(
      "groups has one value for each direction, and the field is a line; give shape for a grid",
    );
    await expect(trained({ edges: "ring" })).rejects.toThrow("edges");
    await expect(trained({}, { inputs: grid, targets: grid })).rejects.toThrow("inputs was given; this forecaster goes on with a series");
    await expect(model.predict([[1, 2]])).rejects.toThrow("inputs has 2 columns; this forecaster takes 192");
    await expect(model.forecast(3, { history: grid })).rejects.toThrow("history was given; this forecaster has no transforms");
  });
});
