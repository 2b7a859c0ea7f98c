// The lab's server: the built page on a loopback address, and a WebSocket over which the page can
// ask for runs on this machine's engines.
import { SpillwayError } from "../core/errors.js";
import { resolve } from "../core/options.js";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { packageVersion } from "../model/version.js";
import { describe } from "../numerics/index.js";
import { chooseEngine } from "../reservoir/index.js";
import { longestMessage } from "./messages.js";
import { type LabOptions, labTable } from "./options.js";
import { readPage, refuse } from "./page.js";
import { whatIsHere } from "./settings.js";
import { RunQueue, serveClient } from "./socket.js";

/** A lab that is open. */
export interface Lab {
  /** Where the page is, token included. */
  readonly url: string;
  readonly port: number;
  /** Ends runs and connections, and stops listening. */
  close(): Promise<void>;
}

/** Connections at a time, and how many of them may be pages with a socket. */
const most = { connections: 128, pages: 8 };
/** What a request may take; a connection that says nothing for `idleMs` is closed. */
const limits = {
  maxHeaderSize: 16_384,
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  requireHostHeader: false,
};
const idleMs = 30_000;
/** A refused connection has so long to read why. */
const partingMs = 2000;

/** Why something is not answered: an HTTP status and a sentence. */
type Refusal = readonly [status: number, sentence: string];

/**
 * Opens the lab on 127.0.0.1. It answers only to its own names, so a foreign name that resolves to
 * this machine shows nothing. The URL carries a token that the socket asks for, so other pages and
 * users of this machine cannot start work here. The socket refuses foreign origins as well.
 * @throws Error if the port is taken, or the page was not built
 */
export async function openLab(options: LabOptions): Promise<Lab> {
  const { page: folder, port: asked, engine: wanted } = resolve(labTable, options, "openLab");
  const token = randomBytes(16).toString("hex");
  const { engine, reason } = await chooseEngine(wanted);
  const page = await readPage(folder);
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true, maxPayload: longestMessage, autoPong: false });
  const queue = new RunQueue(wanted);
  const server = createServer(limits, (request, response) => {
    const refusal = hostRefusal(request) ?? targetRefusal(request);
    if (refusal) refuse(response, ...refusal);
    else page(pathOf(request), request, response);
  });
  server.on("upgrade", (request, socket, head) => {
    const full: Refusal | undefined = sockets.clients.size < most.pages ? undefined : [503, `${most.pages} pages are connected; close one`];
    const refusal = hostRefusal(request) ?? targetRefusal(request) ?? originRefusal(request) ?? tokenRefusal(request, token) ?? full;
    if (refusal) return endWith(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (client) =>
      serveClient(client, queue, { type: "hello", engine: engine.name, reason, version: packageVersion, offered: whatIsHere() }),
    );
  });
  const connections = boundConnections(server);
  const port = await listen(server, asked);
  return {
    url: `http://127.0.0.1:${port}/?token=${token}`,
    port,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const connection of connections) connection.destroy();
      await Promise.all([closed, queue.idle()]);
    },
  };
}

/**
 * Gives every connection a listener for its errors and an end to its silence; gives the connections
 * that are open.
 */
function boundConnections(server: Server): ReadonlySet<Duplex> {
  const open = new Set<Duplex>();
  server.maxConnections = most.connections;
  server.setTimeout(idleMs);
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") socket.destroy();
    else if (error.code === "HPE_HEADER_OVERFLOW") endWith(socket, [431, `the headers are longer than ${limits.maxHeaderSize} bytes`]);
    else if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") endWith(socket, [408, "the request did not come to its end"]);
    else endWith(socket, [400, "this is no HTTP request"]);
  });
  return open;
}

/** Answers on the bare socket and closes it, whether the other side reads or not. */
function endWith(socket: Duplex, [status, sentence]: Refusal): void {
  const reason = STATUS_CODES[status];
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${sentence}\n`);
  socket.resume();
  const parting = setTimeout(() => socket.destroy(), partingMs);
  socket.once("close", () => clearTimeout(parting));
}

/** The lab's own names on the port that a request came to. */
function ownHosts({ socket }: IncomingMessage): readonly string[] {
  const port = socket.localPort;
  const names = ["127.0.0.1", "localhost"];
  return [...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])];
}

function hostRefusal(request: IncomingMessage): Refusal | undefined {
  const [known, ...others] = ownHosts(request);
  const { host } = request.headers;
  if (host !== undefined && [known, ...others].includes(host.toLowerCase())) return undefined;
  return [403, `the host is ${describe(host)}; the lab answers to ${known}`];
}

function originRefusal(request: IncomingMessage): Refusal | undefined {
  const { origin } = request.headers;
  const hosts = ownHosts(request);
  if (hosts.some((host) => origin === `http://${host}`)) return undefined;
  return [403, `the origin is ${describe(origin)}; the socket takes http://${hosts[0]}`];
}

function targetRefusal({ url }: IncomingMessage): Refusal | undefined {
  return url?.startsWith("/") ? undefined : [400, `the target is ${describe(url)}; it takes a path`];
}

function tokenRefusal({ url = "" }: IncomingMessage, token: string): Refusal | undefined {
  const query = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const given = Buffer.from(new URLSearchParams(query).get("token") ?? "");
  const wanted = Buffer.from(token);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return undefined;
  return [403, "the token is missing or wrong; open the page by the address that spillway lab printed"];
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0]!;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new SpillwayError("unavailable", `port ${port} is taken; choose another with --port, or 0 for one that is free`)
          : error,
      );
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
