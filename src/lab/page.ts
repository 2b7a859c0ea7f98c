// The built page in memory. A request never opens a file: what was not there at the start is not
// found.

import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { SpillwayError } from "../core/errors.js";

/** Answers requests for the page's files. */
export type Page = (path: string, request: IncomingMessage, response: ServerResponse) => void;

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
export async function readPage(folder: string): Promise<Page> {
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
  return (path, request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(response, 405, "the lab takes GET and HEAD");
    const file = files.get(path);
    if (!file) return refuse(response, 404, "there is no such file");
    response.writeHead(200, { ...headers, "Content-Type": file.type, "Content-Length": file.body.length });
    response.end(request.method === "HEAD" ? undefined : file.body);
  };
}

/** Answers with a sentence and closes the connection, without waiting for a body. */
export function refuse(response: ServerResponse, status: number, sentence: string): void {
  const body = Buffer.from(`${sentence}\n`);
  const type = { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length };
  response.writeHead(status, { ...headers, ...type, Connection: "close" }).end(body);
}
