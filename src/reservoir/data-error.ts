// The error for data, apart from the checks that throw it.

/** Data that cannot be used: a wrong shape, no rows, or a value that is not finite. */
export class DataError extends Error {
  override readonly name = "DataError";
}
