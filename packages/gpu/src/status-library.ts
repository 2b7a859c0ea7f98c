// A C library whose calls give a status: its functions by name, and an error for every status but
// success. Finding one is library-search.ts.
import { SpillwayError } from "@spillway/core/errors.js";
import type { ArgumentsOf, Signatures } from "./c-functions.js";
import { ForeignLibrary } from "./ffi.js";
import { loadFirst, type SearchedSystem, thisSystem } from "./library-search.js";

/** A call of a library beside the driver gave another status than success. */
export class LibraryCallError extends SpillwayError {
  override readonly name: string = "LibraryCallError";
  readonly statusCode: number;
  /** Its name, such as CUBLAS_STATUS_ALLOC_FAILED. */
  readonly status: string;
  readonly call: string;

  constructor(statusCode: number, status: string, call: string, library = "") {
    super("device", `${status} (${statusCode}) from ${call}${library && ` of ${library}`}`);
    this.statusCode = statusCode;
    this.status = status;
    this.call = call;
  }
}

/** A library whose functions give 0 for success. */
export class StatusLibrary<Calls extends Signatures> extends ForeignLibrary<Calls> {
  readonly #failure: (code: number, call: string) => Error;

  /**
   * `needed` must be there: a library without it is another or too old. @throws what koffi throws;
   * MissingCallError.
   */
  constructor(path: string, calls: Calls, failure: (code: number, call: string) => Error, needed?: keyof Calls & string) {
    super(path, calls);
    this.#failure = failure;
    if (needed !== undefined) this.resolve(needed);
  }

  /** The call's status. */
  status<Name extends keyof Calls & string>(name: Name, ...values: ArgumentsOf<Calls[Name]["arguments"]>): number {
    return this.resolve(name)(...values);
  }

  /** @throws the library's error if the status is none of success. */
  call<Name extends keyof Calls & string>(name: Name, ...values: ArgumentsOf<Calls[Name]["arguments"]>): void {
    const code = this.status(name, ...values);
    if (code !== 0) throw this.#failure(code, name);
  }
}

/**
 * Gives a function that loads a library at its first call: the one that a variable names, or else
 * the first that loads of the usual paths. `needed` and `failure` are those of StatusLibrary.
 * @throws LibraryError naming every path that was tried
 */
export function lazyLibrary<Calls extends Signatures>(
  what: string,
  candidates: (system: SearchedSystem) => readonly string[],
  calls: Calls,
  failure: (code: number, call: string) => Error,
  needed: keyof Calls & string,
  advice: string,
): () => StatusLibrary<Calls> {
  let loaded: StatusLibrary<Calls> | undefined;
  return () => {
    loaded ??= loadFirst(what, candidates(thisSystem()), (path) => new StatusLibrary(path, calls, failure, needed), advice);
    return loaded;
  };
}
