// A server of the files of a folder, for pages of tests.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

export type FolderServer = Server & { readonly url: string };

/** Serves a folder, each answer with `headers`. */
export async function serveFolder(folder: string, headers: Readonly<Record<string, string>> = {}): Promise<FolderServer> {
  const server = createServer((request, response) => {
    const path = normalize(join(folder, new URL(request.url!, "http://page").pathname.replace(/\/$/, "/index.html")));
    const isThere = path.startsWith(folder) && existsSync(path) && statSync(path).isFile();
    response.writeHead(isThere ? 200 : 404, { "content-type": types[extname(path)] ?? "application/octet-stream", ...headers });
    response.end(isThere ? readFileSync(path) : undefined);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}
