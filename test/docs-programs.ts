// The programs in the pages of docs/, and what runs them to their end. How a block is run stands
// behind `ts` in its first line: nothing, it is whole; "continued", it goes on from the block before
// it on its page; "chromium", it needs one; "gpu", it needs one, and is checked for its types alone.
// What a fragment takes as given is made by a comment right above it, <!-- given: ... -->.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { blocksOf, pages } from "./docs-pages.js";

export interface Program {
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
export const programs: readonly Program[] = pages.filter((page) => page.startsWith("docs")).flatMap(programsOf);

/** What a program's comments say that its lines print: of values, behind `console.log(...);`. */
export const promised = (program: string) => Array.from(program.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm), ([, said]) => said!);

/**
 * Runs the programs that are named in its arguments one after the other, and prints what each did.
 */
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

export type Done = Readonly<Record<string, { readonly printed: string; readonly ms: number; readonly error?: string }>>;

/** Runs programs in a folder of their own with the built package, in two processes. */
export async function runPrograms(programs: readonly Program[]): Promise<Done> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-docs-"));
  try {
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "spillway"), { recursive: true });
    for (const name of ["package.json", "dist"]) symlinkSync(resolve(name), join(modules, "spillway", name));
    writeFileSync(join(folder, "run.mjs"), runner);
    for (const { name, program } of programs) {
      mkdirSync(join(folder, name));
      const { code } = await transform(program, { loader: "ts", target: "node20", format: "esm" });
      writeFileSync(join(folder, name, "program.mjs"), code);
    }
    const halves = [0, 1].map((half) => programs.filter((_, i) => i % 2 === half).map(({ name }) => name));
    const ran = await Promise.all(
      halves.map((half) =>
        promisify(execFile)(process.execPath, ["run.mjs", ...half], { cwd: folder, timeout: 280_000, maxBuffer: 2 ** 24 }),
      ),
    );
    return Object.assign({}, ...ran.map(({ stdout }) => JSON.parse(stdout))) as Done;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
