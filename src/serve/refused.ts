// What a request is answered that is not served: an HTTP status, and the package's own sentence and
// code.
import { type ErrorCode, SpillwayError } from "@spillway/core/errors.js";
import type { Refusal, Wording } from "./http-server.js";

/** A request that is refused, with the status that says so. */
export class RequestError extends SpillwayError {
  override readonly name = "RequestError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ErrorCode, sentence: string, field?: string, headers: Readonly<Record<string, string>> = {}) {
    super(code, sentence, { field });
    this.status = status;
    this.headers = headers;
  }
}

/** A request that asks for more than is done at once. */
export const tooMuch = (sentence: string) => new RequestError(422, "limit", sentence);

/** What a client reads of an error. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly field?: string };
}

/** What each code of the package is in HTTP; of others it is a failure of the server. */
const statuses: Partial<Readonly<Record<ErrorCode, number>>> = {
  "unknown-field": 400,
  value: 400,
  shape: 400,
  format: 400,
  numeric: 422,
  limit: 422,
};

/**
 * The status of an error, and what the client reads of it. What is no error of a request's is kept
 * back.
 */
export function answerOf(error: unknown): readonly [status: number, body: ErrorBody] {
  const status = error instanceof RequestError ? error.status : error instanceof SpillwayError ? (statuses[error.code] ?? 500) : 500;
  if (status === 500) return [500, bodyOf("device", "the server failed at this request; its log says why")];
  const { code, message, field } = error as SpillwayError;
  return [status, bodyOf(code, message, field)];
}

function bodyOf(code: ErrorCode, message: string, field?: string): ErrorBody {
  return { error: { code, message, ...(field ? { field } : {}) } };
}

/** The code of a refusal that has a status alone. */
const codes: Readonly<Record<number, ErrorCode>> = { 400: "format", 403: "value", 408: "limit", 431: "limit" };

/** A refusal as an error. */
export function asError([status, sentence]: Refusal): RequestError {
  return new RequestError(status, codes[status] ?? "value", sentence);
}

/** A refusal in JSON, as every other answer is. */
export const inJson: Wording = (refusal) => ["application/json", `${JSON.stringify(answerOf(asError(refusal))[1])}\n`];
