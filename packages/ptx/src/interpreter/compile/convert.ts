// cvt: between every pair of integer and float types, with the rounding, saturation and flushing
// of its modifiers.
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import type { Emitter } from "./emitter.js";
import { halfKind } from "./float.js";
import { isSigned, isWideInteger } from "./templates.js";

function range(type: ScalarType): [least: number, most: number] {
  const bits = scalarBytes[type] * 8;
  return isSigned(type) ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}

/** Low bits of a word with the sign or zeros of its type above. */
function extend(word: string, type: ScalarType): string {
  if (scalarBytes[type] === 1) return isSigned(type) ? `(${word}<<24>>24)` : `(${word}&255)`;
  if (scalarBytes[type] === 2) return isSigned(type) ? `(${word}<<16>>16)` : `(${word}&65535)`;
  return word;
}

/** Writes an integer of at most 32 bits to a register that may be wider than the type. */
function setInteger(e: Emitter, to: PtxOperand, value: string, type: ScalarType): void {
  const bytes = to.kind === "register" ? scalarBytes[to.register.type] : 4;
  if (bytes === 8) {
    const low = e.temporary(value);
    e.setHalves(to, low, isSigned(type) ? `${low}>>31` : "0", type, true);
  } else e.setWord(to, bytes === 2 ? `(${value})&65535` : value, type, true);
}

/** The low word of an integer operand, with the sign or zeros of its type above. */
const readInteger = (e: Emitter, from: PtxOperand, type: ScalarType): string => extend(e.word(from, type, true), type);

function integerToInteger(e: Emitter, toType: ScalarType, fromType: ScalarType): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  const saturates = e.has("sat");
  if (isWideInteger(fromType)) {
    const [low, high] = e.halves(from, fromType);
    if (isWideInteger(toType)) {
      const clamp = saturates && isSigned(fromType) !== isSigned(toType) ? e.temporary(`${high}<0`) : undefined;
      if (clamp === undefined) e.setHalves(to, low, high, toType);
      else if (isSigned(toType)) e.setHalves(to, e.temporary(`${clamp}?-1:${low}`), `${clamp}?2147483647:${high}`, toType);
      else e.setHalves(to, e.temporary(`${clamp}?0:${low}`), `${clamp}?0:${high}`, toType);
      return;
    }
    const [least, most] = range(toType);
    const value = saturates ? `saturateInteger64(${low},${high},${isSigned(fromType)},${least},${most})` : extend(low, toType);
    setInteger(e, to, value, toType);
    return;
  }
  const value = readInteger(e, from, fromType);
  if (isWideInteger(toType)) {
    const low = e.temporary(value);
    if (saturates && isSigned(fromType) && !isSigned(toType)) e.setHalves(to, `${low}<0?0:${low}`, "0", toType);
    else e.setHalves(to, low, isSigned(fromType) ? `${low}>>31` : "0", toType);
    return;
  }
  const [least, most] = range(toType);
  const number = isSigned(fromType) || scalarBytes[fromType] < 4 ? value : `(${value}>>>0)`;
  setInteger(e, to, saturates ? `saturateInteger(${number},${least},${most})` : extend(value, toType), toType);
}

function readNumber(e: Emitter, from: PtxOperand, type: ScalarType): string {
  if (type === "f16" || type === "bf16") return `toNumber(${halfKind(type)},${e.word(from, type, true)})`;
  const value = e.float(from, type);
  return type === "f32" && e.has("ftz") ? `flush32(${value})` : value;
}

const roundings = ["rn", "rz", "rm", "rp"];
const wholeModes = ["rni", "rzi", "rmi", "rpi"];

/** The rounding that a conversion must say, one of these. */
const roundingOf = (e: Emitter, modes: readonly string[]): string => e.one(modes, "it takes a rounding:");

function floatToInteger(e: Emitter, toType: ScalarType, fromType: ScalarType): void {
  const mode = roundingOf(e, wholeModes);
  // Such a conversion saturates in any case.
  e.skip(["sat"]);
  const whole = `roundToWhole(${readNumber(e, e.operand(1), fromType)},"${mode}")`;
  if (isWideInteger(toType)) {
    const low = e.temporary(`clampToInteger64(${whole},${isSigned(toType)})`);
    e.setHalves(e.operand(0), low, "wide.high", toType);
    return;
  }
  const [least, most] = range(toType);
  const notANumber = fromType === "f64" ? 2 ** (scalarBytes[toType] * 8 - 1) : 0;
  setInteger(e, e.operand(0), `clampToInteger(${whole},${least},${most},${notANumber})`, toType);
}

/** A half that came of a binary32, kept finite or above zero if the instruction says so. */
function limited(e: Emitter, kind: string, half: string): string {
  const finite = e.has("satfinite") ? `finite16(${kind},${half})` : half;
  return e.has("relu") ? `relu16(${kind},${finite})` : finite;
}

/** `exact`: the type holds the value. `relu`: there are forms with `.relu` and `.satfinite`. */
function writeNumber(e: Emitter, to: PtxOperand, value: string, type: ScalarType, mode: string, exact: boolean, relu = false): void {
  const saturates = type !== "bf16" && e.has("sat");
  const finish = (x: string): string => (saturates ? `saturate(${x})` : x);
  if (type === "f64") e.setFloat(to, finish(value), type);
  else if (type === "f32") {
    const narrowed = exact ? value : mode === "rn" ? `Math.fround(${value})` : `narrowToSingle(${value},"${mode}")`;
    e.setFloat(to, finish(e.has("ftz") ? `flush32(${narrowed})` : narrowed), type);
  } else {
    const kind = halfKind(type);
    const format = kind === '"f16"' ? "binary16" : "bfloat16";
    const rounded = mode === "rn" ? finish(value) : finish(`roundTo(${value},${format},"${mode}")`);
    const half = `fromNumber(${kind},${rounded})`;
    e.setWord(to, relu && !saturates ? limited(e, kind, half) : half, type, true);
  }
}

function integerToFloat(e: Emitter, toType: ScalarType, fromType: ScalarType): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  const mode = roundingOf(e, roundings);
  const signed = isSigned(fromType);
  // A whole number is never subnormal.
  if (toType === "f32") e.skip(["ftz"]);
  if (isWideInteger(fromType)) {
    const [low, high] = e.halves(from, fromType);
    const format = { f64: "binary64", f32: "binary32", f16: "binary16", bf16: "bfloat16" }[toType as "f64" | "f32" | "f16" | "bf16"];
    const value = `floatFromInteger64(${low},${high},${signed},${format},"${mode}")`;
    if (mode === "rn" && toType === "f64") writeNumber(e, to, `doubleFromInteger64(${low},${high},${signed})`, toType, mode, true);
    else if (mode === "rn" && toType === "f32") writeNumber(e, to, `singleFromInteger64(${low},${high},${signed})`, toType, mode, true);
    else writeNumber(e, to, value, toType, "rn", true);
    return;
  }
  const word = readInteger(e, from, fromType);
  writeNumber(e, to, signed || scalarBytes[fromType] < 4 ? word : `(${word}>>>0)`, toType, mode, false);
}

/** cvt.rn.f16x2.f32 d, a, b and its bfloat16 twin: a goes to the upper half. */
function pack(e: Emitter, toType: ScalarType): void {
  const mode = roundingOf(e, ["rn", "rz"]);
  const kind = halfKind(toType);
  const format = kind === '"f16"' ? "binary16" : "bfloat16";
  const half = (operand: PtxOperand): string => {
    const value = e.float(operand, "f32");
    return limited(e, kind, `fromNumber(${kind},${mode === "rn" ? value : `roundTo(${value},${format},"${mode}")`})`);
  };
  e.setWord(e.operand(0), `(${half(e.operand(1))}<<16)|${half(e.operand(2))}`, toType);
}

/** cvt.rna.tf32.f32 and its kin: the upper 19 bits of a binary32, the others zero. */
function toTensorFloat(e: Emitter): void {
  const mode = roundingOf(e, ["rna", "rn", "rz"]);
  const rounded = e.temporary(`roundTo(${e.float(e.operand(1), "f32")},tensorFloat32,"${mode}")`);
  if (mode === "rna" && e.has("satfinite"))
    e.line(`if(Math.abs(${rounded})===Infinity)${rounded}=Math.sign(${rounded})*tensorFloat32.largest;`);
  // NaN becomes the canonical NaN.
  const relu =
    mode !== "rna" && e.has("relu") ? `${rounded}>0||${rounded}!==${rounded}?singleBits(${rounded}):0` : `singleBits(${rounded})`;
  e.setWord(e.operand(0), relu, "b32");
}

const byteFloats = /^(e4m3x2|e5m2x2|f16x2|f32)$/;

/** cvt from or to two 8-bit floats; the upper byte is the upper half or first binary32. */
function convertBytes(e: Emitter): void {
  e.requires(89);
  const types = e.every(byteFloats).join(".");
  const widened = /^f16x2\.(e4m3|e5m2)x2$/.exec(types)?.[1];
  const [, narrowed, fromType] = /^(e4m3|e5m2)x2\.(f16x2|f32)$/.exec(types) ?? [];
  e.one(["rn"]);
  const relu = e.has("relu");
  const to = e.operand(0);
  if (widened !== undefined) {
    const from = e.operand(1);
    if (from.kind !== "register") throw e.unsupported("it converts a register");
    const half = (byte: string): string =>
      relu ? `relu16("f16",halfFromByte("${widened}",${byte}))` : `halfFromByte("${widened}",${byte})`;
    const word = e.temporary(e.word(from, "b16"));
    e.setWord(to, `(${half(`${word}>>>8`)}<<16)|${half(`${word}&255`)}`, "f16x2");
    return;
  }
  if (narrowed === undefined) throw e.unsupported("it takes .f16x2 from .e4m3x2 or .e5m2x2, or one of those from .f32 or .f16x2");
  e.one(["satfinite"]);
  const byte = (value: string): string => (relu ? `relu8(byteFloatBits("${narrowed}",${value}))` : `byteFloatBits("${narrowed}",${value})`);
  if (fromType === "f32") e.setWord(to, `(${byte(e.float(e.operand(1), fromType))}<<8)|${byte(e.float(e.operand(2), fromType))}`, "b16");
  else {
    const word = e.temporary(e.word(e.operand(1), "f16x2"));
    e.setWord(to, `(${byte(`toNumber("f16",${word}>>>16)`)}<<8)|${byte(`toNumber("f16",${word})`)}`, "b16");
  }
}

const wholeTypes: readonly ScalarType[] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
const floatTypes: readonly ScalarType[] = ["f16", "bf16", "f32", "f64"];

export function convert(e: Emitter): void {
  if (e.instruction.modifiers.some((word) => /^e[45]m[23]x2$/.test(word))) {
    convertBytes(e);
    return;
  }
  const [toType, fromType, ...more] = e.types();
  if (toType === undefined || fromType === undefined) throw e.unsupported("cvt between these types is not modelled");
  if (e.has("pack")) {
    packIntegers(e, toType, fromType, more);
    return;
  }
  if (more.length > 0) throw e.unsupported("cvt between these types is not modelled");
  if (toType === "tf32" && fromType === "f32") toTensorFloat(e);
  else if (toType.endsWith("x2") && toType.includes("f") && fromType === "f32") pack(e, toType);
  else if (wholeTypes.includes(fromType) && wholeTypes.includes(toType)) integerToInteger(e, toType, fromType);
  else if (floatTypes.includes(fromType) && wholeTypes.includes(toType)) floatToInteger(e, toType, fromType);
  else if (wholeTypes.includes(fromType) && floatTypes.includes(toType)) integerToFloat(e, toType, fromType);
  else if (floatTypes.includes(fromType) && floatTypes.includes(toType)) floatToFloat(e, toType, fromType);
  else throw e.unsupported("cvt between these types is not modelled");
}

function floatToFloat(e: Emitter, toType: ScalarType, fromType: ScalarType): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  const number = readNumber(e, from, fromType);
  if (toType === fromType) {
    const whole = e.find(wholeModes);
    writeNumber(e, to, whole === undefined ? number : `roundToWhole(${number},"${whole}")`, toType, "rn", true);
  } else if (scalarBytes[toType] > scalarBytes[fromType]) {
    // bfloat16 may say how it rounds to what holds it.
    if (fromType === "bf16") e.find(["rn", "rz"]);
    writeNumber(e, to, number, toType, "rn", true);
  } else if (scalarBytes[fromType] === 2) writeNumber(e, to, number, toType, e.find(roundings) ?? "rn", false);
  else writeNumber(e, to, number, toType, roundingOf(e, roundings), false, fromType === "f32");
}

/** cvt.pack.sat.u16.s32 d, a, b (16 bits each), and forms that shift two bytes in. */
function packIntegers(e: Emitter, toType: ScalarType, fromType: ScalarType, more: readonly ScalarType[]): void {
  const bytes = scalarBytes[toType];
  const small: readonly ScalarType[] = ["u16", "s16", "u8", "s8"];
  const shifts = bytes === 1;
  if (!small.includes(toType) || fromType !== "s32" || more.length !== Number(shifts) || (shifts && more[0] !== "b32"))
    throw e.unsupported("it takes .u16.s32, .s16.s32, .u8.s32.b32 or .s8.s32.b32");
  e.one(["sat"]);
  const [least, most] = range(toType);
  const [a, b] = [e.word(e.operand(1), "s32"), e.word(e.operand(2), "s32")];
  const bits = bytes * 8;
  const mask = 2 ** bits - 1;
  const field = (word: string): string => `(saturateInteger(${word},${least},${most})&${mask})`;
  const packed = `(${field(a)}<<${bits})|${field(b)}`;
  e.setWord(e.operand(0), shifts ? `(${e.word(e.operand(3))}<<16)|${packed}` : packed);
}
