// Reads an experiment file, YAML or JSON, and says where in it something is wrong. What the fields take is checked in parse.ts.
import { visible } from "../../core/text.js";
import { readText } from "../../io/index.js";
import { ConfigError } from "../../reservoir/index.js";
import type { Experiment } from "./description.js";
import { applyOverrides } from "./overrides.js";
import { parseExperiment } from "./parse.js";
import { readYaml, YamlError, type YamlText } from "./yaml.js";

/** An experiment file that cannot be used. The sentence begins with the path, and the line where one is known. */
export class ExperimentError extends Error {
  override readonly name = "ExperimentError";
  readonly path: string;
  readonly line: number | undefined;
  /** The field, as a path from the top of the file. */
  readonly field: string | undefined;
  constructor(path: string, reason: string, place: { line?: number | undefined; field?: string | undefined } = {}, cause?: unknown) {
    super(
      visible(`${path}${place.line === undefined ? "" : `:${place.line}`}: ${reason}`, 4000),
      cause === undefined ? undefined : { cause },
    );
    this.path = path;
    this.line = place.line;
    this.field = place.field;
  }
}

/** An experiment and the file it stands in: paths in it count from that file's folder. */
export interface LoadedExperiment {
  readonly path: string;
  readonly experiment: Experiment;
  /** An error about a field, with its line in the file, or word that `--set` gave it. */
  readonly errorOf: (error: ConfigError, field?: string) => ExperimentError;
}

/**
 * Reads and checks an experiment file.
 * @param overrides `field=value` each, as `--set` takes them.
 * @throws FileError where it cannot be read, ExperimentError naming line and field.
 */
export async function loadExperiment(path: string, overrides: readonly string[] = []): Promise<LoadedExperiment> {
  return parseExperimentText(await readText(path), path, overrides);
}

/** Parses the text of an experiment file; see {@link loadExperiment}. */
export function parseExperimentText(text: string, path: string, overrides: readonly string[] = []): LoadedExperiment {
  const { value: source, lineOf } = readOrThrow(text, path);
  const set = overrides.map((override) => override.split("=")[0]!.trim());
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  const isOverride = (field: string) => set.some((other) => isWithin(field, other) || isWithin(other, field));
  const errorOf = (error: ConfigError, field = error.field) => {
    const message = error.message.replace(error.field, () => field);
    if (isOverride(field)) return new ExperimentError(path, `with --set, ${message}`, { field }, error);
    return new ExperimentError(path, message, { line: lineOf(field), field }, error);
  };
  try {
    return { path, experiment: parseExperiment(applyOverrides(source, overrides)), errorOf };
  } catch (error) {
    throw error instanceof ConfigError ? errorOf(error) : error;
  }
}

function readOrThrow(text: string, path: string): YamlText {
  try {
    return readYaml(text);
  } catch (error) {
    throw error instanceof YamlError ? new ExperimentError(path, error.message, { line: error.line }, error) : error;
  }
}
