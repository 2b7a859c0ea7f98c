// The base of a kernel under construction: its registers and statements. The classes above it have
// the operations.
import { PtxBuildError } from "./errors.js";
import type { Instruction, Item, Statement } from "./instruction.js";
import { type RegisterType, wordOf } from "./types.js";
import { literal, type Operand, Value, Variable } from "./values.js";

type Rest = Partial<Pick<Instruction, "accumulates" | "guard" | "level" | "needs" | "together" | "target">>;

export class Emitter {
  readonly name: string;
  /** @internal */
  readonly statements: Statement[] = [];
  /** @internal Registers in the order in which they were made. */
  readonly registers: Value[] = [];
  /** @internal Registers of each type. */
  readonly registerCounts = new Map<RegisterType, number>();
  private labels = 0;

  constructor(name: string) {
    if (!/^[A-Za-z][\w$]*$/.test(name))
      throw new PtxBuildError(`a kernel's name is ${JSON.stringify(name)}; it takes letters, digits and _`);
    this.name = name;
  }

  /** @internal */
  fail(message: string): PtxBuildError {
    return new PtxBuildError(message, this.name);
  }

  /** @internal */
  newValue<T extends RegisterType>(type: T): Value<T> {
    const value = new Value(type, this.registers.length, this.nextIndex(type));
    this.registers.push(value);
    return value;
  }

  private nextIndex(type: RegisterType): number {
    const index = this.registerCounts.get(type) ?? 0;
    this.registerCounts.set(type, index + 1);
    return index;
  }

  /** @internal */
  emit(opcode: string, result: Item | undefined, operands: readonly Item[], rest: Rest = {}): void {
    const { accumulates, guard, level, needs, target, together } = rest;
    this.statements.push({ kind: "instruction", opcode, result, operands, accumulates, guard, level, needs, target, together });
  }

  /** @internal An instruction with one result of a type. */
  emitValue<T extends RegisterType>(opcode: string, type: T, operands: readonly Item[], rest: Rest = {}): Value<T> {
    const value = this.newValue(type);
    this.emit(opcode, value, operands, rest);
    return value;
  }

  /** @internal */
  newLabel(what: string): string {
    return `$${what}_${this.labels++}`;
  }

  /** @internal */
  placeLabel(name: string): void {
    this.statements.push({ kind: "label", name });
  }

  /** @internal An operand as it is printed; `what` names it, or its operation, in errors. */
  item<T extends RegisterType>(type: T, operand: Operand<T>, what: string, index?: number): Item {
    if (operand instanceof Value) {
      const name = (): string => (index === undefined ? what : `operand ${index} of ${what}`);
      if (operand.type !== type) throw this.fail(`${name()} got a ${operand.type}; it takes ${type}`);
      if (this.registers[operand.id] !== operand) throw this.fail(`${name()} got ${operand.name} of another kernel`);
      return operand;
    }
    return literal(type, operand as number | bigint);
  }

  /** A register that holds a constant. */
  constant<T extends Exclude<RegisterType, "pred">>(type: T, value: number | bigint): Value<T> {
    return this.emitValue(`mov.${wordOf(type)}`, type, [literal(type, value)]);
  }

  /** A register that may be assigned again, with a first value or, until it is assigned, none. */
  variable<T extends RegisterType>(type: T, initial?: Operand<NoInfer<T>>): Variable<T> {
    const variable = new Variable(type, this.registers.length, this.nextIndex(type));
    this.registers.push(variable);
    if (initial !== undefined) this.assign(variable, initial);
    return variable;
  }

  /** Gives a variable another value. @throws PtxBuildError if it is no variable */
  assign<T extends RegisterType>(variable: Variable<T>, value: Operand<NoInfer<T>>): void {
    if (!(variable instanceof Variable)) throw this.fail("assign got a value that is no variable");
    this.emit(`mov.${wordOf(variable.type)}`, variable, [this.item(variable.type, value, "assign")]);
  }
}
