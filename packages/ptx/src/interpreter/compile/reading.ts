// What one instruction says, and which parts have been read. A handler reads the modifiers and
// operands that it acts on. An instruction with unread parts is refused, since they would be
// ignored silently. It also decides which registers and constants fit an operand.
import { bitsAs } from "../constant.js";
import { UnsupportedPtxError } from "../errors.js";
import { isScalarType, type PtxInstruction, type PtxOperand, type PtxRegister, type ScalarType, scalarBytes } from "../types.js";

type Words = readonly string[] | RegExp;

const scalarTypes = Object.keys(scalarBytes);

const among = (words: Words, word: string): boolean => (words instanceof RegExp ? words.test(word) : words.includes(word));

/** What registers of a type hold; several numbers in one are packed. */
function classOf(type: ScalarType): "bits" | "integer" | "float" | "predicate" | "packed" {
  if (type === "pred") return "predicate";
  if (type.includes("x")) return "packed";
  return type.startsWith("b") && type !== "bf16" ? "bits" : type.includes("f") ? "float" : "integer";
}

/** Whether a register fits a type by size (or `wider`) and kind (PTX ISA 9.0, section 9.4.1). */
function fits(register: PtxRegister, type: ScalarType, wider = false): boolean {
  const [held, wanted] = [classOf(register.type), classOf(type)];
  if ((held === "predicate") !== (wanted === "predicate")) return false;
  const [size, least] = [scalarBytes[register.type], scalarBytes[type]];
  if (size !== least && !(wider && size > least && size <= 8 && (held === "bits" || held === "integer"))) return false;
  return held === wanted || held === "bits" || wanted === "bits";
}

export class Reading {
  instruction!: PtxInstruction;
  private unread!: Set<number>;
  private unreadOperands!: Set<number>;
  private readonly target: number;

  /** `target`: the module's number, as 90 of sm_90a; left out if nothing asks for one. */
  constructor(target = Infinity) {
    this.target = target;
  }

  begin(instruction: PtxInstruction): void {
    this.instruction = instruction;
    this.unread = new Set(instruction.modifiers.keys());
    this.unreadOperands = new Set(instruction.operands.keys());
  }

  unsupported(what = "not modelled"): UnsupportedPtxError {
    return new UnsupportedPtxError(`"${this.instruction.text}": ${what}`, this.instruction.line);
  }

  /** @throws UnsupportedPtxError if the module's target is before the first with this */
  requires(target: number): void {
    if (this.target < target) throw this.unsupported(`it takes .target sm_${target} or higher; the module is for sm_${this.target}`);
  }

  /** Whether one of these modifiers is there; an instruction has at most one of them. */
  has(...words: string[]): boolean {
    return this.find(words) !== undefined;
  }

  /** The first modifier that is one of these. */
  find(words: Words): string | undefined {
    const index = this.instruction.modifiers.findIndex((word) => among(words, word));
    if (index < 0) return undefined;
    this.unread.delete(index);
    return this.instruction.modifiers[index];
  }

  /** The first modifier that is one of these. @throws UnsupportedPtxError if there is none */
  one<T extends string>(words: readonly T[], takes = "it takes", joint = ", "): T {
    const found = this.find(words);
    if (found === undefined) throw this.unsupported(`${takes} ${words.map((word) => `.${word}`).join(joint)}`);
    return found as T;
  }

  either<T extends string>(first: T, second: T, takes?: string): T {
    return this.one([first, second], takes, " or ");
  }

  /** The modifiers that are among these, each once, in their order. */
  all(words: Words): string[] {
    const found = new Set<string>();
    for (const [index, word] of this.instruction.modifiers.entries()) {
      if (found.has(word) || !among(words, word)) continue;
      found.add(word);
      this.unread.delete(index);
    }
    return [...found];
  }

  /** Passes over modifiers that change nothing here: hints, and what is so in any case. */
  skip(words: Words): void {
    this.all(words);
  }

  /** The modifier at a position, which an opcode has there in all its forms. */
  at(index: number): string | undefined {
    this.unread.delete(index);
    return this.instruction.modifiers[index];
  }

  /** The modifiers that are among these, in their order and as often as they stand there. */
  every(words: Words): string[] {
    const { modifiers } = this.instruction;
    const found = [...modifiers.keys()].filter((index) => among(words, modifiers[index]!));
    for (const index of found) this.unread.delete(index);
    return found.map((index) => modifiers[index]!);
  }

  types(): ScalarType[] {
    return this.every(scalarTypes) as ScalarType[];
  }

  /** The last type among the modifiers, which must be one of `allowed` if that is given. */
  type(allowed?: readonly ScalarType[]): ScalarType {
    const { modifiers } = this.instruction;
    for (let k = modifiers.length - 1; k >= 0; k--) {
      const word = modifiers[k]!;
      if (!isScalarType(word)) continue;
      if (allowed !== undefined && !allowed.includes(word))
        throw this.unsupported(
          `there is no ${this.instruction.opcode} of .${word}; it takes ${allowed.map((type) => `.${type}`).join(", ")}`,
        );
      this.unread.delete(k);
      return word;
    }
    throw this.unsupported("it has no type");
  }

  operand(index: number): PtxOperand {
    const operand = this.optional(index);
    if (operand === undefined) throw this.unsupported(`operand ${index + 1} is missing`);
    return operand;
  }

  optional(index: number): PtxOperand | undefined {
    this.unreadOperands.delete(index);
    return this.instruction.operands[index];
  }

  get operandCount(): number {
    return this.instruction.operands.length;
  }

  /** The bits of a constant operand. @throws UnsupportedPtxError if it is none of that type */
  constantBits(operand: PtxOperand & { kind: "integer" | "float" }, type: ScalarType): bigint {
    const bits = bitsAs(operand, type);
    if (bits !== undefined) return bits;
    const is = operand.kind === "integer" ? "an integer" : operand.double ? "a binary64 constant" : "a binary32 constant";
    throw this.unsupported(`${is} cannot stand where .${type} is expected`);
  }

  /** @throws UnsupportedPtxError if a register cannot stand where a type is expected */
  checkRegister(register: PtxRegister, type: ScalarType, wider = false): void {
    if (!fits(register, type, wider))
      throw this.unsupported(`${register.name} is a register of .${register.type}, which cannot stand where .${type} is expected`);
  }

  /** Ends an instruction. @throws UnsupportedPtxError if something of it was not read */
  refuseUnread(): void {
    const [modifier] = this.unread;
    if (modifier !== undefined) throw this.unsupported(`.${this.instruction.modifiers[modifier]} is not modelled here`);
    const [operand] = this.unreadOperands;
    if (operand !== undefined) throw this.unsupported(`operand ${operand + 1} is one too many`);
  }
}
