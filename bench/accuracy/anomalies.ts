// Detectors of anomalies: NAB's development half, rates on clean streams, changes, injected
// anomalies, the constants moved by 20 %, and the cost. Prints Markdown, each figure beside its
// bar.
// npm run bench:anomalies [-- PART [FOLDER OF NAB]]: all, nab, constants, injected, rates, behaviour
// or cost
import { cpus } from "node:os";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AnomalyDetector, type AnomalyOptions, type AnomalyRow } from "../../src/index.js";
import { constants } from "../../src/model/anomaly/program.js";
import { alarmsByLeaks } from "./anomaly-leaks.js";
import { changes, cleanStreams, injected, kinds } from "./anomaly-streams.js";
import { chosenScores, countsOf, type NabSeries, normalised, type Profile, profiles, rawScore, readNab } from "./nab.js";

const print = (line = "") => process.stdout.write(`${line}\n`);
const table = (heads: readonly string[], rows: readonly (readonly (string | number)[])[]) => {
  print(`| ${heads.join(" | ")} |\n|${heads.map(() => "---|").join("")}`);
  for (const row of rows) print(`| ${row.join(" | ")} |`);
  print();
};
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
const alarmsOf = (rows: readonly AnomalyRow[]) => rows.flatMap(({ alarm, row }) => (alarm ? [row] : []));
const every5 = Array.from({ length: 20_000 }, (_, t) => 1.7e12 + 300_000 * t);

async function run(values: ArrayLike<number>, times: readonly number[], options: AnomalyOptions): Promise<readonly AnomalyRow[]> {
  return (await AnomalyDetector.create(options)).detect(values as Float64Array, { times: times.slice(0, values.length) }).rows;
}

const names = Object.keys(profiles) as Profile[];

async function nab(series: readonly NabSeries[], options: AnomalyOptions) {
  const rows = await Promise.all(series.map(({ values, times }) => run(values, times, options)));
  const alarms = rows.map(alarmsOf);
  const scores = names.map((profile) =>
    normalised(
      series.map((one, i) => rawScore(one, alarms[i]!, profile)),
      series,
      profile,
    ),
  );
  return { rows, alarms, scores };
}

const shown = (scores: readonly number[]) => scores.map((one) => one.toFixed(1)).join(" / ");

async function developmentHalf(series: readonly NabSeries[]) {
  print(`## NAB, development half: ${series.length} series\n`);
  const out: (string | number)[][] = [];
  const off = { forecast: false };
  for (const [name, options] of [
    ["default, asked 1e-3", off],
    ["rate exact", { ...off, rate: "exact" }],
    ["asked 3e-4", { ...off, alarmRate: 3e-4 }],
    ["asked 3e-3", { ...off, alarmRate: 3e-3 }],
  ] as const) {
    const { alarms, scores, rows } = await nab(series, options);
    const { found, windows, every, f1 } = countsOf(series, alarms);
    const chosen = chosenScores(
      series,
      rows.map((each) => each.map(({ score }) => score)),
      "standard",
    );
    out.push([name, shown(scores), `${found} of ${windows}`, `1 in ${every.toFixed(0)}`, f1.toFixed(2)]);
    out.at(-1)!.push(`${chosen.halves.toFixed(1)} ± ${chosen.deviation.toFixed(1)}`, chosen.folders.toFixed(1), chosen.best.toFixed(1));
  }
  for (const detect of ["both", "surprise"] as const) {
    const each = await Promise.all([1, 2, 3, 4, 5].map((seed) => nab(series, { detect, seed })));
    const counts = each.map(({ alarms }) => countsOf(series, alarms));
    const scores = names.map((_, p) => mean(each.map(({ scores: own }) => own[p]!)));
    const every = mean(counts.map((one) => one.every));
    out.push([`${detect}, mean of five seeds`, shown(scores), mean(counts.map(({ found }) => found)).toFixed(1)]);
    out.at(-1)!.push(`1 in ${every.toFixed(0)}`, mean(counts.map(({ f1 }) => f1)).toFixed(2), "", "", "");
  }
  out.push(["bar", "66 / 57 / 71", "", "1 in 1500", "", "70", "", ""]);
  table(["", "alarms: standard / low FP / low FN", "windows", "false", "F1", "halves", "folders", "best threshold"], out);
}

async function perturbed(series: readonly NabSeries[]) {
  print("## Each constant 20 % smaller and larger: standard score of the alarms\n");
  const rows: (string | number)[][] = [];
  const all: number[] = [];
  const score = async (options: AnomalyOptions) => {
    const [standard] = (await nab(series, { forecast: false, ...options })).scores as [number];
    all.push(standard);
    return standard.toFixed(1);
  };
  const options = { memory: 6000, radius: 0.36, patterns: 200, warmUp: 200, mergeRows: 100, alarmRate: 0.001 };
  for (const [name, value] of Object.entries(options)) {
    const whole = name === "radius" || name === "alarmRate" ? (x: number) => x : Math.round;
    rows.push([name, await score({ [name]: whole(0.8 * value) }), await score({ [name]: whole(1.2 * value) })]);
  }
  const { scales, ...others } = constants;
  const [smaller, usual, larger] = [6, scales, 10].map((leaks) => {
    const alarms = alarmsByLeaks(series, leaks);
    return {
      alarms,
      score: normalised(
        series.map((one, i) => rawScore(one, alarms[i]!, "standard")),
        series,
        "standard",
      ),
    };
  });
  const { alarms } = await nab(series, { forecast: false });
  if (JSON.stringify(usual!.alarms) !== JSON.stringify(alarms)) throw new Error("the detector in C has other alarms");
  all.push(smaller!.score, larger!.score);
  rows.push(["moving averages, 6 and 10", smaller!.score.toFixed(1), larger!.score.toFixed(1)]);
  for (const name of Object.keys(others) as (keyof typeof others)[]) {
    const value = constants[name];
    const scores: string[] = [];
    for (const factor of [0.8, 1.2]) {
      constants[name] = name === "spread" ? Math.max(1, factor * value) : factor * value;
      scores.push(await score({}));
    }
    constants[name] = value;
    rows.push([name, ...scores]);
  }
  rows.push([`mean of ${all.length}; bar 66`, mean(all).toFixed(1), `${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)}`]);
  table(["constant", "x 0.8", "x 1.2"], rows);
}

async function rates(seeds: readonly string[]) {
  print(`## Clean streams: 28 kinds of 20,000 rows, ${seeds.length} seeds; shares after row 1000\n`);
  const streams = seeds.flatMap((seed) => [...cleanStreams(seed).values()]);
  const share = (rows: readonly AnomalyRow[], is: (row: AnomalyRow) => boolean) => rows.slice(1000).filter(is).length / 19_000;
  const novel = ({ alarm }: AnomalyRow) => alarm?.by === "novelty";
  const line = (name: string, shares: readonly number[], bar: string) => [
    name,
    ...[median(shares), Math.min(...shares), Math.max(...shares)].map((one) => one.toPrecision(3)),
    bar,
  ];
  const of = async (options: AnomalyOptions, is: (row: AnomalyRow) => boolean) => {
    const shares: number[] = [];
    for (const values of streams) shares.push(share(await run(values, every5, options), is));
    return shares;
  };
  const out: string[][] = [];
  for (const alarmRate of [1e-3, 1e-2]) {
    const bar = alarmRate === 1e-3 ? "each .7 to 1.05 of it" : "each .93 to 1 of it";
    out.push(line(`alarms, exact, asked ${alarmRate}`, await of({ alarmRate, rate: "exact", forecast: false }, novel), bar));
  }
  for (const alarmRate of [1e-3, 1e-2])
    out.push(
      line(
        `alarms, at most, asked ${alarmRate}`,
        await of({ alarmRate, forecast: false }, novel),
        alarmRate === 1e-3 ? "each up to 1.05 of it" : "",
      ),
    );
  const small: number[][] = [[], []];
  for (const values of streams) {
    const rows = await run(values, every5, {});
    for (const [k, p] of [1e-2, 1e-3].entries()) small[k]!.push(share(rows, ({ pValue }) => pValue <= p));
  }
  out.push(line("p <= 0.01", small[0]!, "median within 20 %, each up to 1.8 times"));
  out.push(line("p <= 0.001", small[1]!, "median within 30 %, each up to 1.8 times"));
  const three: number[][] = [[], []];
  for (let k = 0; k + 3 <= streams.length; k += 3) {
    const rows = Array.from(streams[k]!, (_, t) => [0, 1, 2].map((c) => streams[k + c]![t]!));
    for (const [i, alarmRate] of [1e-3, 1e-2].entries()) {
      const detector = await AnomalyDetector.create({ columns: 3, alarmRate, rate: "exact", forecast: false });
      three[i]!.push(share(detector.detect(rows).rows, novel));
    }
  }
  out.push(
    line("alarms of 3 columns, exact, asked 0.001", three[0]!, "each .7 to 1.05 of it"),
    line("the same, asked 0.01", three[1]!, "each .93 to 1 of it"),
  );
  table(["", "median", "least", "most", "bar"], out);
}

async function behaviour() {
  print("## A sine of 288 rows with noise of .2, changed at row 3000: five seeds, asked 1e-3\n");
  const runs = ["1", "2", "3", "4", "5"].map(changes);
  const rows: (string | number)[][] = [];
  for (const name of runs[0]!.keys()) {
    const said = await Promise.all(runs.map((streams) => run(streams.get(name)!, every5, {})));
    const near = said.map((each) => each.slice(3000, 3300));
    const first = said[0]!.flatMap(({ alarm, row }) => (alarm && row >= 2900 ? [`${row}${alarm.by === "stuck" ? " stuck" : ""}`] : []));
    const before = mean(said.map((each) => alarmsOf(each.slice(200, 3000)).length));
    const nan = said.flat().some(({ score }) => !Number.isFinite(score)) ? "NaN!" : "";
    rows.push([name, `${near.filter((each) => alarmsOf(each).length > 0).length} of 5${nan}`, first.slice(0, 4).join(", ")]);
    rows.at(-1)!.push(`${near.filter((each) => each.some(({ pValue }) => pValue <= 1e-3)).length} of 5`, before.toFixed(1));
  }
  table(["change", "alarm within 300 rows", "alarms of seed 1", "p <= 1e-3 within 300 rows", "alarms in 2800 rows before"], rows);
}

async function injectedAnomalies(series: readonly NabSeries[]) {
  print("## Anomalies put into clean stretches of NAB, five draws, asked 1e-3\n");
  const found = new Map<string, boolean[]>(kinds.map((kind) => [kind, []]));
  let [wrong, rows] = [0, 0];
  for (const seed of ["1", "2", "3", "4", "5"])
    for (const { kind, values, times, first, last } of injected(series, seed)) {
      const said = await run(values, times, { forecast: false });
      found.get(kind)!.push(said.slice(first, last + 1).some(({ score, alarm, ready }) => alarm !== undefined || (ready && score >= 1)));
      wrong += alarmsOf(said.slice(0, first)).length;
      rows += first - 200;
    }
  const share = (all: readonly boolean[]) => (all.filter(Boolean).length / all.length).toFixed(2);
  const every = [...found].map(([kind, all]) => [kind, share(all)]);
  table(
    ["kind", "found"],
    [...every, ["all; bar .60", share([...found.values()].flat())], ["false; bar 1 in 450", `1 in ${(rows / wrong).toFixed(0)}`]],
  );
}

async function cost() {
  print("## Cost\n");
  const rows: (string | number)[][] = [];
  const d = [...cleanStreams("cost", 12_000).values()];
  for (const [name, columns, options] of [
    ["alarm alone", 1, { forecast: false }],
    ["alarm alone", 3, { forecast: false }],
    ["with a forecast, no reservoir", 1, { size: 0 }],
    ["with a forecast, 50 neurons", 1, {}],
    ["with a forecast, 50 neurons", 3, {}],
  ] as const) {
    const times: number[] = [];
    // The first two passes are left out: compilers are at work.
    for (const k of [0, 10, 0, 10]) {
      const detector = await AnomalyDetector.create({ columns, ...options });
      const at = (t: number) => Array.from({ length: columns }, (_, c) => d[k + c]![t]!);
      const all = Array.from({ length: 12_000 }, (_, t) => at(t));
      for (const row of all.slice(0, 2000)) detector.update(row);
      const start = process.cpuUsage();
      for (const row of all.slice(2000)) detector.update(row);
      const { user, system } = process.cpuUsage(start);
      times.push((user + system) / 10_000 / columns);
    }
    const detector = await AnomalyDetector.create({ columns, ...options });
    rows.push([
      name,
      columns,
      ...times.slice(2).map((one) => one.toFixed(2)),
      Math.round(detector.bytes / 1024),
      Math.round((await detector.toBytes()).length / 1024),
    ]);
  }
  table(["", "columns", "us a row and column: white noise", "season", "kB of memory", "kB of a file"], rows);
  print("Bars: 2 us for the alarm alone, 20 us with a forecast; 150 kB a stream. Memory is allocated once.\n");
  const detector = await AnomalyDetector.create({ size: 0 });
  const values = d[10]!;
  const bytes: string[][] = [];
  for (let t = 0; t <= 1_000_000; t++) {
    detector.update(values[t % values.length]!);
    if (t % 250_000 !== 0 || t === 0) continue;
    gc();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    bytes.push([String(t), (detector.bytes / 1024).toFixed(0), ((heapUsed + external + arrayBuffers) / 1024).toFixed(0)]);
  }
  print("Memory over a million rows of one detector with a forecast:\n");
  table(["rows", "kB of the detector", "kB of the process after garbage collection"], bytes);
}

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;
const [chosen, folder = `${process.env["SPILLWAY_DATA"] ?? "../shared/data"}/nab`] = process.argv.slice(2);
print(
  `# Detectors of anomalies\n\n${new Date().toISOString().slice(0, 10)}, ${cpus()[0]!.model}, Node ${process.version}. \`npm run bench:anomalies\`\n`,
);
const parts: Readonly<Record<string, () => Promise<void>>> = {
  nab: () => developmentHalf(readNab(folder)),
  constants: () => perturbed(readNab(folder)),
  injected: () => injectedAnomalies(readNab(folder)),
  rates: () => rates(["11", "12", "13", "14", "15"]),
  behaviour,
  cost,
};
if (chosen !== undefined && chosen !== "all" && !(chosen in parts))
  throw new Error(`${chosen} is no part; they are all, ${Object.keys(parts).join(", ")}`);
for (const [part, measure] of Object.entries(parts)) if (chosen === undefined || chosen === "all" || chosen === part) await measure();
