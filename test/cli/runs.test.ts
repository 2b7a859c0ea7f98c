// `spillway runs` over folders whose files are not all its own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { journalFile, randomSampler, Study, type StudyStorage } from "../../packages/search/src/index.js";
import { runs } from "../../src/cli/commands/runs.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-runs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, file: string, content: unknown): void {
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, file), typeof content === "string" ? content : JSON.stringify(content));
}

describe("a folder of runs", () => {
  it("lists a run, and a run of a network", async () => {
    put("good/a", "result.json", { scores: [{ metric: "nrmse", value: 0.25 }], seeds: [1, 2], interrupted: false });
    put("good/net", "result.json", { format: "spillway-network-result", seeds: [{}], interrupted: true });
    const { text } = await runs([join(folder, "good")], { out: "runs" });
    expect(text.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["name", "kind", "state", "score", "value", "done"],
      ["a", "run", "finished", "nrmse", "0.2500", "2 seeds"],
      ["net", "network", "interrupted", "-", "-", "1 seed"],
    ]);
  });

  it("lists a search that is not over with its trials so far, and the searches of a storage", async () => {
    const open = (name: string, storage: StudyStorage, attributes = {}) =>
      Study.open({ ...{ name, storage, attributes }, space: { x: { float: [0, 1] } }, direction: "maximise", sampler: randomSampler() });
    const rows = async (path: string) => (await runs([path], { out: "runs" })).text.split("\n").map((line) => line.trim().split(/ {2,}/));
    put("live/s", "notes.txt", "");
    const storage = journalFile(join(folder, "live/s/journal.log"));
    const study = await open("s", storage, { "spillway:experiment": JSON.stringify([{}, { score: "r2" }]) });
    const [a, b, c, d] = await study.ask(5);
    await study.tell([[a!, 0.5], [b!, 0.75], [c!, new Error("no")], [d!, { pruned: true }]]); // biome-ignore format: one line
    const row = ["s", "search", "running or stopped", "r2", "0.7500", "2 trials, 1 pruned, 1 failed, 1 running"];
    expect((await rows(join(folder, "live"))).slice(1)).toEqual([row]);
    // One that failed since its process was gone stands for nothing: another has its parameters.
    await study.giveBack([study.trials[4]!]);
    const [again] = await study.ask();
    await study.tell([[again!, 0.25]]);
    await open("of two\nlines", storage);
    expect((await rows(join(folder, "live/s/journal.log"))).slice(1)).toEqual([
      [...row.slice(0, 5), "3 trials, 1 pruned, 1 failed"],
      ["of two\\nlines", "search", "running or stopped", "-", "-", "0 trials"],
    ]);
    put("torn/s", "journal.log", "nothing of ours\n");
    expect((await rows(join(folder, "torn"))).slice(1)).toEqual([["s", "search", "not readable", "-", "-", "-"]]);
  });

  it.each<[string, string, unknown]>([
    ["a result that is null", "result.json", null],
    ["scores that are no objects", "result.json", { scores: [null, 3], seeds: [] }],
    ["a score that is a text", "result.json", { scores: [{ metric: "nrmse", value: "0.1" }], seeds: [] }],
    ["a search without trials", "search.json", { format: "spillway-search" }],
    ["no JSON", "result.json", "{"],
  ])("leaves out %s", async (what, file, content) => {
    put(`${what}/x`, file, content);
    expect((await runs([join(folder, what)], { out: "runs" })).text).toBe(`${join(folder, what)}: no runs`);
  });

  it("compares runs whose settings lie too deep to be ours", async () => {
    const deep = `${'{"a":'.repeat(9000)}1${"}".repeat(9000)}`;
    for (const name of ["p", "q"])
      put(`deep/${name}`, "result.json", `{"scores":[{"metric":"${name}","value":1}],"seeds":[1],"config":${deep}}`);
    const { text } = await runs([join(folder, "deep/p"), join(folder, "deep/q")], { out: "runs" });
    expect(text).toMatch(/p \(test\)/);
  });
});
