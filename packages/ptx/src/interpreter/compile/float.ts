// Floating-point instructions. Of 32 and 64 bits JavaScript rounds to nearest, and directed rounding
// is exact. Halves (f16, bf16 and pairs) stay 16 bits in a word, for a helper that rounds once.
import type { PtxOperand, ScalarType } from "../types.js";
import { type Emitter, literal } from "./emitter.js";
import type { Handler } from "./templates.js";

const isDouble = (type: ScalarType): boolean => type === "f64";
const both: readonly ScalarType[] = ["f32", "f64"];

/** Reads an operand, flushed if `.ftz` says so. */
export function readFloat(e: Emitter, operand: PtxOperand, type: ScalarType): string {
  const value = e.float(operand, type);
  if (isDouble(type) || !e.has("ftz")) return value;
  if (operand.kind === "float" && Math.abs(operand.value) >= 1.2e-38) return value;
  return `flush32(${value})`;
}

/** Writes a rounded result, flushed and (if the instruction may) saturated as it says. */
function writeFloat(e: Emitter, operand: PtxOperand, value: string, type: ScalarType, saturates = false): void {
  const flushed = !isDouble(type) && e.has("ftz") ? `flush32(${value})` : value;
  e.setFloat(operand, !isDouble(type) && saturates && e.has("sat") ? `saturate(${flushed})` : flushed, type);
}

/** The rounding that the instruction asks for; undefined for the one to nearest. */
function directed(e: Emitter): string | undefined {
  const mode = e.find(["rn", "rz", "rm", "rp"]);
  return mode === "rn" ? undefined : mode;
}

/** As `directed`, of an instruction that must say how it rounds. */
function rounding(e: Emitter): string | undefined {
  if (!e.has("rn", "rz", "rm", "rp")) throw e.unsupported("it takes a rounding, as .rn");
  return directed(e);
}

const format = (type: ScalarType): string => (isDouble(type) ? "binary64" : "binary32");

function quotient(mode: string | undefined, a: string, b: string, type: ScalarType): string {
  if (mode !== undefined) return `exactDiv(${a},${b},${format(type)},"${mode}")`;
  return isDouble(type) ? `${a}/${b}` : `Math.fround(${a}/${b})`;
}

/** A sum or a product, rounded once. `mode`: as `directed` gives it. */
type Rounded = (values: readonly string[], type: ScalarType, mode: string | undefined) => string;

function rounded(operator: "+" | "-" | "*"): Rounded {
  const name = operator === "*" ? "exactMul" : "exactAdd";
  return ([a, b], type, mode) => {
    if (mode !== undefined) return `${name}(${a},${operator === "-" ? `-(${b})` : b},${format(type)},"${mode}")`;
    return isDouble(type) ? `${a}${operator}${b}` : `Math.fround(${a}${operator}${b})`;
  };
}

const fused: Rounded = ([a, b, c], type, mode) =>
  mode !== undefined ? `exactFma(${a},${b},${c},${format(type)},"${mode}")` : `${isDouble(type) ? "fma64" : "fma32"}(${a},${b},${c})`;

/** An instruction that rounds once: of two operands, or of three if it must say how it rounds. */
function once(operation: Rounded): Handler {
  return (e) => {
    const type = e.type(both);
    const mode = operation === fused ? rounding(e) : directed(e);
    const values = (operation === fused ? [1, 2, 3] : [1, 2]).map((k) => readFloat(e, e.operand(k), type));
    writeFloat(e, e.operand(0), operation(values, type, mode), type, true);
  };
}

/** The same of the two binary32 values in 64 bits. */
function pairwise(operation: Rounded): Handler {
  return (e) => {
    const type = e.type(["f32x2"]);
    if (e.context.architecture < 100) throw e.unsupported(`.${type} is there from .target sm_100 on`);
    const mode = operation === fused ? rounding(e) : directed(e);
    const flush = (value: string): string => (e.has("ftz") ? `flush32(${value})` : value);
    const operands = (operation === fused ? [1, 2, 3] : [1, 2]).map((k) => e.halves(e.operand(k), type));
    const [low, high] = ([0, 1] as const).map((half) => {
      const values = operands.map((halves) => flush(`singleFromBits(${halves[half]})`));
      return e.temporary(`singleBits(${flush(operation(values, "f32", mode))})`);
    });
    e.setHalves(e.operand(0), low!, high!, type);
  };
}

/** div, also .approx and .full, whose 2 ulp the exact quotient meets. */
function divide(e: Emitter): void {
  const type = e.type(both);
  const mode = type === "f32" && e.has("approx", "full") ? undefined : rounding(e);
  const [a, b] = [readFloat(e, e.operand(1), type), readFloat(e, e.operand(2), type)];
  writeFloat(e, e.operand(0), quotient(mode, a, b, type), type);
}

/** The upper word of a double, and nothing below it: what approximations of binary64 give. */
function writeUpper(e: Emitter, operand: PtxOperand, value: string): void {
  const whole = e.temporary(value);
  e.setHalves(operand, "0", `doubleHigh(${whole})`, "f64");
}

function reciprocal(e: Emitter): void {
  const type = e.type(both);
  const approximate = e.has("approx");
  if (isDouble(type) && approximate) {
    if (!e.has("ftz")) throw e.unsupported("it takes .approx.ftz");
    writeUpper(e, e.operand(0), `1/(${e.float(e.operand(1), type)})`);
    return;
  }
  const mode = approximate ? undefined : rounding(e);
  writeFloat(e, e.operand(0), quotient(mode, "1", `(${readFloat(e, e.operand(1), type)})`, type), type);
}

function squareRoot(e: Emitter): void {
  const type = e.type(both);
  const mode = type === "f32" && e.has("approx") ? undefined : rounding(e);
  const a = readFloat(e, e.operand(1), type);
  const root = isDouble(type) ? `Math.sqrt(${a})` : `Math.fround(Math.sqrt(${a}))`;
  writeFloat(e, e.operand(0), mode !== undefined ? `exactSqrt(${a},${format(type)},"${mode}")` : root, type);
}

function reciprocalRoot(e: Emitter): void {
  const type = e.type(both);
  e.one(["approx"]);
  const [to, from] = [e.operand(0), e.operand(1)];
  if (!isDouble(type)) writeFloat(e, to, `Math.fround(1/Math.sqrt(${readFloat(e, from, type)}))`, type);
  else if (e.has("ftz")) writeUpper(e, to, `1/Math.sqrt(${e.float(from, type)})`);
  else e.setFloat(to, `1/Math.sqrt(${e.float(from, type)})`, type);
}

/** `flushes`: the instruction has a form with `.ftz`. */
function approximation(name: string, flushes = true): Handler {
  return (e) => {
    e.type(["f32"]);
    e.one(["approx"]);
    const from = e.operand(1);
    if (flushes) writeFloat(e, e.operand(0), `Math.fround(${name}(${readFloat(e, from, "f32")}))`, "f32");
    else e.setFloat(e.operand(0), `Math.fround(${name}(${e.float(from, "f32")}))`, "f32");
  };
}

function sign(operation: (value: string) => string): Handler {
  return (e) => {
    const type = e.type(both);
    writeFloat(e, e.operand(0), operation(readFloat(e, e.operand(1), type)), type);
  };
}

function extreme(e: Emitter, name: "minimum" | "maximum"): void {
  const type = e.type(both);
  const count = type === "f32" && e.operandCount > 3 ? 3 : 2;
  const operands = Array.from({ length: count }, (_, k) => readFloat(e, e.operand(k + 1), type));
  const nan = type === "f32" && e.has("NaN");
  if (type !== "f32" || !e.has("xorsign")) {
    const best = operands.reduce((a, b) => (nan ? `(${a}!==${a}||${b}!==${b}?NaN:${name}(${a},${b}))` : `${name}(${a},${b})`));
    writeFloat(e, e.operand(0), best, type);
    return;
  }
  if (count > 2 || !e.has("abs")) throw e.unsupported(".xorsign takes .abs and two operands");
  const [a, b] = operands as [string, string];
  const signs = `((singleBits(${a})^singleBits(${b}))<0?-1:1)`;
  const best = `${name}(Math.abs(${a}),Math.abs(${b}))`;
  const whole = nan ? `(${a}!==${a}||${b}!==${b}?NaN:${best})` : best;
  writeFloat(e, e.operand(0), `${signs}*${whole}`, type);
}

/** copysign a, b: the magnitude of b with the sign of a. */
function copySign(e: Emitter): void {
  const type = e.type(both);
  const [magnitude, sign] = [e.words(e.operand(2), type), e.words(e.operand(1), type)];
  const top = `(${magnitude.pop()}&2147483647)|(${sign.pop()}&-2147483648)`;
  e.setWords(e.operand(0), [...magnitude, top], type);
}

/** testp: what kind of number it is. */
function testProperty(e: Emitter): void {
  const type = e.type(both);
  const value = e.float(e.operand(1), type);
  const least = literal(isDouble(type) ? 2.2250738585072014e-308 : 1.1754943508222875e-38);
  const tests = {
    finite: `Number.isFinite(${value})`,
    infinite: `Math.abs(${value})===Infinity`,
    number: `${value}===${value}`,
    notanumber: `${value}!==${value}`,
    normal: `Math.abs(${value})>=${least}&&Math.abs(${value})<Infinity`,
    subnormal: `Math.abs(${value})<${least}&&${value}!==0`,
  };
  const test = e.one(Object.keys(tests) as (keyof typeof tests)[]);
  e.setPredicate(e.operand(0), `${tests[test]}?1:0`);
}

export const floatForms = {
  add: once(rounded("+")),
  sub: once(rounded("-")),
  mul: once(rounded("*")),
  fma: once(fused),
  mad: once(fused),
  div: divide,
  rcp: reciprocal,
  sqrt: squareRoot,
  rsqrt: reciprocalRoot,
  neg: sign((value) => `-(${value})`),
  abs: sign((value) => `Math.abs(${value})`),
  min: (e) => extreme(e, "minimum"),
  max: (e) => extreme(e, "maximum"),
  ex2: approximation("exp2"),
  lg2: approximation("log2"),
  sin: approximation("sine"),
  cos: approximation("cosine"),
  tanh: approximation("hyperbolicTangent", false),
  copysign: copySign,
  testp: testProperty,
} satisfies Readonly<Record<string, Handler>>;

export const pairForms = {
  add: pairwise(rounded("+")),
  sub: pairwise(rounded("-")),
  mul: pairwise(rounded("*")),
  fma: pairwise(fused),
} satisfies Readonly<Record<string, Handler>>;

const halves: readonly ScalarType[] = ["f16", "f16x2", "bf16", "bf16x2"];

/** The lanes of a packed word done one by one, or the one value of an unpacked register. */
function eachHalf(e: Emitter, type: ScalarType, sources: readonly PtxOperand[], operation: (values: string[]) => string): void {
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

function half(name: string, { operands, rounds, saturates, relu, nan, signs }: Form): Handler {
  return (e) => {
    const type = e.type(halves);
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
    eachHalf(e, type, sources, (values) => {
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

function halfApproximation(name: string): Handler {
  return (e) => {
    const type = e.type(halves);
    const kind = halfKind(type);
    e.one(["approx"]);
    // ex2 of bfloat16 has no other form; it has no subnormal values to flush that an approximation
    // would tell apart.
    if (e.instruction.opcode === "ex2" && kind === '"bf16"' && !e.has("ftz")) throw e.unsupported("it takes .approx.ftz");
    eachHalf(e, type, [e.operand(1)], ([value]) => `fromNumber(${kind},${name}(toNumber(${kind},${value})))`);
  };
}

const sum: Form = { operands: 2, rounds: "may", saturates: true };

export const halfForms = {
  add: half("add", sum),
  sub: half("sub", sum),
  mul: half("mul", sum),
  fma: half("fma", { operands: 3, rounds: "must", saturates: true, relu: true }),
  neg: half("neg", { operands: 1 }),
  abs: half("abs", { operands: 1 }),
  min: half("min", { operands: 2, nan: true, signs: true }),
  max: half("max", { operands: 2, nan: true, signs: true }),
  ex2: halfApproximation("exp2"),
  tanh: halfApproximation("hyperbolicTangent"),
} satisfies Readonly<Record<string, Handler>>;
