// The root class of all errors, and the errors that every module throws. A module's own errors
// extend the root there.
import "./disposal.js";
import { nearest } from "./near-names.js";
import { describe, visible } from "./text.js";

/**
 * What went wrong, for a program:
 * - `unknown-field`: an option or field that nothing reads
 * - `value`: a value that its field does not take
 * - `shape`: sizes that do not go together, such as rows, columns and lengths
 * - `format`: the content of a file, or a text, is not what its format takes
 * - `file`: a file could not be read or written
 * - `lifecycle`: used before it is ready, while it is busy, or after its disposal
 * - `unavailable`: an engine, a library or an instruction that is not here
 * - `limit`: more memory, time or calls than there are
 * - `device`: a driver, a kernel or a worker thread failed
 * - `numeric`: a computation that did not converge or is not finite
 * - `aborted`: stopped by a signal
 */
export type ErrorCode =
  | "unknown-field"
  | "value"
  | "shape"
  | "format"
  | "file"
  | "lifecycle"
  | "unavailable"
  | "limit"
  | "device"
  | "numeric"
  | "aborted";

/** What an error knows of the thing that is wrong. */
export interface ErrorDetails {
  /** What is wrong, as a path: `feedback.scaling`. */
  readonly field?: string | undefined;
  /** What it is. */
  readonly value?: unknown;
  /** What it takes, in words. */
  readonly expected?: string | undefined;
  /** Options that would solve it, by name. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** The root of every error of this package. */
export class SpillwayError extends Error {
  override readonly name: string = "SpillwayError";
  readonly code: ErrorCode;
  /** What is wrong, as a path: `feedback.scaling`; undefined if no field is. */
  readonly field: string | undefined;
  /** What it is. */
  readonly value: unknown;
  /** What it takes, in words. */
  readonly expected: string | undefined;
  /** Options of the same call that would solve it, by name; undefined if none are known. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, sentence: string, { field, value, expected, settings, cause }: ErrorDetails = {}) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.code = code;
    this.field = field;
    this.value = value;
    this.expected = expected;
    this.settings = settings;
  }
}

/** The codes of what is wrong with an argument. */
export type ArgumentCode = "unknown-field" | "value" | "shape";

/** What an {@link ArgumentError} knows, and how its sentence is made. */
export interface ArgumentDetails extends ErrorDetails {
  /** Default "value". */
  readonly code?: ArgumentCode | undefined;
  /** What the sentence begins with, such as the name of a function. */
  readonly of?: string | undefined;
  /** The value in words, if `describe` would not say it well. */
  readonly shown?: string | undefined;
}

/** The most characters of a sentence about an argument. */
const mostSentence = 4000;

/** What was handed in cannot be used: an option, a field of a description, a series, a pattern. */
export class ArgumentError extends SpillwayError {
  override readonly name = "ArgumentError";
  declare readonly code: ArgumentCode;
  /** What is wrong, as a path: `feedback.scaling`; empty if no one field is. */
  declare readonly field: string;
  /** What the sentence begins with, such as the name of a function; undefined if nothing does. */
  readonly of: string | undefined;
  readonly #sentence: string;

  /** `field` is `value`; it takes `expected`. */
  constructor(field: string, value: unknown, expected: string, details: ArgumentDetails & { readonly sentence?: string } = {}) {
    const { code = "value", of, shown = describe(value), settings, cause } = details;
    const sentence = details.sentence ?? `${visible(field, 120)} is ${shown}; it takes ${expected}`;
    super(code, visible(of === undefined ? sentence : `${of}: ${sentence}`, mostSentence), { field, value, expected, settings, cause });
    this.of = of;
    this.#sentence = sentence;
  }

  /** An error with a sentence of its own: for arguments that are wrong together. */
  static because(sentence: string, details: ArgumentDetails = {}): ArgumentError {
    return new ArgumentError(details.field ?? "", details.value, details.expected ?? "", { ...details, sentence });
  }

  /** Sizes that do not go together. */
  static shape(sentence: string, details: ArgumentDetails = {}): ArgumentError {
    return ArgumentError.because(sentence, { ...details, code: "shape" });
  }

  /** The same error of a field that lies deeper: `path.` before its name. */
  under(path: string): ArgumentError {
    const field = `${path}.${this.field}`;
    return this.#again({ field, sentence: this.#sentence.replace(this.field, () => field) });
  }

  /** The same error with the location it comes from before the sentence. */
  at(location: string): ArgumentError {
    return this.#again({ of: this.of === undefined ? location : `${location}: ${this.of}` });
  }

  #again(changed: { readonly field?: string; readonly sentence?: string; readonly of?: string }): ArgumentError {
    const { code, field, value, expected = "", of } = this;
    return new ArgumentError(changed.field ?? field, value, expected, { code, sentence: this.#sentence, of, cause: this, ...changed });
  }

  /** A field that nothing reads, with the nearest known one. */
  static unknownField(field: string, value: unknown, known: readonly string[], of?: string): ArgumentError {
    return ArgumentError.because(unknownField(field, known), { code: "unknown-field", field, value, expected: known.join(", "), of });
  }
}

/** `unknown field "sedd": did you mean "seed"?`; the known fields if none is near. */
export function unknownField(field: string, known: readonly string[]): string {
  const near = nearest(field.split(".").at(-1) ?? field, known);
  return `unknown field "${visible(field, 120)}"${near ? `: did you mean "${near}"?` : `; known fields are ${known.join(", ")}`}`;
}

/** Something was used after its `dispose`. */
export class DisposedError extends SpillwayError {
  override readonly name = "DisposedError";

  constructor(what: string) {
    super("lifecycle", `${what} was disposed; create a new one`);
  }
}

/** A kernel was declared, or launched, with parameters or sizes that it does not take. */
export class LaunchError extends SpillwayError {
  override readonly name = "LaunchError";
  /** Undefined if no kernel is meant, as of a copy. */
  readonly kernel: string | undefined;

  constructor(kernel: string | undefined, what: string, details: ErrorDetails = {}) {
    super("value", visible(kernel === undefined ? what : `kernel ${kernel}: ${what}`, mostSentence), details);
    this.kernel = kernel;
  }
}

/** A call while another one is still running. */
export function busyError(what = "this reservoir"): SpillwayError {
  return new SpillwayError("lifecycle", `${what} is still running another call: await it first, or create a second one`);
}

/** Whether a computation did not converge, or is not finite. */
export function isNumeric(error: unknown): error is SpillwayError {
  return error instanceof SpillwayError && error.code === "numeric";
}

/** Errors that are expected: a class of them, or a test. */
export type ExpectedErrors<Expected> = (abstract new (...args: never[]) => Expected) | ((error: unknown) => error is Expected);

/** What work gives, or its error if that is expected; any other is thrown. */
export function orError<Result, Expected>(work: () => Result, expected: ExpectedErrors<Expected>): Result | Expected {
  try {
    return work();
  } catch (error) {
    if (isExpected(error, expected)) return error;
    throw error;
  }
}

/** The same of work that takes time. */
export async function orErrorLater<Result, Expected>(
  work: () => Promise<Result>,
  expected: ExpectedErrors<Expected>,
): Promise<Result | Expected> {
  try {
    return await work();
  } catch (error) {
    if (isExpected(error, expected)) return error;
    throw error;
  }
}

function isExpected<Expected>(error: unknown, expected: ExpectedErrors<Expected>): error is Expected {
  if (expected.prototype instanceof Error) return error instanceof (expected as abstract new () => Expected);
  return (expected as (error: unknown) => boolean)(error);
}

/** Work whose errors about arguments are of fields that lie deeper: `path.` before their names. */
export function under<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ArgumentError ? error.under(path) : error;
  }
}
