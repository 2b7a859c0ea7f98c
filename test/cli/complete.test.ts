// Tab completion: what the shells' scripts are answered, and that a shell can load its script.
import { execFileSync } from "node:child_process";
import { describe, expect, it, vi } from "vitest";
import { createProgram } from "../../src/cli/program.js";

async function printed(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const keep = (text: unknown) => lines.push(String(text)) > 0;
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(keep),
    vi.spyOn(process.stderr, "write").mockImplementation(keep),
    vi.spyOn(console, "log").mockImplementation((text) => keep(`${text}\n`)),
  ];
  try {
    const code = await createProgram(new AbortController().signal).run(args);
    return { code, text: lines.join("") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const files = ":0";
const noFiles = ":4";

/** The words that may come next, and whether files may. */
async function next(...typed: readonly string[]): Promise<string[]> {
  const { text } = await printed("complete", "--", ...typed);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[0]!);
}

describe("completion", () => {
  it("offers the commands first", async () => {
    expect(await next("")).toEqual(expect.arrayContaining(["run", "demo", "compare", "complete", noFiles]));
    expect(await next("com")).toEqual(["compare", "complete", noFiles]);
  });

  it.each([
    [
      ["run", "--e"],
      ["--engine", noFiles],
    ],
    [
      ["run", "--engine", "c"],
      ["cpu", "cuda", noFiles],
    ],
    [["run", "--quiet", ""], [files]],
    [["run", "--set", ""], [files]],
    [["run", "a.yaml", ""], [files]],
    [
      ["tasks", "mack"],
      ["mackeyGlass", noFiles],
    ],
    [
      ["ptx", "soft"],
      ["softmax", noFiles],
    ],
    [["ptx", "run", ""], [files]],
    [
      ["ptx", "run", "a.ptx", "--args", "1", "--coop"],
      ["--cooperative", noFiles],
    ],
    [
      ["complete", "z"],
      ["zsh", noFiles],
    ],
    [["tasks", "narma", "x"], [noFiles]],
    [
      ["help", "sea"],
      ["search", noFiles],
    ],
  ])("after %j offers %j", async (typed, expected) => {
    expect(await next(...typed)).toEqual(expected);
  });

  it("gives bash a script that it takes", async () => {
    const { code, text } = await printed("complete", "bash");
    expect(code).toBe(0);
    expect(execFileSync("bash", ["-c", `${text}\ncomplete -p spillway`], { encoding: "utf8" })).toMatch(/^complete .*spillway$/m);
  });

  it("names the shells there are", async () => {
    const { code, text } = await printed("complete", "ksh");
    expect(code).toBe(2);
    expect(text).toContain("Allowed choices are bash, zsh, fish, powershell");
  });
});

describe("a command that there is not", () => {
  it.each([["NOTACOMMAND", "--help"], ["runn", "-h"], ["runn"]])("is refused also if its help is asked for: %s %s", async (...args) => {
    const { code, text } = await printed(...args.filter((word) => word !== undefined));
    expect(code).toBe(2);
    expect(text).toContain(`spillway: unknown command '${args[0]}'`);
  });
});
