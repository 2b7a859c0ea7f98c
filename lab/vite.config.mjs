// Builds the lab's page into dist/lab-page, beside the package's code.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Has the browser ask for the WebAssembly while it still reads the program. */
const preloadWasm = {
  name: "preload-wasm",
  transformIndexHtml: {
    order: "post",
    handler: (_, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter((file) => /spillway(?!-threads)[^/]*\.wasm$/.test(file))
        .map((file) => ({ tag: "link", attrs: { rel: "preload", as: "fetch", crossorigin: "", href: `./${file}` }, injectTo: "head" })),
  },
};

/** The WebAssembly modules by the names that the package has them by: the lab's server finds them there. */
const assetFileNames = ({ names }) =>
  names.some((name) => name.endsWith(".wasm")) ? "assets/[name][extname]" : "assets/[name]-[hash][extname]";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  logLevel: "warn",
  // What Node alone asks for.
  resolve: { alias: { "csv-parse/sync": "csv-parse/browser/esm/sync" } },
  worker: { format: "es", rolldownOptions: { output: { assetFileNames } } },
  plugins: [preloadWasm],
  build: {
    // What the first picture needs is one file: a browser asks a server for six at a time.
    rolldownOptions: { output: { assetFileNames, codeSplitting: { groups: [{ name: "lab", tags: ["$initial"] }] } } },
    outDir: "../dist/lab-page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
  },
});
