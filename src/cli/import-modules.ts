// `--import MODULE`: loads a user's own modules, which register their parts, before a command reads
// anything. Only the command line names them, never a file.
import { createRequire } from "node:module";
import { isAbsolute, join } from "node:path";
import { cwd } from "node:process";
import { pathToFileURL } from "node:url";
import { SpillwayError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { UsageError } from "./exit.js";

/**
 * Loads modules one after the other: paths from the working folder, or names of packages that are
 * installed there.
 * @throws UsageError for one that is not found; an error of this package that a module throws, with
 * its name before it
 */
export async function importModules(modules: readonly string[]): Promise<void> {
  for (const specifier of modules) {
    try {
      await import(addressOf(specifier));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      const advice = code === "ERR_UNKNOWN_FILE_EXTENSION" ? typeScriptAdvice : "";
      const reason = (error instanceof Error ? error.message : String(error)).split("\nRequire stack")[0];
      const sentence = `--import ${quoted(specifier)}: ${reason}${advice}`;
      if (error instanceof SpillwayError || /^ERR_(MODULE_NOT_FOUND|PACKAGE_PATH_NOT_EXPORTED)$|^MODULE_NOT_FOUND$/.test(code))
        throw new UsageError(sentence, { cause: error });
      throw new SpillwayError("file", sentence, { cause: error });
    }
  }
}

const typeScriptAdvice = '; for TypeScript install tsx and set NODE_OPTIONS="--import tsx", or compile it to JavaScript';

/** The address of a module: of a path from the working folder, or of an installed package. */
export function addressOf(specifier: string): string {
  if (/^(file|node|data):/.test(specifier)) return specifier;
  if (isAbsolute(specifier)) return pathToFileURL(specifier).href;
  const here = join(cwd(), "here.js");
  if (/^\.\.?[/\\]/.test(specifier)) return new URL(specifier.replaceAll("\\", "/"), pathToFileURL(here)).href;
  return pathToFileURL(createRequire(here).resolve(specifier)).href;
}
