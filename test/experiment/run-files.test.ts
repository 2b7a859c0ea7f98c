import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNpy } from "../../packages/io/src/index.js";
import { Forecaster } from "../../src/model/index.js";
import { mackeyGlass, narma } from "../../src/tasks/index.js";
import { forecast, predict, runsInFolder, scoresOf } from "./run-text.js";

const runs = runsInFolder();
const { runText } = runs;

describe("what a run leaves behind", () => {
  it("the model of the first seed predicts what the run scored", async () => {
    const { folder, result } = await runText(predict);
    const { inputs, targets } = narma(700, { seed: 3 });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    const prediction = await forecaster.predict(inputs.subarray(500));
    const errors = prediction.data.map((value, t) => (value - targets.data[500 + t]!) ** 2);
    const rmse = Math.sqrt(errors.reduce((sum, value) => sum + value, 0) / 200);
    expect(rmse).toBeCloseTo(result.seeds[0]!.scores["rmse"]!, 12);
  });

  it("the model of a forecast goes on from the end of the training part", async () => {
    const { folder } = await runText(forecast);
    const series = mackeyGlass(800);
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    const next = await forecaster.forecast(5);
    next.data.forEach((value, k) => {
      expect(value).toBeCloseTo(series.data[600 + k]!, 1);
    });
  });

  it("the model of a readout that learns row by row is a forecaster", async () => {
    for (const readout of ["{ type: rls, alpha: 1.0e-6 }", "{ type: lms, normalised: true }"]) {
      const { folder } = await runText(predict.replace("{ type: ridge, lambda: 1.0e-8 }", readout));
      await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
      expect(forecaster.readout.training?.rows).toBe(400);
    }
  });

  it("recursive least squares without forgetting agrees with ridge regression", async () => {
    const scoreOf = async (readout: string) =>
      scoresOf((await runText(predict.replace("{ type: ridge, lambda: 1.0e-8 }", readout))).result)[0]!["nrmse"]!;
    expect(await scoreOf("{ type: rls, alpha: 1.0e-4, intercept: false }")).toBeCloseTo(
      await scoreOf("{ type: ridge, lambda: 1.0e-4, intercept: false }"),
      4,
    );
  });

  it("the states are an NPY file of every k-th row", async () => {
    const { folder } = await runText(predict, { set: ["outputs.states=npy", "outputs.every=10", "seed=1"] });
    expect(await readNpy(join(folder, "states.npy"))).toMatchObject({ shape: [70, 40], dtype: "float32" });
  });
});

describe("the states that are written", () => {
  /** The last row of states.npy. */
  async function lastState(folder: string): Promise<number[]> {
    const { data, shape } = await readNpy(join(folder, "states.npy"));
    return Array.from(data as Float32Array).slice((shape[0]! - 1) * shape[1]!);
  }
  const set = ["outputs.states=npy", "transforms=[standardise]", "seed=1"];

  it("of a prediction are those the model has when it has seen training and test part", async () => {
    const { folder } = await runText(predict, { set });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    forecaster.reset();
    await forecaster.predict(narma(700, { seed: 3 }).inputs);
    expect(await lastState(folder)).toEqual(Array.from(forecaster.computer.state.values));
  });

  it("of a forecast are those the model has when it has seen the whole series", async () => {
    const { folder } = await runText(forecast, { set });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    forecaster.reset();
    await forecaster.predict(mackeyGlass(800));
    expect(await lastState(folder)).toEqual(Array.from(forecaster.computer.state.values));
  });

  it("with feedback are those of the true series, forced", async () => {
    const { folder } = await runText(forecast.replace("leakRate: 0.5", "leakRate: 0.5, bias: 0.1, feedback: {}"), { set });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    forecaster.reset();
    await forecaster.predict({ steps: 800 }, { teacher: mackeyGlass(800) });
    expect(await lastState(folder)).toEqual(Array.from(forecaster.computer.state.values));
  });
});
