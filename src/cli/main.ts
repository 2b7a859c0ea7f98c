#!/usr/bin/env node
// The command line's first process. It runs nothing that takes long: that is done in a process of
// its own, by command.ts, and supervised.
import { isQuick, supervise } from "./supervisor.js";

const args = process.argv.slice(2);
if (isQuick(args)) await import("./command.js");
else process.exit(await supervise(args));
