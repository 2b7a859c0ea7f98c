// Makes the pictures of docs/images: every kind of figure by toSvg, and the lab as Chromium shows
// it. Usage: npm run gallery
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { Forecaster, lorenz, type Matrix, mackeyGlass, ReservoirComputer, ridge } from "spillway";
import { informationCapacity, memoryCapacity, qualityMap, spectrum } from "spillway/analysis";
import {
  type Figure,
  plotCalibration,
  plotCapacity,
  plotComparison,
  plotConfusion,
  plotContour,
  plotError,
  plotForecast,
  plotHistory,
  plotImportance,
  plotMemoryCapacity,
  plotParallelCoordinates,
  plotPhaseSpace,
  plotQualityMap,
  plotResiduals,
  plotSlices,
  plotSpectrum,
  plotSpikeRaster,
  plotStateHeatmap,
  plotTrajectories,
  toSvg,
} from "spillway/plot";
import { MemoryStorage, Study, tpe } from "spillway/search";
import { openLab } from "spillway/serve";
import "./gallery-first-page.js";
import "./gallery-measures.js";
import "./gallery-parts.js";
import { differenceMeter } from "../src/analysis/compare/difference.js";
import { findChromium } from "../src/plot/browser.js";

const keep = (name: string, figure: Figure) => writeFileSync(`docs/images/${name}.svg`, toSvg(figure, { width: 640 }));

const series = mackeyGlass(4500, { tau: 17 });
await using computer = await ReservoirComputer.create({ size: 300, spectralRadius: 0.9, leakRate: 0.3, bias: 0.2, seed: 1 });
const states = await computer.run(series.slice(0, 3000));
const readout = ridge({ lambda: 1e-7 }).fit(states, series.slice(1, 3001), { washout: 100 });
keep(
  "forecast",
  plotForecast(await computer.generate(300, readout), series.slice(3000, 3300), { before: series.slice(2900, 3000), start: 3000 }),
);
keep("states", plotStateHeatmap(states.slice(0, 200), { centred: true }));
keep("trajectories", plotTrajectories(states.slice(0, 300)));
keep("phase-space", plotPhaseSpace(states.slice(500, 1100)));
keep("phase-space-3d", plotPhaseSpace(lorenz(2000), { dimensions: 3, names: ["x", "y", "z"] }));

const driven = { size: 100, leakRate: 1, connectionProbability: 1, seed: 1 } as const;
const degrees = [
  [1, 60],
  [2, 40],
  [3, 20],
] as const;
const capacity = await informationCapacity(
  { ...driven, spectralRadius: 0.9, inputScaling: 1, bias: 0.4, precision: "float64" },
  { degrees },
);
keep("capacity", plotCapacity(capacity));
const axis = (count: number, value: (share: number) => number) => Array.from({ length: count }, (_, k) => value(k / (count - 1)));
const map = await qualityMap(driven, {
  x: { parameter: "spectralRadius", values: axis(25, (share) => 0.1 + 2.4 * share) },
  y: { parameter: "inputScaling", values: axis(21, (share) => Number((0.01 * 300 ** share).toPrecision(3))) },
  measures: ["lyapunovExponent", "memoryCapacity"],
});
keep("quality-map", plotQualityMap(map, "memoryCapacity"));

const forecasts: Matrix[] = [];
const truths: Matrix[] = [];
for (let k = 0; k < 10; k++) {
  computer.reset();
  await computer.run(series.slice(300 * k, 300 * k + 200));
  forecasts.push(await computer.generate(200, readout));
  truths.push(series.slice(300 * k + 200, 300 * k + 400));
}
keep("error", plotError(forecasts, truths));

// A made load, a row an hour: two cycles of the day, the week, and noise of a linear congruence.
let noise = 1;
const hourly = Array.from({ length: 2400 }, (_, t) => {
  noise = (noise * 48_271) % 2_147_483_647;
  const day = Math.sin((2 * Math.PI * t) / 24) + 0.5 * Math.sin((4 * Math.PI * t) / 24 + 1);
  return [900 + 120 * day - (Math.floor(t / 24) % 7 > 4 ? 150 : 0) + 90 * (noise / 2_147_483_647 - 0.5)];
});
const times = hourly.map((_, t) => new Date(Date.UTC(2026, 0, 5) + 3_600_000 * t).toISOString().slice(0, 16));
await using forecaster = await Forecaster.fit(hourly.slice(0, 2000), { horizon: 24, season: 168 });
const predictions: Matrix[] = [];
const levels = Array.from({ length: 9 }, (_, k) => (k + 1) / 10);
const inside = levels.map(() => 0);
const starts = Array.from({ length: 15 }, (_, k) => 2000 + 24 * k);
for (const at of starts) {
  const forecast = await forecaster.forecast(24, { warmup: hourly.slice(at - 1000, at), intervals: levels });
  predictions.push(forecast);
  forecast.bands!.forEach(({ lower, upper }, k) => {
    for (let h = 0; h < 24; h++) if (hourly[at + h]![0]! >= lower.at(h, 0) && hourly[at + h]![0]! <= upper.at(h, 0)) inside[k]!++;
  });
  if (at > 2000) continue;
  keep(
    "forecast-bands",
    plotForecast(forecast, hourly.slice(at, at + 24), {
      title: "24 hours ahead",
      names: ["load"],
      before: hourly.slice(at - 72, at),
      times: times.slice(at - 72, at + 24),
      bands: [forecast.bands![4]!, forecast.bands![8]!],
      baseline: hourly.slice(at - 168, at - 144),
      baselineName: "a week before",
    }),
  );
}
const came = starts.map((at) => hourly.slice(at, at + 24));
const weekBefore = starts.map((at) => hourly.slice(at - 168, at - 144));
keep(
  "error-baselines",
  plotError(predictions, came, { start: 1, statistic: "rms", baselines: [{ name: "a week before", predictions: weekBefore }] }),
);
keep("residuals", plotResiduals(predictions, came, { names: ["load"], times: starts.map((at) => times.slice(at, at + 24)) }));
keep(
  "calibration",
  plotCalibration(
    levels,
    inside.map((count) => count / (24 * starts.length)),
  ),
);

// A search over a made error with its valley at radius 0.9 and lambda 1e-5.
const study = await Study.open({
  storage: new MemoryStorage(),
  name: "made",
  direction: "minimise",
  sampler: tpe({ seed: 1 }),
  space: {
    spectralRadius: { float: [0.1, 1.5] },
    lambda: { float: [1e-9, 1], log: true },
    size: { int: [100, 400], step: 100 },
    topology: { choice: ["erdosRenyi", "ring"] },
  },
});
while (study.finished < 200) {
  const asked = await study.ask(8);
  const error = ({ spectralRadius, lambda, size, topology }: Readonly<Record<string, unknown>>) =>
    0.05 +
    (Number(spectralRadius) - 0.9) ** 2 +
    0.02 * (Math.log10(Number(lambda)) + 5) ** 2 +
    5 / Number(size) +
    (topology === "ring" ? 0.03 : 0);
  await study.tell(asked.map((trial) => [trial, error(trial.params)] as const));
}
const importance = study.importance();
keep("history", plotHistory(study));
keep("parallel", plotParallelCoordinates(study, { importance }));
keep("slices", plotSlices(study, { importance }));
keep("contour", plotContour(study, "spectralRadius", "lambda"));
keep("importance", plotImportance(importance));
await study.close();

const { weights, effective } = await spectrum({ size: 200, spectralRadius: 0.95, leakRate: 0.3, seed: 1 });
keep("spectrum", plotSpectrum({ weights, effective }));
const memories: Record<string, Awaited<ReturnType<typeof memoryCapacity>>> = {};
for (const spectralRadius of [0.5, 0.9, 0.99]) {
  const config = { size: 100, leakRate: 1, inputScaling: 0.1, spectralRadius, seed: 1 };
  memories[`radius ${spectralRadius}`] = await memoryCapacity(config, { maxDelay: 60, length: 3000, heldOut: 2000 });
}
keep("memory", plotMemoryCapacity(memories));

/**
 * Spikes of neurons that fire together in waves, at whole numbers of a linear congruence: the same
 * picture every time.
 */
function spikes(count: number, neuronCount: number) {
  let state = 1;
  const next = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const times: number[] = [];
  const neurons: number[] = [];
  while (times.length < count) {
    const [time, neuron] = [1000 * next(), Math.floor(neuronCount * next())];
    if (next() > 0.15 + 0.85 * Math.max(0, Math.sin(time / 40 - neuron / (neuronCount / 6))) ** 4) continue;
    times.push(time);
    neurons.push(neuron);
  }
  return { times, neurons, durationMs: 1000, neuronCount };
}
keep("raster", plotSpikeRaster(spikes(2500, 100)));
keep("raster-rates", plotSpikeRaster(spikes(80_000, 1000), { bins: [200, 100], zoomToPoints: false }));
const counts = [
  [46, 2, 0],
  [1, 44, 3],
  [0, 5, 49],
];
keep("confusion", plotConfusion(counts, ["slow", "middle", "quick"]));

// Engines of the package never part; to show what it looks like, a second run goes on from a state
// that was moved by one unit in the last place.
const config = { size: 100, spectralRadius: 1.8, leakRate: 1, inputScaling: 0.2, connectionProbability: 0.3, seed: 1 };
const chaotic = series.slice(0, 200);
await using left = await ReservoirComputer.create(config);
await using right = await ReservoirComputer.create(config);
const meter = differenceMeter("float32", chaotic.rows);
const { engine } = left;
for (let from = 0; from < chaotic.rows; from += 20) {
  const part = chaotic.slice(from, from + 20);
  meter.add(await left.run(part), await right.run(part), from);
  if (from > 0) continue;
  const { state } = right;
  const bits = new Int32Array(state.values.buffer);
  bits[0] = bits[0]! + 1;
  right.state = state;
}
const run = { reason: engine.reason, arithmetic: "portable", plan: engine.plan, seconds: 1, stepsPerSecond: 1 } as const;
const moved = { ...run, engine: "moved by one bit", difference: meter.result() };
const reference = { ...run, engine: "cpu" };
keep(
  "comparison",
  plotComparison({ size: 100, sequences: 1, steps: chaotic.rows, precision: "float32", reference, others: [moved], equal: false }),
);

const lab = await openLab({ page: "dist/lab-page", engine: "cpu" });
const browser = await chromium.launch({ executablePath: findChromium()!, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 960 } });
await page.goto(lab.url);
await page
  .locator("#capacity")
  .filter({ hasText: /capacity \d/ })
  .waitFor();
await page.locator("#frames").filter({ hasText: /\d/ }).waitFor();
await page.screenshot({ path: "docs/images/lab.png" });
await browser.close();
await lab.close();
