// The one table from operations to PTX text: for each the types it takes, its opcode, and the
// target it needs. Memory, barriers and matrix instructions, whose text depends on more than a
// type, are spelled where they are built.
import type { Needs } from "./targets.js";
import type { RegisterType } from "./types.js";

export interface Operation<T extends RegisterType = RegisterType> {
  readonly types: readonly T[];
  readonly text: (type: T) => string;
  /** The target or PTX version that a type asks for, beyond the least. */
  readonly needs: ((type: T) => Needs | undefined) | undefined;
}

const integers = ["u16", "s16", "u32", "s32", "u64", "s64"] as const;
const words = ["u32", "s32", "u64", "s64"] as const;
const floats = ["f32", "f64"] as const;
const halves = ["f16", "bf16", "f16x2", "bf16x2"] as const;
const bits = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"] as const;

function operation<const T extends RegisterType>(
  types: readonly T[],
  text: (type: T) => string,
  needs?: (type: T) => Needs | undefined,
): Operation<T> {
  return { types, text, needs };
}

const isInteger = (type: RegisterType): boolean => /^[us]/.test(type);
const isBrain = (type: RegisterType): boolean => type.startsWith("bf16");
/** Integers plain, floats rounded to nearest even and never contracted with a neighbour. */
const rounded = (name: string) => (type: RegisterType) => (isInteger(type) ? `${name}.${type}` : `${name}.rn.${type}`);
const plain = (name: string) => (type: RegisterType) => `${name}.${type}`;
/** Bitwise operations name only the width. */
const width = (name: string) => (type: RegisterType) => `${name}.${type === "pred" ? "pred" : `b${type.slice(1)}`}`;
const hopperHalves = (type: RegisterType): Needs | undefined => (isBrain(type) ? { sm: 90, version: [7, 8] } : undefined);
const ampereHalves = (type: RegisterType): Needs | undefined => (isBrain(type) ? { sm: 80, version: [7, 0] } : undefined);
const isHalf = (type: RegisterType): boolean => /^b?f16/.test(type);
const ampereAllHalves = (type: RegisterType): Needs | undefined => (isHalf(type) ? { sm: 80, version: [7, 0] } : undefined);
const onlySingle = ["f32"] as const;

/** The table of operations by name. */
export const operations = {
  add: operation([...integers, ...floats, ...halves], rounded("add"), hopperHalves),
  sub: operation([...integers, ...floats, ...halves], rounded("sub"), hopperHalves),
  mul: operation([...integers, ...floats, ...halves], (type) => (isInteger(type) ? `mul.lo.${type}` : `mul.rn.${type}`), hopperHalves),
  mulHi: operation(words, plain("mul.hi")),
  mad: operation(integers, plain("mad.lo")),
  fma: operation([...floats, ...halves], plain("fma.rn"), ampereHalves),
  div: operation([...integers, ...floats], rounded("div")),
  rem: operation(integers, plain("rem")),
  min: operation([...integers, ...floats, ...halves], plain("min"), ampereAllHalves),
  max: operation([...integers, ...floats, ...halves], plain("max"), ampereAllHalves),
  neg: operation(["s16", "s32", "s64", ...floats, ...halves], plain("neg"), ampereHalves),
  abs: operation(["s16", "s32", "s64", ...floats], plain("abs")),
  copysign: operation(floats, plain("copysign")),
  and: operation([...bits, "pred"], width("and")),
  or: operation([...bits, "pred"], width("or")),
  xor: operation([...bits, "pred"], width("xor")),
  not: operation([...bits, "pred"], width("not")),
  shl: operation(bits, width("shl")),
  shr: operation(["u16", "s16", "u32", "s32", "u64", "s64"], plain("shr")),
  sqrt: operation(floats, plain("sqrt.rn")),
  rcp: operation(floats, plain("rcp.rn")),
  rcpApprox: operation(onlySingle, plain("rcp.approx.ftz")),
  rsqrtApprox: operation(onlySingle, plain("rsqrt.approx.ftz")),
  divApprox: operation(onlySingle, plain("div.approx.ftz")),
  ex2Approx: operation(onlySingle, plain("ex2.approx.ftz")),
  lg2Approx: operation(onlySingle, plain("lg2.approx.ftz")),
  sinApprox: operation(onlySingle, plain("sin.approx.ftz")),
  cosApprox: operation(onlySingle, plain("cos.approx.ftz")),
  tanhApprox: operation([...onlySingle, "f16", "f16x2", "bf16", "bf16x2"], plain("tanh.approx"), (type) =>
    isBrain(type) ? { sm: 90, version: [7, 8] } : { sm: 75, version: [7, 0] },
  ),
  popc: operation(["b32", "b64"], plain("popc")),
  clz: operation(["b32", "b64"], plain("clz")),
  brev: operation(["b32", "b64"], plain("brev")),
  bfe: operation(words, plain("bfe")),
  bfi: operation(["b32", "b64"], plain("bfi")),
  prmt: operation(["b32"], plain("prmt")),
  lop3: operation(["b32"], plain("lop3")),
  select: operation([...bits, ...floats], plain("selp")),
  compare: operation([...integers, "b16", "b32", "b64", ...floats], plain("setp")),
} as const;

/** The name of an operation in the table. */
export type OperationName = keyof typeof operations;

/** The types that an operation takes. */
export type TypesOf<N extends OperationName> = (typeof operations)[N]["types"][number];

/** cvt between register types: rounding is named wherever one can lose bits. */
export function convertOpcode(to: RegisterType, from: RegisterType, rounding?: string): { opcode: string; needs: Needs | undefined } {
  const [toFloat, fromFloat] = [/f/.test(to), /f/.test(from)];
  if (to === "tf32") return { opcode: "cvt.rna.tf32.f32", needs: { sm: 80, version: [7, 0] } };
  const needs: Needs | undefined =
    isBrain(to) || isBrain(from) ? (isBrain(to) && from === "f32" ? { sm: 80, version: [7, 0] } : { sm: 90, version: [7, 8] }) : undefined;
  const sizes: Partial<Record<RegisterType, number>> = { f16: 2, bf16: 2, f32: 4, f64: 8 };
  const exact = toFloat && fromFloat && (sizes[to] ?? 0) > (sizes[from] ?? 0);
  const mode = !fromFloat && !toFloat ? "" : exact ? "" : `.${rounding ?? (toFloat ? "rn" : "rzi")}`;
  return { opcode: `cvt${mode}.${to}.${from}`, needs };
}
