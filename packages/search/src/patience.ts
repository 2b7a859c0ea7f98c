// A storage that is away for a while: a folder of a network that does not answer, a server that is
// started again. What it is asked for is tried again. It knows nothing of what is kept there.
import { SpillwayError } from "@spillway/core/errors.js";
import { FileError } from "@spillway/io/errors.js";
import type { StudyStorage } from "./storage.js";

/** Milliseconds before a call is tried again: first, and at most. */
const firstPause = 1000;
const longestPause = 60_000;

/** A storage did not come back in time. What was evaluated and not kept is in `spool`. */
export class StorageAwayError extends SpillwayError {
  override readonly name = "StorageAwayError";
  /** The name of the storage. */
  readonly storage: string;
  /** The file that holds what could not be kept there; undefined if there is none. */
  readonly spool: string | undefined;

  constructor(storage: string, sentence: string, options: { readonly spool?: string | undefined; readonly cause?: unknown } = {}) {
    super("unavailable", sentence, { cause: options.cause });
    this.storage = storage;
    this.spool = options.spool;
  }
}

/** How long to wait for a storage, and what to call then. */
export interface PatienceOptions {
  /** Milliseconds from the first call that fails. */
  readonly patienceMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called at the first call that fails, with the reason, and when one works again, without. */
  readonly onChange?: (away: Error | undefined) => unknown;
}

/**
 * The same storage, whose calls are tried again while it is away, after 1 second, then 2, 4 and so
 * on up to 60. Before it has answered once, and if what stands in it is no journal, a call fails as
 * it does without. A call that failed may have been carried out; its writer has to bear that.
 * @throws StorageAwayError from a call, if it stays away
 */
export function patientStorage(storage: StudyStorage, options: PatienceOptions): StudyStorage {
  const { name } = storage;
  const { patienceMs, signal, onChange } = options;
  let hasAnswered = false;
  /** When the first call failed of those that fail now. */
  let since: number | undefined;
  const waitAfter = async (error: Error, wait: number): Promise<void> => {
    const now = performance.now();
    if (since === undefined) await onChange?.(error);
    since ??= now;
    const left = since + patienceMs - now;
    if (left > 0 && !signal.aborted) await pause(Math.min(wait, left), signal);
    if (left > 0 && !signal.aborted) return;
    const seconds = Math.round((performance.now() - since) / 1000);
    throw new StorageAwayError(name, `${name} is away, for ${seconds} s now: ${error.message}`, { cause: error });
  };
  const patiently = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    for (let wait = firstPause; ; wait = Math.min(2 * wait, longestPause)) {
      try {
        const result = await call();
        hasAnswered = true;
        if (since !== undefined) await onChange?.(undefined);
        since = undefined;
        return result;
      } catch (error) {
        if (!hasAnswered || !isAway(error)) throw error;
        await waitAfter(error as Error, wait);
      }
    }
  };
  return {
    name,
    append: (operations, expected) => patiently(() => storage.append(operations, expected)),
    read: (from) => patiently(() => storage.read(from)),
    close: () => storage.close(),
  };
}

/** Whether a call may work later that failed now: no record, no mistake of the program. */
function isAway(error: unknown): boolean {
  if (error instanceof FileError) return error.problem !== "content";
  return error instanceof SpillwayError && (error.code === "unavailable" || error.code === "file");
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((later) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      later();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
