// Parameters and arguments in registers: a function finds them in param variables of its own, and a
// call passes them through others. Running code knows only parameters in memory.
import type { Cursor } from "./lexer.js";
import { parseScalarType, parseVectorLength } from "./parse-declarations.js";
import type { Scope } from "./scope.js";
import {
  type PtxFunction,
  type PtxInstruction,
  type PtxOperand,
  type PtxRegister,
  type PtxVariable,
  type ScalarType,
  scalarBytes,
} from "./types.js";

/** A register that a function takes or returns, and the variable it is passed in. */
export interface RegisterParameter {
  variable: PtxVariable;
  value: PtxOperand;
}

/** What instructions that a parameter or a call brings about have of it. */
type Origin = Omit<PtxInstruction, "opcode" | "modifiers" | "operands">;

const isPredicate = (operand: PtxOperand): operand is PtxOperand & { kind: "register" } =>
  operand.kind === "register" && operand.register.type === "pred";

/** A variable for values of a type; a predicate is passed as a word. */
function variableOf(name: string, type: ScalarType, count: number, line: number): PtxVariable {
  const held = type === "pred" ? "u32" : type;
  const bytes = count * scalarBytes[held];
  return {
    name,
    space: "param",
    type: held,
    elementBytes: bytes,
    bytes,
    alignment: Math.min(bytes, 16),
    external: false,
    initial: new Map(),
    line,
  };
}

/** Reads `.reg .b32 name` among the parameters of a function, and declares the register. */
export function parseRegisterParameter(cursor: Cursor, scope: Scope): RegisterParameter {
  const vector = parseVectorLength(cursor);
  const type = parseScalarType(cursor);
  const { token } = cursor;
  const name = cursor.name("the name of a register");
  if (!scope.declare(name, { type, vector, count: undefined })) throw cursor.fail("this register is declared twice", token);
  return { variable: variableOf(name, type, vector, cursor.locate(token.start).line), value: operandOf(scope.register(name)!) };
}

const operandOf = (register: PtxRegister | PtxRegister[]): PtxOperand =>
  Array.isArray(register)
    ? { kind: "vector", elements: register.map((element) => ({ kind: "register", register: element })) }
    : { kind: "register", register };

/** ld.param or st.param; a constant has the variable's type, a register its size. */
function access(opcode: "ld" | "st", { variable, value }: RegisterParameter, origin: Origin): PtxInstruction {
  const count = value.kind === "vector" ? value.elements.length : 1;
  const constant = value.kind === "integer" || value.kind === "float";
  const type = constant ? variable.type : `b${(8 * variable.bytes) / count}`;
  const at: PtxOperand = { kind: "address", base: { kind: "variable", variable, offset: 0 }, offset: 0 };
  return {
    ...origin,
    opcode,
    modifiers: ["param", ...(count > 1 ? [`v${count}`] : []), type],
    operands: opcode === "ld" ? [value, at] : [at, value],
  };
}

function word(registers: PtxRegister[]): PtxOperand {
  const register: PtxRegister = { name: "%predicate", type: "u32", index: registers.length };
  registers.push(register);
  return { kind: "register", register };
}

const integer = (value: bigint): PtxOperand => ({ kind: "integer", value });

export function loaded({ variable, value }: RegisterParameter, registers: PtxRegister[], origin: Origin): PtxInstruction[] {
  if (value.kind === "sink") return [];
  if (!isPredicate(value)) return [access("ld", { variable, value }, origin)];
  const whole = word(registers);
  const test: PtxInstruction = { ...origin, opcode: "setp", modifiers: ["ne", "u32"], operands: [value, whole, integer(0n)] };
  return [access("ld", { variable, value: whole }, origin), test];
}

export function stored({ variable, value }: RegisterParameter, registers: PtxRegister[], origin: Origin): PtxInstruction[] {
  if (!isPredicate(value)) return [access("st", { variable, value }, origin)];
  const whole = word(registers);
  const choice: PtxInstruction = { ...origin, opcode: "selp", modifiers: ["u32"], operands: [whole, integer(1n), integer(0n), value] };
  return [choice, access("st", { variable, value: whole }, origin)];
}

/** The type and number of elements of an argument, as its register says. */
function shapeOf(operand: PtxOperand): { type: ScalarType; count: number } | undefined {
  if (operand.kind === "register") return { type: operand.register.type, count: 1 };
  if (operand.kind !== "vector" || operand.elements[0]?.kind !== "register") return undefined;
  return { type: operand.elements[0].register.type, count: operand.elements.length };
}

/** A call, with moves of registers and constants to and from variables around it. */
export function passed(call: PtxInstruction, fn: PtxFunction, callee: PtxFunction | undefined, cursor: Cursor): PtxInstruction[] {
  const { opcode: _, modifiers: __, operands, ...origin } = call;
  if (operands.every((operand) => operand.kind !== "list" || operand.elements.every(({ kind }) => kind === "variable"))) return [call];
  const before: PtxInstruction[] = [];
  const after: PtxInstruction[] = [];
  const through = (list: PtxOperand, results: boolean): PtxOperand => {
    if (list.kind !== "list") return list;
    const formal = results ? callee?.returns : callee?.parameters;
    const elements = list.elements.map((value, k): PtxOperand => {
      if (value.kind === "variable") return value;
      const own = shapeOf(value);
      const { type, count } =
        formal?.[k] === undefined ? (own ?? {}) : { type: formal[k].type, count: formal[k].bytes / scalarBytes[formal[k].type] };
      if (type === undefined || count === undefined || count > 4) throw cursor.fail("nothing says what type this argument is of");
      const variable = variableOf(`${results ? "result" : "argument"} ${k + 1}`, type, count, call.line);
      fn.variables.push(variable);
      if (results) after.push(...loaded({ variable, value }, fn.registers, origin));
      else before.push(...stored({ variable, value }, fn.registers, origin));
      return { kind: "variable", variable, offset: 0 };
    });
    return { kind: "list", elements };
  };
  const whole = { ...call, operands: operands.map((operand, k) => through(operand, k === 0)) };
  return [...before, whole, ...after];
}
