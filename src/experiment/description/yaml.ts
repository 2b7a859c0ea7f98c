// YAML as plain data, and the line of each field. Reading takes time and memory in proportion to
// the text: what an alias stands for counts every time, and nesting has a bound.

import { SpillwayError } from "@spillway/core/errors.js";
import { quoted, visible } from "@spillway/core/text.js";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from "yaml";

/** More than any experiment holds: the numbers of matrices stand in files of their own. */
const mostValues = 1_000_000;
const mostLevels = 100;

/** Text that is not YAML, or YAML that is no plain data. */
export class YamlError extends SpillwayError {
  override readonly name = "YamlError";
  /** From 1. */
  readonly line: number | undefined;
  constructor(reason: string, line?: number, cause?: unknown) {
    super("format", visible(reason), { cause });
    this.line = line;
  }
}

export interface YamlText {
  readonly value: unknown;
  /**
   * The line of a field such as `data.rows.from` or `seeds[1]`, or of the nearest thing above it
   * that stands in the text.
   */
  lineOf(field: string): number | undefined;
}

/** Reads one YAML document (JSON is YAML). @throws YamlError with the line, if one is known */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const document = parse(text, lines);
  const [problem] = document.errors;
  if (problem) {
    const reason = isOverflow(problem) ? tooDeep : problem.message;
    throw new YamlError(`this is not YAML: ${reason}`, lines.linePos(problem.pos[0]).line, problem);
  }
  const root = document.contents as Node | null;
  const lineAt = (node: unknown): number | undefined => {
    const offset = offsetOf(node);
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
  return { value: new Reader(lineAt).read(root, 0), lineOf: (field) => lineAt(nodeOf(root, field)) };
}

/**
 * What the library does in time that grows with the square of the text is left to the reader below:
 * it compares every key of a map with all others, looks through the whole document for every alias,
 * and quotes the text for every error. It goes on after an error; the stacks of all of them would
 * take most of the time.
 */
function parse(text: string, lineCounter: LineCounter): ReturnType<typeof parseDocument> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false });
  } catch (error) {
    throw isOverflow(error) ? new YamlError(`this is not YAML: ${tooDeep}`, undefined, error) : error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * The library goes down level by level, and either throws or tells this of a text that is nested
 * too deeply.
 */
function isOverflow(error: unknown): boolean {
  return error instanceof Error && error.message.includes("call stack");
}

const tooDeep = `it is nested more than ${mostLevels} levels deep`;

class Reader {
  readonly #lineAt: (node: unknown) => number | undefined;
  readonly #anchors = new Map<string, Node>();
  #values = 0;

  constructor(lineAt: (node: unknown) => number | undefined) {
    this.#lineAt = lineAt;
  }

  read(node: Node | null, level: number): unknown {
    if (node === null) return null;
    if (level > mostLevels) throw this.#error(tooDeep, node);
    if (++this.#values > mostValues) {
      throw this.#error(`it holds more than ${mostValues} values, those that aliases stand for counted every time`, node);
    }
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (!target) throw this.#error(`there is no anchor &${visible(node.source, 60)} before the alias`, node);
      return this.read(target, level + 1);
    }
    if ("anchor" in node && typeof node.anchor === "string") this.#anchors.set(node.anchor, node);
    if (isSeq(node)) return node.items.map((item) => this.read(item as Node | null, level + 1));
    if (isMap(node)) return this.#map(node.items as Pair<Node | null, Node | null>[], level);
    return isScalar(node) ? node.value : null;
  }

  #map(pairs: readonly Pair<Node | null, Node | null>[], level: number): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const { key, value } of pairs) {
      if (key !== null && !isScalar(key)) throw this.#error("a key is a list, a map or an alias; it takes a word", key);
      const name = String(key?.value ?? "");
      if (name === "<<" && key?.value === name && !isQuotedKey(key))
        throw this.#error('"<<" (a merge of maps) is not read: write the fields out, or name a whole map by an alias', key);
      if (Object.hasOwn(out, name)) throw this.#error(`the key ${quoted(name)} stands twice in one map`, key);
      // Assignment would take `__proto__` for the prototype.
      Object.defineProperty(out, name, { value: this.read(value, level + 1), writable: true, enumerable: true, configurable: true });
    }
    return out;
  }

  #error(reason: string, node: unknown): YamlError {
    return new YamlError(reason, this.#lineAt(node));
  }
}

function isQuotedKey({ type }: { readonly type?: string | undefined }): boolean {
  return type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE";
}

/** The key or item that a field is given by, or the nearest one above it. */
function nodeOf(root: Node | null, field: string): unknown {
  let here: unknown = root;
  let found: unknown;
  for (const part of field.split(/[.[\]]/).filter(Boolean)) {
    const pair = isMap(here) ? here.items.find(({ key }) => String(isScalar(key) ? key.value : key) === part) : undefined;
    const next = pair ?? (isSeq(here) ? here.items[Number(part)] : undefined);
    if (next === undefined) break;
    found = pair?.key ?? next;
    here = pair ? pair.value : next;
  }
  return found;
}

function offsetOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
}
