// scripts/sanitize-gpu.mjs with a checker that only pretends: it runs no test, and leaves the log
// and the report that it is told to.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "spillway-sanitize-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const checker = join(folder, "checker");
writeFileSync(
  checker,
  `#!/usr/bin/env node
const { appendFileSync, writeFileSync } = require("node:fs");
const told = process.argv.slice(2);
const after = (name) => told[told.indexOf(name) + 1];
const file = told.find((each) => each.endsWith(".test.ts"));
const { log, tests = [], stays } = JSON.parse(process.env.PRETEND)[file];
appendFileSync(process.env.RECORD, after("--tool") + " " + file + " " + process.env.SPILLWAY_SPIN_LIMIT + " " + after("--testNamePattern") + "\\n");
if (log) writeFileSync(after("--log-file"), log);
const assertionResults = tests.map(([fullName, status]) => ({ fullName, status }));
const report = told.find((each) => each.startsWith("--outputFile="));
if (tests.length) writeFileSync(report.slice(13), JSON.stringify({ testResults: [{ message: "", assertionResults }] }));
if (stays) setTimeout(() => undefined, 60_000);
`,
  { mode: 0o755 },
);

interface Pretence {
  readonly log?: string;
  readonly tests?: readonly (readonly [name: string, status: "passed" | "failed" | "pending"])[];
  readonly stays?: boolean;
}

const memory = "test/gpu/device/memory.test.ts";
const kernels = "test/gpu/device/kernels.test.ts";
const clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";

let runs = 0;
function sanitize(pretence: Record<string, Pretence>, args: readonly string[], out = join(folder, `out${++runs}`)) {
  const record = join(folder, `record${runs}`);
  writeFileSync(record, "");
  const env = { ...process.env, COMPUTE_SANITIZER: checker, PRETEND: JSON.stringify(pretence), RECORD: record, SPILLWAY_SPIN_LIMIT: "" };
  const files = Object.keys(pretence).flatMap((file) => ["--file", file]);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/sanitize-gpu.mjs", "--out", out, ...files, ...args], {
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr, out, ran: readFileSync(record, "utf8").trim().split("\n").filter(Boolean) };
}

describe("the sanitizer's script", () => {
  it("runs each file under each tool with time for slow waits, and ends with 0 where nothing is found", () => {
    const pretence = { [kernels]: { log: clean, tests: [["adds", "passed"] as const] } };
    const { status, stdout, ran } = sanitize(pretence, ["--tool", "memcheck", "--tool", "synccheck"]);
    expect(ran).toEqual([`memcheck ${kernels} 4e12 --tool`, `synccheck ${kernels} 4e12 --tool`]);
    expect(stdout).toMatch(/\| memcheck \| test\/gpu\/device\/kernels\.test\.ts \| 1 \| 1 \| 0 \| 0 found \| [\d.]+ \|/);
    expect(status).toBe(0);
  });

  it("ends with 1 where a tool finds something, adding up the errors of all processes, or a test fails", () => {
    const log = `${clean}========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)\n========= ERROR SUMMARY: 1 error\n`;
    const found = sanitize({ [kernels]: { log, tests: [["adds", "passed"]] } }, ["--tool", "racecheck"]);
    expect(found.stdout).toContain("| 1 | 1 | 0 | 4 found |");
    expect(found.status).toBe(1);
    const failed = sanitize({ [kernels]: { log: clean, tests: [["adds", "failed"]] } }, ["--tool", "racecheck"]);
    expect(failed.stdout).toContain("| 1 | 0 | 0 | 1 failed; 0 found |");
    expect(failed.status).toBe(1);
  });

  it.each<[string, Pretence]>([
    ["did not finish within 1 s", { log: clean, stays: true }],
    ["the tests left no report", { log: clean }],
    ["the tool left no log", { tests: [["adds", "passed"]] }],
    ["the tool ended without a summary", { log: "=========\n", tests: [["adds", "passed"]] }],
    ["Detected overflow of tracked", { log: `Warning: Detected overflow of tracked structures\n${clean}`, tests: [["adds", "passed"]] }],
    ["Internal Sanitizer Error: no room", { log: `${clean}Internal Sanitizer Error: no room`, tests: [["adds", "passed"]] }],
  ])("ends with 1 and says so: %s", (what, pretence) => {
    const { status, stdout } = sanitize({ [kernels]: pretence }, ["--tool", "memcheck", "--timeout", pretence.stays ? "1" : "60"]);
    expect(stdout).toContain(what);
    expect(status).toBe(1);
  });

  it("leaves out by name only what it has a reason for, and lists all that did not run", () => {
    const tests = [
      ["memory of 9 buffers comes back", "pending"],
      ["another", "pending"],
      ["copies", "passed"],
    ] as const;
    const { stdout, ran } = sanitize({ [memory]: { log: clean, tests } }, ["--tool", "memcheck"]);
    expect(ran[0]).toContain("^(?!.*(?:comes back))");
    expect(stdout).toContain(
      `- ${memory}: memory of 9 buffers comes back: measures the device's free memory, of which the tool takes some`,
    );
    expect(stdout).toContain(`- ${memory}: another: the suite itself leaves it out on this device`);
  });

  it("goes on where it was ended: what was clean is not run again", () => {
    const good = { log: clean, tests: [["adds", "passed"] as const] };
    const args = ["--tool", "memcheck", "--resume"];
    const first = sanitize({ [kernels]: good, [memory]: { ...good, log: "" } }, args);
    expect(first.status).toBe(1);
    const second = sanitize({ [kernels]: good, [memory]: good }, args, first.out);
    expect(second.ran).toEqual([expect.stringContaining(memory)]);
    expect(second.status).toBe(0);
    expect(readFileSync(join(first.out, "table.md"), "utf8")).toContain(`| memcheck | ${kernels} | 1 | 1 | 0 | 0 found |`);
  });

  it.each([
    [["--tool", "leakcheck"], "--tool is leakcheck; it takes memcheck, racecheck, initcheck, synccheck"],
    [["--jobs", "0"], "--jobs is 0; it takes a whole number from 1"],
    [["--file", "nowhere"], "no test file of the GPU suite has nowhere in its path"],
  ])("refuses %j", (args, message) => {
    const { status, stderr } = sanitize({}, args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
