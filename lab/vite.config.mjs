// Builds the lab's page into dist/lab-page, beside the package's code.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  logLevel: "warn",
  worker: { format: "es" },
  build: { outDir: "../dist/lab-page", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 1200 },
});
