// What a line of a journal is refused with; the storage says which line it was.

/** Why a line is no record. */
export class RecordError extends Error {}
