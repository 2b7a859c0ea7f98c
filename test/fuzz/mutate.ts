// Mutations of bytes and of text that know nothing of a format, and of JSON values for formats that
// hold one.
import type { Random } from "./random.js";

/** No mutant is longer, unless it was before. */
const longest = 512 * 1024;

const nastyTexts = [
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "valueOf", "__defineGetter__"],
  ...[
    "\u001b[2J",
    "\u001b]0;x\u0007",
    "\u009b31m",
    "\0",
    "\ufeff",
    "\u202e",
    "\u2028",
    "\r",
    "\x7f",
    "\ud83d\ude00",
    "<script>",
    "`x`",
    "%s",
    "../..",
  ],
];
const nastyNumbers = [
  ...["-1", "0", "-0", "1", "2", "1e308", "1e999", "-1e999", "1e-400", "NaN", "Infinity", "-inf", "0x10", "1_000", "0.1", ".5", "5."],
  ...[
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "4278190080",
    "1e7",
    "100000000",
    "1000000000",
  ],
  ...["9007199254740991", "9007199254740993", "9223372036854775807", "18446744073709551615", "99999999999999999999999999", "1".repeat(400)],
];
const nastyValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 0.5, -0, 255, 65536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e7, 1e8, 1e9, 1e15, 1e300, -1e300],
  ...["", "x", [], {}, [[]], [0], [null], { a: 1 }, "x".repeat(3000)],
];
const integers = [0n, 1n, 2n, 127n, 128n, 255n, 256n, 32767n, 32768n, 65535n, 65536n, 2n ** 24n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n];
const largeIntegers = [
  0xff000000n,
  2n ** 32n,
  2n ** 40n,
  2n ** 53n,
  2n ** 62n,
  2n ** 63n,
  2n ** 64n - 1n,
  0x7ff0000000000000n,
  0x7ff8000000000000n,
];

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** One to a few mutations of bytes, and of words if there are `tokens`. */
export function mutate(input: Uint8Array, random: Random, corpus: readonly Uint8Array[], tokens?: readonly string[]): Uint8Array {
  let out = input;
  for (let count = random.size(8); count > 0; count--) {
    const next = tokens && random.chance(0.7) ? mutateText(out, random, tokens) : mutateBytes(out, random, corpus);
    if (next.length <= Math.max(longest, input.length)) out = next;
  }
  return out;
}

function mutateBytes(input: Uint8Array, random: Random, corpus: readonly Uint8Array[]): Uint8Array {
  const at = random.below(input.length);
  const length = Math.min(random.size(Math.max(1, input.length)), input.length - at);
  const end = at + length;
  const out = input.slice();
  switch (random.below(12)) {
    case 0:
      if (out.length > 0) out[at] = out[at]! ^ (1 << random.below(8));
      return out;
    case 1:
      if (out.length > 0) out[at] = random.pick([0, 1, 0x20, 0x7f, 0x80, 0xff, random.below(256)]);
      return out;
    case 2:
      if (out.length > 0) out[at] = out[at]! + random.pick([1, -1, 2, -2, 16, -16]);
      return out;
    case 3:
    case 4:
      return putInteger(out, at, random);
    case 5:
      return input.slice(0, at);
    case 6:
      return joined(input.subarray(0, at), input.subarray(end));
    case 7:
      return joined(input.subarray(0, end), input.subarray(at));
    case 8: {
      const other = random.pick(corpus);
      return joined(input.subarray(0, at), other.subarray(random.below(other.length)));
    }
    case 9: {
      const other = random.pick(corpus);
      const from = random.below(other.length);
      out.set(other.subarray(from, Math.min(from + length, from + input.length - at)), at);
      return out;
    }
    case 10:
      return joined(
        input.subarray(0, at),
        Uint8Array.from({ length: random.size(16) }, () => random.below(256)),
        input.subarray(at),
      );
    default:
      return repeated(input, at, end, random);
  }
}

/**
 * An integer at a border of its type, or near the length of the input, of 1, 2, 4 or 8 bytes in
 * either order.
 */
function putInteger(out: Uint8Array, at: number, random: Random): Uint8Array {
  const width = random.pick([1, 2, 4, 8]);
  const aligned = random.chance(0.5) ? at - (at % width) : at;
  if (aligned + width > out.length) return out;
  const near = BigInt(out.length) + BigInt(random.below(17) - 8);
  const value = random.pick([random.pick(integers), random.pick(largeIntegers), near]);
  for (let i = 0; i < width; i++) out[aligned + i] = Number((value >> BigInt(8 * i)) & 255n);
  if (random.chance(0.5)) out.subarray(aligned, aligned + width).reverse();
  return out;
}

/**
 * Repeats a piece a few times or, rarely, until the input is large. That shows work that grows
 * with the square of a count.
 */
function repeated(input: Uint8Array, at: number, end: number, random: Random): Uint8Array {
  const length = end - at;
  if (length === 0) return input;
  const most = Math.max(0, longest - input.length);
  const times = Math.min(random.chance(0.05) ? 2 ** 17 : random.size(64), Math.floor(most / length));
  const out = new Uint8Array(input.length + times * length);
  out.set(input.subarray(0, end));
  for (let k = 0; k < times; k++) out.set(input.subarray(at, end), end + k * length);
  out.set(input.subarray(end), end + times * length);
  return out;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const words = /[\p{L}_$%@.][\p{L}\p{N}_$.]*|[0-9][0-9a-zA-Z_.+-]*|\s+|./gsu;

function mutateText(input: Uint8Array, random: Random, tokens: readonly string[]): Uint8Array {
  if (random.chance(0.25)) return utf8.encode(mutateLines(fromUtf8.decode(input), random));
  const parts = fromUtf8.decode(input).match(words) ?? [];
  const at = random.below(parts.length + 1);
  const word = (): string => random.pick([random.pick(tokens), random.pick(tokens), random.pick(nastyNumbers), random.pick(nastyTexts)]);
  switch (random.below(7)) {
    case 0:
      parts[at] = word();
      break;
    case 1: {
      const numbers = parts.flatMap((part, i) => (/^[0-9]/.test(part) ? [i] : []));
      parts[numbers.length > 0 ? random.pick(numbers) : at] = random.pick(nastyNumbers);
      break;
    }
    case 2:
      parts.splice(at, 0, word());
      break;
    case 3:
      parts.splice(at, random.size(8));
      break;
    case 4:
      parts[at] = random.pick(parts.length > 0 ? parts : [""]);
      break;
    case 5: {
      const other = random.below(parts.length);
      [parts[at], parts[other]] = [parts[other] ?? "", parts[at] ?? ""];
      break;
    }
    default:
      parts.splice(at, 0, ...copies(`${parts[at] ?? ""}${word()}`, random.chance(0.1) ? 5000 : random.size(40)));
  }
  return utf8.encode(parts.join(""));
}

function mutateLines(text: string, random: Random): string {
  const lines = text.split("\n");
  const at = random.below(lines.length);
  const other = random.below(lines.length);
  switch (random.below(4)) {
    case 0:
      lines.splice(at, random.size(3));
      break;
    case 1:
      lines.splice(at, 0, ...copies(lines[other]!, random.chance(0.1) ? 5000 : random.size(20)));
      break;
    case 2:
      [lines[at], lines[other]] = [lines[other]!, lines[at]!];
      break;
    default:
      lines[at] = lines[at]! + lines[other]!;
  }
  return lines.join("\n");
}

/** So many copies of a piece, fewer if they would be longer than a mutant. */
function copies(piece: string, count: number): string[] {
  return Array<string>(Math.min(count, Math.ceil(longest / Math.max(1, piece.length)))).fill(piece);
}

/**
 * A copy of a JSON value with one to a few of its parts changed, taken out, doubled, renamed or
 * swapped.
 */
export function mutateJson(value: unknown, random: Random): unknown {
  let out: unknown = structuredClone(value);
  for (let count = random.size(4); count > 0; count--) {
    const fields: { holder: Record<string, unknown>; key: string }[] = [];
    collect({ "": out }, fields);
    const { holder, key } = random.pick(fields);
    if (key === "" && !Array.isArray(holder)) {
      if (random.chance(0.1)) out = random.pick(nastyValues);
      continue;
    }
    const other = random.pick(fields);
    switch (random.below(7)) {
      case 0:
        if (Array.isArray(holder)) holder.splice(Number(key), 1);
        else delete holder[key];
        break;
      case 1:
        if (Array.isArray(holder)) holder.splice(Number(key), 0, ...Array(random.size(40)).fill(holder[key]));
        else Object.defineProperty(holder, random.pick(nastyTexts), { value: holder[key], ...plain });
        break;
      case 2:
        holder[key] = structuredClone(other.holder[other.key]);
        break;
      case 3:
        holder[key] = random.pick(nastyTexts);
        break;
      default:
        holder[key] = changed(holder[key], random);
    }
  }
  return out;
}

const plain = { enumerable: true, configurable: true, writable: true } as const;

/** A number near the one it was more often than something else altogether. */
function changed(value: unknown, random: Random): unknown {
  if (typeof value === "number" && random.chance(0.6))
    return random.pick([value + 1, value - 1, -value, value * 2, value * 1e6, value / 3, 0, Math.round(value)]);
  if (typeof value === "string" && random.chance(0.5))
    return random.pick([value + value, value.slice(1), value.toUpperCase(), random.pick(nastyTexts)]);
  return structuredClone(random.pick(nastyValues));
}

function collect(holder: unknown, fields: { holder: Record<string, unknown>; key: string }[]): void {
  if (typeof holder !== "object" || holder === null) return;
  for (const key of Object.keys(holder)) {
    fields.push({ holder: holder as Record<string, unknown>, key });
    collect((holder as Record<string, unknown>)[key], fields);
  }
}
