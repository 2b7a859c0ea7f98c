// How long a report of a million points takes in a headless Chromium, from navigation to the last
// panel drawn, and how large it is.
// Usage: npx tsx bench/page/report.ts   (needs a Chromium on the search path or in SPILLWAY_CHROMIUM)
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { findChromium } from "../../src/plot/browser.js";
import {
  type Figure,
  plotError,
  plotForecast,
  plotPhaseSpace,
  plotSpikeRaster,
  plotStateHeatmap,
  plotTrajectories,
  reportHtml,
} from "../../src/plot/index.js";

const rows = 1_000_000;
const repetitions = 7;
const draws = new RandomStream(seedKeys("report").weights, 41);
const long = Matrix.zeros(rows, 1);
const near = Matrix.zeros(rows, 1);
const times = new Float64Array(rows);
const neurons = new Uint32Array(rows);
for (let t = 0; t < rows; t++) {
  long.data[t] = Math.sin(t / 50) + 0.3 * Math.sin(t / 7919);
  near.data[t] = long.data[t]! + 0.05 * draws.uniform(0, t);
  times[t] = (t * 10_000) / rows;
  neurons[t] = Math.floor(1000 * draws.uniform(1, t));
}
const states = Matrix.zeros(5000, 200);
for (let i = 0; i < states.data.length; i++) states.data[i] = Math.sin(i / 777) * Math.cos((i % 200) / 9);
const figures: Figure[] = [
  plotForecast(near, long),
  plotError([near], [long]),
  plotSpikeRaster({ times, neurons, durationMs: 10_000, neuronCount: 1000 }),
  plotStateHeatmap(states),
  plotTrajectories(states),
  plotPhaseSpace(states),
];
const folder = mkdtempSync(join(os.tmpdir(), "spillway-report-"));
const file = join(folder, "report.html");
writeFileSync(file, await reportHtml({ title: "A million points", sections: [{ title: "a run", facts: [], scores: [], figures }] }));
const executablePath = findChromium();
if (!executablePath) throw new Error("there is no Chromium on the search path or in SPILLWAY_CHROMIUM");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
const seconds: number[] = [];
for (let k = 0; k < repetitions; k++) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  const begin = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction((count) => document.querySelectorAll(".plot .main-svg").length >= count, figures.length);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  seconds.push((performance.now() - begin) / 1000);
  await page.close();
}
await browser.close();
const sorted = seconds.toSorted((a, b) => a - b);
console.log(`${figures.length} panels of ${rows} points and spikes: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
console.log(
  `navigation to the last panel drawn: median ${sorted[repetitions >> 1]!.toFixed(2)} s, ${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)} s (${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads, load ${os.loadavg()[0]!.toFixed(1)})`,
);
rmSync(folder, { recursive: true });
