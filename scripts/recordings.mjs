// Where public recordings are, for tests, examples and notebooks over them. None is part of the
// project: without them these are skipped by name.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of recordings: SPILLWAY_DATA, else ../shared/data beside the project if it is there,
 * else undefined.
 */
export function dataFolder() {
  const named = process.env.SPILLWAY_DATA;
  if (named) return resolve(named);
  const beside = resolve(dirname(fileURLToPath(import.meta.url)), "../../shared/data");
  return existsSync(beside) ? beside : undefined;
}

/**
 * Those of the texts by name that can run with this folder of recordings, or none: the others need
 * recordings that are not here, and are listed.
 */
export function runnable(texts, folder) {
  if (folder !== undefined) return Object.keys(texts);
  const skipped = Object.keys(texts).filter((name) => texts[name].includes("SPILLWAY_DATA"));
  if (skipped.length > 0)
    console.log(`skipped ${skipped.length}, for want of public recordings in a folder that SPILLWAY_DATA names: ${skipped.join(", ")}`);
  return Object.keys(texts).filter((name) => !skipped.includes(name));
}
