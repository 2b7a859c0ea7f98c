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
        .filter((file) => /spillway-(?!threads-)[^/]*\.wasm$/.test(file))
        .map((file) => ({ tag: "link", attrs: { rel: "preload", as: "fetch", crossorigin: "", href: `./${file}` }, injectTo: "head" })),
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  logLevel: "warn",
  worker: { format: "es" },
  plugins: [preloadWasm],
  build: {
    // What the first picture needs is one file: a browser asks a server for six at a time.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "lab", tags: ["$initial"] }] } } },
    outDir: "../dist/lab-page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
  },
});
