// Half-precision instructions (f16, bf16 and their pairs): values stay 16 bits in a word, and a
// helper does the arithmetic with one rounding.
import type { PtxOperand, ScalarType } from "../types.js";
import type { Handler } from "./emit-integer.js";
import type { Emitter } from "./emitter.js";

const all: readonly ScalarType[] = ["f16", "f16x2", "bf16", "bf16x2"];

/** The lanes of a packed word done one by one, or the one value of an unpacked register. */
function each(e: Emitter, type: ScalarType, sources: readonly PtxOperand[], operation: (values: string[]) => string): void {
  const words = sources.map((operand) => e.word(operand, type));
  if (!type.endsWith("x2")) {
    e.setWord(e.operand(0), operation(words.map((word) => `(${word}&65535)`)), type);
    return;
  }
  const low = operation(words.map((word) => `(${word}&65535)`));
  const high = operation(words.map((word) => `(${word}>>>16)`));
  e.setWord(e.operand(0), `(${low})|(${high})<<16`, type);
}

export function halfKind(type: string): '"f16"' | '"bf16"' {
  return type.startsWith("bf16") ? '"bf16"' : '"f16"';
}

/** What an operation may be asked for besides its result. */
interface Form {
  operands: 1 | 2 | 3;
  /** `.rn`, which is how it rounds in any case: it may say so, or it must. */
  rounds?: "may" | "must";
  saturates?: boolean;
  relu?: boolean;
  nan?: boolean;
  /** `.xorsign.abs`: of the magnitudes, with the product of the signs. */
  signs?: boolean;
}

function operation(name: string, { operands, rounds, saturates, relu, nan, signs }: Form): Handler {
  return (e) => {
    const type = e.type(all);
    const kind = halfKind(type);
    const binary16 = kind === '"f16"';
    if (rounds !== undefined && !e.has("rn") && rounds === "must") throw e.unsupported("it takes .rn");
    const flushes = binary16 && e.has("ftz");
    const limits = saturates && binary16 && e.has("sat");
    const positive = relu && !limits && e.has("relu");
    const key = nan && e.has("NaN") ? `${name}NaN` : name;
    const magnitudes = signs && e.has("xorsign");
    if (magnitudes && !e.has("abs")) throw e.unsupported(".xorsign takes .abs");
    const sources = Array.from({ length: operands }, (_, k) => e.operand(k + 1));
    each(e, type, sources, (values) => {
      const inputs = [0, 1, 2].map((k) => (values[k] === undefined ? "0" : flushes ? `flush16(${values[k]})` : values[k]));
      const value = magnitudes
        ? `withSigns16(${kind},halfOperations.${key}(${kind},${inputs.map((input) => `${input}&32767`).join(",")}),${inputs.join(",")})`
        : `halfOperations.${key}(${kind},${inputs.join(",")})`;
      const flushed = flushes ? `flush16(${value})` : value;
      if (limits) return `saturate16(${kind},${flushed})`;
      return positive ? `relu16(${kind},${flushed})` : flushed;
    });
  };
}

function approximation(name: string): Handler {
  return (e) => {
    const type = e.type(all);
    const kind = halfKind(type);
    if (!e.has("approx")) throw e.unsupported("it takes .approx");
    // ex2 of bfloat16 has no other form; it has no subnormal values to flush that an approximation
    // would tell apart.
    if (e.instruction.opcode === "ex2" && kind === '"bf16"' && !e.has("ftz")) throw e.unsupported("it takes .approx.ftz");
    each(e, type, [e.operand(1)], ([value]) => `fromNumber(${kind},${name}(toNumber(${kind},${value})))`);
  };
}

const sum: Form = { operands: 2, rounds: "may", saturates: true };

export const halfHandlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["add", operation("add", sum)],
  ["sub", operation("sub", sum)],
  ["mul", operation("mul", sum)],
  ["fma", operation("fma", { operands: 3, rounds: "must", saturates: true, relu: true })],
  ["neg", operation("neg", { operands: 1 })],
  ["abs", operation("abs", { operands: 1 })],
  ["min", operation("min", { operands: 2, nan: true, signs: true })],
  ["max", operation("max", { operands: 2, nan: true, signs: true })],
  ["ex2", approximation("exp2")],
  ["tanh", approximation("hyperbolicTangent")],
]);
