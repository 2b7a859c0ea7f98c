// Where in the user's code a call came from: the first frame of the stack outside this package,
// with source maps applied.
import { basename, dirname, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const pathOf = (name: string): string => (name.startsWith("file:") ? fileURLToPath(name.replace(/[?#].*$/, "")) : name);

const here = dirname(pathOf(import.meta.url));
/** The folders of the package's code: that of the bundles, or those of the sources. */
const own = (basename(here) === "src" ? ["src", "packages"].map((folder) => resolve(here, "../../..", folder)) : [here]).map(
  (folder) => folder + sep,
);

/** A program that makes code as it runs has names and positions without end. */
const mostKnown = 1000;

function remember<T>(values: Map<string, T>, name: string, value: T): T {
  if (values.size >= mostKnown) values.clear();
  values.set(name, value);
  return value;
}

/** Whether files are neither of this package nor of Node.js. */
const foreignFiles = new Map<string, boolean>();

/**
 * Whether a frame is neither of this package nor of Node.js. Asked of the file that runs: source
 * maps may give it any name.
 */
function isForeign(site: NodeJS.CallSite): boolean {
  const name = site.getFileName();
  if (typeof name !== "string") return false;
  const known = foreignFiles.get(name);
  if (known !== undefined) return known;
  return remember(foreignFiles, name, !/^(node|wasm|evalmachine)\b/.test(name) && !own.some((folder) => pathOf(name).startsWith(folder)));
}

/** `/home/me/reservoir.ts:88:12` of a line of a stack; undefined if it says no position. */
function positionOf(line: string): string | undefined {
  const [, within, alone] = /^\s*at (?:.* \((.*)\)|(?:async )?(.*))$/.exec(line) ?? [];
  const [, name, position] = /^(.*?)(:\d+:\d+)$/.exec(within ?? alone ?? "") ?? [];
  return name === undefined ? undefined : pathOf(name) + position;
}

/** Positions that source maps gave before: to print a stack by them takes a millisecond. */
const printedPositions = new Map<string, string>();

/**
 * `/home/me/reservoir.ts:88:12`, or "an unknown line" if no frame outside the package is near.
 * Takes some microseconds, but for the first time a line is asked for under source maps.
 */
export function callSite(): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 32;
  try {
    Error.prepareStackTrace = (_, sites) => sites;
    const sites = new Error().stack as unknown as readonly NodeJS.CallSite[];
    const at = sites.findIndex(isForeign);
    if (at < 0) return "an unknown line";
    const site = sites[at]!;
    const position = `${pathOf(site.getFileName()!)}:${site.getLineNumber()}:${site.getColumnNumber()}`;
    if (prepareStackTrace === undefined && !process.sourceMapsEnabled) return position;
    const known = printedPositions.get(position);
    if (known !== undefined) return known;
    // The same frames as the program prints them, if it does so in a way of its own.
    Error.prepareStackTrace = prepareStackTrace!;
    const printed: unknown = new Error().stack;
    const lines = typeof printed === "string" ? printed.split("\n").filter((line) => /^\s*at /.test(line)) : [];
    return remember(printedPositions, position, (lines.length === sites.length ? positionOf(lines[at]!) : undefined) ?? position);
  } finally {
    Error.prepareStackTrace = prepareStackTrace!;
    Error.stackTraceLimit = stackTraceLimit;
  }
}
