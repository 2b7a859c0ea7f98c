// README and tutorial show only what runs: every block of theirs is run here, or is what .ci/run
// runs elsewhere.
import { type ChildProcess, exec, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseExperimentText } from "../src/experiment/description/file.js";
import { blocksOf, commandsOf, tableFor } from "./docs-pages.js";
import { casesOf, exhaustive } from "./exhaustive.js";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const integration = readFileSync(".ci/run", "utf8");
const examples = ["examples", "examples/papers"].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(folder, name), "utf8")),
);

/** A program without comments, layout, and the lines that name engine and plan. */
function words(program: string): string {
  return program
    .replace(/^console\.log\(`(engine|plan):.*$/gm, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Whether .ci/run runs a script of package.json, by its name or within another. */
function isIntegrated(script: string): boolean {
  const isCalled = (text: string) => new RegExp(`npm (run (--silent )?)?${script}(?![\\w:-])`, "m").test(text);
  return isCalled(integration) || Object.entries(scripts).some(([name, body]) => name !== script && isCalled(body) && isIntegrated(name));
}

/**
 * Where a command is run if not here; undefined if it has to be run here. @throws what is wrong
 * with it
 */
function whereElse(command: string): string | undefined {
  if (/^(git clone|cd) /.test(command)) return "a fresh clone";
  if (/^npm ci( --prefix [\w/]+)?$/.test(command)) {
    expect(integration).toMatch(new RegExp(`^ *${command}$`, "m"));
    return ".ci/run";
  }
  const [, script] = /^npm (?:run )?([\w:]+)/.exec(command) ?? [];
  if (script !== undefined) {
    expect(Object.keys(scripts)).toContain(script);
    expect(isIntegrated(script), `.ci/run runs no ${script}`).toBe(true);
    return ".ci/run";
  }
  const [, notebook] = /^jupyter notebook (\S+)$/.exec(command) ?? [];
  if (notebook !== undefined) {
    expect(existsSync(notebook), notebook).toBe(true);
    return "scripts/run-notebooks.mjs";
  }
  const [, example] = /^(?:node --import tsx|node dist\/cli\/main\.js run|npx spillway run) (examples\/\S+)$/.exec(command) ?? [];
  if (example !== undefined) {
    expect(existsSync(example), example).toBe(true);
    return "scripts/run-examples.mjs";
  }
  return undefined;
}

/** The command, in `npm test` with a small reservoir and one seed if it trains one. */
const inShort = (command: string): string =>
  !exhaustive && / run \S+\.yaml/.test(command) ? `${command} --set reservoir.size=30 --set seeds=1` : command;

describe.each(["README.md", "docs/tutorial.md"])("%s", (path) => {
  const blocks = blocksOf(path);
  const of = (kind: string) => blocks.filter((block) => block.language === kind).map(({ text }) => text);
  const nameOf = (yaml: string) => parseExperimentText(yaml, path).experiment.name;
  let desk: string;

  beforeAll(() => {
    desk = mkdtempSync(join(tmpdir(), "spillway-desk-"));
    for (const name of ["dist", "examples", "node_modules"]) symlinkSync(resolve(name), join(desk, name));
    for (const yaml of of("yaml")) {
      writeFileSync(join(desk, `${nameOf(yaml)}.yaml`), yaml);
      const table = tableFor(yaml);
      if (table) writeFileSync(join(desk, table.file), table.csv);
    }
  });
  afterAll(() => rmSync(desk, { recursive: true, force: true }));

  /** Runs a line of shell on the desk. */
  const run = async (command: string) => (await promisify(execFile)("bash", ["-c", command], { cwd: desk, encoding: "utf8" })).stdout;

  it("has blocks of kinds that are looked at, and output", () => {
    expect(blocks.length).toBeGreaterThan(3);
    for (const { language } of blocks) expect(["sh", "ts", "yaml", "csv", "text"]).toContain(language);
  });

  it.each(of("ts").map((text) => [text.slice(0, 60), text]))("shows an example as it is: %s", (_, text) => {
    expect(examples.some((example) => words(example).includes(words(text)))).toBe(true);
  });

  const commands = [...new Set(of("sh").flatMap(commandsOf))];
  const others = of("yaml").filter((text) => !commands.some((command) => command.endsWith(` run ${nameOf(text)}.yaml`)));
  it.each(others.map((text) => [nameOf(text), text]))("shows an experiment that runs: %s", async (name, text) => {
    const scores = await run(`node dist/cli/main.js run ${name}.yaml --quiet --set seeds=1 --out of-blocks`);
    expect(scores).toMatch(new RegExp(`^${name}: .+ engine`));
    expect(existsSync(join(desk, "of-blocks", name, "report.html")), text).toBe(true);
  });

  it.each(casesOf(commands, (command) => path === "README.md" || !/ run \S+\.yaml/.test(command)))(
    "has a command that is run: %s",
    async (command) => {
      if (whereElse(command) !== undefined) return;
      if (/ lab$/.test(command)) await openLab(command, desk);
      else await run(inShort(command.replace(/^npx spillway /, "node dist/cli/main.js ")));
    },
  );

  it("names files that there are, beside its links", () => {
    for (const [file] of readFileSync(path, "utf8").matchAll(/examples\/[\w./-]+\.(yaml|ts)/g)) expect(existsSync(file), file).toBe(true);
  });
});

describe("docs/tutorial.md", () => {
  it.each(
    casesOf(
      [
        ["examples/01-first-reservoir.ts", ["0.0054"]],
        ["examples/12-own-table.ts", ["0.43", "2.76"]],
      ] as const,
      (_, k) => k === 0,
    ),
  )("says of %s what it prints", async (example, figures) => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", example]);
    for (const figure of figures) {
      expect(readFileSync("docs/tutorial.md", "utf8")).toMatch(new RegExp(`\\b${figure}\\b`));
      expect(stdout).toContain(` ${figure}`);
    }
  });
});

describe("CONTRIBUTING.md", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  const blocks = blocksOf("CONTRIBUTING.md");
  const commands = blocks.filter(({ language }) => language === "sh").flatMap((block) => commandsOf(block.text));

  it("names npm scripts and test files that there are", () => {
    for (const [, script] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script);
    for (const [file] of text.matchAll(/\b(?:test|scripts)\/[\w./-]+\.(?:ts|mjs)/g)) expect(existsSync(file), file).toBe(true);
    expect(commands.length).toBeGreaterThan(10);
  });

  it.each(commands.filter((command) => command.startsWith("node ")))("shows what a command prints: %s", async (command) => {
    const { stdout, stderr } = await promisify(exec)(command).catch((error: { stdout: string; stderr: string }) => error);
    const after = blocks[blocks.findIndex((block) => block.text.includes(command)) + 1]!;
    expect(after.language).toBe("text");
    for (const line of after.text.trim().split("\n")) expect(stdout + stderr).toContain(line);
  });
});

/** Starts the lab, asks for its page, and stops it. */
async function openLab(command: string, cwd: string): Promise<void> {
  const lab: ChildProcess = spawn("bash", ["-c", `exec ${command} --no-open`], { cwd });
  try {
    const url = await new Promise<string>((found, failed) => {
      lab.stdout!.on("data", (text: Buffer) => {
        const [address] = /http:\S+/.exec(text.toString()) ?? [];
        if (address !== undefined) found(address);
      });
      lab.on("close", (code) => failed(new Error(`the lab ended with ${code}`)));
    });
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<title>");
  } finally {
    lab.kill("SIGINT");
  }
}
