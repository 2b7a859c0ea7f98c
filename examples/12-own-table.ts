// A table of your own: read a CSV, forecast its last twelve rows from those before, and hold that
// against the year before. Here it is the monthly CO2 of Mauna Loa (Scripps Institution of
// Oceanography) from the npm package vega-datasets.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Forecaster, Matrix, rmse, seasonalNaive } from "spillway";
import { readCsv } from "spillway/io";
import { plotForecast, toHtml } from "spillway/plot";

const table = await readCsv("node_modules/vega-datasets/data/co2-concentration.csv", { columns: ["CO2"], text: ["Date"] });
const all = table.matrix.subarray(69); // after the last gap
const known = all.subarray(0, all.rows - 12);
const truth = all.subarray(all.rows - 12);

// What the reservoir sees is the change from a year before: the trend is gone, and so is most of
// the season.
const change = Matrix.from(Array.from(known.data.subarray(12), (value, t) => value - known.data[t]!));
await using forecaster = await Forecaster.fit(change, {
  reservoir: { size: 100, spectralRadius: 0.8, leakRate: 1, inputScaling: 1, bias: 0, precision: "float64", seed: 0 },
  readout: { lambda: 10 },
  washout: 24,
  standardise: true,
});
const ahead = await forecaster.forecast(12);
const yearBefore = seasonalNaive(known, { period: 12, steps: 12 });
const forecast = Matrix.from(Array.from(ahead.data, (value, t) => value + yearBefore.data[t]!));

console.log(`RMSE of twelve months: ${rmse(truth, forecast).toFixed(2)} ppm; the year before ${rmse(truth, yearBefore).toFixed(2)} ppm`);
const page = join(mkdtempSync(join(tmpdir(), "spillway-")), "co2.html");
const figure = plotForecast(forecast, truth, { before: known.subarray(known.rows - 48), baseline: yearBefore, names: ["CO2 (ppm)"] });
writeFileSync(page, await toHtml(figure));
console.log(`figure: ${page}`);
