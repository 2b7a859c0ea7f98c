// Floating-point instructions of 32 and 64 bits. Rounding to nearest is JavaScript's own arithmetic; directed rounding goes the exact way.
import type { PtxOperand, ScalarType } from "../types.js";
import { type Emitter, literal, typeOf } from "./emitter.js";
import type { Handler } from "./emit-integer.js";

const isDouble = (type: ScalarType): boolean => type === "f64";

/** Reads an operand, flushed where `.ftz` says so. */
export function readFloat(e: Emitter, operand: PtxOperand, type: ScalarType): string {
  if (isDouble(type)) return e.double(operand);
  const value = e.single(operand);
  if (!e.has("ftz")) return value;
  if (operand.kind === "float" && Math.abs(operand.value) >= 1.2e-38) return value;
  return `flush32(${value})`;
}

/** Writes a result that is already rounded, flushed and saturated as the instruction says. */
function writeFloat(e: Emitter, operand: PtxOperand, value: string, type: ScalarType): void {
  const flushed = e.has("ftz") && !isDouble(type) ? `flush32(${value})` : value;
  const finished = e.has("sat") ? `saturate(${flushed})` : flushed;
  if (isDouble(type)) e.setDouble(operand, finished);
  else e.setSingle(operand, finished);
}

function directed(e: Emitter): string | undefined {
  return e.instruction.modifiers.find((word) => word === "rz" || word === "rm" || word === "rp");
}

const format = (type: ScalarType): string => (isDouble(type) ? "binary64" : "binary32");

function binary(e: Emitter, operator: string, exactName: string): void {
  const type = typeOf(e.instruction);
  const mode = directed(e);
  const [a, b] = [readFloat(e, e.operand(1), type), readFloat(e, e.operand(2), type)];
  let value: string;
  if (mode !== undefined) {
    const second = operator === "-" ? `-(${b})` : b;
    value = `${exactName}(${a},${second},${format(type)},"${mode}")`;
  } else value = isDouble(type) ? `${a}${operator}${b}` : `Math.fround(${a}${operator}${b})`;
  writeFloat(e, e.operand(0), value, type);
}

function fma(e: Emitter): void {
  const type = typeOf(e.instruction);
  const mode = directed(e);
  const [a, b, c] = [1, 2, 3].map((k) => readFloat(e, e.operand(k), type));
  const value =
    mode !== undefined ? `exactFma(${a},${b},${c},${format(type)},"${mode}")` : `${isDouble(type) ? "fma64" : "fma32"}(${a},${b},${c})`;
  writeFloat(e, e.operand(0), value, type);
}

/** div, also .approx and .full, whose 2 ulp the exact quotient meets. */
function divide(e: Emitter): void {
  binary(e, "/", "exactDiv");
}

function reciprocal(e: Emitter): void {
  const type = typeOf(e.instruction);
  const mode = directed(e);
  const a = readFloat(e, e.operand(1), type);
  if (isDouble(type) && e.has("approx")) {
    // rcp.approx.ftz.f64 gives the upper word only.
    const value = e.temporary(`1/(${a})`);
    e.setHalves(e.operand(0), "0", `doubleHigh(${value})`);
    return;
  }
  const value = mode !== undefined ? `exactDiv(1,${a},${format(type)},"${mode}")` : isDouble(type) ? `1/(${a})` : `Math.fround(1/(${a}))`;
  writeFloat(e, e.operand(0), value, type);
}

function squareRoot(e: Emitter): void {
  const type = typeOf(e.instruction);
  const mode = directed(e);
  const a = readFloat(e, e.operand(1), type);
  const root = isDouble(type) ? `Math.sqrt(${a})` : `Math.fround(Math.sqrt(${a}))`;
  writeFloat(e, e.operand(0), mode !== undefined ? `exactSqrt(${a},${format(type)},"${mode}")` : root, type);
}

function reciprocalRoot(e: Emitter): void {
  const type = typeOf(e.instruction);
  const a = readFloat(e, e.operand(1), type);
  if (isDouble(type)) {
    if (!e.has("ftz")) {
      writeFloat(e, e.operand(0), `1/Math.sqrt(${a})`, type);
      return;
    }
    const value = e.temporary(`1/Math.sqrt(${a})`);
    e.setHalves(e.operand(0), "0", `doubleHigh(${value})`);
  } else writeFloat(e, e.operand(0), `Math.fround(1/Math.sqrt(${a}))`, type);
}

function approximation(name: string): Handler {
  return (e) => writeFloat(e, e.operand(0), `Math.fround(${name}(${readFloat(e, e.operand(1), "f32")}))`, "f32");
}

function extreme(e: Emitter, name: "minimum" | "maximum"): void {
  const type = typeOf(e.instruction);
  const operands = e.instruction.operands.slice(1).map((operand) => readFloat(e, operand, type));
  if (!e.has("xorsign")) {
    const best = operands.reduce((a, b) => (e.has("NaN") ? `(${a}!==${a}||${b}!==${b}?NaN:${name}(${a},${b}))` : `${name}(${a},${b})`));
    writeFloat(e, e.operand(0), best, type);
    return;
  }
  const [a, b] = operands as [string, string];
  const sign = `((singleBits(${a})^singleBits(${b}))<0?-1:1)`;
  const best = `${name}(Math.abs(${a}),Math.abs(${b}))`;
  const whole = e.has("NaN") ? `(${a}!==${a}||${b}!==${b}?NaN:${best})` : best;
  writeFloat(e, e.operand(0), `${sign}*${whole}`, type);
}

/** copysign a, b: the magnitude of b with the sign of a. */
function copySign(e: Emitter): void {
  const type = typeOf(e.instruction);
  const [to, a, b] = [e.operand(0), e.operand(1), e.operand(2)];
  if (isDouble(type)) {
    const [low, high] = e.halves(b);
    const [, sign] = e.halves(a);
    e.setHalves(to, low, `(${high}&2147483647)|(${sign}&-2147483648)`);
  } else e.setWord(to, `(${e.word(b)}&2147483647)|(${e.word(a)}&-2147483648)`);
}

/** testp: what kind of number it is, from its bits. */
function testProperty(e: Emitter): void {
  const type = typeOf(e.instruction);
  const [a, to] = [e.operand(1), e.operand(0)];
  const test = e.instruction.modifiers[0];
  const value = isDouble(type) ? e.double(a) : e.single(a);
  const least = literal(isDouble(type) ? 2.2250738585072014e-308 : 1.1754943508222875e-38);
  const tests: Readonly<Record<string, string>> = {
    finite: `Number.isFinite(${value})`,
    infinite: `Math.abs(${value})===Infinity`,
    number: `${value}===${value}`,
    notanumber: `${value}!==${value}`,
    normal: `Math.abs(${value})>=${least}&&Math.abs(${value})<Infinity`,
    subnormal: `Math.abs(${value})<${least}&&${value}!==0`,
  };
  const expression = tests[test ?? ""];
  if (expression === undefined) throw e.unsupported("no such property");
  e.setWord(to, `${expression}?1:0`);
}

export const floatHandlers: Readonly<Record<string, Handler>> = {
  add: (e) => binary(e, "+", "exactAdd"),
  sub: (e) => binary(e, "-", "exactAdd"),
  mul: (e) => binary(e, "*", "exactMul"),
  fma,
  mad: fma,
  div: divide,
  rcp: reciprocal,
  sqrt: squareRoot,
  rsqrt: reciprocalRoot,
  neg: (e) => writeFloat(e, e.operand(0), `-(${readFloat(e, e.operand(1), typeOf(e.instruction))})`, typeOf(e.instruction)),
  abs: (e) => writeFloat(e, e.operand(0), `Math.abs(${readFloat(e, e.operand(1), typeOf(e.instruction))})`, typeOf(e.instruction)),
  min: (e) => extreme(e, "minimum"),
  max: (e) => extreme(e, "maximum"),
  ex2: approximation("exp2"),
  lg2: approximation("log2"),
  sin: approximation("sine"),
  cos: approximation("cosine"),
  tanh: approximation("hyperbolicTangent"),
  copysign: copySign,
  testp: testProperty,
};
