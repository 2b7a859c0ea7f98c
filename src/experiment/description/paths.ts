// The paths in an experiment file: environment variables, installed packages, and the folder they
// count from.

import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { checkText } from "@spillway/core/checks.js";
import { ExperimentError } from "./errors.js";

/**
 * The path that a text in an experiment file stands for.
 * - `${NAME}` and `$NAME` are environment variables, `${NAME:-default}` has a default;
 * - `npm:package/file` is a file of an installed package, looked for in every node_modules folder
 *   from the experiment's folder, the working directory and this package upwards;
 * - anything else counts from the folder of the experiment file, or from the working directory if
 *   it has none.
 * @throws ExperimentError for a variable that is not set and a package that is not installed.
 */
export function resolveDataPath(
  text: string,
  experimentPath: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  checkText("text", text);
  const expanded = text.replace(
    /\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*))/g,
    (_, braced?: string, fallback?: string, plain?: string) => {
      const name = braced ?? plain!;
      const value = (Object.hasOwn(environment, name) && environment[name]) || fallback;
      if (value !== undefined) return value;
      throw new ExperimentError(
        `${text} needs the environment variable ${name}, which is not set; set it to the folder that holds the data`,
      );
    },
  );
  const folder = experimentPath === undefined ? process.cwd() : dirname(resolve(experimentPath));
  if (!expanded.startsWith("npm:")) return isAbsolute(expanded) ? expanded : join(folder, expanded);
  const inPackage = expanded.slice("npm:".length);
  for (const start of [folder, process.cwd(), import.meta.dirname]) {
    for (let here = start; ; here = dirname(here)) {
      const candidate = join(here, "node_modules", inPackage);
      if (existsSync(candidate)) return candidate;
      if (dirname(here) === here) break;
    }
  }
  const name = inPackage
    .split("/")
    .slice(0, inPackage.startsWith("@") ? 2 : 1)
    .join("/");
  throw new ExperimentError(`${inPackage} was found in no node_modules folder; install it with npm install ${name}`);
}
