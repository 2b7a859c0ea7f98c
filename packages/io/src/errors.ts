// What can go wrong with a file, in words: the file itself, or what stands in it.
import { ArgumentError, type ErrorDetails, SpillwayError } from "@spillway/core/errors.js";
import { describe, visible } from "@spillway/core/text.js";

/** What kind of trouble a file gave. */
export type FileProblem = "missing" | "notReadable" | "notWritable" | "full" | "folder" | "content" | "unavailable" | "other";

/** A file could not be read or written. The sentence is "path: reason". */
export class FileError extends SpillwayError {
  override readonly name: string = "FileError";
  /** The path as it was given, or the name of the data if it came from memory. */
  readonly path: string;
  /** What went wrong and what helps, as a sentence without the path. */
  readonly reason: string;
  readonly problem: FileProblem;
  constructor(path: string, reason: string, problem: FileProblem, cause?: unknown, settings?: ErrorDetails["settings"]) {
    super(problem === "content" ? "format" : "file", `${visible(path)}: ${visible(reason, 2000)}`, { cause, settings });
    this.path = path;
    this.reason = reason;
    this.problem = problem;
  }
}

/** The formats that are read here. */
export type FileFormat = "text" | "CSV" | ".ts" | "NPY" | "NPZ" | "WAV" | "safetensors" | "Parquet";

/** The content of a file is not what its format takes. */
export class FormatError extends FileError {
  override readonly name: string = "FormatError";
  readonly format: FileFormat;
  /**
   * Where: `row` and `column` of a CSV or Parquet file, `line`, `case` and `channel` of a `.ts`, `tensor` of a
   * safetensors file, as far as they are known.
   */
  readonly location: Readonly<Record<string, string | number>>;
  constructor(
    format: FileFormat,
    source: string,
    reason: string,
    location: Readonly<Record<string, string | number>> = {},
    cause?: unknown,
    settings?: ErrorDetails["settings"],
  ) {
    super(source, reason, "content", cause, settings);
    this.format = format;
    this.location = location;
  }
}

/** What makes the errors of one file: a reason, and where in the file and why, as far as known. */
export function failing(format: FileFormat, source: string) {
  return (reason: string, location: FormatError["location"] = {}, cause?: unknown, settings?: ErrorDetails["settings"]): FormatError =>
    new FormatError(format, source, reason, location, cause, settings);
}

/** @throws ArgumentError for what is not bytes, as an ArrayBuffer is not */
export function checkBytes(bytes: Uint8Array, source: string): void {
  if (!(bytes instanceof Uint8Array))
    throw ArgumentError.because(`${source}: the bytes are ${describeBytes(bytes)}; they take a Uint8Array, such as new Uint8Array(buffer)`);
}

/** @throws ArgumentError if it is not text */
export function checkText(text: string, source: string): void {
  if (typeof text !== "string") throw new ArgumentError(source, text, "a text");
}

function describeBytes(bytes: unknown): string {
  return bytes instanceof ArrayBuffer ? "an ArrayBuffer" : describe(bytes);
}

/**
 * What every parser takes: the name that its errors call the data by. File functions put the path
 * here.
 */
export interface SourceOptions {
  /** The name that errors call the data by. */
  readonly source?: string | undefined;
}
