// What the defaults of a Forecaster cost: fit of two years of hours (17,520 rows), horizon 24, season
// 168, without time stamps and with them. Processor time beside the clock's, for a machine that
// does other things too.
// Usage: node bench/accuracy/forecast-time.mjs [--repeats 3] [--loop] (members: ["loop"]). Data: SPILLWAY_DATA (../shared/data).
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Forecaster } from "../../dist/index.js";

const { values: flags } = parseArgs({ options: { repeats: { type: "string", default: "3" }, loop: { type: "boolean", default: false } } });
const path = join(process.env.SPILLWAY_DATA ?? "../shared/data", "series", "load_rte.csv");
const rows = readFileSync(path, "utf8")
  .trim()
  .split(/\r?\n/)
  .slice(1)
  .map((line) => line.split(","));
const series = Float64Array.from(rows, ([, value]) => Number(value));
const times = rows.map(([stamp]) => stamp);

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores; ${series.length} rows, median of ${flags.repeats}`);
console.log();
console.log("| fit | candidates | seconds | user processor seconds |");
console.log("|---|---|---|---|");
for (const [name, data] of [
  ["without time stamps", series],
  ["with time stamps", { series, times }],
]) {
  const seconds = [];
  const user = [];
  let candidates = 0;
  for (let k = 0; k < Number(flags.repeats); k++) {
    const before = process.cpuUsage();
    const begun = performance.now();
    const forecaster = await Forecaster.fit(data, {
      horizon: 24,
      season: 168,
      reservoir: { seed: k },
      ...(flags.loop && { members: ["loop"] }),
    });
    seconds.push((performance.now() - begun) / 1000);
    user.push(process.cpuUsage(before).user / 1e6);
    candidates = forecaster.choice.candidates.length;
    await forecaster.dispose();
  }
  console.log(`| ${name} | ${candidates} | ${[seconds, user].map((each) => middle(each).toFixed(1)).join(" | ")} |`);
}
