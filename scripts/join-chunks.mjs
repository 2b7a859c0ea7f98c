// Joins the small files that a build with code splitting shares among its entry points: each costs
// time to find and link, and the index alone would need some eighty of them.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, posix, relative } from "node:path";
import { build } from "esbuild";

const statement = /^import (?:\{([^}]*)\} from )?"(\.[^"]+)";$/gm;

/**
 * Joins the chunks of a build that entry points reach by static imports: those that the same
 * `entries` reach become one file. `late` is one more list of entries, which reaches a chunk by late
 * imports too. No cycle of files arises, since what a chunk imports is reached by all that reach the
 * chunk. Other files import the joined ones then.
 */
export async function joinChunks({ outputs }, entries, late) {
  const importsOf = (path, kinds = ["import-statement"]) =>
    outputs[path].imports.filter(({ kind, external }) => kinds.includes(kind) && !external);
  const reaching = new Map();
  const visit = (path, by, kinds) => {
    const own = reaching.get(path) ?? new Set();
    if (own.has(by)) return;
    reaching.set(path, own.add(by));
    for (const { path: next } of importsOf(path, kinds)) visit(next, by, kinds);
  };
  for (const entry of entries) visit(entry, entry);
  for (const entry of late) visit(entry, "late", ["import-statement", "dynamic-import"]);
  const groups = new Map();
  // In the order in which they are evaluated: what a chunk imports comes before it.
  const ordered = new Set();
  const order = (path) => {
    if (ordered.has(path)) return;
    for (const { path: next } of importsOf(path)) order(next);
    ordered.add(path);
  };
  for (const entry of entries) order(entry);
  for (const path of ordered) {
    if (outputs[path].entryPoint) continue;
    const key = [...reaching.get(path)].join();
    groups.set(key, [...(groups.get(key) ?? []), path]);
  }
  const joined = new Map();
  for (const paths of [...groups.values()].filter(({ length }) => length > 1)) {
    const names = new Map();
    const file = `dist/joined-${paths[0].match(/-(\w+)\.js$/)[1]}.js`;
    for (const path of paths) {
      const exported = new Map();
      for (const name of outputs[path].exports) {
        const unique = names.has(name) ? `${name}_${names.size}` : name;
        names.set(unique, path);
        exported.set(name, unique);
      }
      joined.set(path, { file, paths, exported });
    }
  }
  for (const path of Object.keys(outputs)) if (path.endsWith(".js")) writeFileSync(path, renamed(path, joined));
  const files = new Map([...joined.values()].map(({ file, paths }) => [file, paths]));
  for (const [file, paths] of files) {
    const contents = paths
      .map((path) => {
        const list = [...joined.get(path).exported].map(([name, unique]) => (name === unique ? name : `${name} as ${unique}`));
        return list.length === 0
          ? `import "./${posix.basename(path)}";`
          : `export { ${list.join(", ")} } from "./${posix.basename(path)}";`;
      })
      .join("\n");
    const inside = new Set(paths.map((path) => `./${posix.basename(path)}`));
    await build({
      stdin: { contents, resolveDir: "dist" },
      outfile: file,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      legalComments: "none",
      logLevel: "warning",
      plugins: [
        {
          name: "outside",
          setup: ({ onResolve }) => onResolve({ filter: /./ }, ({ path }) => (inside.has(path) ? undefined : { path, external: true })),
        },
      ],
    });
  }
  for (const path of joined.keys()) rmSync(path);
}

/** The text of a file with imports of the files that its chunks are joined to. */
function renamed(path, joined) {
  const own = joined.get(path)?.file;
  return readFileSync(path, "utf8").replace(statement, (whole, names, from) => {
    const target = joined.get(posix.join(dirname(path), from));
    if (!target || target.file === own) return whole;
    const address = relative(dirname(path), target.file);
    const file = address.startsWith(".") ? address : `./${address}`;
    if (names === undefined) return `import "${file}";`;
    const list = names.split(",").map((each) => {
      const [name, local = name] = each.trim().split(" as ");
      const unique = target.exported.get(name);
      return unique === local ? local : `${unique} as ${local}`;
    });
    return `import { ${list.join(", ")} } from "${file}";`;
  });
}
