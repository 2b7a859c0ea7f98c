// The body of a request: JSON, within limits of size and time. What is too long by its own account
// is not read.
import { formatBytes } from "@spillway/core/bytes.js";
import { describe } from "@spillway/core/text.js";
import { type ByteBudget, bodyMs } from "./limits.js";
import { RequestError } from "./refused.js";

/** What a handler reads of a request: a `Request`, or what another server makes of its own. */
export interface Asked extends Pick<Request, "method" | "url" | "signal"> {
  readonly headers: Pick<Headers, "get">;
  readonly body: { getReader(): Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> } | null | undefined;
  /** Reads a body at once, where requests have no `body`: in Firefox. */
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** A body that was read, and the bytes of the budget that it holds. */
export interface ReadBody {
  readonly value: unknown;
  /** Gives them back. */
  readonly release: () => void;
}

/** Reads a body; its first `free` bytes are not of the budget. @throws RequestError, or the signal's reason */
export async function jsonBody(
  request: Pick<Asked, "headers" | "body" | "arrayBuffer">,
  limits: { readonly longest: number; readonly free: number; readonly budget: ByteBudget; readonly signal: AbortSignal },
): Promise<ReadBody> {
  const { longest, free, budget, signal } = limits;
  checkType(request);
  const tooLong = () => new RequestError(413, "limit", `the body is longer than ${formatBytes(longest)}; send less in one request`);
  const length = request.headers.get("content-length");
  const declared = length === null ? undefined : Number(length);
  if (declared !== undefined && declared > longest) throw tooLong();
  const body = request.body === undefined ? new Blob([await request.arrayBuffer!()]).stream() : request.body;
  const reader = body?.getReader();
  const deadline = deadlineOf(bodyMs, signal);
  const parts: Uint8Array[] = [];
  let release: (() => void) | undefined;
  let bytes = 0;
  deadline.start();
  try {
    for (;;) {
      const { done, value: part } = (await (reader && deadline.orLate(reader.read()))) ?? { done: true };
      if (done) return { value: parsed(parts, bytes), release: release ?? (() => {}) };
      bytes += part.length;
      if (bytes > longest) throw tooLong();
      parts.push(part);
      if (bytes <= free || release) continue;
      deadline.stop();
      release = await budget.take(declared ?? longest, signal);
      deadline.start();
    }
  } catch (error) {
    release?.();
    reader?.cancel(error).catch(() => {});
    throw error;
  } finally {
    deadline.stop();
  }
}

/** A time for a body to come to its end, which stops while the body waits for its bytes. */
function deadlineOf(ms: number, signal: AbortSignal) {
  let fail!: (error: Error) => void;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    fail = reject;
  });
  late.catch(() => {});
  signal.addEventListener("abort", () => fail(signal.reason as Error), { once: true });
  const error = () => new RequestError(408, "limit", `the body did not come to its end within ${ms / 1000} s`);
  return {
    start: () => {
      timer = setTimeout(() => fail(error()), ms);
    },
    stop: () => clearTimeout(timer),
    orLate: <T>(work: Promise<T>): Promise<T> => Promise.race([work, late]),
  };
}

function checkType({ headers }: Pick<Asked, "headers">): void {
  const type = headers.get("content-type") ?? undefined;
  const encoding = headers.get("content-encoding") ?? "identity";
  const [, charset = "utf-8"] = /^application\/json(?:\s*;\s*charset="?([^";]*)"?)?\s*$/i.exec(type ?? "") ?? ["", ""];
  if (charset.toLowerCase() !== "utf-8")
    throw new RequestError(415, "format", `the content type is ${describe(type)}; it takes application/json`);
  if (encoding !== "identity")
    throw new RequestError(415, "format", `the content encoding is ${describe(encoding)}; it takes a body as it is`);
}

/** @throws RequestError for what is no JSON in UTF-8 */
function parsed(parts: readonly Uint8Array[], length: number): unknown {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? describe((error as Error).message).slice(1, -1) : "its bytes are no UTF-8";
    throw new RequestError(400, "format", `the body is no JSON: ${why}`);
  }
}
