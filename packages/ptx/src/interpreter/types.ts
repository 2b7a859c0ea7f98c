// The scalar types of PTX and what a module is once it has been read: plain data, with names
// resolved. Nothing here runs.

/** Bytes of each scalar type, by its name without the dot; a predicate has none in memory. */
export const scalarBytes = {
  pred: 0,
  ...{ b8: 1, u8: 1, s8: 1 },
  ...{ b16: 2, u16: 2, s16: 2, f16: 2, bf16: 2 },
  ...{ b32: 4, u32: 4, s32: 4, f32: 4, tf32: 4, f16x2: 4, bf16x2: 4, u16x2: 4, s16x2: 4 },
  ...{ b64: 8, u64: 8, s64: 8, f64: 8, f32x2: 8 },
  b128: 16,
};

export type ScalarType = keyof typeof scalarBytes;

export function isScalarType(name: string): name is ScalarType {
  return Object.hasOwn(scalarBytes, name);
}

/** Types of instructions only: no register or variable is declared of them. */
export const instructionTypes: readonly ScalarType[] = ["bf16", "tf32", "bf16x2", "u16x2", "s16x2", "f32x2"];

/** Where a variable lives. */
export type StateSpace = "global" | "const" | "shared" | "local" | "param";

/** A virtual register of one function. `index` is its number among that function's registers. */
export interface PtxRegister {
  name: string;
  type: ScalarType;
  index: number;
}

/**
 * One value of an initialiser: a number's bits, or the address of a symbol (plus bytes), in the
 * generic space or its own. `variable`: what the name means in a function's body, if something is
 * declared there.
 */
export type PtxInitialValue =
  | { kind: "bits"; value: bigint }
  | { kind: "symbol"; name: string; offset: number; generic: boolean; variable?: PtxVariable };

/** A variable with storage: global, constant, shared, local, or a parameter. */
export interface PtxVariable {
  name: string;
  space: StateSpace;
  type: ScalarType;
  /** Bytes of one element: those of `type` times the vector length. */
  elementBytes: number;
  /** All bytes; 0 for an `extern` array of unknown length, as dynamic shared memory is. */
  bytes: number;
  alignment: number;
  external: boolean;
  /** The values it begins with, by their numbers among its scalars; zero elsewhere. */
  initial: ReadonlyMap<number, PtxInitialValue>;
  line: number;
}

/** An operand as it was read; `kind` tells them apart. */
export type PtxOperand =
  | { kind: "register"; register: PtxRegister }
  | { kind: "integer"; value: bigint }
  | { kind: "float"; value: number; bits: bigint; double: boolean }
  | { kind: "special"; name: string }
  | { kind: "variable"; variable: PtxVariable; offset: number }
  | { kind: "function"; name: string }
  | { kind: "label"; label: string }
  | { kind: "address"; base: PtxOperand; offset: number }
  | { kind: "vector"; elements: PtxOperand[] }
  | { kind: "list"; elements: PtxOperand[] }
  | { kind: "pair"; first: PtxOperand; second: PtxOperand }
  | { kind: "not"; operand: PtxOperand }
  /** A register with a minus before it, as vmad takes. */
  | { kind: "minus"; operand: PtxOperand }
  /** Bytes or half-words of a register, as video instructions take: `b0`, `h10`. */
  | { kind: "part"; operand: PtxOperand; part: string }
  | { kind: "sink" };

/** Where a piece of PTX came from in the CUDA source, by `.loc`. */
export interface SourceLocation {
  file: number;
  line: number;
  /** The outermost call that this was inlined at; absent if nothing was inlined. */
  outermost?: { file: number; line: number };
}

/** An instruction as it was read. */
export interface PtxInstruction {
  /** First word, as `ld`. */
  opcode: string;
  /** The words after it, without dots: `["global", "v4", "f32"]`. */
  modifiers: readonly string[];
  guard?: { register: PtxRegister; negated: boolean };
  operands: PtxOperand[];
  line: number;
  column: number;
  text: string;
  location?: SourceLocation;
}

export interface PtxLabel {
  label: string;
}

export type PtxStatement = PtxInstruction | PtxLabel;

/** A kernel or a function as it was read. */
export interface PtxFunction {
  name: string;
  kind: "entry" | "func";
  parameters: PtxVariable[];
  returns: PtxVariable[];
  registers: PtxRegister[];
  variables: PtxVariable[];
  statements: PtxStatement[];
  /** `.branchtargets` lists by label. */
  branchTargets: Map<string, string[]>;
  /** Performance directives as numbers: `maxntid`, `reqntid`, `minnctapersm`, and so on. */
  directives: Map<string, number[]>;
  /** False for a declaration, as of `vprintf`. */
  defined: boolean;
  line: number;
}

export interface PtxModule {
  /** `.version`, as `[9, 0]`. */
  version: [number, number];
  /** `.target` and its options, as `["sm_75"]`. */
  target: string[];
  addressSize: 32 | 64;
  variables: Map<string, PtxVariable>;
  functions: Map<string, PtxFunction>;
  /** `.file` numbers and names. */
  files: Map<number, string>;
}
