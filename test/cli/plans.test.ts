// `plan` where `engine` is: search, analyse and serve run by it, or say why not.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyseExperiment } from "../../src/cli/commands/analyse.js";
import { silent } from "../../src/cli/progress.js";
import { searchExperiment } from "../../src/experiment/index.js";
import "../../src/index.js";
import { AnomalyDetector, type Forecaster, loadModel, NvarForecaster } from "../../src/model/index.js";
import { serveModel } from "../../src/serve/index.js";
import { openModel } from "../../src/serve/open.js";
import { Models } from "../serve/served.js";

const experiment = {
  name: "small",
  data: { task: "narma" },
  reservoir: { size: 8 },
  task: "predict",
  washout: 10,
  split: { train: 60, test: 20 },
  metrics: ["nrmse"],
  outputs: { report: false },
} as const;
const search = {
  space: { "reservoir.spectralRadius": { float: [0.1, 1.4] } },
  seeds: 1,
  budget: { trials: 2 },
  refit: { seeds: 1 },
} as const;
const signal = new AbortController().signal;

let models: Models;
let folder: string;
let file: string;
beforeAll(async () => {
  models = await Models.create();
  folder = await mkdtemp(join(tmpdir(), "spillway-plans-"));
  file = join(folder, "small.json");
  await writeFile(file, JSON.stringify(experiment));
});
afterAll(async () => {
  await models[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe("a plan", () => {
  it("is that of a search's trials and of its best setting, with the same scores", async () => {
    const named = await searchExperiment({ ...experiment, search }, { engine: "sim", plan: "named" });
    expect(named.refit!.engine?.plan.details["plan"]).toBe("named");
    const host = await searchExperiment({ ...experiment, search }, { engine: "cpu" });
    expect(named.result.validation).toBe(host.result.validation);
    expect(named.refit!.scores).toEqual(host.refit!.scores);
    await expect(searchExperiment({ ...experiment, search }, { engine: "cpu", plan: "named" })).rejects.toThrow(/plan is "named"/);
  });

  it("is that of the measured reservoir, from the flag or the file, and none of a map's", async () => {
    const measured = async (options: object, from = file) =>
      JSON.parse((await analyseExperiment(from, { measures: ["kernelRank"], json: true, signal, ...options }, silent)).text).measures;
    const asked = join(folder, "asked.json");
    await writeFile(asked, JSON.stringify({ ...experiment, engine: "sim", plan: "nonsense" }));
    expect(await measured({ engine: "sim", plan: "named" })).toEqual(await measured({ engine: "cpu" }));
    await expect(measured({ engine: "cpu", plan: "named" })).rejects.toThrow(/plan is "named"/);
    await expect(measured({}, asked)).rejects.toThrow(/plan is "nonsense"/);
    await expect(measured({ engine: "sim", plan: "named", map: 2 })).rejects.toThrow(/plan is "named"; it takes "auto" for a map/);
  });

  it("is that of a served model, or is refused by models without a reservoir", async () => {
    await using server = await serveModel(await models.path("forecaster"), { port: 0, engine: "sim", plan: "named" });
    expect(server.engine).toBe("sim");
    const opened = (await openModel(await models.path("forecaster"), { engine: "sim", plan: "named" })) as Forecaster;
    expect(opened.computer.engine.plan.details["plan"]).toBe("named");
    await opened.dispose();
    await expect(serveModel(await models.path("forecaster"), { port: 0, engine: "sim", plan: "nonsense" })).rejects.toThrow(/"nonsense"/);
    const detector = await models.path("detector");
    await expect(serveModel(detector, { port: 0, plan: "named" })).rejects.toThrow(/plan is "named"; it takes "auto" for a detector/);
    await expect(loadModel(detector, { engine: "sim" })).rejects.toThrow(/engine is "sim"; it takes "auto", "cpu" or "reference"/);
    expect((await AnomalyDetector.load(detector)).rows).toBe(300);
    const nvar = await NvarForecaster.create();
    await nvar.fit(Float64Array.from({ length: 200 }, (_, t) => Math.sin(t / 5)));
    await expect(NvarForecaster.fromBytes(await nvar.toBytes(), { plan: "named" })).rejects.toThrow(/it takes "auto" for an NVAR/);
  });
});
