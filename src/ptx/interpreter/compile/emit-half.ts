// Half-precision instructions (f16, bf16 and their pairs): values stay 16 bits in a word, and a helper does the arithmetic with one rounding.
import type { PtxOperand } from "../types.js";
import { type Emitter, typeOf } from "./emitter.js";
import type { Handler } from "./emit-integer.js";

/** The lanes of a packed word done one by one, or the one value of an unpacked register. */
function each(e: Emitter, sources: readonly PtxOperand[], operation: (values: string[]) => string): void {
  const packed = typeOf(e.instruction).endsWith("x2");
  const words = sources.map((operand) => e.word(operand));
  if (!packed) {
    e.setWord(e.operand(0), operation(words.map((word) => `(${word}&65535)`)));
    return;
  }
  const low = operation(words.map((word) => `(${word}&65535)`));
  const high = operation(words.map((word) => `(${word}>>>16)`));
  e.setWord(e.operand(0), `(${low})|(${high})<<16`);
}

export function halfKind(type: string): '"f16"' | '"bf16"' {
  return type.startsWith("bf16") ? '"bf16"' : '"f16"';
}

function finish(e: Emitter, value: string, kind: string): string {
  const flushed = e.has("ftz") ? `flush16(${value})` : value;
  if (e.has("sat")) return `saturate16(${kind},${flushed})`;
  return e.has("relu") ? `relu16(${kind},${flushed})` : flushed;
}

function operation(name: string): Handler {
  return (e) => {
    const kind = halfKind(typeOf(e.instruction));
    const key = e.has("NaN") ? `${name}NaN` : name;
    each(e, e.instruction.operands.slice(1), (values) => {
      const inputs = [0, 1, 2].map((k) => (values[k] === undefined ? "0" : e.has("ftz") ? `flush16(${values[k]})` : values[k]));
      return finish(e, `halfOperations.${key}(${kind},${inputs.join(",")})`, kind);
    });
  };
}

function approximation(name: string): Handler {
  return (e) => {
    const kind = halfKind(typeOf(e.instruction));
    each(e, [e.operand(1)], ([value]) => finish(e, `fromNumber(${kind},${name}(toNumber(${kind},${value})))`, kind));
  };
}

export const halfHandlers: Readonly<Record<string, Handler>> = {
  add: operation("add"),
  sub: operation("sub"),
  mul: operation("mul"),
  fma: operation("fma"),
  neg: operation("neg"),
  abs: operation("abs"),
  min: operation("min"),
  max: operation("max"),
  ex2: approximation("exp2"),
  tanh: approximation("hyperbolicTangent"),
};
