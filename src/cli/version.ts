// The package's version, from its package.json.
import { readFileSync } from "node:fs";

/** The version of the package this file belongs to. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
