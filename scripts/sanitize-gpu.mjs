// Runs the GPU suite under NVIDIA's compute-sanitizer, each file under each tool, and prints what
// was found as a table. What a tool does not bear is listed here by name and reason; all else runs.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";

const help = `node scripts/sanitize-gpu.mjs [options]
  --tool NAME      memcheck, racecheck, initcheck or synccheck; may be repeated; default all four
  --file PART      only test files whose path has PART in it, in the order given; may be repeated; default all
  --out FOLDER     for state.json, table.md and each run's log; default runs/sanitizer
  --resume         leave out what FOLDER/state.json has as clean
  --timeout S      seconds for each file; default 1800
  --jobs N         files beside each other; default 1
Ends with 1 if a tool found something, a test failed or a file did not finish. The limit of waits between blocks is SPILLWAY_SPIN_LIMIT, by
default 4e12 clock ticks here; COMPUTE_SANITIZER names the program.`;

const tools = {
  memcheck: ["--report-api-errors", "no", "--track-stream-ordered-races", "all", "--destroy-on-device-error", "kernel"],
  racecheck: ["--racecheck-report", "all"],
  initcheck: [],
  // What the compiler tells of a module's barriers is too few for the tool, which then fails
  // launches.
  synccheck: ["--num-cuda-barriers", "4096"],
};

/** Tests that cannot run under a tool: file, beginning of the name within its describe, reason. */
const leftOut = [
  [
    "test/gpu/hardware/processes.test.ts",
    "is told with the last launches",
    "writes to an illegal address on purpose, in a process of its own",
  ],
  [
    "test/gpu/hardware/processes.test.ts",
    "is told at the launch and its line",
    "writes to an illegal address on purpose, in a process of its own",
  ],
  ["test/gpu/hardware/executor.test.ts", "run at more than", "measures speed; the same kernels run in test/gpu/device/executor.test.ts"],
  ["test/gpu/device/memory.test.ts", "comes back", "measures the device's free memory, of which the tool takes some"],
].map(([file, name, reason]) => ({ file, name, reason }));

const { values: options } = parseArgs({
  options: {
    tool: { type: "string", multiple: true, default: Object.keys(tools) },
    file: { type: "string", multiple: true, default: [""] },
    out: { type: "string", default: "runs/sanitizer" },
    resume: { type: "boolean", default: false },
    timeout: { type: "string", default: "1800" },
    jobs: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(help);
  process.exit(0);
}
for (const tool of options.tool) if (!(tool in tools)) stop(`--tool is ${tool}; it takes ${Object.keys(tools).join(", ")}`);
const [timeout, jobs] = ["timeout", "jobs"].map((name) => {
  const value = Number(options[name]);
  if (!Number.isInteger(value) || value < 1) stop(`--${name} is ${options[name]}; it takes a whole number from 1`);
  return value;
});

function stop(message) {
  console.error(message);
  process.exit(2);
}

/** What vitest.gpu.config.ts includes. */
const suite = readdirSync("test", { recursive: true })
  .map((path) => join("test", path).replaceAll("\\", "/"))
  .filter((path) => /\/(device|gpu\/hardware)\/.*\.test\.ts$/.test(path))
  .sort();
const files = [...new Set(options.file.flatMap((part) => suite.filter((path) => path.includes(part))))];
if (files.length === 0) stop(`no test file of the GPU suite has ${options.file.join(" or ")} in its path; it has ${suite.join(", ")}`);

const statePath = join(options.out, "state.json");
const logs = join(options.out, "logs");
mkdirSync(logs, { recursive: true });
const state = options.resume ? readState() : {};

function readState() {
  try {
    return JSON.parse(readFileSync(statePath, "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return {};
  }
}

/** Errors that a tool's log tells of, or why it tells of none. */
function findings(log) {
  const trouble = /Internal Sanitizer Error.*|Device not supported.*|Detected overflow of tracked.*/.exec(log)?.[0];
  if (trouble) return { trouble };
  const sums = [...log.matchAll(/(?:ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards?)/g)];
  if (sums.length === 0) return { trouble: "the tool ended without a summary" };
  return { errors: sums.reduce((sum, [, errors, hazards]) => sum + Number(errors ?? hazards), 0) };
}

/** Counts of vitest's report, and the names of the tests that were skipped. */
function outcome(report) {
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (status) => results.filter((test) => status.includes(test.status)).map(({ fullName }) => fullName);
  const failed = [
    ...named(["failed"]),
    ...report.testResults.filter(({ message }) => message).map(({ message }) => message.split("\n")[0]),
  ];
  return { tests: results.length, passed: named(["passed"]).length, failed, skipped: named(["pending", "skipped", "todo"]) };
}

async function check(tool, file) {
  const stem = join(logs, `${tool}-${file.replaceAll(/[^a-z0-9]+/g, "-")}`);
  const [log, report] = [`${stem}.log`, `${stem}.json`];
  for (const path of [log, report]) rmSync(path, { force: true });
  const names = leftOut.filter((test) => test.file === file).map(({ name }) => name);
  const command = [
    ...["--tool", tool, ...tools[tool], "--target-processes", "all", "--require-cuda-init", "no"],
    ...["--show-backtrace", "device", "--print-limit", "1000", "--error-exitcode", "86", "--log-file", log],
    // V8's flags are the process's: a worker takes none of its own.
    ...[process.execPath, "--expose-gc", "node_modules/vitest/vitest.mjs", "run", "--config", "vitest.gpu.config.ts", file],
    ...["--reporter=verbose", "--reporter=json", `--outputFile=${report}`],
    ...(names.length > 0 ? ["--testNamePattern", `^(?!.*(?:${names.join("|")}))`] : []),
  ];
  const began = performance.now();
  const ended = await run(process.env.COMPUTE_SANITIZER || "compute-sanitizer", command, `${stem}.out`);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const result = { tool, file, tests: 0, passed: 0, failed: [], skipped: [], errors: null, seconds, trouble: ended };
  try {
    Object.assign(result, outcome(JSON.parse(readFileSync(report, "utf8"))));
  } catch {
    result.trouble ??= "the tests left no report";
  }
  try {
    const { errors = null, trouble } = findings(readFileSync(log, "utf8"));
    result.errors = errors;
    result.trouble ??= trouble;
  } catch {
    result.trouble ??= "the tool left no log";
  }
  return result;
}

const running = new Set();
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    for (const pid of running) process.kill(-pid, "SIGKILL");
    process.exit(2);
  });

/** Runs the tool with its output to a file. Gives why it did not come to its end, or nothing. */
function run(program, args, outPath) {
  const env = { ...process.env, SPILLWAY_CHECKER: "1", SPILLWAY_SPIN_LIMIT: process.env.SPILLWAY_SPIN_LIMIT || "4e12" };
  const out = openSync(outPath, "w");
  return new Promise((resolve) => {
    // A group of its own: the tool and what it runs end together.
    const child = spawn(program, args, { env, detached: true, stdio: ["ignore", out, out] });
    if (child.pid !== undefined) running.add(child.pid);
    let late;
    const timer = setTimeout(() => {
      late = `did not finish within ${timeout} s`;
      process.kill(-child.pid, "SIGKILL");
    }, timeout * 1000);
    const end = (why) => {
      clearTimeout(timer);
      running.delete(child.pid);
      closeSync(out);
      resolve(why);
    };
    child.on("error", (error) => end(`${program} does not start: ${error.message}`));
    child.on("exit", (_code, signal) => end(late ?? (signal ? `was ended by ${signal}` : undefined)));
  });
}

const clean = (result) => result.errors === 0 && result.failed.length === 0 && !result.trouble;
const verdict = ({ errors, failed, trouble }) =>
  [trouble, failed.length > 0 ? `${failed.length} failed` : undefined, errors === null ? undefined : `${errors} found`]
    .filter(Boolean)
    .join("; ");

function keep(result) {
  state[`${result.tool} ${result.file}`] = result;
  writeFileSync(`${statePath}.part`, JSON.stringify(state, null, 1));
  renameSync(`${statePath}.part`, statePath);
  writeFileSync(join(options.out, "table.md"), table());
}

function table() {
  const results = Object.keys(tools).flatMap((tool) => suite.flatMap((file) => state[`${tool} ${file}`] ?? []));
  const rows = results.map(
    (each) =>
      `| ${each.tool} | ${each.file} | ${each.tests} | ${each.passed} | ${each.skipped.length} | ${verdict(each)} | ${each.seconds} |`,
  );
  const skipped = new Map(results.flatMap(({ file, skipped: names }) => names.map((name) => [`${file}: ${name}`, reasonFor(file, name)])));
  return [
    "| tool | file | tests | passed | left out | errors | seconds |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    "",
    ...(skipped.size > 0 ? ["Left out:", "", ...[...skipped].map(([test, reason]) => `- ${test}: ${reason}`), ""] : []),
  ].join("\n");
}

function reasonFor(file, fullName) {
  const known = leftOut.find((test) => test.file === file && fullName.includes(test.name));
  return known?.reason ?? "the suite itself leaves it out on this device";
}

const waiting = options.tool.flatMap((tool) => files.map((file) => [tool, file]));
const done = [];
async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [tool, file] = next;
    const before = state[`${tool} ${file}`];
    if (before && clean(before)) continue;
    const result = await check(tool, file);
    done.push(result);
    keep(result);
    console.log(
      `${tool.padEnd(9)} ${relative("test", file).padEnd(40)} ${result.passed}/${result.tests} passed, ${verdict(result)}, ${result.seconds} s`,
    );
  }
}
await Promise.all(Array.from({ length: jobs }, work));
const bad = options.tool.flatMap((tool) => files.map((file) => state[`${tool} ${file}`])).filter((result) => !clean(result));
console.log(`\n${table()}`);
console.log(
  bad.length === 0
    ? `clean; logs in ${logs}`
    : `${bad.length} of ${options.tool.length * files.length} runs are not clean; logs in ${logs}`,
);
process.exit(bad.length === 0 ? 0 : 1);
