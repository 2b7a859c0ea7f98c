// The lab's server: the built page on a loopback address, and a WebSocket over which the page can
// ask for runs on this machine's engines.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { resolve } from "../core/options.js";
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
