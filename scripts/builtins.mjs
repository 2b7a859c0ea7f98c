// A plugin of esbuild for packages of others that go into the bundles.
import { isBuiltin } from "node:module";

/**
 * Gives a bundled CommonJS package Node's own modules, since an ES module has no `require`. Not
 * `crypto`, which takes 3 ms to load: seedrandom asks for it to seed itself, which nothing here has
 * it do, and goes on without.
 */
export const builtins = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === "require-call" && isBuiltin(path) && path !== "crypto" ? { path, namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({ contents: `module.exports = process.getBuiltinModule("${path}")` }));
  },
};
