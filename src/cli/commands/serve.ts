// `spillway serve`: answers requests until it is stopped.
import "../../index.js";
import { modelFileOf } from "../../experiment/runs/ahead.js";
import { type ServeOptions, serveModel } from "../../serve/index.js";

export interface ServeCommandOptions extends ServeOptions {
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/**
 * Serves a model file, or that of a run's folder, prints where it is, and ends when the signal says
 * so.
 */
export async function serve(path: string, { signal, print, ...options }: ServeCommandOptions): Promise<void> {
  const file = await modelFileOf(path);
  const server = await serveModel(file, options);
  print(`The ${server.kind} ${file} is served at ${server.url} by the engine ${server.engine}.`);
  if (server.trainedTo !== undefined)
    print(`It was trained on rows up to ${server.trainedTo}: a request that sends no rows is answered for those that follow.`);
  print(`${server.url}/openapi.json says what it takes. Ctrl-C ends it.`);
  if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
  await server.close();
}
