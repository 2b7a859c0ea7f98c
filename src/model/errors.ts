// What can go wrong with a model as such; files and data have errors of their own.

import { SpillwayError } from "@spillway/core/errors.js";
/** A model was asked for something that takes training first. */
export class NotFittedError extends SpillwayError {
  override readonly name = "NotFittedError";
  constructor(what: string) {
    super("lifecycle", `this ${what} is not trained yet; call fit first`);
  }
}
