// Every program in the pages of docs/ runs to its end, and prints what it says that it prints. How
// a block is run stands behind `ts` in its first line: nothing, it is whole; "continued", it goes
// on from the block before it on its page; "gpu", it needs one, and is checked for its types alone.
// What a fragment takes as given is made by a comment right above it, <!-- given: ... -->.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, pages } from "./docs-pages.js";

interface Program {
  readonly name: string;
  readonly kind: string;
  readonly program: string;
}

/** The programs of a page. What goes on from a block sees its names, and may have the same. */
function programsOf(page: string): Program[] {
  const programs: Program[] = [];
  let parts: string[] = [];
  for (const { given, how: kind, text } of blocksOf(page).filter(({ language }) => language === "ts")) {
    if (kind !== "continued") parts = [];
    parts.push([given, text].filter(Boolean).join("\n"));
    const lines = parts.join("\n{\n").split("\n");
    const imports = new Set(lines.filter((line) => line.startsWith("import ")));
    const program = [...imports, ...lines.filter((line) => !imports.has(line)), "}".repeat(parts.length - 1)].join("\n");
    programs.push({ name: `${basename(page, ".md")}-${programs.length + 1}`, kind, program });
  }
  return programs;
}

// Those of README.md are examples of their own.
const all = pages.filter((page) => page.startsWith("docs")).flatMap(programsOf);
// A block that another goes on from is run with it.
const whole = all.filter(({ kind }, i) => kind !== "gpu" && all[i + 1]?.kind !== "continued");

/** What a program's comments say that its lines print: of values, behind `console.log(...);`. */
const promised = (program: string) => Array.from(program.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm), ([, said]) => said!);

/** Runs the programs that are named in its arguments one after the other, and prints what each did. */
const runner = `
import { format } from "node:util";
const done = {};
for (const name of process.argv.slice(2)) {
  let printed = "";
  console.log = (...values) => { printed += format(...values) + "\\n"; };
  const from = performance.now();
  process.chdir(name);
  try {
    await import("./" + name + "/program.mjs");
    done[name] = { printed, ms: performance.now() - from };
  } catch (error) {
    done[name] = { printed, ms: performance.now() - from, error: String(error?.stack ?? error) };
  }
  process.chdir("..");
}
process.stdout.write(JSON.stringify(done));
process.exit(0);
`;

type Done = Readonly<Record<string, { readonly printed: string; readonly ms: number; readonly error?: string }>>;

describe("the programs in docs/", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-docs-"));
  let done: Done;

  beforeAll(async () => {
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "spillway"), { recursive: true });
    for (const name of ["package.json", "dist"]) symlinkSync(resolve(name), join(modules, "spillway", name));
    writeFileSync(join(folder, "run.mjs"), runner);
    for (const { name, program } of whole) {
      mkdirSync(join(folder, name));
      const { code } = await transform(program, { loader: "ts", target: "node20", format: "esm" });
      writeFileSync(join(folder, name, "program.mjs"), code);
    }
    // Two processes, which a machine of CI has cores for.
    const names = whole.map(({ name }) => name);
    const halves = [0, 1].map((half) => names.filter((_, i) => i % 2 === half));
    const ran = await Promise.all(
      halves.map((half) =>
        promisify(execFile)(process.execPath, ["run.mjs", ...half], { cwd: folder, timeout: 280_000, maxBuffer: 2 ** 24 }),
      ),
    );
    done = Object.assign({}, ...ran.map(({ stdout }) => JSON.parse(stdout))) as Done;
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(whole.map((block) => [block.name, block] as const))("%s", (name, { program }) => {
    const { printed, error } = done[name]!;
    expect(error).toBeUndefined();
    const lines = printed.split("\n");
    for (const said of promised(program)) expect(lines).toContain(said);
  });

  it("leave out none but those that need a GPU", () => {
    expect(all.length).toBeGreaterThan(50);
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(["", "continued", "gpu"]));
    expect(all.filter(({ kind }) => kind === "gpu").map(({ name }) => name)).toEqual([
      ...["cuda-1", "cuda-2", "cuda-4", "cuda-5", "gpu-step-1", "gpu-step-2", "measures-4", "profile-1", "ptx-2"],
      ...["spikes-9", "spikes-10", "sharded-1"],
    ]);
  });
});
