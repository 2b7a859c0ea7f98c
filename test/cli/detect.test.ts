// `spillway detect`: what it prints and writes, from a file and from lines.
import "../../src/index.js";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Drawn } from "../../src/cli/commands/detect-page.js";
import { AnomalyDetector } from "../../src/model/index.js";
import { casesOf } from "../exhaustive.js";
import { spillway } from "./in-process.js";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const start = Date.UTC(2024, 0, 1);
const stampOf = (t: number) => new Date(start + 300_000 * t).toISOString().slice(0, 19).replace("T", " ");
const load = Array.from({ length: 500 }, (_, t) => Math.sin(t / 8) + 0.1 * Math.cos(1.7 * t * t) + (t === 420 ? 4 : 0));
const warmth = load.map((_, t) => Math.cos(t / 11) + 0.1 * Math.cos(2.3 * t * t));

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "spillway-detect-"));
  const lines = load.map((value, t) => `${stampOf(t)},${t === 450 ? "" : value},${warmth[t]},on`);
  await writeFile(join(cwd, "load.csv"), `${["time,load,warmth,state", ...lines].join("\n")}\n`);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Runs on lines of standard input, which come in pieces as those of a pipe do. */
function fed(args: readonly string[], lines: readonly string[]) {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const input = Array.from({ length: Math.ceil(bytes.length / 999) }, (_, k) => bytes.subarray(999 * k, 999 * (k + 1)));
  return spillway(["detect", "-", ...args], { cwd, input });
}

/** Runs in a process of its own, and leaves standard input open. */
async function fedProcess(args: readonly string[], lines: readonly string[], after: (child: ChildProcess) => void) {
  const child = spawn(process.execPath, [main, "detect", "-", ...args], { cwd });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => {
    said.stdout += text.toString();
    if (said.stdout.split("\n").length > lines.length) after(child);
  });
  child.stderr.on("data", (text: Buffer) => {
    said.stderr += text.toString();
  });
  child.stdin.write(lines.map((line) => `${line}\n`).join(""));
  const [code] = (await once(child, "close")) as [number];
  return { code, ...said };
}

const incident = { oddest: 0, startedAt: 0, endedAt: 0, by: "novelty", score: 1, pValue: 1, columns: ["a"] } as const;

const rowsOf = (csv: string) =>
  csv
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));

describe("spillway detect FILE", () => {
  it("prints incidents, and writes a line a row with what a detector says", async () => {
    const args = [
      "load.csv",
      "--time",
      "time",
      "--columns",
      "load",
      "--size",
      "5",
      "--out",
      "rows.csv",
      "--plot",
      "page.html",
      "--save",
      "d.st",
    ];
    const ended = await spillway(["detect", ...args], { cwd });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(
      /load.csv: 500 rows, 1 incident; alarms asked at most 1 in 1000 rows, obtained 1 in 500 rows; \d+ rows a second/,
    );
    expect(ended.stdout).toMatch(/2024-01-02 11:00:00 +2024-01-02 11:00:00 +novelty +load/);
    const detector = await AnomalyDetector.create({ columns: ["load"], size: 5 });
    const [head, ...lines] = rowsOf(await readFile(join(cwd, "rows.csv"), "utf8"));
    expect(head!.join()).toBe("time,load,expected,lower,upper,pvalue,score,alarm,incident,cause");
    for (const [t, value] of load.entries()) {
      const said = detector.update(t === 450 ? Number.NaN : value, stampOf(t));
      const text = (number: number | undefined) => (number === undefined || Number.isNaN(number) ? "" : String(number));
      const [time, own, ...cells] = lines[t]!;
      expect([time, own]).toEqual([stampOf(t), t === 450 ? "" : String(value)]);
      expect(cells.slice(0, 6)).toEqual(
        [said.expected[0], said.lower[0], said.upper[0], said.pValue, said.score, Number.NaN]
          .map(text)
          .slice(0, 5)
          .concat(said.alarm?.by ?? ""),
      );
    }
    expect((await AnomalyDetector.load(join(cwd, "d.st"))).state).toEqual(detector.state);
    const html = await readFile(join(cwd, "page.html"), "utf8");
    expect(html).toContain("load over 500 rows with the expected band");
  });

  it("takes several columns, a decimal comma and a form of stamps, and gives JSON", async () => {
    const lines = load
      .slice(0, 300)
      .map((value, t) => `${String((t % 28) + 1).padStart(2, "0")}.01.2024;${String(value).replace(".", ",")};${t}`);
    await writeFile(join(cwd, "comma.csv"), ["day;load;n", ...lines].join("\n"));
    const args = [
      "detect",
      "comma.csv",
      "--decimal",
      ",",
      "--time",
      "day",
      "--time-format",
      "DD.MM.YYYY",
      "--alarm-rate",
      "0.01",
      "--no-stuck",
      "--json",
      "--plot",
      "comma.html",
    ];
    const { stdout, code } = await spillway(args, { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ file: "comma.csv", rows: 300, asked: 0.01, unordered: 10 });
    // A page draws stamps of any form on an axis of dates.
    const html = await readFile(join(cwd, "comma.html"), "utf8");
    expect(html).toContain('"type":"date"');
    expect(html).toContain("2024-01-28 00:00:00.000");
    expect(html).not.toContain("28.01.2024");
  });

  it.each(
    casesOf(
      [
        [["load.csv", "--columns", "lode"], /lode/],
        [
          ["load.csv", "--columns", "load,state"],
          /row 2, column "state": "on" is not a number; list the column under --time, or leave it out of --columns/,
        ],
        [["load.csv", "--columns", "load", "--alarm-rate", "2"], /--alarm-rate is 2; it takes a number above 0 and at most 0.1/],
        [["load.csv", "--columns", "load", "--time", "state"], /row 2, column "state".*no time stamp/],
        [["none.csv"], /none.csv/],
        [
          ["load.csv", "--columns", "load", "--warm-up", "2000"],
          /load.csv has \d+ rows; alarms are raised after 2000: give more rows, set --warm-up/,
        ],
        [["comma.csv", "--decimal", ",", "--time", "day"], /they fit --time-format "DD.MM.YYYY"/],
        [["load.csv", "--columns", "load", "--model", "d.st", "--size", "3"], /nothing beside --model/],
      ] as const,
      (_, k) => k % 3 === 0,
    ),
  )("refuses %j with a sentence", async (args, sentence) => {
    const { code, stderr } = await spillway(["detect", ...args], { cwd });
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });
});

/** A stamp as it is written in Germany, five minutes after the one before. */
const germanStamp = (t: number) => {
  const [, month, day, hour, minute] = /-(\d\d)-(\d\d).(\d\d):(\d\d)/.exec(new Date(Date.UTC(2026, 4, 20) + 300_000 * t).toISOString())!;
  return `${day}.${month}.2026 ${hour}:${minute}`;
};

describe("tables that a person has", () => {
  it("are described by the gaps of their time stamps", async () => {
    const lines = load.flatMap((value, t) => (t >= 300 && t < 348 ? [] : [`${stampOf(t)},${value}`]));
    await writeFile(join(cwd, "gap.csv"), ["time,load", ...lines].join("\n"));
    const { stdout } = await spillway(["detect", "gap.csv", "--time", "time"], { cwd });
    expect(stdout).toMatch(/^time: step 5 minutes, .*, 1 gap of 48 rows$/m);
  });

  it("leave out columns of text, and name flags, columns and values in errors", async () => {
    const said = await spillway(["detect", "load.csv", "--time", "time"], { cwd });
    expect(said.stdout).toContain("columns of text are left out: state");
    const comma = ["Zeit;Wert;Ort", ...load.slice(0, 250).map((value, t) => `${stampOf(t)};${value.toFixed(3).replace(".", ",")};x`)];
    comma[30] = comma[30]!.replace(/;[^;]*;/, ";offline;");
    await writeFile(join(cwd, "own.csv"), comma.join("\n"));
    const there = '--time asks for "zeit"; the columns are "Zeit", "Wert", "Ort"';
    for (const [args, sentence] of [
      [["--time", "zeit"], `own.csv: ${there}; did you mean Zeit`],
      [
        ["--time", "Zeit", "--columns", "Wert", "--missing-markers", "offline"],
        'column "Wert": "0,100" is not a number; set --decimal to "," if',
      ],
      [["--columns", "wert"], '--columns asks for "wert"; the columns are'],
      [
        ["--columns", "Wert", "--decimal", ","],
        '"offline" is not a number; correct the cell, or set --missing-markers, with commas between, to all texts that mean',
      ],
      [
        ["--time", "Ort", "--decimal", ",", "--columns", "Wert", "--missing-markers", "offline"],
        'own.csv: row 2, column "Ort": "x" is no time stamp',
      ],
    ] as const) {
      const { stderr, code } = await spillway(["detect", "own.csv", ...args], { cwd });
      expect(stderr).toContain(sentence);
      expect(code).toBe(2);
    }
    await writeFile(join(cwd, "german.csv"), comma.map((line, t) => (t > 0 ? line.replace(/^[^;]*/, germanStamp(t)) : line)).join("\n"));
    const german = ["german.csv", "--time", "Zeit", "--columns", "Wert"];
    const { stderr } = await spillway(["detect", ...german], { cwd });
    expect(stderr).toMatch(/german\.csv: \(1\) .*"offline".*\. \(2\) row 2, column "Zeit": .* is no time stamp/);
    const [, flags] = /\. Give (--.*)\n/.exec(stderr)!;
    expect(flags).toBe('--decimal "," --missing-markers "offline" --time-format "DD.MM.YYYY hh:mm"');
    const given = Array.from(flags!.matchAll(/(--[a-z-]+) "([^"]*)"/g), ([, flag, value]) => [flag!, value!]).flat();
    expect((await spillway(["detect", ...german, ...given], { cwd })).code).toBe(0);
    const lines = comma.slice(0, 30);
    expect((await fed(["--time", "zeit", "--decimal", ","], lines)).stderr).toContain(`line 1: ${there}`);
    const wrong = 'row 2, column "Wert": "0,100" is not a number';
    expect((await fed(["--time", "Zeit", "--columns", "Wert"], lines)).stderr).toContain(
      `standard input: ${wrong}; set --decimal to "," if a comma is the decimal mark`,
    );
    // As of a file, all that is wrong with a line is said at once.
    const strange = await fed(["--time", "Zeit"], ["", "Zeit;Wert", `${germanStamp(0)};0,100`]);
    expect(strange.stderr).toContain(`standard input: (1) ${wrong.replace("2", "3")}; set --decimal to`);
    expect(strange.stderr).toContain('(2) row 3, column "Zeit"');
    expect(strange.stderr).toContain('Give --decimal "," --time-format "DD.MM.YYYY hh:mm"');
    expect((await fed(["--time", "ts"], ['{"t": 1, "a": 2}'])).stderr).toContain('line 1: it has no "ts", which --time asks for');
    const read = await fed(["--time", "Zeit", "--columns", "Wert", "--decimal", ",", "--missing-markers", "offline"], comma);
    expect(rowsOf(read.stdout)[30]!.slice(0, 2)).toEqual([stampOf(29), ""]);
  }, 240_000);
});

it("a page of a stream shows its last rows, in memory that does not grow", async () => {
  const detector = await AnomalyDetector.create({ columns: ["a", "b"], forecast: false });
  const drawn = new Drawn(["a", "b"], 50);
  for (let t = 0; t < 233; t++) drawn.add({ values: [t, null] }, detector.update([t, null]));
  expect(drawn.rows).toBe(50);
  const page = await drawn.page(
    "-",
    [
      { start: 10, end: 20 },
      { start: 170, end: 185 },
    ].map((rows) => ({ ...rows, ...incident })),
    0.001,
  );
  expect(page).toContain("a, b over 50 rows, from row 183 on,");
  expect(page).toContain('"x0":183,"x1":185');
  expect(page).not.toContain('"x0":10');
});

describe("spillway detect -", () => {
  const json = load.map((value, t) => JSON.stringify({ ts: start + 300_000 * t, load: t === 450 ? null : value, note: "x" }));
  const args = ["--time", "ts", "--time-unit", "ms", "--columns", "load", "--forecast", "--json"].filter((flag) => flag !== "--forecast");

  it("answers each line, of JSON and of CSV alike, and continues a saved detector", async () => {
    const whole = await fed([...args, "--save", "whole.st"], json);
    expect(whole.code).toBe(0);
    const said = whole.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(said).toHaveLength(500);
    expect(said.filter(({ alarm }) => alarm)).toMatchObject([{ row: 420, alarm: "novelty", values: { load: load[420] } }]);
    expect(JSON.parse(whole.stderr)).toMatchObject({ file: "-", rows: 500 });
    const first = await fed([...args, "--save", "part.st"], json.slice(0, 333));
    const second = await fed(["--time", "ts", "--time-unit", "ms", "--json", "--model", "part.st", "--save", "part.st"], json.slice(333));
    const alone = (text: string) => text.replaceAll(/"incident":\d+/g, "");
    expect(alone(first.stdout + second.stdout)).toBe(alone(whole.stdout));
    expect((await AnomalyDetector.load(join(cwd, "part.st"))).state).toEqual((await AnomalyDetector.load(join(cwd, "whole.st"))).state);
    const csv = await fed(
      ["--time", "ts", "--time-unit", "ms"],
      ["ts,load", ...load.map((value, t) => `${start + 300_000 * t},${t === 450 ? "" : value}`)],
    );
    expect(
      rowsOf(csv.stdout)
        .slice(1)
        .map((cells) => cells[6]),
    ).toEqual(said.map(({ score }) => String(score)));
  });

  it("keeps what it had if a line cannot be read, and says which", async () => {
    const broken = await fed(
      [...args, "--save", "broken.st", "--out", "broken.csv"],
      [...json.slice(0, 300), '{"load": "high"}', ...json.slice(300)],
    );
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('line 301: column "load" is "high"; it takes a number, or null');
    expect((await AnomalyDetector.load(join(cwd, "broken.st"))).rows).toBe(300);
    expect((await readFile(join(cwd, "broken.csv"), "utf8")).trimEnd().split("\n").length).toBeGreaterThanOrEqual(300);
    for (const [line, sentence] of [
      ["{oops", /line 1: .* is no JSON/],
      ['{"other": 1}', /line 1: it has none of the columns load/],
    ] as const)
      expect((await fed(["--columns", "load"], [line])).stderr).toMatch(sentence);
    expect((await fed([], [])).stderr).toContain("standard input has no rows");
  });

  it("refuses a line without an end, though more of it would come", async () => {
    async function* endless() {
      yield Buffer.from(`${json.slice(0, 250).join("\n")}\n`);
      for (;;) yield Buffer.alloc(1 << 16, "x");
    }
    const { code, stderr } = await spillway(["detect", "-", ...args, "--save", "endless.st"], { cwd, input: endless() });
    expect(stderr).toContain("line 251: there is no end of it after 1048576 characters");
    expect(code).toBe(2);
    expect((await AnomalyDetector.load(join(cwd, "endless.st"))).rows).toBe(250);
    const windows = await fed([...args], [json.slice(0, 250).join("\r\n"), `${" ".repeat(1 << 20)}${json[250]}`]);
    expect(windows.stdout.trimEnd().split("\n")).toHaveLength(251);
  });

  it("keeps what it had if it is stopped", async () => {
    const stopped = await fedProcess([...args, "--save", "stopped.st"], json.slice(0, 250), (child) => child.kill("SIGINT"));
    expect(stopped.code).toBe(130);
    expect((await AnomalyDetector.load(join(cwd, "stopped.st"))).rows).toBe(250);
  }, 60_000);
});
