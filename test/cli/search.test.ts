// `spillway search` and `spillway runs` as commands: parts and their merge, a storage of its own,
// what is printed of trials and runs, exit codes.
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spillway } from "./spillway.js";

const cwd = mkdtempSync(join(tmpdir(), "spillway-cli-search-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const run = (...args: readonly string[]) => spillway(args, { cwd });

const file = `name: n
data: { task: narma }
reservoir: { size: 20 }
task: predict
washout: 30
split: { train: 300, test: 100 }
metrics: [nrmse]
outputs: { report: false }
search:
  space:
    reservoir.spectralRadius: { float: [0.1, 1.4] }
    readout.lambda: { sweep: [1.0e-8, 1], points: 3 }
  sampler: sobol
  seeds: 2
  budget: { trials: 6 }
  refit: { seeds: 2 }
`;

beforeAll(() => writeFileSync(join(cwd, "n.yaml"), file));

/** Waits until a trial is being evaluated: it was written last, and nothing came for a while. */
function untilInWork(journal: string): void {
  const isBegun = (text: string): boolean => text.trimEnd().split("\n").at(-1)!.startsWith('{"op_code":4');
  for (let before = ""; ; ) {
    const text = readFileSync(journal, "utf8");
    if (text === before && isBegun(text)) return;
    before = text;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}

describe("spillway search", () => {
  it("evaluates the first trial of a dry run and says what the search takes", async () => {
    const { code, stdout } = await run("search", "n.yaml", "--dry-run", "--workers", "2", "--trials", "5", "--time", "90s");
    expect(code).toBe(0);
    expect(stdout).toContain("sampler: sobol; budget: 5 trials, 90s");
    expect(stdout).toMatch(/the first trial: nrmse 0\.\d+ in [\d.]+ s/);
    expect(stdout).toMatch(/5 trials with 2 workers: about [\d.]+ s, \d+.* of memory/);
    expect((await run("runs")).code).toBe(2);
  });

  it("is the whole of its parts, which are merged and gone on with", async () => {
    const { stdout: said } = await run("search", "n.yaml", "--out", "whole", "--quiet", "--workers", "2");
    // What the best setting is worth beside the baselines, and where its model is.
    expect(said).toMatch(/^(Better|Worse) than .*nrmse 0\.\d+ times/m);
    const model = /^model: (.*)$/m.exec(said)![1]!;
    expect(existsSync(join(cwd, model, "model.safetensors"))).toBe(true);
    const listed = (await run("runs", "whole")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(listed.slice(1)).toEqual([
      ["n", "search", "finished", "nrmse", expect.any(String), "6 trials"],
      ["n/n-best", "run", "finished", "nrmse", expect.any(String), "2 seeds"],
    ]);
    for (const shard of ["0/2", "1/2"]) expect((await run("search", "n.yaml", "--shard", shard, "--quiet")).code).toBe(0);
    const merged = await run("runs", "n", "--merge", "n-0-of-2", "n-1-of-2");
    expect(merged).toMatchObject({ code: 0, stdout: expect.stringContaining("6 trials came in, 0 were there already") });
    const { code } = await run("search", "n.yaml", "--quiet");
    expect(code).toBe(0);
    const found = (out: string) => {
      const { seconds: _, ...rest } = JSON.parse(readFileSync(join(cwd, out, "n", "search.json"), "utf8"));
      return rest;
    };
    expect(found("runs")).toEqual(found("whole"));
    expect((await run("runs", "n", "--merge", "whole/n")).stdout).toContain("0 trials came in, 6 were there already");
    const path = join(cwd, "runs", "n-0-of-2", "journal.log");
    const finish = /"values": ?\[([\d.]+)\]/;
    writeFileSync(path, readFileSync(path, "utf8").replace(finish, '"values": [0.5]'));
    const different = await run("runs", "n", "--merge", "n-0-of-2");
    expect(different).toMatchObject({ code: 3, stdout: expect.stringContaining("has two results") });
  });

  it("prints the trials of a search: as a table, the best, as CSV and JSON", async () => {
    const table = (await run("runs", "n", "--trials")).stdout.trimEnd().split("\n");
    expect(table).toHaveLength(7);
    expect(table[0]).toMatch(/^number +state +value +seconds +reservoir\.spectralRadius +readout\.lambda/);
    const best = JSON.parse((await run("runs", "n", "--trials", "--top", "2", "--json")).stdout);
    const all = JSON.parse((await run("runs", "n", "--trials", "--json", "--state", "complete")).stdout) as { value: number }[];
    expect(best.map(({ value }: { value: number }) => value)).toEqual(all.map(({ value }) => value).sort((a, b) => a - b).slice(0, 2)); // biome-ignore format: one line
    const csv = (await run("runs", "runs/n/journal.log", "--trials", "--csv")).stdout.trimEnd().split("\n");
    expect(csv).toHaveLength(7);
    expect(Number(csv[1]!.split(",")[2])).toBe(all[0]!.value);
  });

  it("keeps trials where --storage says, under the name of --study", async () => {
    const args = ["search", "n.yaml", "--storage", "shared/all.log", "--study", "mine", "--out", "apart", "--no-refit", "--quiet"];
    expect((await run(...args, "--trials", "2")).code).toBe(0);
    expect((await run(...args, "--trials", "3")).code).toBe(0);
    expect((await run("runs", "shared/all.log", "--trials", "--study", "mine")).stdout.trimEnd().split("\n")).toHaveLength(4);
    expect((await run("runs", "shared/all.log", "--trials", "--study", "none")).stderr).toContain("holds the studies mine");
    expect((await run("search", "n.yaml", "--storage", "http://here")).stderr).toContain('storage is "http://here"; it takes the path');
  });

  it.skipIf(process.platform === "win32")("waits for a storage that is away, keeps results apart, and brings them in", async () => {
    const [path, away] = ["shared/far", "shared/gone"].map((name) => join(cwd, name)) as [string, string];
    const args = [
      "search",
      "n.yaml",
      "--storage",
      join(path, "a.log"),
      "--out",
      "far",
      "--no-refit",
      ...["--set", "reservoir.size=200", "--set", "split.train=20000"],
    ];
    let isAway = false;
    const ended = await spillway([...args, "--trials", "100000", "--time", "1h", "--patience", "0.5s"], {
      cwd,
      watch: (stderr) => {
        if (isAway || !/\(trial \d/.test(stderr)) return;
        isAway = true;
        untilInWork(join(path, "a.log"));
        renameSync(path, away);
      },
    });
    expect(ended).toMatchObject({
      code: 75,
      stderr: expect.stringMatching(/a\.log is away, for \d s now: /),
    });
    renameSync(away, path);
    const trials = async () =>
      JSON.parse((await run("runs", join(path, "a.log"), "--trials", "--json")).stdout) as { state: string; number: number }[];
    const before = await trials();
    const inWork = before.filter(({ state }) => state === "running").length;
    const spools = readdirSync(join(cwd, "far", "n")).filter((name) => name.endsWith(".spool"));
    expect([inWork, spools.length, ended.stderr.includes("the same command brings them in")]).toEqual([1, 1, true]);
    expect((await run(...args, "--trials", String(before.length), "--quiet")).code).toBe(0);
    expect((await trials()).map(({ state }) => state)).toEqual(before.map(() => "complete"));
    expect(readdirSync(join(cwd, "far", "n")).filter((name) => name.endsWith(".spool"))).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("ends with 75 after SIGTERM if work is left, with what was in work", async () => {
    const args = ["search", "n.yaml", "--out", "stopped", "--workers", "2", "--set", "search.sampler=random", "--trials", "100000"];
    let isSent = false;
    const { code } = await spillway(args, {
      cwd,
      watch: (stderr, child) => {
        if (isSent || !/\(trial \d/.test(stderr)) return;
        isSent = true;
        child.kill("SIGTERM");
      },
    });
    expect(code).toBe(75);
    const trials = JSON.parse((await run("runs", "stopped/n", "--trials", "--json")).stdout) as { state: string }[];
    expect(new Set(trials.map(({ state }) => state))).toEqual(new Set(["complete"]));
  });

  it.skipIf(process.platform === "win32")("says what is kept if Ctrl-C ends it in a step that takes long", async () => {
    const metric = (step: string) => `import { registerMetric } from ${JSON.stringify(pathToFileURL(resolve("dist/api/series.js")).href)};
      registerMetric({
        ...{ name: "slow", description: "Takes its time.", options: {}, of: "series", better: "lower" },
        score: () => {
          ${step}
          return 1;
        },
      });`;
    writeFileSync(
      join(cwd, "slow.mjs"),
      metric(`process.stderr.write("a long step\\n"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);`),
    );
    const plain = file.replace(/^ *readout.lambda.*\n/m, "");
    writeFileSync(join(cwd, "slow.yaml"), plain.replace("[nrmse]", "[slow]").replace("seeds: 2", "seeds: 1"));
    const args = ["search", "slow.yaml", "--out", "ctrl-c", "--import", "./slow.mjs"];
    let isSent = false;
    const ended = await spillway(args, {
      cwd,
      watch: (text, child) => {
        if (isSent || !text.includes("a long step")) return;
        isSent = true;
        child.kill("SIGINT");
      },
    });
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain(
      "the command did not stop by itself and was ended; every finished trial is kept, and the same command goes on",
    );
    writeFileSync(join(cwd, "slow.mjs"), metric(""));
    expect((await spillway(args, { cwd })).code).toBe(0);
    const trials = JSON.parse((await run("runs", "ctrl-c/n", "--trials", "--json")).stdout) as { state: string }[];
    expect(new Set(trials.map(({ state }) => state))).toEqual(new Set(["complete", "failed"]));
  });

  it("draws the trials of a search from its journal, as its report has them", async () => {
    const ended = await run("runs", "n", "--plot", "--format", "svg", "--json");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const { files, figures } = JSON.parse(ended.stdout) as { files: string[]; figures: { title: string; description: string }[] };
    expect(files[0]).toBe(join("runs", "n", "figures", "1-values-by-trial.svg"));
    const { figures: kept } = JSON.parse((await run("plot", "n", "--format", "svg", "--json")).stdout) as { figures: object[] };
    expect(kept).toEqual(figures);
    expect(figures.map(({ title }) => title)).toEqual(expect.arrayContaining(["Trials across all parameters", "Values by parameter"]));
    expect(figures[0]!.description).toMatch(/^6 complete, 0 pruned and 0 failed trials\. The best is trial \d with 0\.\d+\.$/);
    expect((await run("runs", "n", "--theme", "dark")).stderr).toContain("--theme is for --plot");
    expect((await run("runs", "none", "--plot")).stderr.trim()).toBe("spillway: none: no journal, and no search of this name in runs");
  });

  it("lists what others wrote in a row a trial, whatever its names and texts hold", async () => {
    const distribution = JSON.stringify({ name: "FloatDistribution", attributes: { step: null, low: 0, high: 1, log: false } });
    const created = '{"op_code":0,"worker_id":"w","study_name":"s","directions":[1]}';
    const params = `"params":{"__proto__":0.25,"a\\u001b[2J":0.5},"distributions":{"__proto__":%,"a\\u001b[2J":%}`;
    const error = '"user_attrs":{"spillway:error":"one\\n   9   complete   0\\u0007"}';
    const trial = `{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":null,"state":3,${params},${error}}`;
    const line = trial.replaceAll("%", () => JSON.stringify(distribution));
    writeFileSync(join(cwd, "others.log"), `${created}\n${line}\n`);
    const { stdout } = await run("runs", "others.log", "--trials");
    const [head, row, ...rest] = stdout.trimEnd().split("\n");
    expect([head, row]).toEqual([
      expect.stringContaining("__proto__   a\\u001b[2J"),
      expect.stringMatching(/0\.25 +0\.5 +one\\n +9.*\\u0007$/),
    ]);
    expect(rest).toEqual([]);
    expect(JSON.parse((await run("runs", "others.log", "--trials", "--json")).stdout)[0].params).toEqual(
      JSON.parse('{"__proto__":0.25,"a\\u001b[2J":0.5}'),
    );
  });

  it("compares two runs and repairs a journal", async () => {
    const text = readFileSync(join(cwd, "n.yaml"), "utf8").replace("name: n\n", "name: m\n").replace("size: 20", "size: 30");
    writeFileSync(join(cwd, "m.yaml"), text);
    await run("search", "m.yaml", "--quiet", "--trials", "3");
    const { stdout } = await run("runs", "n", "m");
    expect(stdout).toMatch(/nrmse \(test\) +0\.\d+ +0\.\d+/);
    expect(stdout).toMatch(/trials\.complete +6 +3/);
    const drawn = JSON.parse((await run("runs", "n", "m", "--plot", "--format", "html", "--figures", "nm", "--json")).stdout) as {
      figures: { title: string; description: string }[];
    };
    expect(drawn.figures.map(({ title }) => title)).toEqual([
      "nrmse (validation) of 2 runs",
      "nrmse (freshSeeds) of 2 runs",
      "nrmse (test) of 2 runs",
      expect.stringMatching(/: n$/),
      expect.stringMatching(/: m$/),
    ]);
    expect(drawn.figures[2]!.description).toMatch(/^nrmse \(test\), lower is better: n 0\.\d+, m 0\.\d+\.$/);
    expect(readdirSync(join(cwd, "nm"))).toEqual(["figures.html"]);
    expect((await run("runs", "runs/n", "runs/n")).stdout).toContain("do not differ");
    writeFileSync(join(cwd, "runs", "m", "journal.log"), "torn", { flag: "a" });
    expect((await run("runs", "m", "--repair")).stdout).toMatch(/is lost: it has no end: 4 bytes/);
    expect((await run("runs", "m", "--repair")).stdout).toContain("nothing to repair");
  });

  it.each([
    [["runs", "none", "--trials"], "none: no journal, and no search of this name in runs"],
    [["runs", "n", "--trials", "--repair"], "--repair and --trials are given; take one of them"],
    [["runs", "n", "--csv"], "--csv is for --trials"],
    [["runs", "n", "--trials", "--top", "0"], "--top is 0"],
    [["search", "n.yaml", "--shard", "2/2"], 'shard is "2/2"; it takes a part and how many there are'],
  ])("refuses %j in a sentence", async (args, sentence) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });
});
