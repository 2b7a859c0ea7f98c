// What every HTTP server here does: bounded connections, own names and origins, refusals on a bare
// socket. It knows no page and no model.

import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { SpillwayError } from "@spillway/core/errors.js";
import { describe } from "@spillway/core/text.js";

/** Why something is not answered: an HTTP status and a sentence. */
export type Refusal = readonly [status: number, sentence: string];

/** What a request may take until it has come to its end. */
export const requestLimits = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  requireHostHeader: false,
};
/** A connection that says nothing for so long is closed. */
export const idleMs = 30_000;
/** A refused connection has so long to read why. */
export const partingMs = 2000;

/** How a refusal is written: a content type and a body. */
export type Wording = (refusal: Refusal) => readonly [type: string, body: string];

const plainly: Wording = ([, sentence]) => ["text/plain; charset=utf-8", `${sentence}\n`];

/**
 * Gives every connection a listener for its errors and an end to its silence; gives the connections
 * that are open.
 */
export function boundConnections(server: Server, most: number, wording: Wording = plainly): ReadonlySet<Duplex> {
  const open = new Set<Duplex>();
  server.maxConnections = most;
  server.setTimeout(idleMs);
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") socket.destroy();
    else if (error.code === "HPE_HEADER_OVERFLOW")
      endWith(socket, [431, `the headers are longer than ${requestLimits.maxHeaderSize} bytes`], wording);
    else if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") endWith(socket, [408, "the request did not come to its end"], wording);
    else endWith(socket, [400, "this is no HTTP request"], wording);
  });
  return open;
}

/** Answers on the bare socket and closes it, whether the other side reads or not. */
export function endWith(socket: Duplex, refusal: Refusal, wording: Wording = plainly): void {
  const [status] = refusal;
  const [type, body] = wording(refusal);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n${body}`);
  socket.resume();
  const parting = setTimeout(() => socket.destroy(), partingMs);
  socket.once("close", () => clearTimeout(parting));
}

/**
 * The names of the server on the port that a request came to: those of the loopback, and the
 * address of the connection if it is another.
 */
function ownHosts({ socket }: IncomingMessage): readonly string[] {
  const { localPort: port, localAddress = "127.0.0.1" } = socket;
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, "");
  const names = [...new Set(["127.0.0.1", "localhost", isIP(address) === 6 ? `[${address}]` : address])];
  return [...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])];
}

/**
 * Refuses a request to another name: one that resolves to this machine without being its own.
 * `names` are further ones; one without a port is taken with any. `what` is the server in words.
 */
export function hostRefusal(request: IncomingMessage, what: string, names: readonly string[] = []): Refusal | undefined {
  const { host } = request.headers;
  if (host !== undefined && isOwn(host, request, names)) return undefined;
  return [403, `the host is ${describe(host)}; ${what} answers to ${[ownHosts(request)[0], ...names].join(", ")}`];
}

/** Refuses a request that a page of another site sent. `what` is what was asked for, in words. */
export function originRefusal(request: IncomingMessage, what: string, names: readonly string[] = []): Refusal | undefined {
  const { origin = "" } = request.headers;
  const [, scheme, host = ""] = /^(https?):\/\/([^/]+)$/.exec(origin) ?? [];
  const hosts = ownHosts(request);
  if (scheme === "http" && hosts.includes(host)) return undefined;
  if (names.length > 0 && host !== "" && isAmong(host, names)) return undefined;
  return [403, `the origin is ${describe(request.headers.origin)}; ${what} takes http://${hosts[0]}`];
}

/** Refuses a target that is no path. */
export function targetRefusal({ url }: IncomingMessage): Refusal | undefined {
  return url?.startsWith("/") ? undefined : [400, `the target is ${describe(url)}; it takes a path`];
}

function isOwn(host: string, request: IncomingMessage, names: readonly string[]): boolean {
  return ownHosts(request).includes(host.toLowerCase()) || isAmong(host, names);
}

function isAmong(host: string, names: readonly string[]): boolean {
  const asked = host.toLowerCase();
  return names.some((name) => [asked, asked.replace(/:\d+$/, "")].includes(name.toLowerCase()));
}

/** The path of a request, without its query. */
export function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0]!;
}

/**
 * Listens, and gives the port. @throws SpillwayError if the port is taken or the address is not
 * here
 */
export function listen(server: Server, port: number, host = "127.0.0.1"): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const sentence =
        code === "EADDRINUSE"
          ? `port ${port} is taken; choose another with --port, or 0 for one that is free`
          : code === "EADDRNOTAVAIL" || code === "ENOTFOUND"
            ? `${describe(host)} is no address of this machine; take 127.0.0.1, or 0.0.0.0 for all that it has`
            : code === "EACCES"
              ? `port ${port} takes rights that this user lacks; take one from 1024`
              : `port ${port} on ${describe(host)} cannot be listened on: ${message}`;
      reject(new SpillwayError("unavailable", sentence));
    });
    // A backlog for a thousand clients that come at once; of those beyond it the kernel tells
    // nobody.
    server.listen(port, host, 4096, () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
