// What is wrong with an experiment, its file or its data. Errors about a single field are
// ArgumentError until the file they stand in is known.
import { SpillwayError } from "@spillway/core/errors.js";
import { visible } from "@spillway/core/text.js";

/** Where an {@link ExperimentError} stands. */
export interface ExperimentErrorLocation {
  /** The experiment file. */
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  /** The field, as a path from the top of the file. */
  readonly field?: string | undefined;
  readonly settings?: SpillwayError["settings"];
  readonly cause?: unknown;
}

/**
 * An experiment that cannot be run as it stands: a field, its data or their split. The sentence
 * begins with the path and the line of the experiment file if they are known.
 */
export class ExperimentError extends SpillwayError {
  override readonly name = "ExperimentError";
  readonly path: string | undefined;
  readonly line: number | undefined;
  /**
   * `field` is a path from the top of the file; code, value and what it takes are those of the
   * cause.
   */
  constructor(reason: string, { path, line, field, settings, cause }: ExperimentErrorLocation = {}) {
    const location = path === undefined ? "" : `${path}${line === undefined ? "" : `:${line}`}: `;
    const { code = "value", value, expected } = cause instanceof SpillwayError ? cause : {};
    super(code, visible(`${location}${reason}`, 4000), { field, value, expected, settings, cause });
    this.path = path;
    this.line = line;
  }
}
