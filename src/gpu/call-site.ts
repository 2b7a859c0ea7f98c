// Where in the user's code a call came from: the first frame of the stack outside this package,
// with source maps applied.
import { basename, dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";

const pathOf = (name: string): string => (name.startsWith("file:") ? fileURLToPath(name.replace(/[?#].*$/, "")) : name);

const here = dirname(pathOf(import.meta.url));
/**
 * The folder of all of the package's code: bundles lie in it side by side, sources in rooms such as
 * this.
 */
const own = (basename(here) === "gpu" ? dirname(here) : here) + sep;

/**
 * Whether a frame is of this package or of Node.js. Asked of the file that runs: source maps may
 * give it any name.
 */
function isForeign(site: NodeJS.CallSite): boolean {
  const name = site.getFileName();
  return typeof name === "string" && !/^(node|wasm|evalmachine)\b/.test(name) && !pathOf(name).startsWith(own);
}

/** `/home/me/reservoir.ts:88:12` of a line of a stack; undefined if it says no place. */
function placeOf(line: string): string | undefined {
  const [, within, alone] = /^\s*at (?:.* \((.*)\)|(?:async )?(.*))$/.exec(line) ?? [];
  const [, name, position] = /^(.*?)(:\d+:\d+)$/.exec(within ?? alone ?? "") ?? [];
  return name === undefined ? undefined : pathOf(name) + position;
}

/**
 * `/home/me/reservoir.ts:88:12`, or "an unknown line" if no frame outside the package is near.
 * Takes some microseconds.
 */
export function callSite(): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 32;
  try {
    // The same frames twice: as the program prints them, if it does so in a way of its own, and as
    // they are.
    const mapped = prepareStackTrace !== undefined || process.sourceMapsEnabled;
    const printed: unknown = mapped ? new Error().stack : undefined;
    Error.prepareStackTrace = (_, sites) => sites;
    const sites = new Error().stack as unknown as readonly NodeJS.CallSite[];
    const at = sites.findIndex(isForeign);
    if (at < 0) return "an unknown line";
    const lines = typeof printed === "string" ? printed.split("\n").filter((line) => /^\s*at /.test(line)) : [];
    const site = sites[at]!;
    const place = lines.length === sites.length ? placeOf(lines[at]!) : undefined;
    return place ?? `${pathOf(site.getFileName()!)}:${site.getLineNumber()}:${site.getColumnNumber()}`;
  } finally {
    Error.prepareStackTrace = prepareStackTrace!;
    Error.stackTraceLimit = stackTraceLimit;
  }
}
