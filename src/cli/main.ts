#!/usr/bin/env node
// The command line's process: signals in, exit code out. The commands are in program.ts.
import { exitCodeOf, exitCodes, sentenceOf } from "./exit.js";
import { createProgram } from "./program.js";

const stop = new AbortController();
const onSignal = () => {
  if (stop.signal.aborted) process.exit(exitCodes.interrupted);
  process.stderr.write("\nstopping; what is finished is kept (Ctrl-C once more to leave at once)\n");
  stop.abort();
};
process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// Node's own way to print a warning takes two lines, and is off where the user turned it off.
if (process.listenerCount("warning") > 0) {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    const clear = process.stderr.isTTY ? "\r\u001b[K" : "";
    process.stderr.write(`${clear}spillway: ${name.startsWith("Spillway") ? "" : `${name}: `}${message}\n`);
  });
}
// A reader that goes away (`spillway tasks | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.success);
  throw error;
});

try {
  process.exitCode = await createProgram(stop.signal)(process.argv.slice(2));
} catch (error) {
  process.exitCode = exitCodeOf(error);
  process.stderr.write(`spillway: ${sentenceOf(error)}\n`);
} finally {
  process.off("SIGINT", onSignal);
  process.off("SIGTERM", onSignal);
}
