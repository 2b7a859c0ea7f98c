// The workflow for a public CI does all that .ci/run does, by commands that exist.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface Workflow {
  readonly jobs: Record<string, { readonly steps: readonly { readonly run?: string }[] }>;
}

const { jobs } = parse(readFileSync(".github/workflows/ci.yml", "utf8")) as Workflow;
const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run?.split("\n") ?? []));
const npmCommands = (lines: readonly string[]) =>
  new Set(lines.map((line) => line.trim()).filter((line) => /^npm (run|test|ci)\b/.test(line)));

describe("the workflow for a public CI", () => {
  it("runs every npm command of .ci/run", () => {
    const local = npmCommands(readFileSync(".ci/run", "utf8").split("\n"));
    expect([...local].filter((command) => !npmCommands(commands).has(command))).toEqual([]);
    expect(local).toContain("npm test");
    expect(local).toContain("npm run test:exhaustive");
  });

  it("runs npm scripts that there are", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: Record<string, string> };
    for (const command of npmCommands(commands)) {
      const name = /^npm run (\S+)/.exec(command)?.[1];
      if (name !== undefined) expect(Object.keys(scripts)).toContain(name);
    }
  });

  it("takes no recordings, so that tests over them are skipped and counted", () => {
    expect(commands.filter((line) => line.includes("SPILLWAY_DATA") || line.includes("../"))).toEqual([]);
  });

  it.each(Object.entries(jobs))("installs before it runs: %s", (_, { steps }) => {
    const runs = steps.flatMap(({ run }) => run ?? []);
    const first = runs.findIndex((run) => /^npm (run|test)\b|^npx /.test(run));
    expect(runs.slice(0, first)).toContain("npm ci");
  });
});
