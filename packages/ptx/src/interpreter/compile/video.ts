// Video instructions, PTX ISA 9.0, section 9.7.18: a word, a part of it, two half-words or four
// bytes of each operand are computed on exactly, clamped if `.sat` says so, and then merged into a
// third operand or combined with it.
import type { PtxOperand, ScalarType } from "../types.js";
import type { Emitter } from "./emitter.js";
import { type Handler, isSigned } from "./templates.js";

type Operation = (a: string, b: string, e: Emitter) => string;

const arithmetic: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["add", (a, b) => `(${a}+${b})`],
  ["sub", (a, b) => `(${a}-${b})`],
  ["absdiff", (a, b) => `Math.abs(${a}-${b})`],
  ["min", (a, b) => `Math.min(${a},${b})`],
  ["max", (a, b) => `Math.max(${a},${b})`],
]);

/** A half is rounded away from zero above it, and down below. */
const average: Operation = (a, b, e) => {
  const sum = e.temporary(`${a}+${b}`);
  return `(${sum}+(${sum}<0?0:1)>>1)`;
};

const comparisons: Readonly<Record<string, string>> = { eq: "===", ne: "!==", lt: "<", le: "<=", gt: ">", ge: ">=" };

const comparison: Operation = (a, b, e) => {
  const found = e.one(Object.keys(comparisons), "it takes a comparison:");
  return `(${a}${comparisons[found]}${b}?1:0)`;
};

/** An operand's register and the part of it that a suffix names, as `b0`. */
function partOf(operand: PtxOperand): { operand: PtxOperand; part: string | undefined } {
  return operand.kind === "part" ? operand : { operand, part: undefined };
}

/** An operand that must be a register, and the part of it that a suffix names. */
function registerOf(e: Emitter, index: number): { operand: PtxOperand; part: string | undefined } {
  const found = partOf(e.operand(index));
  if (found.operand.kind !== "register") throw e.unsupported(`operand ${index + 1} is a register`);
  return found;
}

/** The types of the result and of two operands; a comparison names none for its result. */
function typesOf(e: Emitter, compares = false): [type: ScalarType, a: ScalarType, b: ScalarType] {
  const types = e.types();
  const count = compares ? 2 : 3;
  if (types.length !== count || types.some((type) => type !== "u32" && type !== "s32"))
    throw e.unsupported(`it takes ${count} types, .u32 or .s32 each`);
  return (compares ? ["u32", ...types] : types) as [ScalarType, ScalarType, ScalarType];
}

/** Bits `at` to `at + size` of a word as an exact number. */
function field(word: string, at: number, size: number, type: ScalarType): string {
  if (size === 32) return isSigned(type) ? word : `(${word}>>>0)`;
  return isSigned(type) ? `(${word}<<${32 - at - size}>>${32 - size})` : `(${word}>>>${at}&${2 ** size - 1})`;
}

function clamp(value: string, size: number, type: ScalarType): string {
  const [least, most] = isSigned(type) ? [-(2 ** (size - 1)), 2 ** (size - 1) - 1] : [0, 2 ** size - 1];
  return `Math.min(Math.max(${value},${least}),${most})`;
}

const shifted = (value: string, at: number, size: number): string => `(${value}&${2 ** size - 1})<<${at}`;

function bitsOf(e: Emitter, part: string | undefined): { at: number; size: number } {
  if (part === undefined) return { at: 0, size: 32 };
  const size = part.startsWith("b") ? 8 : 16;
  const at = size * Number(part.slice(1));
  if (!/^[bh]\d$/.test(part) || at >= 32) throw e.unsupported(`.${part} is no byte or half-word of a register`);
  return { at, size };
}

function scalarField(e: Emitter, index: number, type: ScalarType): string {
  const { operand, part } = partOf(e.operand(index));
  const { at, size } = bitsOf(e, part);
  return field(e.word(operand, type), at, size, type);
}

/** Clamps a result, and merges it into a part of the third operand or combines the two. */
function finishScalar(e: Emitter, value: string, type: ScalarType, saturates: boolean): void {
  const { operand: to, part } = registerOf(e, 0);
  const { at, size } = bitsOf(e, part);
  const result = saturates && e.has("sat") ? clamp(value, size, type) : value;
  const second = part === undefined ? e.find(["add", "min", "max"]) : undefined;
  const third = part === undefined && second === undefined ? e.optional(3) : e.operand(3);
  // Without a second operation the third operand is there for nothing.
  const c = third === undefined ? "0" : e.word(third, type);
  if (part !== undefined) e.setWord(to, `${shifted(result, at, size)}|${c}&${~((2 ** size - 1) << at)}`, type);
  else if (second === undefined) e.setWord(to, `${result}|0`, type);
  else if (second === "add") e.setWord(to, `((${result}|0)+${c})|0`, type);
  else e.setWord(to, `Math.${second}(${result},${field(c, 0, 32, type)})|0`, type);
}

function scalar(operation: Operation): Handler {
  return (e) => {
    const compares = operation === comparison;
    const [type, aType, bType] = typesOf(e, compares);
    finishScalar(e, operation(scalarField(e, 1, aType), scalarField(e, 2, bType), e), type, !compares);
  };
}

function shiftScalar(e: Emitter): void {
  const [type, aType, bType] = typesOf(e);
  if (bType !== "u32") throw e.unsupported("it is shifted by a .u32");
  const mode = e.either("clamp", "wrap");
  const [a, b] = [scalarField(e, 1, aType), scalarField(e, 2, bType)];
  const power = `2**${mode === "wrap" ? `(${b}&31)` : `Math.min(${b},32)`}`;
  finishScalar(e, e.instruction.opcode === "vshl" ? `${a}*${power}` : `Math.floor(${a}/${power})`, type, true);
}

/** vmad: a product, negated if one factor is, and a third operand, shifted right and clamped. */
function multiplyAdd(e: Emitter): void {
  const [type, aType, bType] = typesOf(e);
  const [minus, negated] = [1, 2, 3].reduce<[boolean, boolean]>(
    ([product, addend], k) => {
      const is = e.operand(k).kind === "minus";
      return k < 3 ? [product !== is, addend] : [product, is];
    },
    [false, false],
  );
  const plain = (index: number): PtxOperand => {
    const operand = e.operand(index);
    return operand.kind === "minus" ? operand.operand : operand;
  };
  const factor = (index: number, of: ScalarType): string => {
    const { operand, part } = partOf(plain(index));
    const { at, size } = bitsOf(e, part);
    return field(e.word(operand, of), at, size, of);
  };
  const more = e.has("po");
  if ((minus && negated) || (more && (minus || negated))) throw e.unsupported("one of the product, the addend and .po is negated or there");
  const signed = isSigned(aType) || isSigned(bType) || minus || negated;
  const shift = { shr7: 7, shr15: 15, none: 0 }[(e.find(["shr7", "shr15"]) as "shr7" | "shr15" | undefined) ?? "none"];
  const c = e.word(plain(3), type);
  const flags = [minus, negated, more, signed, shift, e.has("sat")];
  registerOf(e, 0);
  e.setWord(e.operand(0), `multiplyScaled(${factor(1, aType)},${factor(2, bType)},${c},${flags.join(",")})`, type);
}

/** The fields that a selector names, the lowest first; by default the operand's own. */
function lanes(e: Emitter, index: 1 | 2, count: 2 | 4, type: ScalarType): string[] {
  const { part } = registerOf(e, index);
  const size = 32 / count;
  const letter = count === 2 ? "h" : "b";
  const all = Array.from({ length: count }, (_, k) => count * index - 1 - k).join("");
  const digits = (part ?? letter + all).slice(1);
  if (digits.length !== count || part?.startsWith(letter) === false || [...digits].some((digit) => Number(digit) >= 2 * count))
    throw e.unsupported(`.${part} does not choose ${count} of the ${2 * count} fields`);
  return [...digits].reverse().map((digit) => {
    const from = e.word(partOf(e.operand(Number(digit) < count ? 1 : 2)).operand, type);
    return field(from, size * (Number(digit) % count), size, type);
  });
}

/** The fields that a mask names: `h10`, `b31`; all if there is none. */
function masked(e: Emitter, part: string | undefined, count: 2 | 4): number[] {
  const all = count === 2 ? "h10" : "b3210";
  if (part === undefined) return Array.from({ length: count }, (_, k) => k);
  const digits = [...part.slice(1)].map(Number);
  const falling = digits.every((digit, k) => digit < (digits[k - 1] ?? count));
  if (part[0] !== all[0] || digits.length === 0 || !falling) throw e.unsupported(`.${part} is no mask`);
  return digits;
}

function finishLanes(e: Emitter, values: readonly string[], type: ScalarType): void {
  const count = values.length as 2 | 4;
  const size = 32 / count;
  const { operand: to, part } = registerOf(e, 0);
  const mask = masked(e, part, count);
  registerOf(e, 3);
  const c = e.word(e.operand(3), type);
  if (e.has("add")) {
    e.setWord(to, `(${[c, ...mask.map((k) => values[k]!)].join("+")})|0`, type);
    return;
  }
  const results = values.map((value, k) => (mask.includes(k) ? shifted(value, size * k, size) : `${c}&${(2 ** size - 1) << (size * k)}`));
  e.setWord(to, results.join("|"), type);
}

function packed(count: 2 | 4, operation: Operation): Handler {
  return (e) => {
    const compares = operation === comparison;
    const [type, aType, bType] = typesOf(e, compares);
    const [a, b] = [lanes(e, 1, count, aType), lanes(e, 2, count, bType)];
    const saturates = !compares && !e.instruction.modifiers.includes("add") && e.has("sat");
    const values = a.map((x, k) => operation(x, b[k]!, e));
    finishLanes(e, saturates ? values.map((value) => clamp(value, 32 / count, type)) : values, type);
  };
}

export const videoForms: Readonly<Record<string, Handler>> = Object.fromEntries<Handler>([
  ...[...arithmetic, ["set", comparison] as const].map(([name, operation]) => [`v${name}`, scalar(operation)] as const),
  ["vshl", shiftScalar],
  ["vshr", shiftScalar],
  ["vmad", multiplyAdd],
  ...([2, 4] as const).flatMap((count) =>
    [...arithmetic, ["avrg", average] as const, ["set", comparison] as const].map(
      ([name, operation]) => [`v${name}${count}`, packed(count, operation)] as const,
    ),
  ),
]);
