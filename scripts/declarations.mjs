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
  const globals = join(folder, "globals.d.ts");
  cpSync("scripts/globals.d.ts", globals);
  for (const entry of entries)
    writeFileSync(entry, `/// <reference path="${relativeTo(entry, globals)}" />\n${readFileSync(entry, "utf8")}`);
  rmSync(emitted, { recursive: true });
}
