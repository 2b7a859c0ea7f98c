// The help of commands: every one has what a manual page has, and what it shows is there.
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it, vi } from "vitest";
import { exitCodes } from "../../src/cli/exit.js";
import { manuals, pathOf } from "../../src/cli/manual.js";
import { createProgram } from "../../src/cli/program.js";

const create = () => createProgram(new AbortController().signal);
const { program } = create();
const withThoseBelow = (command: Command): Command[] => [command, ...command.commands.flatMap(withThoseBelow)];
const commands = withThoseBelow(program);

/** What a call prints, on both outputs. */
async function printed(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const keep = (text: unknown) => lines.push(String(text)) > 0;
  const spies = [process.stdout, process.stderr].map((output) => vi.spyOn(output, "write").mockImplementation(keep));
  try {
    return { code: await create().run(args), text: lines.join("") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe.each(commands.map((command) => [pathOf(command), command] as const))("spillway %s --help", (path, command) => {
  it("has synopsis, options, examples and exit codes", async () => {
    const { code, text } = await printed(...path.split(" ").filter(Boolean), "--help");
    expect(code).toBe(0);
    for (const title of ["Usage: spillway", "Options:", "Examples:", "Exit codes:"]) expect(text).toMatch(new RegExp(`^${title}`, "m"));
    expect(text).toMatch(/^Exit codes:\n {2}0 +done$/m);
  });

  it("gives a default of each option that has one", async () => {
    const { text } = await printed(...path.split(" ").filter(Boolean), "--help");
    const flat = text.replace(/\s+/g, " ");
    for (const { long, defaultValue } of command.options)
      if (typeof defaultValue === "string" || typeof defaultValue === "number")
        expect(flat, long!).toContain(`(default: ${JSON.stringify(defaultValue)})`);
  });

  it("shows only commands, flags and pages that there are", () => {
    const { examples, pages = [] } = manuals[path]!;
    for (const page of pages) expect(existsSync(`docs/${page}.md`), page).toBe(true);
    for (const example of examples.filter((line) => line.includes("spillway"))) {
      const words = /\bspillway ([^>)|]*)/.exec(example)![1]!.split(/\s+/);
      let called = program;
      for (const word of words) called = called.commands.find((each) => each.name() === word) ?? called;
      expect(called, example).not.toBe(program);
      for (const flag of words.filter((word) => word.startsWith("--")))
        expect([example, ...called.options.map(({ long }) => long)]).toContain(flag);
    }
  });
});

describe("the manuals", () => {
  it("are of commands that there are", () => {
    expect(Object.keys(manuals).sort()).toEqual(commands.map(pathOf).sort());
  });

  it("name every exit code of the program", async () => {
    const { text } = await printed("help");
    for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`^ {2}${code} `, "m"));
  });
});

describe("spillway help", () => {
  it.each([["run"], ["ptx run"]])("%s is what --help prints", async (path) => {
    expect(await printed("help", ...path.split(" "))).toEqual(await printed(...path.split(" "), "--help"));
  });

  it("alone lists the commands", async () => {
    const { code, text } = await printed("help");
    expect(code).toBe(0);
    for (const { name } of program.commands.map((each) => ({ name: each.name() })))
      expect(text).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  });

  it.each([["nothing"], ["ptx nothing"], ["run nothing"]])("%s is refused in a sentence", async (path) => {
    const { code, text } = await printed("help", ...path.split(" "));
    expect(code).toBe(exitCodes.usage);
    expect(text.split("\n")[0]).toBe(`spillway: unknown command '${path}'`);
  });

  it("names the command that a mistyped one is near", async () => {
    expect((await printed("help", "detekt")).text).toContain(`unknown command 'detekt' (did you mean "detect"?)`);
  });
});
