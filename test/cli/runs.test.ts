// `spillway runs` over folders whose files are not all its own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runs } from "../../src/cli/commands/runs.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-runs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(place: string, file: string, content: unknown): void {
  mkdirSync(join(folder, place), { recursive: true });
  writeFileSync(join(folder, place, file), typeof content === "string" ? content : JSON.stringify(content));
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
