// Reads an experiment file, YAML or JSON, and says where in it something is wrong. What the fields
// take is checked in parse.ts.
import { checkText } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { readText } from "@spillway/io";
import type { ExperimentInput } from "./description.js";
import { ExperimentError } from "./errors.js";
import { applyOverrides } from "./overrides.js";
import { type CheckedExperiment, readExperiment } from "./parse.js";
import { readYaml, YamlError, type YamlText } from "./yaml.js";

/** An experiment that was checked, and the file it stands in. */
export interface LoadedExperiment extends CheckedExperiment {
  /**
   * Paths in the experiment count from the folder of this file; without one, from the working
   * directory.
   */
  readonly path?: string | undefined;
  /** An error about a field, with its line in the file, or word that `--set` gave it. */
  readonly errorOf: (error: ArgumentError, field?: string) => ExperimentError;
}

/**
 * Reads and checks an experiment file.
 * @param overrides `field=value` each, as `--set` takes them.
 * @throws FileError if it cannot be read, ExperimentError naming line and field.
 */
export async function loadExperiment(path: string, overrides: readonly string[] = []): Promise<LoadedExperiment> {
  return parseExperimentText(await readText(path), path, overrides);
}

/**
 * Checks an experiment that is an object of the shape of an experiment file.
 * @throws ExperimentError naming the field
 */
export function asExperiment(source: ExperimentInput): LoadedExperiment {
  const errorOf = (error: ArgumentError, field = error.field) =>
    new ExperimentError(
      error.message.replace(error.field, () => field),
      { field, cause: error },
    );
  return checked(source, { errorOf });
}

/** Parses the text of an experiment file; see {@link loadExperiment}. */
export function parseExperimentText(text: string, path: string, overrides: readonly string[] = []): LoadedExperiment {
  checkText("text", text);
  const { value: source, lineOf } = readOrThrow(text, path);
  const set = overrides.map((override) => override.split("=")[0]!.trim());
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  const isOverride = (field: string) => set.some((other) => isWithin(field, other) || isWithin(other, field));
  const errorOf = (error: ArgumentError, field = error.field) => {
    const message = error.message.replace(error.field, () => field);
    if (isOverride(field)) return new ExperimentError(`with --set, ${message}`, { path, field, cause: error });
    return new ExperimentError(message, { path, line: lineOf(field), field, cause: error });
  };
  return checked(source, { path, errorOf }, overrides);
}

function checked(source: unknown, origin: Pick<LoadedExperiment, "path" | "errorOf">, overrides: readonly string[] = []): LoadedExperiment {
  try {
    return { ...origin, ...readExperiment(applyOverrides(source, overrides)) };
  } catch (error) {
    throw error instanceof ArgumentError ? origin.errorOf(error) : error;
  }
}

/** The content of an experiment file. @throws ExperimentError with the line of what is no YAML */
export function readOrThrow(text: string, path: string): YamlText {
  try {
    return readYaml(text);
  } catch (error) {
    throw error instanceof YamlError ? new ExperimentError(error.message, { path, line: error.line, cause: error }) : error;
  }
}
