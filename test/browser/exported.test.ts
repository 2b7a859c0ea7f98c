// Exported modules in the browsers: their hosts, loaded by a page, say what the package says.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
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
  let expected: unknown[];

  beforeAll(async () => {
    const series = waves(1, 1);
    await using tide = await Forecaster.fit(series, { reservoir: { size: 40 }, lags: 3, members: 2 });
    await using tiny = await Forecaster.fit(series, { reservoir: { size: 40, arithmetic: "integer" } });
    const train = sequences(12, 2, 5);
    await using gesture = await Classifier.fit(train.cases, train.labels, { reservoir: { size: 20 } });
    await using all = await Forecaster.fit(series, { reservoir: { seed: 1 }, horizon: 6, season: 30 });
    await saveWasm(folder, tide, { name: "tide" });
    await saveWasm(folder, all, { name: "all" });
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
      [...(await all.forecast(9)).data, ...(await all.predict(series.subarray(0, 1))).data],
      [...shares.data],
      // Nothing is expected of the first row: undefined here, NaN in the module, which JSON does not have.
      said.map(({ score, pValue, expected }) => [score, pValue, expected[0] ?? null]),
    ];
    writeFileSync(join(folder, "series.js"), `export default ${JSON.stringify(series.toArrays())};`);
    const sequence = Array.from({ length: train.cases[0]!.rows }, (_, t) => Array.from(train.cases[0]!.row(t)));
    writeFileSync(join(folder, "case.js"), `export default ${JSON.stringify(sequence)};`);
    await build({
      ...{ stdin: { contents: 'export { AnomalyDetector } from "spillway";', resolveDir: process.cwd() }, bundle: true, format: "esm" },
      ...{ conditions: ["browser"], outdir: folder, entryNames: "package", splitting: true, logLevel: "silent" },
    });
    for (const name of ["spillway.wasm", "spillway-fused.wasm"]) copyFileSync(join("dist", name), join(folder, name));
    // The same detector, made by the package in the page and saved in the middle.
    const alone = await AnomalyDetector.create({ size: 20, detect: "both" });
    const rows = alone.detect(series).rows;
    expected.push(
      rows.map(({ score, pValue, expected, lower }) => [score, pValue, expected[0] ?? null, lower[0] ?? null]),
      [...alone.state],
    );
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
        const [tide, tiny, all, gesture] = [await model("tide"), await model("tiny"), await model("all"), await model("gesture")];
        const sequence = (await import("/case.js")).default;
        const [watch, series] = [await model("watch"), (await import("/series.js")).default];
        const said = series.map((row) => watch.update(row)).map(({ score, pValue, expected: [value] }) => [score, pValue, Number.isNaN(value) ? null : value]);
        const { AnomalyDetector } = await import("/package.js");
        let detector = await AnomalyDetector.create({ size: 20, detect: "both" });
        const rows = [];
        for (const [t, row] of series.entries()) {
          if (t === 99) detector = await AnomalyDetector.fromBytes(await detector.toBytes());
          rows.push(detector.update(row));
        }
        const own = [rows.map(({ score, pValue, expected, lower }) => [score, pValue, expected[0] ?? null, lower[0] ?? null]), [...detector.state]];
        return [tide.forecast(9).flat(), tiny.forecast(9).flat(), [...all.forecast(9).flat(), ...all.predict(series[0])], gesture.classify(sequence).shares, said, ...own];`);
      expect(said).toEqual(expected);
    } finally {
      await browser.close();
    }
  });
});
