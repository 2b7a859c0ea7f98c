// The command in, exit code out. The process that supervises it tells it to stop. The commands are
// in program.ts.
import { Worker } from "node:worker_threads";
import { visibleLines } from "@spillway/core/text.js";
import { writeError } from "@spillway/io/files.js";
import { exitCodeOf, exitCodes, sentenceOf } from "./exit.js";
import type { Announcement } from "./supervisor.js";

const told = (error: unknown): number => {
  process.stderr.write(`spillway: ${sentenceOf(error)}\n`);
  return exitCodeOf(error);
};
// A thread that the system does not start, say, fails where nothing waits for it.
process.on("uncaughtException", (error) => process.exit(told(error)));

const stop = new AbortController();
const isSupervised = process.send !== undefined;
if (isSupervised) {
  const onStop = (signal: unknown) => stop.abort(signal);
  // Ctrl-C reaches every process of the terminal.
  process.on("SIGINT", onStop);
  process.on("SIGTERM", onStop);
  process.on("message", onStop);
  process.on("disconnect", () => process.exit(exitCodes.failure));
  process.channel!.unref();
  new Worker(new URL("./orphan-watch.mjs", import.meta.url), { workerData: process.ppid, execArgv: [] }).unref();
}
// Node's own way to print a warning takes two lines, and is off if the user turned it off.
if (process.listenerCount("warning") > 0) {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    const clear = process.stderr.isTTY ? "\r\u001b[K" : "";
    process.stderr.write(`${clear}spillway: ${name.startsWith("Spillway") ? "" : `${name}: `}${visibleLines(message)}\n`);
  });
}
// A reader that goes away (`spillway tasks | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.success);
  process.stderr.write(`spillway: ${writeError("standard output", error, "it cannot be written").message}\n`);
  process.exit(exitCodes.failure);
});
// A closed standard error is no reason to lose a run.
process.stderr.on("error", () => undefined);

const announce = (what: Announcement) => isSupervised && process.send!(what);
try {
  const { createProgram } = await import("./program.js");
  process.exitCode = await createProgram(stop.signal, announce).run(process.argv.slice(2));
} catch (error) {
  process.exitCode = told(error);
}
