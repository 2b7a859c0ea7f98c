import { join } from "node:path";
import { normalizePath, type Plugin } from "vite";

const sources = ["src/", "packages/"].map((folder) => normalizePath(join(import.meta.dirname, folder)));

/**
 * Has each module of src/ and packages/ read what it imports from others once, when it loads. Vitest makes every
 * use of an imported name a look into the other module, which takes from a seventh to a half of the
 * time of the simulated device. The sources cannot tell: they have no cycle of imports by value, to
 * which test/architecture.test.ts holds them, and give no export another value after they loaded.
 */
export function importsReadOnce(): Plugin {
  return {
    name: "imports-read-once",
    // When the types are gone, and each import stands on a line.
    enforce: "post",
    transform(code, id) {
      if (!sources.some((folder) => id.startsWith(folder))) return;
      let count = 0;
      return code.replace(/^import \{ (.+) \} from ("[./].+");$/gm, (_, names: string, from: string) => {
        const module = `imported${count++}`;
        return `import * as ${module} from ${from}; const { ${names.replaceAll(" as ", ": ")} } = ${module};`;
      });
    },
  };
}
