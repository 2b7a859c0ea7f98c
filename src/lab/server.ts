// The lab's server: the built page on a loopback address, and a WebSocket over which the page can
// ask for runs on this machine's engines.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { basename, extname, join } from "node:path";
import { SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { wasmUrls } from "@spillway/numerics/wasm/index.js";
import type { WebSocket } from "ws";
import { packageVersion } from "../model/version.js";
import { chooseEngine } from "../reservoir/index.js";
import {
  boundConnections,
  endWith,
  hostRefusal,
  listen,
  originRefusal,
  pathOf,
  type Refusal,
  requestLimits,
  targetRefusal,
} from "../serve/http-server.js";
import { longestMessage, parseRequest, type ServerMessage } from "./messages.js";
import { type LabOptions, labTable } from "./options.js";
import { runRequest } from "./run.js";
import { whatIsHere } from "./settings.js";

/** Answers requests for the page's files. */
type Page = (path: string, request: IncomingMessage, response: ServerResponse) => void;

const types = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".wasm", "application/wasm"],
  [".svg", "image/svg+xml"],
]);

/** A page may load from itself and speak to its own socket, and nothing else. */
const policy =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Sent with every answer. */
const headers = {
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

/** Reads the page of a folder. @throws Error if the folder has no index.html */
async function readPage(folder: string): Promise<Page> {
  const files = new Map<string, { readonly body: Buffer; readonly type: string }>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length).replaceAll("\\", "/").replace(/^\/*/, "/");
    files.set(name, { body: await readFile(path), type: types.get(extname(name)) ?? "application/octet-stream" });
  }
  const index = files.get("/index.html");
  if (!index) throw new SpillwayError("file", `${folder} holds no page; build it with npm run build`);
  files.set("/", index);
  for (const url of wasmUrls()) files.set(`/assets/${basename(url.pathname)}`, { body: await readFile(url), type: "application/wasm" });
  return (path, request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(response, 405, "the lab takes GET and HEAD");
    const file = files.get(path);
    if (!file) return refuse(response, 404, "there is no such file");
    response.writeHead(200, { ...headers, "Content-Type": file.type, "Content-Length": file.body.length });
    response.end(request.method === "HEAD" ? undefined : file.body);
  };
}

/** Answers with a sentence and closes the connection, without waiting for a body. */
function refuse(response: ServerResponse, status: number, sentence: string): void {
  const body = Buffer.from(`${sentence}\n`);
  const type = { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length };
  response.writeHead(status, { ...headers, ...type, Connection: "close" }).end(body);
}

/** Bytes that a page may leave unread before its socket is ended. */
const mostUnread = 2 ** 20;
/** A page that has not answered a ping by the next one is gone. */
const pingMs = 30_000;

/** Runs of all pages, one after the other: each wants the whole machine. */
class RunQueue {
  readonly engine: string | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(engine: string | undefined) {
    this.engine = engine;
  }

  /** Does `work` after what was asked for before. */
  add(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }

  /** Resolves when nothing is running. */
  idle(): Promise<void> {
    return this.#last;
  }
}

/** Greets a page and answers its messages until its socket closes, which ends its run. */
function serveClient(client: WebSocket, queue: RunQueue, hello: ServerMessage): void {
  const stop = new AbortController();
  let running: number | undefined;
  let listening = true;
  const whileRead = (act: () => void) => {
    if (client.bufferedAmount > mostUnread) client.terminate();
    else if (client.readyState === client.OPEN) act();
  };
  const send = (message: ServerMessage) => whileRead(() => client.send(JSON.stringify(message)));
  const pings = setInterval(() => {
    if (!listening) client.terminate();
    listening = false;
    whileRead(() => client.ping());
  }, pingMs);
  // A frame that the protocol does not allow: ws has closed the socket with the code that says why.
  client.on("error", () => {});
  client.on("pong", () => {
    listening = true;
  });
  client.on("ping", (data) => whileRead(() => client.pong(data)));
  client.on("close", () => {
    clearInterval(pings);
    stop.abort();
  });
  client.on("message", (data) => {
    const request = parseRequest(String(data));
    if (request.type === "error") return send(request);
    const { id } = request;
    if (running !== undefined) return send({ type: "error", id, message: `run ${running} is under way; wait for its result` });
    running = id;
    void queue
      .add(() => runRequest(request, queue.engine, stop.signal, send))
      .then(() => {
        running = undefined;
      });
  });
  send(hello);
}

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
  const server = createServer(requestLimits, (request, response) => {
    const refusal = hostRefusal(request, "the lab") ?? targetRefusal(request);
    if (refusal) refuse(response, ...refusal);
    else page(pathOf(request), request, response);
  });
  server.on("upgrade", (request, socket, head) => {
    const full: Refusal | undefined = sockets.clients.size < most.pages ? undefined : [503, `${most.pages} pages are connected; close one`];
    const refusal =
      hostRefusal(request, "the lab") ??
      targetRefusal(request) ??
      originRefusal(request, "the socket") ??
      tokenRefusal(request, token) ??
      full;
    if (refusal) return endWith(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (client) =>
      serveClient(client, queue, { type: "hello", engine: engine.name, reason, version: packageVersion, offered: whatIsHere() }),
    );
  });
  const connections = boundConnections(server, most.connections);
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

function tokenRefusal({ url = "" }: IncomingMessage, token: string): Refusal | undefined {
  const query = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const given = Buffer.from(new URLSearchParams(query).get("token") ?? "");
  const wanted = Buffer.from(token);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return undefined;
  return [403, "the token is missing or wrong; open the page by the address that spillway lab printed"];
}
