// What a user gets wrong of the options of a trained model: a sentence that names it, not work that
// left it out.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Classifier, Forecaster, loadModel, sweepReadouts } from "../../src/index.js";
import { toOnnx } from "../../src/model/index.js";

const series = Float64Array.from({ length: 60 }, (_, t) => ((t * 37) % 60) / 30 - 1);
const reservoir = { size: 5, seed: 1 };
let forecaster: Forecaster;
let classifier: Classifier;

beforeAll(async () => {
  forecaster = await Forecaster.fit(series, { reservoir, washout: 5 });
  classifier = await Classifier.fit([series, series.slice(9)], ["a", "b"], { reservoir });
});
afterAll(async () => {
  await forecaster.dispose();
  await classifier.dispose();
});

const calls: Readonly<Record<string, (options: never) => Promise<unknown>>> = {
  "Forecaster.fit": (options) => forecaster.fit(series, options),
  "Forecaster.predict": (options) => forecaster.predict(series, options),
  "Forecaster.forecast": (options) => forecaster.forecast(3, options),
  "Forecaster.score": (options) => forecaster.score(series, options),
  "Forecaster.fromBytes": async (options) => Forecaster.fromBytes(await forecaster.toBytes(), options),
  "Classifier.fit": (options) => classifier.fit([series, series.slice(9)], ["a", "b"], options),
  "Classifier.predict": (options) => classifier.predict([series], options),
  "Classifier.fromBytes": async (options) => Classifier.fromBytes(await classifier.toBytes(), options),
  toOnnx: (options) => toOnnx(forecaster, options),
};

describe("a model", () => {
  it.each(Object.entries(calls))("%s refuses options that there are not, and options that are none", async (_, call) => {
    await expect(call({ warmpu: series } as never)).rejects.toThrow('unknown field "warmpu"');
    await expect(call(null as never)).rejects.toThrow("options is null; it takes an object of options");
  });

  it("takes one of its uses as ONNX, a function as a metric, lists of series, and a file's own options", async () => {
    await expect(toOnnx(forecaster, { use: "forcast" as never })).rejects.toThrow('use is "forcast"; it takes "predict" or "forecast"');
    await expect(toOnnx(forecaster, { stateful: "no" as never })).rejects.toThrow('stateful is "no"; it takes true or false');
    await expect(forecaster.score(series, { metric: "rmse" as never })).rejects.toThrow('metric is "rmse"; it takes a function');
    await expect(forecaster.fit({ sequences: series as never })).rejects.toThrow("sequences is a Float64Array; it takes a list of series");
    await expect(classifier.score(undefined as never, ["a"])).rejects.toThrow("sequences is missing; it takes a list of series");
    await expect(loadModel(undefined as never)).rejects.toThrow("path is missing; it takes a text");
  });
});

describe("a sweep", () => {
  const options = { reservoir, settings: [{}], inputs: series, targets: series, validation: 10 };

  // Weights are drawn once a seed: a member of another size would be a mixture of two.
  it("varies nothing but what a setting has", async () => {
    await expect(sweepReadouts({ ...options, settings: [{}, { size: 9 } as never] })).rejects.toThrow('unknown field "settings[1].size"');
    await expect(sweepReadouts({ ...options, settings: [3 as never] })).rejects.toThrow(
      "settings[0] is 3; it takes an object with spectralRadius",
    );
  });

  it("refuses an option that there is not, and a reservoir that is none", async () => {
    await expect(sweepReadouts({ ...options, seed: 2 } as never)).rejects.toThrow('unknown field "seed": did you mean "seeds"?');
    await expect(sweepReadouts({ ...options, reservoir: undefined } as never)).rejects.toThrow("reservoir is missing; it takes an object");
  });
});
