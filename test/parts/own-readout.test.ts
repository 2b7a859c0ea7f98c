// A readout that a user's package registers is found wherever a readout is named.
import { afterAll, describe, expect, it } from "vitest";
import { ownPackage } from "./own-package.js";

const own = ownPackage("A readout");
afterAll(() => own[Symbol.dispose]());

const series = `const series = Array.from({ length: 300 }, (_, t) => [Math.sin(t / 5) + (t === 150 ? 90 : 0)]);
const reservoir = { size: 20, seed: 1 };`;
const cases = `const cases = Array.from({ length: 12 }, (_, b) => Array.from({ length: 20 }, (_, t) => [Math.sin((t + b) / (b % 2 ? 2 : 4))]));
const labels = cases.map((_, b) => b % 2);
const reservoir = { size: 20, seed: 1 };`;
const experiment = (readout: string) =>
  `name: own\ndata: { task: mackeyGlass, length: 400 }\nreservoir: { size: 20 }\nreadout: ${readout}\ntask: { type: forecast, horizon: 5 }\noutputs: { report: false }\n`;

describe("a readout of a user's package", () => {
  it("trains a forecaster by name as it does as an object, and once more after its file was read", async () => {
    expect(
      await own.printed(`
        import { Forecaster } from "spillway";
        import { clippedRidge } from "./own.mjs";
        ${series}
        const by = async (readout) => Forecaster.fit(series, { reservoir, readout });
        const named = await by({ type: "clipped", limit: 1 });
        const loaded = await Forecaster.fromBytes(await named.toBytes());
        await loaded.fit(series);
        const weights = [named, await by(clippedRidge({ limit: 1 })), loaded].map(({ readout }) => readout.weights.data.join());
        console.log(JSON.stringify([new Set(weights).size, loaded.settings.readout]));`),
    ).toEqual([1, { type: "clipped", limit: 1 }]);
  });

  it("names the classes of a classifier and of a pipeline, whose features are scaled for it", async () => {
    expect(
      await own.printed(`
        import { Classifier } from "spillway";
        import { Pipeline } from "spillway/model";
        ${cases}
        const readout = { type: "clipped" };
        const pipeline = new Pipeline({ reservoir, readout });
        await pipeline.fit(cases, labels);
        const classifier = await Classifier.fit(cases, labels, { reservoir, readout });
        const loaded = await Classifier.fromBytes(await classifier.toBytes());
        console.log(JSON.stringify([await loaded.score(cases, labels), await pipeline.score(cases, labels)]));`),
    ).toEqual([1, 1]);
  });

  it("trains in an experiment file, whose mistakes have their line, and its model is missed by name", async () => {
    own.write("own.yaml", experiment("{ type: clipped, limit: 3 }"));
    expect(await own.cli("run", "own.yaml", "--import", "./own.mjs", "--out", "found")).toMatchObject({ code: 0 });
    own.write("wrong.yaml", experiment("{ type: clipped, limt: 3 }"));
    expect(await own.cli("run", "wrong.yaml", "--import", "./own.mjs")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/wrong\.yaml:4.*unknown field.*limt.*did you mean "limit"/),
    });
    expect(await own.cli("run", "own.yaml")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/own\.yaml:4: readout\.type is "clipped".*registered first: registerReadout, or --import/),
    });
    expect((await own.cli("schema", "--import", "./own.mjs")).stdout).toContain('"clipped"');
    own.write(
      "load.mjs",
      `import { loadModel } from "spillway";
       console.log(JSON.stringify(await loadModel(process.argv[2]).catch((error) => [error.name, error.message])));`,
    );
    expect(await own.printedAlone("load.mjs", "found/own/model.safetensors")).toEqual([
      "ModelFileError",
      expect.stringMatching(/readout\.type is "clipped".*registerReadout/),
    ]);
  });
});
