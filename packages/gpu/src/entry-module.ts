// Cuts a PTX text down to some of its kernels: a driver compiles a whole module when it is loaded,
// and a file may hold hundreds. It knows where declarations begin and end and which names they use,
// and no instruction.
import { ArgumentError } from "@spillway/core/errors.js";
import { withoutComments } from "./ptx-entry.js";

/** A declaration or definition at a module's top level. */
interface Piece {
  readonly text: string;
  /** What it declares; undefined for what stays in any case, such as `.version`. */
  readonly name: string | undefined;
  readonly entry: boolean;
}

/** Directives that end with their line; all others end with ";" or a body in braces. */
const lineDirective = /^\.(version|target|address_size|file|loc)\b/;

const functionName = /\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$%]+)/;

/** The index after the declaration that begins at `from`. */
function endOf(ptx: string, from: number): number {
  const rest = ptx.slice(from, from + 16);
  if (lineDirective.test(rest)) {
    const end = ptx.indexOf("\n", from);
    return end < 0 ? ptx.length : end + 1;
  }
  const marks = /["{};]/g;
  marks.lastIndex = from;
  let depth = 0;
  let initialiser = false;
  for (let mark = marks.exec(ptx); mark; mark = marks.exec(ptx)) {
    const [character] = mark;
    if (character === '"') marks.lastIndex = ptx.indexOf('"', mark.index + 1) + 1;
    else if (character === "{") {
      if (depth === 0) initialiser = /=\s*$/.test(ptx.slice(from, mark.index));
      depth++;
    } else if (character === "}") {
      depth--;
      if (depth === 0 && !initialiser) return mark.index + 1;
    } else if (depth === 0) return mark.index + 1;
  }
  throw ArgumentError.because(`the PTX ends within the declaration ${JSON.stringify(ptx.slice(from, from + 60).trim())}`);
}

function pieceOf(text: string): Piece {
  const head = text.slice(0, (text.indexOf("{") + 1 || text.length + 1) - 1);
  const code = functionName.exec(head);
  if (code) return { text, name: code[2]!, entry: code[1] === "entry" };
  const variable =
    /^\s*(?:\.(?:visible|extern|weak|common)\s+)?\.(?:global|const|shared|tex)\b[^=;{]*?([\w$%]+)\s*(?:\[[^\]]*\]\s*)*(?:[=;]|$)/.exec(
      text,
    );
  return { text, name: variable?.[1], entry: false };
}

function pieces(ptx: string): readonly Piece[] {
  const text = withoutComments(ptx);
  const found: Piece[] = [];
  for (let at = 0; ; ) {
    const space = /\S/g;
    space.lastIndex = at;
    const start = space.exec(text)?.index;
    if (start === undefined) return found;
    at = endOf(text, start);
    found.push(pieceOf(text.slice(start, at)));
  }
}

/**
 * The PTX of the last text that was cut, taken apart: an engine cuts one text for several kernels.
 */
let last: { readonly ptx: string; readonly pieces: readonly Piece[] } | undefined;

let cuttings = 0;

/** @internal How many modules were cut so far: for tests that it is not done again and again. */
export const modulesCut = (): number => cuttings;

/**
 * The module with these entries only, and the functions and variables that they use, directly or
 * not.
 *
 * @throws ArgumentError naming the entries there are, if it has not one of the names;
 * SyntaxError if the text is cut short.
 */
export function entryModule(ptx: string, entries: readonly string[]): string {
  cuttings++;
  if (last?.ptx !== ptx) last = { ptx, pieces: pieces(ptx) };
  const all = last.pieces;
  const byName = new Map<string, Piece[]>();
  for (const piece of all) if (piece.name !== undefined) byName.set(piece.name, [...(byName.get(piece.name) ?? []), piece]);
  const kept = new Set<Piece>();
  const keep = (name: string): void => {
    for (const piece of byName.get(name) ?? []) {
      if (kept.has(piece)) continue;
      kept.add(piece);
      for (const [used] of piece.text.matchAll(/[A-Za-z_$%][\w$]*/g)) if (used !== name && byName.has(used)) keep(used);
    }
  };
  for (const entry of entries) {
    if (!byName.get(entry)?.some((piece) => piece.entry)) {
      const names = all.filter((piece) => piece.entry).map(({ name }) => name);
      throw ArgumentError.because(`the PTX has no entry ${JSON.stringify(entry)}; it has ${names.join(", ") || "none"}`, {
        field: "entries",
        value: entry,
        expected: names.join(", "),
      });
    }
    keep(entry);
  }
  return `${all
    .filter((piece) => piece.name === undefined || kept.has(piece))
    .map(({ text }) => text.trim())
    .join("\n")}\n`;
}
