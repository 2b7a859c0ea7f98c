// A forecaster with a model of the user's: what drives the reservoir, what the readout sees, and
// that the model is given again when a file is opened.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions, Matrix, ridge } from "../../src/index.js";
import { loadModel, toOnnx } from "../../src/model/index.js";

/** A turn of the plane by 0.3 with a pull to the unit circle: M of a row. */
const turn =
  (angle: number) =>
  ([x, y]: Float64Array): number[] => {
    const pull = 1.5 - 0.5 * (x! * x! + y! * y!);
    return [pull * (Math.cos(angle) * x! - Math.sin(angle) * y!), pull * (Math.sin(angle) * x! + Math.cos(angle) * y!)];
  };
const exact = turn(0.3);
const wrong = turn(0.31);
/** Rows that M itself makes. */
function orbit(rows: number, model = exact, start = [1.2, 0.1]): Matrix<Float64Array> {
  const out = Matrix.zeros(rows, 2);
  out.data.set(start);
  for (let t = 1; t < rows; t++) out.data.set(model(out.row(t - 1)), 2 * t);
  return out;
}
const series = orbit(300);
const small = {
  reservoir: { size: 20, seed: 3, precision: "float64", inputScaling: 0.1 },
  washout: 20,
  readout: { lambda: 1e-9 },
} satisfies ForecasterOptions;
/** Weights [0, 1]: M and nothing else. */
const onlyModel = {
  features: ridge({ input: true }).features,
  fit: () => ({
    features: ridge({ input: true }).features,
    stateSize: 20,
    inputSize: 2,
    weights: Matrix.from([0, 1].map((o) => [...Array<number>(20).fill(0), o === 0 ? 1 : 0, o])),
    intercept: new Float64Array(2),
  }),
};
const distance = (a: Matrix, b: Matrix) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)));

describe("a forecaster with a model of the user's", () => {
  it.each(["both", "output"] as const)("reproduces the trajectory of M if its readout is [0, 1] (%s)", async (hybrid) => {
    const options = { ...small, standardise: false, readout: onlyModel, hybrid, model: exact } as const;
    await using forecaster = await Forecaster.fit(series, options);
    expect([...(await forecaster.forecast(50)).data]).toEqual([...orbit(350).subarray(300).data]);
    // And in z-scores, to their rounding.
    await using scored = await Forecaster.fit(series, { ...options, standardise: true });
    expect(distance(await scored.forecast(50), orbit(350).subarray(300))).toBeLessThan(1e-12);
  });

  it("is a regression on M if the reservoir is silent", async () => {
    const matrices = {
      weights: Matrix.zeros(1, 1),
      inputWeights: Matrix.zeros(1, 2),
      bias: new Float64Array(1),
    };
    const noisy = new Matrix(
      300,
      2,
      series.data.map((value, i) => value + 0.1 * Math.sin(i * i)),
    );
    const readout = { lambda: 0.5 };
    await using forecaster = await Forecaster.fit(noisy, {
      reservoir: { size: 1, precision: "float64" },
      matrices,
      washout: 0,
      standardise: false,
      hybrid: "output",
      model: wrong,
      readout,
    });
    const modelled = Matrix.from(Array.from({ length: 299 }, (_, t) => [0, ...wrong(noisy.row(t) as Float64Array)]));
    const plain = ridge(readout).fit([modelled], [noisy.subarray(1)], { washout: 0 });
    expect(distance(forecaster.readout.weights, plain.weights)).toBeLessThan(1e-12);
    expect([...forecaster.readout.intercept].map((value, o) => Math.abs(value - plain.intercept[o]!) < 1e-12)).toEqual([true, true]);
  });

  it.each<[string, Partial<ForecasterOptions>, number, number]>([
    ["both", { hybrid: "both" }, 4, 22],
    ["input", { hybrid: "input" }, 4, 20],
    ["output", { hybrid: "output" }, 2, 22],
    ["both, with lags", { hybrid: "both", lags: 3 }, 4, 28],
    ["input, with lags", { hybrid: "input", lags: 3 }, 4, 26],
  ])("%s: the columns that drive the reservoir, and the features of the readout", async (_, options, inputs, features) => {
    await using forecaster = await Forecaster.fit(series, { ...small, ...options, model: wrong });
    expect(forecaster.computer.model.inputSize).toBe(inputs);
    expect(forecaster.readout.weights.cols).toBe(features);
    // A step of the closed loop is a one-step prediction from the last row.
    const ahead = await forecaster.forecast(3);
    await forecaster.predict(ahead.subarray(0, 2));
    expect(distance(await forecaster.forecast(1), ahead.subarray(2))).toBeLessThan(1e-9);
    // From a warm-up on all rows it stands where training left it.
    const { state } = forecaster;
    forecaster.state = state;
    const again = await forecaster.forecast(3, { warmup: series });
    expect(distance(again, ahead)).toBeLessThan(1e-12);
  });

  it("calls M on its own forecasts", async () => {
    const reported: number[][] = [];
    const model = (row: Float64Array) => {
      reported.push([...row]);
      return exact(row);
    };
    await using forecaster = await Forecaster.fit(series, { ...small, model });
    reported.length = 0;
    const made = await forecaster.forecast(4);
    expect(reported[0]).toEqual([...series.row(299)]);
    for (const t of [1, 2, 3]) expect(distance(Matrix.from([reported[t]!]), made.subarray(t - 1, t))).toBeLessThan(1e-12);
  });

  it("forecasts better than M and than the reservoir, if M is a little wrong", async () => {
    const error = async (options: Partial<ForecasterOptions>) => {
      await using forecaster = await Forecaster.fit(series, { ...small, ...options });
      return distance(await forecaster.forecast(60), orbit(360).subarray(300));
    };
    const alone = distance(orbit(61, wrong, [...series.row(299)]).subarray(1), orbit(360).subarray(300));
    const reservoir = await error({});
    const hybrid = await error({ model: wrong });
    expect(hybrid).toBeLessThan(0.5 * Math.min(alone, reservoir));
  });

  it("chooses lambda with M in the loop, and takes known inputs beside it", async () => {
    const known = Matrix.from(Array.from({ length: 300 }, (_, t) => [Math.sin(0.3 * t)]));
    const future = Matrix.from(Array.from({ length: 10 }, (_, t) => [Math.sin(0.3 * (t + 300))]));
    const options = { horizon: 10, members: 2, reservoir: { size: 20, seed: 3 }, choose: { starts: 5 }, model: wrong };
    await using forecaster = await Forecaster.fit({ series, known }, options);
    expect(forecaster.computer.model.inputSize).toBe(5);
    expect(forecaster.known).toBe(1);
    expect(distance(await forecaster.forecast(10, { known: future }), orbit(310).subarray(300))).toBeLessThan(0.05);
  });

  it("keeps all but M in its file, and forecasts the same when M is given again", async () => {
    await using forecaster = await Forecaster.fit(series, { ...small, model: wrong, lags: 2 });
    const made = await forecaster.forecast(20);
    const bytes = await forecaster.toBytes();
    await using opened = await Forecaster.fromBytes(bytes, { model: wrong });
    expect([...(await opened.forecast(20)).data]).toEqual([...made.data]);
    expect(opened.settings.hybrid).toBe("both");
    await expect(Forecaster.fromBytes(bytes)).rejects.toThrow(
      "it forecasts with a model of yours, a function that no file holds; give it again: Forecaster.load(path, { model })",
    );
    const folder = mkdtempSync(join(tmpdir(), "spillway-hybrid-"));
    const path = join(folder, "model.safetensors");
    writeFileSync(path, bytes);
    await expect(loadModel(path)).rejects.toThrow("it forecasts with a model of yours");
    const loaded = await loadModel(path, { model: wrong });
    expect(loaded.kind).toBe("forecaster");
    if (loaded.kind === "forecaster") await loaded.forecaster.dispose();
    rmSync(folder, { recursive: true });
    await using plain = await Forecaster.fit(series, small);
    await expect(Forecaster.fromBytes(await plain.toBytes(), { model: wrong })).rejects.toThrow(
      "model was given; this forecaster has none",
    );
  });

  it.each<[string, Partial<ForecasterOptions>, string]>([
    ["M of another length", { model: () => [1] }, "model gave 1 number for a row of 2 columns; it takes 2, the next row"],
    ["what is no list of numbers", { model: (() => 3) as never }, "model gave 3 for a row of 2 columns; it takes 2, the next row"],
    ["a value that is not finite", { model: ([x]) => [x!, Number.NaN] }, "model gave NaN at column 1 of row 0; it takes finite numbers"],
    ["no function", { model: {} as never }, "model is {}; it takes a function of a row that gives the next"],
    ["a way without M", { hybrid: "both" }, 'hybrid is "both" and model is missing'],
    ["another way", { model: exact, hybrid: "feature" as never }, 'hybrid is "feature"'],
    ["feedback", { model: exact, reservoir: { ...small.reservoir, feedback: {} } }, "model is given and the reservoir has feedback"],
    ["transforms", { model: exact, transforms: [{ difference: 1 }] }, "model is given and transforms are, too"],
  ])("refuses %s", async (_, options, sentence) => {
    await expect(Forecaster.fit(series, { ...small, ...options })).rejects.toThrow(sentence);
  });

  it("refuses inputs with targets, and ONNX", async () => {
    await expect(Forecaster.fit({ inputs: series, targets: series }, { ...small, model: exact })).rejects.toThrow(
      "model is given beside inputs and targets; it is of a series",
    );
    await using forecaster = await Forecaster.fit(series, { ...small, reservoir: { size: 20 }, model: exact });
    await expect(toOnnx(forecaster)).rejects.toThrow("calls a model of yours");
  });
});
