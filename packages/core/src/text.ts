// Foreign text in a message: what steers a terminal is made visible, and the length is bounded. It
// knows no format.

/** Control, format and separator characters, and halves of surrogate pairs. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * The text with every character that a terminal obeys or hides written as an escape: `\n`,
 * `\u001b`. Cut after `most` characters.
 */
export function visible(text: string, most = Number.POSITIVE_INFINITY): string {
  return cut(text, most).replace(unseen, escaped);
}

/**
 * The text as `visible` gives it, but for line breaks and tabs: what is printed on a terminal. JSON
 * stays the same JSON.
 */
export function visibleLines(text: string): string {
  return text.replace(unseen, (character) => (character === "\n" || character === "\t" ? character : escaped(character)));
}

/** The text in double quotes, as in JSON, with every character visible. Cut after 60 characters. */
export function quoted(text: string): string {
  return JSON.stringify(cut(text, 60)).replace(unseen, escaped);
}

/** Whether a value has contents, but no fields by name. */
export const hasNoFields = (value: unknown): boolean => [Map, Set, Promise, RegExp].some((one) => value instanceof one);

/** A value in words for an error sentence: short, visible, and never throwing. */
export function describe(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return cut(`${value}n`, 60);
  if (value === undefined) return "missing";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (ArrayBuffer.isView(value) || hasNoFields(value)) return `a ${(value as object).constructor.name}`;
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (typeof value === "object" && "rows" in value && "cols" in value && typeof value.rows === "number" && typeof value.cols === "number")
    return `a ${value.rows} x ${value.cols} matrix`;
  return visible(beginningOfJson(value, 60), 60);
}

/**
 * JSON of a value, broken off soon after `most` characters: what holds itself, or holds one thing
 * many times, has no end of its own.
 */
function beginningOfJson(value: unknown, most: number): string {
  let out = "";
  const put = (item: unknown): void => {
    if (typeof item !== "object" || item === null || ArrayBuffer.isView(item) || item instanceof Date) {
      out += typeof item === "string" ? JSON.stringify(cut(item, most)) : item instanceof Date ? String(item) : describe(item);
      return;
    }
    const list = Array.isArray(item);
    let first = true;
    out += list ? "[" : "{";
    for (const key in item) {
      if (!Object.hasOwn(item, key)) continue;
      if (!first) out += ",";
      first = false;
      if (!list) out += `${JSON.stringify(cut(key, most))}:`;
      if (out.length > most) return;
      put((item as Record<string, unknown>)[key]);
    }
    out += list ? "]" : "}";
  };
  put(value);
  return out;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}

function escaped(character: string): string {
  return short[character] ?? Array.from({ length: character.length }, (_, i) => unit(character.charCodeAt(i))).join("");
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** A number of things in words: `1 incident`, `2 incidents`. @param things the plural; left out, with an s */
export function tally(count: number, thing: string, things = `${thing}s`): string {
  return `${count} ${count === 1 ? thing : things}`;
}
