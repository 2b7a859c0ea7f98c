// `spillway serve`: answers requests until it is stopped.
import "../../index.js";
import { type ServeOptions, serveModel } from "../../serve/index.js";

export interface ServeCommandOptions extends ServeOptions {
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** Serves a model file, prints where it is, and ends when the signal says so. */
export async function serve(path: string, { signal, print, ...options }: ServeCommandOptions): Promise<void> {
  const server = await serveModel(path, options);
  print(`The ${server.kind} ${path} is served at ${server.url} by the engine ${server.engine}.`);
  print(`${server.url}/openapi.json says what it takes. Ctrl-C ends it.`);
  if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
  await server.close();
}
