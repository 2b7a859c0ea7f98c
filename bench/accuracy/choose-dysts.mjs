// How many cuts and how many of the best candidates the dysts sweep takes, on train series alone:
// rows 0 to 149 choose, and rows 150 to 178 stand in for those of the test series. Usage:
//   node bench/accuracy/choose-dysts.mjs [--engine cuda] [--candidates 10000] [--repeats 1] [--precision float64] [--systems 131]
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fitted, parseWithNaN, scored, smape } from "./dysts-protocol.mjs";
import { candidatesOf, combinations, combined, forecastsOf, ranked, scoresOf } from "./dysts-sweep.mjs";

const text = { type: "string" };
const { values: flags } = parseArgs({ options: { engine: text, candidates: text, repeats: text, precision: text, systems: text } });
const { engine = "auto", precision = "float64" } = flags;
const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/dysts`;
const train = parseWithNaN(readFileSync(`${folder}/train_univariate__pts_per_period_15__periods_12.json`, "utf8"));
const list = Object.keys(train)
  .sort()
  .map((system) => train[system].values)
  .filter((values) => values.every(Number.isFinite))
  .slice(0, Number(flags.systems ?? 131));

const cuts = [30, 37, 45, 52, 60, 75];
const choices = {
  "30 45 60": [30, 45, 60],
  "30 60": [30, 60],
  "30 37 45 52 60": [30, 37, 45, 52, 60],
  "30 45 60 75": [30, 45, 60, 75],
  "all six": cuts,
};
const { mean } = combinations;
const kept = [1, 5, 10, 20, 50, 100, 300];

const sums = new Map();

console.log(`| cuts | combined by | ${kept.map((count) => `best ${count}`).join(" | ")} |\n|---|---|${kept.map(() => "---|").join("")}`);
for (let repeat = 0; repeat < Number(flags.repeats ?? 1); repeat++) {
  // Other seeds and settings than those of the table.
  const drawn = candidatesOf(`choice ${repeat}`, Number(flags.candidates ?? 10_000));
  const options = { engine, precision };
  const begun = performance.now();
  const choosing = list.map((values) => values.slice(0, fitted));
  const { scores, reason } = await scoresOf(drawn, choosing, cuts, options);
  const half = performance.now();
  const forecasts = await forecastsOf(drawn, list, fitted, options);
  console.error(`${reason}: ${((half - begun) / 1000).toFixed(1)} s and ${((performance.now() - half) / 1000).toFixed(1)} s`);
  // Scores come by rising start: the largest cut first.
  const order = cuts.toSorted((a, b) => b - a);
  for (const [name, chosen] of Object.entries(choices))
    for (const [by, combine] of Object.entries(combinations)) {
      const at = chosen.map((cut) => order.indexOf(cut));
      const orders = scores.map((each) => ranked(each, (one) => combine(at.map((k) => one[k]))));
      const cells = kept.map((count) =>
        mean(list.map((values, s) => smape(values.slice(fitted, fitted + scored), combined(orders[s], forecasts[s], count)))),
      );
      for (const [c, cell] of cells.entries()) {
        const chosenFlags = `--cuts ${chosen.join(",")} --combine ${by} --best ${kept[c]}`;
        sums.set(chosenFlags, (sums.get(chosenFlags) ?? 0) + cell);
      }
      console.log(`| ${name} | ${by} | ${cells.map((cell) => cell.toFixed(1)).join(" | ")} |`);
    }
}
console.log(`\nleast: ${[...sums].reduce((a, b) => (b[1] < a[1] ? b : a))[0]}`);
