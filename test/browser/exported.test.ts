// Exported modules in the browsers: their hosts, loaded by a page, say what the package says.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { AnomalyDetector, Classifier, Forecaster, saveWasm } from "../../src/model/index.js";
import { sequences, waves } from "../model/c-cases.js";
import { openDrivenChromium } from "./chromium.js";
import { openFirefox, openWebKit } from "./driven.js";
import { type FolderServer, serveFolder } from "./folder-server.js";

describe("an exported module", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-exported-"));
  let server: FolderServer;
  let expected: unknown;

  beforeAll(async () => {
    const series = waves(1, 1);
    await using tide = await Forecaster.fit(series, { reservoir: { size: 40 }, lags: 3, members: 2 });
    await using tiny = await Forecaster.fit(series, { reservoir: { size: 40, arithmetic: "integer" } });
    const train = sequences(12, 2, 5);
    await using gesture = await Classifier.fit(train.cases, train.labels, { reservoir: { size: 20 } });
    await saveWasm(folder, tide, { name: "tide" });
    await saveWasm(folder, tiny, { name: "tiny" });
    await saveWasm(folder, gesture, { name: "gesture" });
    writeFileSync(join(folder, "index.html"), '<!doctype html><html lang="en"><title>exported</title></html>');
    const detector = await AnomalyDetector.create({ size: 20 });
    await saveWasm(folder, detector, { name: "watch" });
    const said = series.toArrays().map((row) => detector.update(row));
    const shares = await gesture.predictProba(train.cases.slice(0, 1));
    expected = [
      [...(await tide.forecast(9)).data],
      [...(await tiny.forecast(9)).data],
      [...shares.data],
      said.map(({ score, pValue, expected }) => [score, pValue, expected[0]]),
    ];
    writeFileSync(join(folder, "series.js"), `export default ${JSON.stringify(series.toArrays())};`);
    const sequence = Array.from({ length: train.cases[0]!.rows }, (_, t) => Array.from(train.cases[0]!.row(t)));
    writeFileSync(join(folder, "case.js"), `export default ${JSON.stringify(sequence)};`);
    server = await serveFolder(folder);
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["Chromium", openDrivenChromium],
    ["Firefox", openFirefox],
    ["the WebKit of GTK", openWebKit],
  ])("has the package's bits in %s", async (_, open) => {
    const browser = await open();
    try {
      await browser.goto(server.url);
      const said = await browser.evaluate(`
        const model = async (name) => (await import("/" + name + ".js")).load("/" + name + ".wasm");
        const [tide, tiny, gesture] = [await model("tide"), await model("tiny"), await model("gesture")];
        const sequence = (await import("/case.js")).default;
        const [watch, series] = [await model("watch"), (await import("/series.js")).default];
        const said = series.map((row) => watch.update(row)).map(({ score, pValue, expected }) => [score, pValue, expected[0]]);
        return [tide.forecast(9).flat(), tiny.forecast(9).flat(), gesture.classify(sequence).shares, said];`);
      expect(said).toEqual(expected);
    } finally {
      await browser.close();
    }
  });
});
