#!/usr/bin/env node
// The command line's first process. It runs nothing that takes long: that is done in a process of
// its own, by command.ts, and supervised. It imports as command.ts does.
const args = process.argv.slice(2);
const command = import.meta.url.endsWith(".ts") ? "./command.ts" : "./command.js";
try {
  const { isQuick, supervise } = await import("./supervisor.js");
  if (isQuick(args)) await import("./command.js");
  else process.exit(await supervise(new URL(command, import.meta.url), args));
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`spillway: the program cannot be started: ${error instanceof Error ? error.message : error}\n`);
}

export {};
