// Starts a worker thread of Node from a file beside the code. The file is no literal at the
// `new URL`: bundlers for browsers would take it into the page, where no thread of Node can start.
import type { Worker, WorkerOptions } from "node:worker_threads";

/**
 * Starts `file`, relative to `base` (`import.meta.url`). Options of the main program, such as
 * --input-type, are not for it.
 */
export function startWorker(file: string, base: string, options: WorkerOptions = {}): Worker {
  const { Worker: NodeWorker } = globalThis.process.getBuiltinModule("node:worker_threads");
  return new NodeWorker(new URL(file, base), { execArgv: [], ...options });
}
