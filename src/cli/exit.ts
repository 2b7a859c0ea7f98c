// What an error means to a shell: the sentence on standard error, and the exit code. It decides nothing else.

import { visibleLines } from "../core/text.js";

/** 2: the user can mend it. 1: it failed. 130: stopped by a signal; of SIGTERM the supervisor makes 143. */
export const exitCodes = { success: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** What the user gave was wrong, in a sentence. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Names of errors that say what was wrong with what was handed in. Names, so that no room is loaded to ask. */
const usageErrors = new Set([
  "UsageError",
  "ExperimentError",
  "ConfigError",
  "DataError",
  "TaskOptionError",
  "MetricError",
  "FormatError",
  "EngineUnavailableError",
  "EngineCapacityError",
]);

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Error)) return exitCodes.failure;
  if (error.name === "AbortError") return exitCodes.interrupted;
  if (error.name === "FileError") {
    const problem = "problem" in error ? error.problem : undefined;
    return problem === "full" || problem === "other" ? exitCodes.failure : exitCodes.usage;
  }
  return usageErrors.has(error.name) ? exitCodes.usage : exitCodes.failure;
}

/** What the engine of JavaScript says of an array that there is no room for. */
const noRoom = /allocation failed|Invalid (typed )?array length|Array buffer|Invalid string length/;

/** The sentence for a person. A defect of the program, which a person cannot act on, comes with its place in the code. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return visibleLines(String(error));
  if (error.constructor === RangeError && noRoom.test(error.message))
    return `it takes more memory than there is (${error.message}); use fewer neurons or steps, or a machine with more`;
  const isDefect =
    error instanceof ReferenceError ||
    (error instanceof TypeError && /^Cannot |is not (a function|iterable|a constructor)/.test(error.message));
  return visibleLines(isDefect && error.stack !== undefined ? error.stack : error.message);
}
