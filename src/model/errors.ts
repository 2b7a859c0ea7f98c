// What can go wrong with a model as such; files and data have errors of their own.

/** A model was asked for something that takes training first. */
export class NotFittedError extends Error {
  override readonly name = "NotFittedError";
  constructor(what: string) {
    super(`this ${what} is not trained yet; call fit first`);
  }
}
