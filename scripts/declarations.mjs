// The declarations that go into the package: those that an entry point leads to, each entry with
// the global types that it needs. Those of src lie at the top of the folder, those of a workspace
// package in a folder of its name.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** A specifier as one declaration at `from` names another at `to`. */
function relativeTo(from, to) {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** `src/a.d.ts` is `a.d.ts` in the package, `packages/core/src/a.d.ts` is `core/a.d.ts`. */
const packed = (path) => path.replace(/^src\//, "").replace(/^packages\/([^/]+)\/src\//, "$1/");

/** The declaration that `path` imports by `specifier`; undefined for a package from elsewhere. */
function imported(path, specifier) {
  const [, name, file = "index.js"] = /^@spillway\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  const found = name ? join("packages", name, "src", file) : specifier.startsWith(".") ? join(dirname(path), specifier) : undefined;
  return found?.replace(/\.js$/, ".d.ts");
}

/**
 * Leaves out the tables of options that no type of the package is made of: users name none of
 * them, and some are longer than what they describe.
 * @param paths declarations of the package
 */
function dropTables(paths) {
  const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
  const counts = new Map();
  for (const text of texts.values()) for (const [word] of text.matchAll(/\w+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const [path, text] of texts) {
    // A comment, the declaration, and its lines that are indented or close it.
    const table =
      /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export declare const (\w+(?:Tables?|Kind|Option|Schemas)):.*\n(?:(?: |[})\]]).*\n)*/gm;
    const kept = text.replace(table, (all, name) => (counts.get(name) === 1 ? "" : all));
    if (kept !== text) writeFileSync(path, kept);
  }
}

/**
 * Moves what `entries` lead to from `emitted`, where tsc wrote the declarations of src and
 * packages, into `folder`, and refers each entry to the global types of scripts/globals.d.ts.
 * @param entries paths in `folder`
 */
export function finishDeclarations(emitted, folder, entries) {
  const moved = new Set();
  const move = (path) => {
    if (moved.has(path)) return;
    moved.add(path);
    const text = readFileSync(join(emitted, path), "utf8").replace(/((?:from|import)\s*\(?\s*")([^"]+)"/g, (all, before, specifier) => {
      const target = imported(path, specifier);
      if (target === undefined) return all;
      move(target);
      return `${before}${relativeTo(packed(path), packed(target)).replace(/\.d\.ts$/, ".js")}"`;
    });
    mkdirSync(join(folder, dirname(packed(path))), { recursive: true });
    writeFileSync(join(folder, packed(path)), text);
  };
  for (const entry of entries) move(join("src", relative(folder, entry)));
  dropTables([...moved].map((path) => join(folder, packed(path))));
  const globals = join(folder, "globals.d.ts");
  cpSync("scripts/globals.d.ts", globals);
  for (const entry of entries)
    writeFileSync(entry, `/// <reference path="${relativeTo(entry, globals)}" />\n${readFileSync(entry, "utf8")}`);
  rmSync(emitted, { recursive: true });
}
