// The Forecaster's defaults on series of forecasting competitions, beside classical methods, ridge
// autoregression, the closed loop alone and @bsull/augurs (MSTL and ETS). Nothing is set but data,
// horizon and season. Scores are those of M4: sMAPE, MASE, and OWA over Naive2.
// Usage: npx tsx bench/accuracy/competitions.ts [SET ...] [--most 40] [--loop] [--write]
// SET: yearly, quarterly, monthly, other, weekly, hourly. --most: at most so many series of a set,
// evenly over its list (0: all). --loop: members: ["loop"] too.
// Data: SPILLWAY_DATA (../shared/data), folder m-competitions.
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Forecaster, type ForecasterOptions } from "../../src/index.js";
import { coverage, mase, msis, owa, smape, wql } from "../../src/metrics/index.js";
import { fitAutoregression } from "../../src/series/autoregression.js";
import { type ClassicalMethod, fitClassical } from "../../src/series/classical.js";
import { continueSmoothing } from "../../src/series/exponential-smoothing.js";

interface Series {
  readonly id: string;
  readonly season: number;
  readonly horizon: number;
  readonly train: readonly number[];
  readonly test: readonly number[];
}

type Method = (series: Series) => ArrayLike<number> | Promise<ArrayLike<number>>;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    most: { type: "string", default: "40" },
    loop: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const folder = join(process.env["SPILLWAY_DATA"] ?? "../shared/data", "m-competitions");
if (!existsSync(folder)) throw new Error(`there is no folder ${folder}; SPILLWAY_DATA says where the series are`);
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const sample = read("sample.json") as Readonly<Record<string, readonly string[]>>;
const all = new Map(
  readdirSync(folder)
    .filter((name) => /^m\d-.*\.json$/.test(name))
    .flatMap((name) => read(name) as Series[])
    .map((series) => [series.id, series]),
);
const lines: string[] = [];
function say(line = ""): void {
  console.log(line);
  lines.push(line);
}

const classical =
  (method: ClassicalMethod): Method =>
  ({ train, season, horizon }) =>
    continueSmoothing(fitClassical(method, train, season), horizon);

/** Two seasons of lags, or eight rows; the last value if the rows are too few. */
const autoregression: Method = ({ train, season, horizon }) => {
  const order = Math.min(season > 1 ? 2 * season : 8, Math.floor(train.length / 4));
  try {
    return fitAutoregression(Float64Array.from(train), { order, horizon: Math.min(horizon, Math.floor(train.length / 4)) }).forecast(
      Float64Array.from(train.slice(-order)),
      horizon,
    ).data;
  } catch {
    return new Array<number>(horizon).fill(train.at(-1)!);
  }
};

/** Forecasts of augurs, and the series that it refused. */
async function augurs(): Promise<{ readonly method: Method; readonly failed: string[] }> {
  const [mstl, ets] = await Promise.all([import("@bsull/augurs/mstl"), import("@bsull/augurs/ets")]);
  for (const [part, module] of Object.entries({ mstl, ets })) {
    const path = fileURLToPath(import.meta.resolve(`@bsull/augurs/${part}`)).replace(/\.js$/, "_bg.wasm");
    await module.default({ module_or_path: readFileSync(path) });
  }
  const failed: string[] = [];
  const method: Method = ({ id, train, season, horizon }) => {
    try {
      const model = season > 1 ? mstl.MSTL.ets([season]) : new ets.AutoETS(1, "ZZN");
      model.fit(Float64Array.from(train));
      return model.predict(horizon).point as number[];
    } catch {
      failed.push(id);
      return classical("naive2")({ id, train, season, horizon, test: [] });
    }
  };
  return { method, failed };
}

/** What bands and quantiles of the default are scored by, one figure a series. */
interface Sharpness {
  readonly held: readonly number[];
  readonly msis: number;
  /** Of this series, and what it is over. */
  readonly wql: number;
  readonly size: number;
}

const shares = [0.8, 0.9, 0.95] as const;
const levels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const quantiled: Sharpness[] = [];
/** Of each series how far its forecast is from its last value, in ranges of the training rows. */
let farthest = 0;

const forecaster =
  (options: Partial<ForecasterOptions> = {}): Method =>
  async ({ train, season, horizon, test }) => {
    const given = { horizon, ...(season > 1 ? { season } : {}), ...options };
    await using model = await Forecaster.fit(Float64Array.from(train), given as ForecasterOptions);
    if (options.members) return (await model.forecast(horizon)).data;
    const forecast = await model.forecast(horizon, { intervals: shares, quantiles: levels });
    const target = Float64Array.from(test);
    const [, , wide] = forecast.bands!;
    quantiled.push({
      held: forecast.bands!.map((band) => coverage(target, band)),
      msis: msis(target, wide!, 0.95, { training: Float64Array.from(train), season }),
      wql: wql(target, forecast.quantiles!),
      size: target.reduce((sum, value) => sum + Math.abs(value), 0),
    });
    const range = Math.max(...train) - Math.min(...train);
    if (range > 0) farthest = Math.max(farthest, ...[...forecast.data].map((value) => Math.abs(value - train.at(-1)!) / range));
    return forecast.data;
  };

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const found = await augurs();
const methods: Record<string, Method> = {
  Naive2: classical("naive2"),
  "seasonal naive": classical("seasonalNaive"),
  Theta: classical("theta"),
  "damped trend": classical("damped"),
  ETS: classical("ets"),
  "ridge autoregression": autoregression,
  "augurs, MSTL and ETS": found.method,
  ...(flags.loop && { "closed loop alone": forecaster({ members: ["loop"] }) }),
  "Forecaster's default": forecaster(),
};
say(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores. Seconds are processor time of one series.`);
for (const [set, ids] of Object.entries(sample)) {
  if (positionals.length > 0 && !positionals.includes(set)) continue;
  const most = Number(flags.most) || ids.length;
  const count = Math.min(most, ids.length);
  const chosen = Array.from({ length: count }, (_, k) => all.get(ids[Math.floor((k * ids.length) / count)]!)!);
  const errors: Record<string, { smape: number; mase: number }[]> = {};
  quantiled.length = 0;
  farthest = 0;
  say();
  say(`${set}, n = ${count} of ${ids.length}:`);
  say();
  say("| method | sMAPE | MASE | OWA | refused | seconds |");
  say("|---|---|---|---|---|---|");
  for (const [name, method] of Object.entries(methods)) {
    const begun = process.cpuUsage();
    const own: { smape: number; mase: number }[] = [];
    let refused = 0;
    for (const series of chosen) {
      let made: ArrayLike<number>;
      try {
        made = await method(series);
      } catch {
        refused++;
        made = await methods["Naive2"]!(series);
      }
      const [target, forecast] = [Float64Array.from(series.test), Float64Array.from(made)];
      const options = { training: Float64Array.from(series.train), season: series.season };
      own.push({ smape: smape(target, forecast), mase: mase(target, forecast, options) });
    }
    const { user, system } = process.cpuUsage(begun);
    if (found.method === method) refused = found.failed.splice(0).length;
    errors[name] = own;
    const figures = [mean(own.map((each) => each.smape)).toFixed(2), mean(own.map((each) => each.mase)).toFixed(3)];
    const seconds = (user + system) / 1e6 / count;
    say(`| ${name} | ${figures.join(" | ")} | ${owa(own, errors["Naive2"]!).toFixed(3)} | ${refused || ""} | ${seconds.toPrecision(2)} |`);
  }
  const total = quantiled.reduce((sum, { size }) => sum + size, 0);
  const overall = quantiled.reduce((sum, each) => sum + each.wql * each.size, 0) / total;
  const held = shares.map((share, i) => `${share * 100} %: ${mean(quantiled.map((each) => each.held[i]!)).toFixed(3)}`);
  say();
  say(
    `Default: values held by bands of ${held.join(", ")}; MSIS (95 %) ${mean(quantiled.map((each) => each.msis)).toFixed(1)}, WQL ${overall.toFixed(3)}; ` +
      `no forecast is further from the last value than ${farthest.toFixed(2)} ranges of the training rows.`,
  );
}
if (flags.write) {
  const path = `bench/results/competitions-${new Date().toISOString().slice(0, 10)}.md`;
  const title =
    "# Forecasts of series of competitions\n\nPrinted by `npm run bench:forecast`: nothing is set but data, horizon and season.\n";
  appendFileSync(path, `${existsSync(path) ? "" : title}\n${lines.join("\n")}\n`);
}
