// A package of a user's own: the example of a section of docs/extending.md in a folder if the
// built spillway is installed, used as such a package is, from programs and the command line.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Ended, spillway } from "../cli/spillway.js";

/** The first block of code under a heading of docs/extending.md. */
function exampleOf(heading: string): string {
  const text = readFileSync("docs/extending.md", "utf8");
  const block = new RegExp(`^### ${heading}\\n[\\s\\S]*?^\`\`\`js\\n([\\s\\S]*?)^\`\`\``, "m").exec(text);
  if (!block) throw new Error(`docs/extending.md has no example under "${heading}"`);
  return block[1]!;
}

export interface OwnPackage extends Disposable {
  /** What a program prints that imports the package first, as JSON. */
  printed(program: string): Promise<unknown>;
  /** What a program in a file of the folder prints without the package, as JSON. */
  printedAlone(file: string, ...args: readonly string[]): Promise<unknown>;
  /** The command line in the package's folder. */
  cli(...args: readonly string[]): Promise<Ended>;
  /** Writes a file there. */
  write(name: string, text: string): void;
}

/** A folder with the example under a heading as `own.mjs`. */
export function ownPackage(heading: string): OwnPackage {
  const folder = mkdtempSync(join(tmpdir(), "spillway-own-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(resolve("."), join(folder, "node_modules", "spillway"), "dir");
  write("own.mjs", exampleOf(heading));
  const printedAlone = async (...args: readonly string[]) =>
    JSON.parse((await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout) as unknown;
  return {
    printed(program) {
      write("program.mjs", `import "./own.mjs";\n${program}`);
      return printedAlone("program.mjs");
    },
    printedAlone,
    cli: (...args) => spillway(args, { cwd: folder }),
    write,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
