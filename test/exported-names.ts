// Which names the entry points of the package export, read from the sources.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a name is declared, and whether there is a value of it or only a type. */
export interface Declaration {
  readonly at: string;
  readonly isValue: boolean;
}

export type Names = ReadonlyMap<string, Declaration>;

/** The file of an import; of a package from elsewhere, undefined. */
function sourceOf(path: string, target: string): string | undefined {
  const [, name, file = "index.js"] = /^@spillway\/([^/]+)(?:\/(.+))?$/.exec(target) ?? [];
  const found = name ? join("packages", name, "src", file) : target.startsWith(".") ? join(path, "..", target) : undefined;
  return found?.replace(/\.js$/, ".ts");
}
const kindsOfType = new Set(["interface", "type"]);
const known = new Map<string, Names>();

/** What stands in braces: "a, type b as c" as [a, a, false], [b, c, true]. */
function listed(braces: string): readonly (readonly [name: string, as: string, isType: boolean])[] {
  const parts = braces.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").split(",");
  return parts.flatMap((part) => {
    const [, type, name, as = name] = /^\s*(type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
    return name === undefined ? [] : [[name, as!, type !== undefined] as const];
  });
}

/** A name as a file that it is taken from exports it; packages are not read. */
function declarationOf(path: string, target: string, name: string): Declaration {
  const source = sourceOf(path, target);
  if (source === undefined) return { at: `${target}#${name}`, isValue: true };
  const found = exportsOf(source).get(name);
  if (!found) throw new Error(`${path}: ${target} has no ${name}`);
  return found;
}

/** The names that a file exports, each with the place of its declaration. */
export function exportsOf(path: string): Names {
  const before = known.get(path);
  if (before) return before;
  const text = readFileSync(path, "utf8");
  const names = new Map<string, Declaration>();
  known.set(path, names);
  const add = (name: string, { at, isValue }: Declaration, isType: boolean) => names.set(name, { at, isValue: isValue && !isType });
  const declared = /^export\s+(?:declare\s+|abstract\s+|async\s+)*(const|let|function\*?|class|interface|type|enum)\s+(\w+)/gm;
  for (const [, kind, name] of text.matchAll(declared))
    add(name!, { at: `${path}#${name}`, isValue: names.get(name!)?.isValue || !kindsOfType.has(kind!) }, false);
  const imported = new Map<string, () => Declaration>();
  for (const [, braces, target] of text.matchAll(/^import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"([^"]+)"/gm))
    for (const [name, as] of listed(braces!)) imported.set(as, () => declarationOf(path, target!, name));
  for (const [, type, braces, target] of text.matchAll(/^export\s+(type\s+)?\{([^}]*)\}(?:\s+from\s+"([^"]+)")?/gm))
    for (const [name, as, isType] of listed(braces!)) {
      const own = imported.get(name)?.() ?? { at: `${path}#${name}`, isValue: true };
      add(as, target ? declarationOf(path, target, name) : own, isType || type !== undefined);
    }
  for (const [, type, target] of text.matchAll(/^export\s+(type\s+)?\*\s+from\s+"([^"]+)"/gm))
    for (const [name, declaration] of exportsOf(sourceOf(path, target!)!)) if (!names.has(name)) add(name, declaration, type !== undefined);
  return names;
}

const { exports: parts } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, { types?: string }> };
/** The entry points of the package, each with its source. */
export const entries = Object.entries(parts).flatMap(([name, { types }]) =>
  types ? [[name.replace(/^\./, "spillway"), types.replace("./dist/", "src/").replace(".d.ts", ".ts")] as const] : [],
);
