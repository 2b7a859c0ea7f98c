// Bands of a forecaster with its defaults, of the seven series of intervals.mjs: how much they hold,
// split by step and adaptive, made of the starts that chose the setting, and of all that fit.
// Usage: node bench/accuracy/choice-intervals.mjs. Fitted on the first 80 %, tested on the rest.
import { Forecaster } from "spillway/model";
import { Matrix } from "spillway/numerics";
import { AdaptiveConformal, conformalOffsets, coverage, winklerScore } from "spillway/series";
import { bandSeries, deviationOf } from "./band-series.mjs";

const level = 0.9;
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

console.log(
  "| series (H; starts that chose / all / test) | split, starts that chose | split, all starts | adaptive, all starts |\n|---|---|---|---|",
);
let worst = 0;
for (const { name, horizon, series, season } of await bandSeries()) {
  const trained = Math.floor(0.8 * series.rows);
  const sd = deviationOf(series.data.subarray(0, trained));
  const z = Matrix.from(series.data.map((value) => value / sd));
  const options = { horizon, members: ["loop"], ...(season && { season, lags: "season" }) };
  const forecaster = await Forecaster.fit(z.subarray(0, trained), options);
  const { choice } = forecaster;
  const all = (choice.errorStarts ?? choice.starts).length;
  // The starts that chose are few and even: so many of all, as even.
  const few = choice.starts.length;
  const indices = Array.from({ length: few }, (_, k) => Math.floor((k * (all - 1)) / (few - 1)));
  const fewErrors = Matrix.from(
    Float64Array.from(indices.flatMap((k) => [...choice.errors.data.subarray(k * horizon, (k + 1) * horizon)])),
  );
  const adaptive = new AdaptiveConformal(choice.errors, horizon, { level });
  const stride = Math.max(Math.floor(horizon / 2), Math.floor((z.rows - trained - horizon) / 82));
  const count = Math.floor((z.rows - trained - horizon) / stride) + 1;
  const kept = { few: [], split: [], adaptive: [] };
  let known = trained;
  for (let k = 0; k < count; k++) {
    const at = trained + k * stride;
    for (; known < at; known++) adaptive.reveal(known, [z.data[known]]);
    const said = await forecaster.forecast(horizon, { warmup: z.subarray(Math.max(0, at - 600), at) });
    const moved = (ends) => Matrix.from(Array.from(said.data, (value, h) => [value + ends.data[h]]));
    for (const [way, errors] of [
      ["few", fewErrors],
      ["split", choice.errors],
    ]) {
      const { lower, upper } = conformalOffsets(errors, horizon, { level });
      kept[way].push({ at, lower: moved(lower), upper: moved(upper) });
    }
    kept.adaptive.push({ at, ...adaptive.band(at, said) });
  }
  const judged = (bands) => {
    const of = (measure) => mean(bands.map(({ at, ...band }) => measure(z.subarray(at, at + horizon), band)));
    return [of(coverage), of((target, band) => winklerScore(target, band, level))].map((value) => value.toFixed(3)).join(" ");
  };
  const cells = [kept.few, kept.split, kept.adaptive].map(judged);
  await forecaster.dispose();
  worst = Math.max(worst, Math.abs(Number(cells[2].split(" ")[0]) - level));
  console.log(`| ${name} (${horizon}; ${few}/${all}/${count}) | ${cells.join(" | ")} |`);
}
console.log(`\nAdaptive bands of ${level * 100} %: at most ${(100 * worst).toFixed(1)} points off.`);
