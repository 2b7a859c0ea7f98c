// Where in the user's code a call came from: the first line of the stack outside this folder.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** `/home/me/reservoir.ts:88:12`, or "an unknown line" where no frame outside this folder is near. Takes microseconds. */
export function callSite(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 24;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = limit;
  for (const line of stack.split("\n").slice(1)) {
    const match = /(?:\(|at )((?:file:\/\/)?[^()]*:\d+:\d+)\)?$/.exec(line);
    if (!match) continue;
    const place = match[1]!.startsWith("file://") ? match[1]!.slice("file://".length) : match[1]!;
    if (!place.startsWith(here) && !place.startsWith("node:")) return place;
  }
  return "an unknown line";
}
