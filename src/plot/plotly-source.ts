// Finds the text of plotly.js. A report carries it inside itself, and opens without a network.

import { SpillwayError } from "@spillway/core/errors.js";
/**
 * The source of plotly.js from the package plotly.js-dist-min, a dependency.
 * @throws Error outside Node, or if the package is not installed.
 */
export async function plotlySource(): Promise<string> {
  const fs = globalThis.process?.getBuiltinModule?.("node:fs");
  const modules = globalThis.process?.getBuiltinModule?.("node:module");
  if (!fs || !modules)
    throw new SpillwayError(
      "unavailable",
      "plotly.js is read from the disk by Node 20.19 or newer; elsewhere hand its source over as `plotly`",
    );
  let path: string;
  try {
    path = modules.createRequire(import.meta.url).resolve("plotly.js-dist-min/plotly.min.js");
  } catch (error) {
    throw new SpillwayError(
      "unavailable",
      "plotly.js-dist-min is not installed, and a report carries it inside itself: npm install plotly.js-dist-min",
      {
        cause: error,
      },
    );
  }
  return fs.promises.readFile(path, "utf8");
}
