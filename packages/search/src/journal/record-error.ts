// What a line of a journal is refused with; the storage says which line it was.
import { SpillwayError } from "@spillway/core/errors.js";

/** Why a line is no record. */
export class RecordError extends SpillwayError {
  override readonly name: string = "RecordError";

  constructor(reason: string) {
    super("format", reason);
  }
}
