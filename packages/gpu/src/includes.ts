// Which files on disk a compilation reads, for the cache's key. NVRTC does not say which, so this
// decides only if it can be certain; it does not imitate the preprocessor.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { CompileRequest } from "./compile-options.js";

/** A file that an `#include` may mean, with its text; null if it does not exist. */
export type IncludeCandidate = readonly [path: string, text: string | null];

/** Anything that may be an `#include`: also with comments in it, or in a comment. */
const directive = /(?:#|%:)(?:\s|\/\*[\s\S]*?\*\/)*(?:include|import|embed)/g;
/** `#include "name"` or `#include <name>` on a line by itself. */
const plainInclude = /(?<=^[ \t]*)#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)[ \t\r]*(?:\/\/[^\n]*)?$/gm;
/** Trigraphs can spell #; the others depend on files or the clock. */
const unpredictable = /\?\?[=/]|__has_|\b__(?:DATE|TIME|TIMESTAMP)__\b|include_alias/;
/**
 * Pasted tokens can spell `__has_include`, in a condition on more than the compiler's own macros.
 */
const pasted = /##|%:%:/;
const condition = /(?:#|%:)(?:[ \t]|\/\*[\s\S]*?\*\/)*(?:el)?if\b([^\n]*)/g;
const known = /defined[ \t]*\(?[ \t]*\w+|\b(?:__CUDA\w*|__cplusplus|\d\w*)\b/g;
const asksMore = (text: string) => [...text.matchAll(condition)].some(([, asked]) => /\w/.test(asked!.replace(known, "")));

/** Options that name no file. Any other may read one. */
const harmless = new RegExp(
  `^(?:${[
    "--gpu-architecture=(?:sm|compute)_\\d+[af]?",
    "--(?:std|fmad|ftz|prec-div|prec-sqrt|maxrregcount|define-macro|undefine-macro)=.*",
    "-(?:std|arch|fmad|ftz|prec-div|prec-sqrt|maxrregcount)=[^,]*",
    "-[DU].+",
    "--(?:use_fast_math|generate-line-info|device-debug|restrict|disable-warnings|device-as-default-execution-space)",
    "--(?:extra-device-vectorization|relocatable-device-code=(?:true|false)|device-int128|minimal)",
    "-(?:use_fast_math|lineinfo|G|restrict|w|default-device|extra-device-vectorization|rdc=(?:true|false)|minimal)",
    "--?diag-(?:suppress|warn|error)=[\\d,]+",
  ].join("|")})$`,
  "s",
);

/** The folders that options add, or undefined if an option may read a file. */
function foldersOf(options: readonly string[]): string[] | undefined {
  const folders: string[] = [];
  for (let at = 0; at < options.length; at++) {
    const option = options[at]!;
    const folder = option === "-I" || option === "--include-path" ? options[++at] : /^(?:-I|--include-path=)([\s\S]+)$/.exec(option)?.[1];
    if (folder === undefined ? !harmless.test(option) : /^[=-]/.test(folder)) return undefined;
    if (folder !== undefined) folders.push(folder);
  }
  return folders;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The names that texts include, or undefined if they could include others. */
function namesIn(texts: readonly string[]): string[] | undefined {
  const names: string[] = [];
  const spliced = texts.map((text) => text.replace(/\\\r?\n/g, ""));
  for (const text of spliced) {
    const plain = [...text.matchAll(plainInclude)];
    const starts = new Set(plain.map(({ index }) => index));
    if (unpredictable.test(text) || [...text.matchAll(directive)].some(({ index }) => !starts.has(index))) return undefined;
    names.push(...plain.map(([, quoted, angled]) => (quoted ?? angled)!));
  }
  return spliced.some((text) => pasted.test(text)) && spliced.some(asksMore) ? undefined : names;
}

/**
 * Every file on disk that may decide what a compilation reads, found or not; undefined if that is
 * not certain: an `#include` by a macro, `__has_include`, an option that reads files, a header that
 * nobody has. It looks for each name in every folder that can matter, so that the order in which
 * NVRTC searches them does not matter, and also on lines that the preprocessor skips.
 */
export function includeCandidates({ source, name, options, headers, nameExpressions }: CompileRequest): IncludeCandidate[] | undefined {
  const added = foldersOf(options);
  if (added === undefined) return undefined;
  const folders = new Set(["", ...[name, ...Object.keys(headers)].map((path) => dirname(path)), ...added]);
  const candidates = new Map<string, string | null>();
  const texts = [source, ...options, ...nameExpressions, ...Object.values(headers)];
  for (;;) {
    const names = namesIn(texts);
    if (names === undefined) return undefined;
    const before = candidates.size;
    // A file that is found adds its text and its folder, so all names are looked for again.
    for (const each of new Set(names))
      for (const folder of isAbsolute(each) ? [""] : [...folders]) {
        const path = folder === "" ? each : `${folder}/${each}`;
        if (candidates.has(path)) continue;
        const text = textOf(path);
        candidates.set(path, text);
        if (text === null) continue;
        folders.add(dirname(path));
        texts.push(text);
      }
    if (candidates.size > before) continue;
    const onDisk = [...candidates].filter(([, text]) => text !== null).map(([path]) => `/${path}`);
    const exists = (each: string) =>
      Object.hasOwn(headers, each) || onDisk.some((path) => path.endsWith(`/${each}`) || path === `/${each}`);
    return names.every(exists) ? [...candidates].sort(([a], [b]) => (a < b ? -1 : 1)) : undefined;
  }
}
