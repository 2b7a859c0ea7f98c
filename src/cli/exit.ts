// What an error means to a shell: the sentence on standard error, and the exit code. It decides
// nothing else.

import { type ErrorCode, SpillwayError } from "@spillway/core/errors.js";
import { visibleLines } from "@spillway/core/text.js";
import { tooManyFiles } from "@spillway/io/files.js";
import { DifferentResultsError } from "@spillway/search/different-results.js";
import { StorageAwayError } from "@spillway/search/patience.js";

/**
 * 2: the user can mend it. 1: it failed. 130: stopped by a signal; of SIGTERM the supervisor makes
 * 143. 3: two results of one trial differ. 75, as EX_TEMPFAIL of sysexits.h: work is left for the
 * same command.
 */
export const exitCodes = { success: 0, failure: 1, usage: 2, different: 3, workLeft: 75, interrupted: 130 } as const;

/** What the user gave was wrong, in a sentence. */
export class UsageError extends SpillwayError {
  override readonly name = "UsageError";

  constructor(sentence: string, { cause }: { readonly cause?: unknown } = {}) {
    super(cause instanceof SpillwayError ? cause.code : "value", sentence, { cause });
  }
}

/**
 * Codes of mistakes that the user can mend. A full disk, or another failure of a file, is not one.
 */
const usageCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["unknown-field", "value", "shape", "format", "unavailable", "limit"]);

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SpillwayError)) return exitCodes.failure;
  if (error.code === "aborted") return exitCodes.interrupted;
  if (error instanceof DifferentResultsError) return exitCodes.different;
  if (error instanceof StorageAwayError) return exitCodes.workLeft;
  if (error.code === "file")
    return "problem" in error && error.problem !== "full" && error.problem !== "other" ? exitCodes.usage : exitCodes.failure;
  return usageCodes.has(error.code) ? exitCodes.usage : exitCodes.failure;
}

/** What the engine of JavaScript says of an array that does not fit into memory. */
const outOfMemory =
  /allocation failed|could not allocate|out of memory|cannot allocate|Invalid (typed )?array length|Array buffer|Invalid string length/i;

/**
 * The sentence for a person. A defect of the program, which a person cannot act on, comes with its
 * line in the code.
 */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return visibleLines(String(error));
  const code = "code" in error ? error.code : undefined;
  if (code === "EMFILE" || code === "ENFILE") return `${tooManyFiles}: ${visibleLines(error.message)}`;
  const isFull =
    (error.constructor === RangeError && outOfMemory.test(error.message)) || code === "ERR_WORKER_OUT_OF_MEMORY" || code === "ENOMEM";
  if (isFull) return `it takes more memory than there is (${error.message}); use fewer neurons or steps, or a machine with more`;
  const isDefect = error instanceof ReferenceError || error instanceof TypeError;
  return visibleLines(isDefect && error.stack !== undefined ? error.stack : error.message);
}
