// A study of 100,000 trials: opened, gone on with and listed in a bounded memory. How long that
// takes is told in bench/results.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StudyOperation } from "../../packages/search/src/index.js";
import { encodeRecord } from "../../packages/search/src/journal/records.js";
import { exhaustive } from "../exhaustive.js";

const count = 100_000;
/** Different for every trial: 100,003 is prime. */
const scoreOf = (k: number) => ((7919 * k + 1) % 100_003) / 100_003;
const space = { x: { float: [0, 1] }, y: { float: [1e-8, 1], log: true }, n: { int: [1, 1000] }, c: { choice: ["a", null] } } as const;

/** Runs a program that may have so much memory: it ends if it takes more. */
function bounded(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--max-old-space-size=450", ...args], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stdout;
}

describe.runIf(exhaustive)("a study of 100,000 trials", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-size-"));
  const path = join(folder, "large.log");
  const best = Array.from({ length: count }, (_, k) => k).reduce((one, k) => (scoreOf(k) < scoreOf(one) ? k : one));

  beforeAll(() => {
    const created: StudyOperation = { by: "w", type: "createStudy", name: "study", direction: "minimise" };
    const trials = Array.from({ length: count }, (_, k): StudyOperation => {
      const value = scoreOf(k);
      const parameters = {
        x: { value, distribution: { kind: "float", low: 0, high: 1, log: false, step: undefined } },
        y: { value: 1e-8 + value / 2, distribution: { kind: "float", low: 1e-8, high: 1, log: true, step: undefined } },
        n: { value: 1 + (k % 1000), distribution: { kind: "int", low: 1, high: 1000, log: false, step: 1 } },
        c: { value: k % 2, distribution: { kind: "choice", choices: ["a", null] } },
      } as const;
      const attributes = { "spillway:seeds": [value, value, value] };
      return {
        by: "w",
        type: "createTrial",
        study: 0,
        template: { state: "complete", value, started: k, finished: k, parameters, attributes },
      };
    });
    writeFileSync(path, [created, ...trials].map((each) => `${encodeRecord(each)}\n`).join(""));
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is opened and gone on with by TPE", () => {
    const index = new URL("../../dist/api/search.js", import.meta.url).href;
    const program = `
      import { journalFile, Study, tpe } from ${JSON.stringify(index)};
      const space = ${JSON.stringify(space)};
      const study = await Study.open({ storage: journalFile(${JSON.stringify(path)}), space, sampler: tpe({ seed: 1 }) });
      const [trial] = await study.ask();
      await study.tell([[trial, 2]]);
      console.log(JSON.stringify([study.finished, study.best.number, study.best.value, trial.number]));`;
    const said = bounded("--input-type=module", "-e", program);
    expect(JSON.parse(said)).toEqual([count + 1, best, scoreOf(best), count]);
  });

  it("is listed by spillway runs", () => {
    const said = bounded("dist/cli/main.js", "runs", path, "--trials", "--top", "1", "--json");
    expect(JSON.parse(said)).toMatchObject([{ number: best, value: scoreOf(best) }]);
  });
});
