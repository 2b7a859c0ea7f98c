// cvt: between every pair of integer and float types, with the rounding, saturation and flushing its modifiers ask for.
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import { halfKind } from "./emit-half.js";
import { isSigned, isWideInteger } from "./emit-integer.js";
import type { Emitter } from "./emitter.js";

const isFloatType = (type: ScalarType): boolean => type.includes("f");

/** Range of an integer type of at most 32 bits. */
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
  if (to.kind !== "register") {
    e.setWord(to, value);
    return;
  }
  const bytes = scalarBytes[to.register.type];
  if (bytes === 8) {
    const low = e.temporary(value);
    e.setHalves(to, low, isSigned(type) ? `${low}>>31` : "0");
  } else if (bytes === 2) e.setWord(to, `(${value})&65535`);
  else e.setWord(to, value);
}

function integerToInteger(e: Emitter, toType: ScalarType, fromType: ScalarType): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  if (isWideInteger(fromType)) {
    const [low, high] = e.halves(from);
    if (isWideInteger(toType)) {
      const clamp = e.has("sat") && isSigned(fromType) !== isSigned(toType) ? e.temporary(`${high}<0`) : undefined;
      if (clamp === undefined) e.setHalves(to, low, high);
      else if (isSigned(toType)) e.setHalves(to, e.temporary(`${clamp}?-1:${low}`), `${clamp}?2147483647:${high}`);
      else e.setHalves(to, e.temporary(`${clamp}?0:${low}`), `${clamp}?0:${high}`);
      return;
    }
    const [least, most] = range(toType);
    const value = e.has("sat") ? `saturateInteger64(${low},${high},${isSigned(fromType)},${least},${most})` : extend(low, toType);
    setInteger(e, to, value, toType);
    return;
  }
  const value = extend(e.word(from), fromType);
  if (isWideInteger(toType)) {
    const low = e.temporary(value);
    if (e.has("sat") && isSigned(fromType) && !isSigned(toType)) e.setHalves(to, `${low}<0?0:${low}`, "0");
    else e.setHalves(to, low, isSigned(fromType) ? `${low}>>31` : "0");
    return;
  }
  const [least, most] = range(toType);
  const number = isSigned(fromType) || scalarBytes[fromType] < 4 ? value : `(${value}>>>0)`;
  setInteger(e, to, e.has("sat") ? `saturateInteger(${number},${least},${most})` : extend(value, toType), toType);
}

/** The source float as a JavaScript number. */
function readNumber(e: Emitter, from: PtxOperand, type: ScalarType): string {
  if (type === "f64") return e.double(from);
  if (type === "f16" || type === "bf16") return `toNumber(${halfKind(type)},${e.word(from)})`;
  const value = e.single(from);
  return e.has("ftz") ? `flush32(${value})` : value;
}

const wholeModes = ["rni", "rzi", "rmi", "rpi"];
const narrowModes = ["rn", "rz", "rm", "rp", "rna"];

function floatToInteger(e: Emitter, toType: ScalarType, fromType: ScalarType): void {
  const mode = e.instruction.modifiers.find((word) => wholeModes.includes(word)) ?? "rzi";
  const whole = `roundToWhole(${readNumber(e, e.operand(1), fromType)},"${mode}")`;
  if (isWideInteger(toType)) {
    const low = e.temporary(`clampToInteger64(${whole},${isSigned(toType)})`);
    e.setHalves(e.operand(0), low, "wide.high");
    return;
  }
  const [least, most] = range(toType);
  const notANumber = fromType === "f64" ? 2 ** (scalarBytes[toType] * 8 - 1) : 0;
  setInteger(e, e.operand(0), `clampToInteger(${whole},${least},${most},${notANumber})`, toType);
}

function writeNumber(e: Emitter, to: PtxOperand, value: string, type: ScalarType, mode: string, exactSource: boolean): void {
  const finish = (x: string): string => (e.has("sat") ? `saturate(${x})` : e.has("relu") ? `maximum(0,${x})` : x);
  if (type === "f64") e.setDouble(to, finish(value));
  else if (type === "f32") {
    const narrowed = exactSource ? value : mode === "rn" ? `Math.fround(${value})` : `narrowToSingle(${value},"${mode}")`;
    e.setSingle(to, finish(e.has("ftz") ? `flush32(${narrowed})` : narrowed));
  } else if (type === "tf32") e.setSingle(to, finish(`roundTo(${value},tensorFloat32,"${mode}")`));
  else {
    const kind = halfKind(type);
    const format = kind === '"f16"' ? "binary16" : "bfloat16";
    const rounded = mode === "rn" ? finish(value) : finish(`roundTo(${value},${format},"${mode}")`);
    e.setWord(to, `fromNumber(${kind},${rounded})`);
  }
}

function integerToFloat(e: Emitter, toType: ScalarType, fromType: ScalarType, mode: string): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  const signed = isSigned(fromType);
  if (isWideInteger(fromType)) {
    const [low, high] = e.halves(from);
    if (mode === "rn" && toType === "f64") e.setDouble(to, `doubleFromInteger64(${low},${high},${signed})`);
    else if (mode === "rn" && toType === "f32") e.setSingle(to, `singleFromInteger64(${low},${high},${signed})`);
    else {
      const format = { f64: "binary64", f32: "binary32", f16: "binary16", bf16: "bfloat16" }[toType as "f64" | "f32" | "f16" | "bf16"];
      const value = `floatFromInteger64(${low},${high},${signed},${format},"${mode}")`;
      if (toType === "f64") e.setDouble(to, value);
      else if (toType === "f32") e.setSingle(to, value);
      else e.setWord(to, `fromNumber(${halfKind(toType)},${value})`);
    }
    return;
  }
  const word = extend(e.word(from), fromType);
  writeNumber(e, to, signed || scalarBytes[fromType] < 4 ? word : `(${word}>>>0)`, toType, mode, false);
}

/** cvt.rn.f16x2.f32 d, a, b and its bfloat16 twin: a goes to the upper half. */
function pack(e: Emitter, toType: ScalarType, mode: string): void {
  const kind = halfKind(toType);
  const format = kind === '"f16"' ? "binary16" : "bfloat16";
  const half = (operand: PtxOperand): string => {
    const value = readNumber(e, operand, "f32");
    const relu = e.has("relu") ? `maximum(0,${value})` : value;
    return `fromNumber(${kind},${mode === "rn" ? relu : `roundTo(${relu},${format},"${mode}")`})`;
  };
  e.setWord(e.operand(0), `(${half(e.operand(1))}<<16)|${half(e.operand(2))}`);
}

function isType(word: string): word is ScalarType {
  return Object.hasOwn(scalarBytes, word);
}

export function convert(e: Emitter): void {
  const types = e.instruction.modifiers.filter(isType);
  const [toType, fromType] = types;
  if (toType === undefined || fromType === undefined) throw e.unsupported("cvt between these types is not modelled");
  const mode = e.instruction.modifiers.find((word) => narrowModes.includes(word)) ?? "rn";
  if (e.has("pack")) {
    packIntegers(e, toType);
    return;
  }
  if (e.has("rs", "satfinite")) throw e.unsupported("stochastic and satfinite conversions are not modelled");
  if (toType.endsWith("x2")) {
    pack(e, toType, mode);
    return;
  }
  const [fromFloat, toFloat] = [isFloatType(fromType), isFloatType(toType)];
  if (!fromFloat && !toFloat) integerToInteger(e, toType, fromType);
  else if (fromFloat && !toFloat) floatToInteger(e, toType, fromType);
  else if (!fromFloat) integerToFloat(e, toType, fromType, mode);
  else {
    const whole = e.instruction.modifiers.find((word) => wholeModes.includes(word));
    const number = readNumber(e, e.operand(1), fromType);
    const widening = scalarBytes[toType] > scalarBytes[fromType] || toType === fromType;
    writeNumber(e, e.operand(0), whole === undefined ? number : `roundToWhole(${number},"${whole}")`, toType, mode, widening);
  }
}

/** cvt.pack.sat.u16.s32 d, a, b (16 bits each), and the forms with a third operand that shift two bytes in. */
function packIntegers(e: Emitter, toType: ScalarType): void {
  const [least, most] = range(toType);
  const [a, b] = [e.word(e.operand(1)), e.word(e.operand(2))];
  const bits = scalarBytes[toType] * 8;
  const mask = 2 ** bits - 1;
  const field = (word: string): string => `(saturateInteger(${word},${least},${most})&${mask})`;
  const packed = `(${field(a)}<<${bits})|${field(b)}`;
  e.setWord(e.operand(0), bits === 16 ? packed : `(${e.word(e.operand(3))}<<16)|${packed}`);
}
