// The lab's server: the built page on a loopback address, and a WebSocket over which the page can ask for runs on this machine's engines.
import { timingSafeEqual, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { packageVersion } from "../model/version.js";
import { chooseEngine } from "../reservoir/index.js";
import type { ServerMessage } from "./messages.js";
import { runRequest } from "./run.js";

/** The page that is served, and where runs that it asks for are made. */
export interface LabOptions {
  /** The folder of the built page. */
  readonly page: string;
  /** Default 0: one that is free. */
  readonly port?: number | undefined;
  /** The engine of runs that the page asks for; default "auto". */
  readonly engine?: string | undefined;
}

/** A lab that is open. */
export interface Lab {
  /** Where the page is, token included. */
  readonly url: string;
  readonly port: number;
  /** Ends runs and connections, and stops listening. */
  close(): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
};

/** A page may load from itself and speak to its own socket, and nothing else. */
const policy =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; img-src 'self' data:; style-src 'self' 'unsafe-inline'";

/**
 * Opens the lab on 127.0.0.1. The URL carries a token that the socket asks for, so that other pages and users of this machine cannot start work
 * here; the socket refuses foreign origins as well.
 * @throws Error where the port is taken, or the page was not built
 */
export async function openLab(options: LabOptions): Promise<Lab> {
  const token = randomBytes(16).toString("hex");
  const { engine, reason } = await chooseEngine(options.engine);
  await readFile(join(options.page, "index.html")).catch((error: unknown) => {
    throw new Error(`${options.page} holds no page; build it with npm run build`, { cause: error });
  });
  const server = createServer((request, response) => void serve(options.page, request, response));
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 });
  const port = await listen(server, options.port ?? 0);
  server.on("upgrade", (request, socket, head) => {
    const refusal = refusalOf(request, port, token);
    if (refusal) {
      socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${refusal}\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const stop = new AbortController();
      const send = (message: ServerMessage) => client.readyState === client.OPEN && client.send(JSON.stringify(message));
      send({ type: "hello", engine: engine.name, reason, version: packageVersion });
      let last = Promise.resolve();
      client.on("message", (data) => {
        last = last.then(() => runRequest(String(data), options.engine, stop.signal, send));
      });
      client.on("close", () => stop.abort());
    });
  });
  return {
    url: `http://127.0.0.1:${port}/?token=${token}`,
    port,
    async close() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

/** Why a socket is not opened: another origin, another host, no token. */
function refusalOf(request: IncomingMessage, port: number, token: string): string | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const { origin, host } = request.headers;
  if (!hosts.includes(host ?? "")) return `the host is ${host}; it takes ${hosts[0]}`;
  if (!hosts.some((known) => origin === `http://${known}`)) return `the origin is ${origin}; it takes http://${hosts[0]}`;
  const given = Buffer.from(new URL(request.url ?? "/", "http://lab").searchParams.get("token") ?? "");
  const wanted = Buffer.from(token);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return "the token is missing or wrong; open the page by the address that spillway lab printed";
  return undefined;
}

async function serve(page: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://lab");
  const name = normalize(decodeURIComponent(pathname === "/" ? "/index.html" : pathname));
  const headers = {
    "Content-Security-Policy": policy,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
  };
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, headers).end();
    return;
  }
  try {
    if (name.includes(`..${sep}`) || name.includes("\0")) throw new Error("outside");
    const body = await readFile(join(page, name));
    response.writeHead(200, { ...headers, "Content-Type": types[extname(name)] ?? "application/octet-stream" });
    response.end(request.method === "HEAD" ? undefined : body);
  } catch {
    response.writeHead(404, { ...headers, "Content-Type": "text/plain; charset=utf-8" }).end("there is no such file\n");
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE" ? new Error(`port ${port} is taken; choose another with --port, or 0 for one that is free`) : error,
      );
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
