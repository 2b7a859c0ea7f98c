// --import: modules of the user's own are loaded before a command reads anything.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitCodes } from "../../src/cli/exit.js";
import { casesOf } from "../exhaustive.js";
import { spillway } from "./spillway.js";

describe("spillway --import", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "spillway-import-"));
    writeFileSync(join(folder, "one.mjs"), 'process.stderr.write("one\\n");');
    writeFileSync(join(folder, "broken.mjs"), 'throw new Error("not today");');
    const installed = join(folder, "node_modules", "own-parts");
    mkdirSync(installed, { recursive: true });
    writeFileSync(
      join(installed, "package.json"),
      '{ "name": "own-parts", "type": "module", "exports": { ".": { "default": "./two.js" } } }',
    );
    writeFileSync(join(installed, "two.js"), 'process.stderr.write("two\\n");');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("loads paths and packages in order, before the command", async () => {
    const { code, stderr, stdout } = await spillway(["tasks", "--import", "./one.mjs", "--import", "own-parts"], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: exitCodes.success, stderr: "one\ntwo\n" });
    expect(stdout).toContain("mackeyGlass");
  });

  it("loads them in the process that computes", async () => {
    writeFileSync(join(folder, "wrong.yaml"), "name: 1");
    const { code, stderr } = await spillway(["run", "wrong.yaml", "--import", join(folder, "one.mjs")], { cwd: folder });
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toMatch(/^one\n.*wrong\.yaml/);
  });

  it("makes an engine of one's own known to --engine", async () => {
    const { href } = new URL("../../dist/api/reservoir.js", import.meta.url);
    writeFileSync(
      join(folder, "engine.mjs"),
      `import { registerEngine } from ${JSON.stringify(href)};
      const probe = () => ({ available: false, reason: "it sleeps" });
      const asleep = async () => { throw new Error("it sleeps") };
      const engine = { name: "mine", supports: new Set(), probe, plan: asleep, open: asleep };
      registerEngine("mine", async () => engine, { automatic: false });`,
    );
    writeFileSync(join(folder, "small.yaml"), "name: small\ndata: { task: narma, length: 400 }\nreservoir: { size: 9 }\ntask: predict");
    const { code, stderr } = await spillway(["plan", "small.yaml", "--import", "./engine.mjs", "--engine", "mine"], { cwd: folder });
    expect(stderr).toContain("it sleeps");
    expect(code).toBe(exitCodes.usage);
  });

  it.each(
    casesOf(
      [
        ["./nowhere.mjs", exitCodes.usage, /^spillway: --import "\.\/nowhere\.mjs": Cannot find module/],
        ["nobody", exitCodes.usage, /^spillway: --import "nobody": Cannot find module 'nobody'\n$/],
        ["./broken.mjs", exitCodes.failure, /^spillway: --import "\.\/broken\.mjs": not today\n/],
      ] as const,
      (_, k) => k === 0,
    ),
  )("refuses %s", async (module, expected, sentence) => {
    const { code, stderr } = await spillway(["schema", "--import", module], { cwd: folder });
    expect(code).toBe(expected);
    expect(stderr).toMatch(sentence);
  });
});
