// Reads an experiment file, YAML or JSON, and says where in it something is wrong. What the fields take is checked in parse.ts.
import { type Document, isMap, isSeq, LineCounter, parseDocument } from "yaml";
import { readText } from "../../io/index.js";
import { ConfigError } from "../../reservoir/index.js";
import type { Experiment } from "./description.js";
import { applyOverrides } from "./overrides.js";
import { parseExperiment } from "./parse.js";

/** An experiment file that cannot be used. The sentence begins with the path, and the line where one is known. */
export class ExperimentError extends Error {
  override readonly name = "ExperimentError";
  readonly path: string;
  readonly line: number | undefined;
  /** The field, as a path from the top of the file. */
  readonly field: string | undefined;
  constructor(path: string, reason: string, place: { line?: number | undefined; field?: string | undefined } = {}, cause?: unknown) {
    super(`${path}${place.line === undefined ? "" : `:${place.line}`}: ${reason}`, cause === undefined ? undefined : { cause });
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
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true, uniqueKeys: true });
  const problem = document.errors[0];
  if (problem) {
    const line = problem.linePos?.[0].line;
    throw new ExperimentError(
      path,
      `this is not YAML: ${problem.message.replace(/ at line \d+, column \d+:[\s\S]*$/, "")}`,
      { line },
      problem,
    );
  }
  const source = document.toJS() as unknown;
  const set = overrides.map((override) => override.split("=")[0]!.trim());
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  const isOverride = (field: string) => set.some((other) => isWithin(field, other) || isWithin(other, field));
  const errorOf = (error: ConfigError, field = error.field) => {
    const message = error.message.replace(error.field, field);
    if (isOverride(field)) return new ExperimentError(path, `with --set, ${message}`, { field }, error);
    return new ExperimentError(path, message, { line: lineOf(document, lines, field), field }, error);
  };
  try {
    return { path, experiment: parseExperiment(applyOverrides(source, overrides)), errorOf };
  } catch (error) {
    throw error instanceof ConfigError ? errorOf(error) : error;
  }
}

/** The line of a field, or of the nearest thing above it that stands in the file. */
function lineOf(document: Document, lines: LineCounter, field: string): number | undefined {
  let here: unknown = document.contents;
  let offset: number | undefined;
  for (const part of field.split(/[.[\]]/).filter(Boolean)) {
    if (isMap(here)) {
      const pair = here.items.find(({ key }) => String((key as { value?: unknown })?.value ?? key) === part);
      if (!pair) break;
      offset = (pair.key as { range?: readonly number[] } | null)?.range?.[0] ?? offset;
      here = pair.value;
    } else if (isSeq(here)) {
      const item = here.items[Number(part)];
      if (item === undefined) break;
      offset = (item as { range?: readonly number[] }).range?.[0] ?? offset;
      here = item;
    } else break;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}
