// Compiles and runs reference.c. Needs a C compiler; it is an error if there is none.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeCase, type GoldenGiven, type GoldenHashes, type GoldenRun } from "./golden.js";

/** A compiled reference.c in a temporary folder. */
export interface ReferenceProgram extends Disposable {
  readonly path: string;
}

export function compileReference(compiler: string, ...flags: string[]): ReferenceProgram {
  const folder = mkdtempSync(join(tmpdir(), "spillway-golden-"));
  const path = join(folder, "reference");
  const source = fileURLToPath(new URL("reference.c", import.meta.url));
  const always = ["-std=c11", "-ffp-contract=off", "-Wall", "-Wextra"];
  execFileSync(compiler, [...always, ...flags, "-o", path, source, "-lm"], { stdio: "inherit" });
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** The hashes of each case, by its name. */
export function referenceHashes(program: ReferenceProgram, runs: readonly (GoldenRun & GoldenGiven)[]): Map<string, GoldenHashes> {
  const output = execFileSync(program.path, { input: runs.map(describeCase).join(""), encoding: "utf8" });
  const hashes = new Map<string, Record<string, string>>();
  for (const line of output.trim().split("\n")) {
    const [name = "", what = "", hash = ""] = line.split(" ");
    hashes.set(name, { ...hashes.get(name), [what]: hash });
  }
  return hashes as unknown as Map<string, GoldenHashes>;
}

/** Lines that the program prints for arguments with known answers. */
export function referenceKnown(program: ReferenceProgram): string[] {
  return execFileSync(program.path, ["known"], { encoding: "utf8" }).trim().split("\n");
}
