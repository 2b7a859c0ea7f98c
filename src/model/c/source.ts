// The runtime as the C of one model: the parts that it needs, with its constants in their midst.
import { unzlibSync } from "fflate";
import { checkLength, type Program } from "./constants.js";
import { packedSources } from "./runtime.js";

/**
 * The lines of a file of the runtime for which the conditions around them hold. A line `#if NAME`,
 * with `!`, `&&` and `||`, asks for a name of the model; all other directives stay.
 */
export function preprocess(text: string, has: (name: string) => boolean): string {
  /** For each `#if` around a line whether it holds; undefined if the directive stays. */
  const open: (boolean | undefined)[] = [];
  const kept = text.split("\n").filter((line) => {
    const condition = /^#if ([A-Z0-9_ !&|]+)$/.exec(line)?.[1];
    if (condition !== undefined) {
      open.push(
        condition.split("||").some((any) => any.split("&&").every((name) => has(name.replace(/[! ]/g, "")) !== name.includes("!"))),
      );
      return false;
    }
    const isOurs = open.length > 0 && open.at(-1) !== undefined;
    if (isOurs && line === "#else") {
      open.push(!open.pop());
      return false;
    }
    if (line === "#endif") {
      open.pop();
      return !isOurs && !open.includes(false);
    }
    if (line.startsWith("#if")) open.push(undefined);
    return !open.includes(false);
  });
  return kept.join("\n").replace(/\n{3,}/g, "\n\n");
}

/** What a zlib stream in base64 holds. */
export const unpacked = (text: string): Uint8Array => unzlibSync(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));

let read: Readonly<Record<string, string>> | undefined;

/** The C of the runtime by its files. */
export function sources(): Readonly<Record<string, string>> {
  read ??= JSON.parse(new TextDecoder().decode(unpacked(packedSources))) as Record<string, string>;
  return read;
}

/** NAME.c. @throws ArgumentError for a model that is too long for one */
export function sourceOf({ kind, title, constants, numbers, flags, pointers, declarations, files }: Program, name: string): string {
  checkLength(constants);
  const has = (flag: string) => flags.has(flag) || (numbers[flag] ?? 0) !== 0;
  const parts = files.map((file) => (file === null ? null : preprocess(sources()[file]!, has).trim()));
  const runtime = parts.join("\n");
  const used = Object.entries(numbers).filter(([number]) => new RegExp(`\\b${number}\\b`).test(runtime));
  const aliases = Object.entries(pointers).flatMap(([pointer, field]) => {
    const to = typeof field === "number" ? "0" : field.to;
    return to === pointer || !new RegExp(`\\b${pointer}\\b`).test(runtime)
      ? []
      : [`#define ${pointer} ${to === "0" ? "((const double *)0)" : to}\n`];
  });
  const own = [
    ...(used.length > 0 ? [`enum { ${used.map(([number, value]) => `${number} = ${value}`).join(", ")} };\n`] : []),
    ...[...declarations, constants.text, ...aliases],
  ].join("\n");
  const includes = `/* ${title} */\n${kind === "integers" ? "" : "#include <float.h>\n"}#include <stddef.h>\n#include <stdint.h>\n#include "${name}.h"\n`;
  const named = parts.map((part) => part?.replace(/\bmodel_/g, `${name}_`) ?? own.trim());
  return `${[includes.trim(), ...named].filter((text) => text !== "").join("\n\n")}\n`;
}
