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

/** Names in braces, "a, type b as c", as [what it is called there, what it is called here, as written]. */
const namesIn = (braces) =>
  [...braces.matchAll(/(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?/g)].map(([written, there, here = there]) => [there, here, written.trim()]);

const braced = /^(import|export)(\s+type)?\s+\{([^}]*)\}(?:\s+from\s+"([^"]+)")?;$/;
const declared = /^(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?(?:const|let|function|class|interface|type|enum)\s+(\w+)/;

/** The statements of a declaration file, each with the comment before it. */
function statementsOf(path, text) {
  // A line that is not indented and closes nothing begins a statement; a comment between the members
  // of a union may not be indented either.
  const parts =
    text.match(/(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)*(?:[^\s})\]/*]|\/\/).*\n(?:[ })\]].*\n|\n|\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?= ))*/g) ??
    [];
  if (parts.join("") !== text) throw new Error(`${path}: its statements are not read as they are written`);
  return parts.map((whole) => {
    const code = whole.replace(/\/\*\*?(?:(?!\*\/)[\s\S])*\*\//g, "").trim();
    const [, kind, type = "", names, from] = braced.exec(code) ?? [];
    const [, star] = /^export(?:\s+type)?\s+\*\s+from\s+"([^"]+)";$/.exec(code) ?? [];
    return {
      whole,
      code,
      kind,
      type,
      names: names === undefined ? undefined : namesIn(names),
      from: from ?? star,
      star,
      name: declared.exec(code)?.[1],
    };
  });
}

const addsToModule = /^declare module "/;

/**
 * Names types once at the top of a declaration that tsc has written out as `import("path").Name`
 * at each use. A name that means something else in the file stays as it is.
 */
function importedOnce(text) {
  const froms = new Map();
  for (const [, from, name] of text.matchAll(/import\("([^"]+)"\)\.(\w+)/g)) froms.set(name, (froms.get(name) ?? new Set()).add(from));
  let imports = "";
  for (const [name, [from, ...others]] of froms) {
    const written = `import("${from}").${name}`;
    const rest = text.replaceAll(written, "").replace(/\/\*\*?(?:(?!\*\/)[\s\S])*\*\//g, "");
    if (others.length > 0 || new RegExp(`\\b${name}\\b`).test(rest)) continue;
    const shorter = text.replaceAll(written, name);
    const line = `import type { ${name} } from "${from}";\n`;
    if (shorter.length + line.length >= text.length) continue;
    imports += line;
    text = shorter;
  }
  return imports + text;
}

/**
 * Leaves out of declarations what no exported name leads to: users can name none of it, and some
 * is longer than what they can. What adds to another module stays.
 * @param entries paths of the entries, which keep all that they export
 * @param paths declarations of the package, with the entries
 * @returns the paths of declarations that add to other modules
 */
function dropUnreached(entries, paths) {
  const files = new Map(paths.map((path) => [path, statementsOf(path, readFileSync(path, "utf8"))]));
  const targetOf = (path, from) => from?.startsWith(".") && join(dirname(path), from.replace(/\.js$/, ".d.ts"));
  const kept = new Set();
  const asked = new Set();
  const exportsAll = (path) =>
    files.get(path).flatMap(({ code, kind, names, star, name, from }) => {
      if (star) return exportsAll(targetOf(path, from));
      if (kind === "export") return names.map(([, here]) => here);
      return name && code.startsWith("export") ? [name] : [];
    });
  const keep = (path, statement) => {
    if (kept.has(statement)) return;
    kept.add(statement);
    for (const word of new Set(statement.code.match(/\w+/g))) need(path, word);
    for (const [, from, name] of statement.code.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g)) need(targetOf(path, from), name);
  };
  /** Keeps what a name means in a file. */
  const need = (path, name) => {
    if (!path || asked.has(`${path} ${name}`)) return;
    asked.add(`${path} ${name}`);
    for (const statement of files.get(path)) {
      const { names, star, from } = statement;
      if (statement.name === name) keep(path, statement);
      else if (star && exportsAll(targetOf(path, from)).includes(name)) {
        kept.add(statement);
        need(targetOf(path, from), name);
      } else if (names) for (const [there, here] of names) if (here === name) need(targetOf(path, from) ?? path, there);
    }
  };
  for (const path of entries) for (const name of exportsAll(path)) need(path, name);
  const adding = paths.filter((path) => files.get(path).some(({ code }) => addsToModule.test(code)));
  for (const path of adding) for (const statement of files.get(path)) if (addsToModule.test(statement.code)) keep(path, statement);
  for (const [path, statements] of files) {
    const written = statements.map((statement) => {
      const { whole, code, kind, type, names, from, name, star } = statement;
      if (names && names.length > 0) {
        const left = names.filter(([, here]) => asked.has(`${path} ${here}`)).map(([, , as]) => as);
        return left.length === 0 ? "" : whole.replace(code, `${kind}${type} { ${left.join(", ")} }${from ? ` from "${from}"` : ""};`);
      }
      // An import for its effects has none here; the entries import what adds to modules.
      return ((name || star) && !kept.has(statement)) || /^import "/.test(code) ? "" : whole;
    });
    // What is not a module would declare its names everywhere.
    const own = written.join("").replace(/^(?: {4})+/gm, (indent) => "\t".repeat(indent.length / 4));
    const text = importedOnce(own);
    if (/^(import|export)\b/m.test(text.replace("export {};", ""))) writeFileSync(path, text);
    else rmSync(path);
  }
  return adding;
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
  const adding = dropUnreached(
    entries,
    [...moved].map((path) => join(folder, packed(path))),
  );
  const globals = join(folder, "globals.d.ts");
  cpSync("scripts/globals.d.ts", globals);
  for (const entry of entries) {
    const imports = adding.map((path) => `import "${relativeTo(entry, path).replace(/\.d\.ts$/, ".js")}";\n`);
    writeFileSync(entry, `/// <reference path="${relativeTo(entry, globals)}" />\n${imports.join("")}${readFileSync(entry, "utf8")}`);
  }
  rmSync(emitted, { recursive: true });
}
