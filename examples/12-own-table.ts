// A table of your own: read a CSV, forecast its last twelve rows from those before, with a band,
// and hold that against the year before. Here it is the monthly CO2 of Mauna Loa (Scripps
// Institution of Oceanography) from the npm package vega-datasets.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Forecaster, rmse, seasonalNaive } from "spillway";
import { plotForecast, toHtml } from "spillway/plot";
import { readCsv } from "spillway/series";

const table = await readCsv("node_modules/vega-datasets/data/co2-concentration.csv", { columns: ["CO2"], text: ["Date"] });
const all = table.matrix.subarray(69); // after the last gap
const dates = table.text["Date"]!.slice(69);
const known = all.subarray(0, all.rows - 12);
const truth = all.subarray(all.rows - 12);

// Forecasts of twelve months from starts inside the known part choose lambda and lags. What the
// reservoir sees is the change from a year before: the trend is gone, and so is most of the season.
await using forecaster = await Forecaster.fit(
  { series: known, times: dates.slice(0, known.rows) },
  { horizon: 12, season: 12, transforms: [{ difference: 12 }] },
);
const forecast = await forecaster.forecast(12, { intervals: [0.9] });
const [band] = forecast.bands!;
const yearBefore = seasonalNaive(known, { period: 12, steps: 12 });

for (const [h, time] of forecast.times!.entries()) {
  const [value, low, high] = [forecast, band!.lower, band!.upper].map(({ data }) => data[h]!.toFixed(1));
  console.log(`${time}  ${value} ppm, 90 %: ${low} to ${high}; it was ${truth.data[h]!.toFixed(1)}`);
}
console.log(`RMSE of twelve months: ${rmse(truth, forecast).toFixed(2)} ppm; the year before ${rmse(truth, yearBefore).toFixed(2)} ppm`);
const page = join(mkdtempSync(join(tmpdir(), "spillway-")), "co2.html");
const figure = plotForecast(forecast, truth, { before: known.subarray(known.rows - 48), baseline: yearBefore, names: ["CO2 (ppm)"] });
writeFileSync(page, await toHtml(figure));
console.log(`figure: ${page}`);
