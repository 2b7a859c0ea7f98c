// Processes of benchmarks that end with the one that started them, whatever ended it and whatever
// they compute: Linux kills them. Elsewhere those that are asked line by line end with their input.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const setpriv = "/usr/bin/setpriv";

/** @returns {[string, string[]]} */
const bound = (command, args) => (existsSync(setpriv) ? [setpriv, ["--pdeathsig", "KILL", command, ...args]] : [command, args]);

/** `spawn` of a child that ends with this process. */
export const started = (command, args, options) => spawn(...bound(command, args), options);

/** `spawnSync` of one. */
export const finished = (command, args, options) => spawnSync(...bound(command, args), options);
