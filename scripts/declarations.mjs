// The declarations that go into the package: those that an entry point leads to, each entry with
// the global types that it needs.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The declaration files that `path` leads to, itself among them. */
function reachable(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, to] of readFileSync(path, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g))
    reachable(join(dirname(path), to.replace(/\.js$/, ".d.ts")), found);
  return found;
}

/**
 * Leaves in `folder` only what `entries` lead to, and refers each of them to the global types of
 * scripts/globals.d.ts.
 */
export function finishDeclarations(folder, entries) {
  const kept = new Set();
  for (const entry of entries) reachable(entry, kept);
  for (const name of readdirSync(folder, { recursive: true }))
    if (name.endsWith(".d.ts") && !kept.has(join(folder, name))) rmSync(join(folder, name));
  const globals = join(folder, "globals.d.ts");
  cpSync("scripts/globals.d.ts", globals);
  for (const entry of entries) {
    const to = relative(dirname(entry), globals);
    writeFileSync(entry, `/// <reference path="${to.startsWith(".") ? to : `./${to}`}" />\n${readFileSync(entry, "utf8")}`);
  }
}
