// What is wrong with an experiment, its file or its data. Errors about a single field are
// ConfigError until the file they stand in is known.
import { visible } from "../core/text.js";

/** Where an {@link ExperimentError} stands. */
export interface ExperimentErrorPlace {
  /** The experiment file. */
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  /** The field, as a path from the top of the file. */
  readonly field?: string | undefined;
  readonly cause?: unknown;
}

/**
 * An experiment that cannot be run as it stands: a field, its data or their split. The sentence
 * begins with the path and the line of the experiment file if they are known.
 */
export class ExperimentError extends Error {
  override readonly name = "ExperimentError";
  readonly path: string | undefined;
  readonly line: number | undefined;
  /** The field, as a path from the top of the file. */
  readonly field: string | undefined;
  constructor(reason: string, { path, line, field, cause }: ExperimentErrorPlace = {}) {
    const place = path === undefined ? "" : `${path}${line === undefined ? "" : `:${line}`}: `;
    super(visible(`${place}${reason}`, 4000), cause === undefined ? undefined : { cause });
    this.path = path;
    this.line = line;
    this.field = field;
  }
}
