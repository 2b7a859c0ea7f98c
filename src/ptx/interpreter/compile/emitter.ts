// Writes the JavaScript of one segment: a loop over the active lanes, with registers in local variables that are read from the warp's file
// on first use and written back if something later reads them. What an instruction computes is said in the emit-*.ts files.
import { UnsupportedPtxError } from "../errors.js";
import { type PtxInstruction, type PtxOperand, type PtxRegister, scalarBytes, type PtxVariable, type ScalarType } from "../types.js";
import type { RegisterFile } from "./registers.js";
import { specialRegister } from "./special.js";

/** Checks that code is compiled with. */
export interface CompiledChecks {
  races: boolean;
  globalRaces: boolean;
}

/** What of a module the compiled code needs to know. */
export interface CompileContext {
  /** Generic 64-bit address of a module variable, halves. */
  address(operand: PtxOperand & { kind: "variable" }): { low: string; high: string };
  functionAddress(name: string): { low: string; high: string };
  /** A number for an instruction, by which errors and counters find it. */
  site(instruction: PtxInstruction): number;
  /** True for parameters of a device function and the arguments of a call: they lie in local memory. */
  isLocal(variable: PtxVariable): boolean;
  /** Byte offset of a kernel's parameter; undefined for any other variable. */
  entryParameter(variable: PtxVariable): number | undefined;
  file: RegisterFile;
  floatOnly: ReadonlySet<number>;
  /** The carry flag as a register of its own, where a function uses it. */
  carry?: PtxOperand;
  checks: CompiledChecks;
}

interface Held {
  /** As an integer (32 bits, or two halves). */
  bits: boolean;
  /** As a float (binary32 or binary64). */
  float: boolean;
  changed: boolean;
}

/** A JavaScript literal of a number. */
export function literal(value: number): string {
  return Object.is(value, -0) ? "-0" : value < 0 ? `(${value})` : String(value);
}

/** The scalar type an instruction is of: the last one among its modifiers. */
export function typeOf(instruction: PtxInstruction): ScalarType {
  for (let k = instruction.modifiers.length - 1; k >= 0; k--) {
    const word = instruction.modifiers[k]!;
    if (Object.hasOwn(scalarBytes, word)) return word as ScalarType;
  }
  throw new UnsupportedPtxError(`"${instruction.text}" has no type`, instruction.line);
}

export class Emitter {
  readonly context: CompileContext;
  /** Statements before the loop over lanes, and names already made there. */
  readonly head: string[] = [];
  private readonly headNames = new Set<string>();
  private readonly lines: string[] = [];
  private out: string[] = this.lines;
  private readonly held = new Map<number, Held>();
  private readonly registers = new Map<number, PtxRegister>();
  private readonly locals = new Set<string>();
  private temporaries = 0;
  instruction!: PtxInstruction;
  guarded = false;

  constructor(context: CompileContext) {
    this.context = context;
  }

  unsupported(what = "not modelled"): UnsupportedPtxError {
    return new UnsupportedPtxError(`"${this.instruction.text}": ${what}`, this.instruction.line);
  }

  has(...words: string[]): boolean {
    return words.some((word) => this.instruction.modifiers.includes(word));
  }

  operand(index: number): PtxOperand {
    const operand = this.instruction.operands[index];
    if (operand === undefined) throw this.unsupported(`operand ${index + 1} is missing`);
    return operand;
  }

  get site(): number {
    return this.context.site(this.instruction);
  }

  /** A value that is the same for all lanes, computed once before the loop. */
  uniform(name: string, expression: string): string {
    if (!this.headNames.has(name)) {
      this.headNames.add(name);
      this.head.push(`const ${name}=${expression};`);
    }
    return name;
  }

  line(text: string): void {
    this.out.push(text);
  }

  temporary(expression?: string): string {
    const name = `t${this.temporaries++}`;
    this.locals.add(name);
    if (expression !== undefined) this.line(`${name}=${expression};`);
    return name;
  }

  /** Emits one instruction, under its guard if it has one. */
  emit(instruction: PtxInstruction, handler: (emitter: Emitter) => void, skipped?: string): void {
    this.instruction = instruction;
    if (instruction.guard === undefined) {
      handler(this);
      return;
    }
    const { register, negated } = instruction.guard;
    const condition = this.predicate({ kind: "register", register });
    const saved = this.out;
    this.out = [];
    this.guarded = true;
    handler(this);
    this.guarded = false;
    const body = this.out.join("");
    this.out = saved;
    this.line(`if(${negated ? `!${condition}` : condition}){${body}}${skipped === undefined ? "" : `else{${skipped}}`}`);
  }

  private local(name: string): string {
    this.locals.add(name);
    return name;
  }

  private state(register: PtxRegister): Held {
    this.registers.set(register.index, register);
    let held = this.held.get(register.index);
    if (held === undefined) {
      held = { bits: false, float: false, changed: false };
      this.held.set(register.index, held);
    }
    return held;
  }

  /** Loads and conversions go before a guard, so that they hold whether or not it lets the instruction through. */
  private always(text: string): void {
    (this.guarded ? this.lines : this.out).push(text);
  }

  isWide(register: PtxRegister): boolean {
    return scalarBytes[register.type] === 8;
  }

  private slot(register: PtxRegister, part = 0): string {
    const place = this.context.file.places.get(register.index);
    if (place === undefined) return "";
    if (place.kind === "quad") return `R[${place.word + part}+4*l]`;
    if (place.kind === "double") return part === -1 ? `D[${place.word / 2}+l]` : `R[${place.word + part}+l+l]`;
    return part === -1 ? `F[${place.word}+l]` : `R[${place.word}+l]`;
  }

  private needBits(register: PtxRegister): void {
    const held = this.state(register);
    if (held.bits) return;
    const n = register.index;
    if (scalarBytes[register.type] === 16) {
      for (let part = 0; part < 4; part++) this.always(`${this.local(`q${n}_${part}`)}=${this.slot(register, part) || "0"};`);
    } else if (this.isWide(register)) {
      this.local(`l${n}`);
      this.local(`h${n}`);
      if (held.float) this.always(`l${n}=doubleLow(d${n});h${n}=doubleHigh(d${n});`);
      else this.always(`l${n}=${this.slot(register, 0) || "0"};h${n}=${this.slot(register, 1) || "0"};`);
    } else {
      this.local(`i${n}`);
      this.always(held.float ? `i${n}=singleBits(f${n});` : `i${n}=${this.slot(register) || "0"};`);
    }
    held.bits = true;
  }

  private needFloat(register: PtxRegister): void {
    const held = this.state(register);
    if (held.float) return;
    const n = register.index;
    if (this.isWide(register)) {
      this.local(`d${n}`);
      this.always(held.bits ? `d${n}=doubleFromBits(l${n},h${n});` : `d${n}=${this.slot(register, -1) || "0"};`);
    } else {
      this.local(`f${n}`);
      this.always(held.bits ? `f${n}=singleFromBits(i${n});` : `f${n}=${this.slot(register, -1) || "0"};`);
    }
    held.float = true;
  }

  /** True where a copy of this operand should move a float rather than bits. */
  prefersFloat(operand: PtxOperand, destination: PtxRegister): boolean {
    if (!this.context.floatOnly.has(destination.index)) return false;
    if (operand.kind === "register") return scalarBytes[operand.register.type] === scalarBytes[destination.type];
    return operand.kind === "float";
  }

  /** True where the operand is at hand as a float and not as bits: a result of arithmetic, or a register that is only ever a float. */
  holdsFloat(operand: PtxOperand): boolean {
    if (operand.kind !== "register") return false;
    const held = this.held.get(operand.register.index);
    if (held !== undefined && (held.bits || held.float)) return held.float && !held.bits;
    return this.context.floatOnly.has(operand.register.index);
  }

  /** 32 bits (or fewer, zero-extended) of an operand, as a signed integer expression. */
  word(operand: PtxOperand): string {
    switch (operand.kind) {
      case "register":
        this.needBits(operand.register);
        return this.isWide(operand.register) ? `l${operand.register.index}` : `i${operand.register.index}`;
      case "integer":
        return literal(Number(BigInt.asIntN(32, operand.value)));
      case "float":
        return literal(Number(BigInt.asIntN(32, operand.bits)));
      case "special":
        return specialRegister(this, operand.name).low;
      case "variable":
        return this.context.address(operand).low;
      case "function":
        return this.context.functionAddress(operand.name).low;
      default:
        throw this.unsupported(`an operand cannot be a ${operand.kind} here`);
    }
  }

  /** 64 bits of an operand as two halves; a narrower register is zero-extended. */
  halves(operand: PtxOperand): [low: string, high: string] {
    switch (operand.kind) {
      case "register":
        this.needBits(operand.register);
        return this.isWide(operand.register)
          ? [`l${operand.register.index}`, `h${operand.register.index}`]
          : [`i${operand.register.index}`, "0"];
      case "integer":
        return [literal(Number(BigInt.asIntN(32, operand.value))), literal(Number(BigInt.asIntN(32, operand.value >> 32n)))];
      case "float":
        return [literal(Number(BigInt.asIntN(32, operand.bits))), literal(Number(BigInt.asIntN(32, operand.bits >> 32n)))];
      case "special": {
        const { low, high } = specialRegister(this, operand.name);
        return [low, high];
      }
      case "variable": {
        const { low, high } = this.context.address(operand);
        return [low, high];
      }
      case "function": {
        const { low, high } = this.context.functionAddress(operand.name);
        return [low, high];
      }
      default:
        throw this.unsupported(`an operand cannot be a ${operand.kind} here`);
    }
  }

  /** 128 bits of a register as four words. */
  quarters(operand: PtxOperand): string[] {
    if (operand.kind !== "register" || scalarBytes[operand.register.type] !== 16) throw this.unsupported("expected a .b128 register");
    this.needBits(operand.register);
    return [0, 1, 2, 3].map((part) => `q${operand.register.index}_${part}`);
  }

  single(operand: PtxOperand): string {
    if (operand.kind === "float") return literal(operand.double ? Math.fround(operand.value) : operand.value);
    if (operand.kind === "register") {
      this.needFloat(operand.register);
      return `f${operand.register.index}`;
    }
    return `singleFromBits(${this.word(operand)})`;
  }

  double(operand: PtxOperand): string {
    if (operand.kind === "float") return literal(operand.value);
    if (operand.kind === "register") {
      this.needFloat(operand.register);
      return `d${operand.register.index}`;
    }
    const [low, high] = this.halves(operand);
    return `doubleFromBits(${low},${high})`;
  }

  predicate(operand: PtxOperand): string {
    if (operand.kind === "not") return `(${this.predicate(operand.operand)}?0:1)`;
    // A predicate is 0 or 1; nvcc writes true as -1.
    return operand.kind === "register" ? this.word(operand) : `(${this.word(operand)}?1:0)`;
  }

  private destination(operand: PtxOperand, float: boolean): PtxRegister | undefined {
    if (operand.kind === "sink") return undefined;
    if (operand.kind !== "register") throw this.unsupported("the result must go to a register");
    const { register } = operand;
    // Under a guard the old value must be there for the lanes that keep it.
    if (this.guarded) float ? this.needFloat(register) : this.needBits(register);
    const held = this.state(register);
    held.bits = !float;
    held.float = float;
    held.changed = true;
    return register;
  }

  setWord(operand: PtxOperand, expression: string): void {
    const register = this.destination(operand, false);
    if (register === undefined) {
      this.line(`${expression};`);
      return;
    }
    if (this.isWide(register)) this.line(`${this.local(`l${register.index}`)}=${expression};${this.local(`h${register.index}`)}=0;`);
    else this.line(`${this.local(`i${register.index}`)}=${expression};`);
  }

  /** Sets 64 bits. `high` may use `wide.high` left behind by `low`, which is evaluated first. */
  setHalves(operand: PtxOperand, low: string, high: string): void {
    const register = this.destination(operand, false);
    if (register === undefined) return;
    if (this.isWide(register)) this.line(`${this.local(`l${register.index}`)}=${low};${this.local(`h${register.index}`)}=${high};`);
    else this.line(`${this.local(`i${register.index}`)}=${low};`);
  }

  setQuarters(operand: PtxOperand, parts: readonly string[]): void {
    const register = this.destination(operand, false);
    if (register === undefined) return;
    for (const [k, part] of parts.entries()) this.line(`${this.local(`q${register.index}_${k}`)}=${part};`);
  }

  setSingle(operand: PtxOperand, expression: string): void {
    const register = this.destination(operand, true);
    if (register !== undefined) this.line(`${this.local(`f${register.index}`)}=${expression};`);
  }

  setDouble(operand: PtxOperand, expression: string): void {
    const register = this.destination(operand, true);
    if (register !== undefined) this.line(`${this.local(`d${register.index}`)}=${expression};`);
  }

  /** The whole function, `finish` run for each lane at the end; `result` is what the function returns. */
  source(alive: (index: number) => boolean, finish: string, result: string): string {
    const back: string[] = [];
    for (const [index, held] of this.held) {
      if (!held.changed || !alive(index)) continue;
      const register = this.registers.get(index)!;
      const n = index;
      if (scalarBytes[register.type] === 16) for (let part = 0; part < 4; part++) back.push(`${this.slot(register, part)}=q${n}_${part};`);
      else if (this.isWide(register)) {
        if (held.bits) back.push(`${this.slot(register, 0)}=l${n};${this.slot(register, 1)}=h${n};`);
        else
          back.push(
            `if(d${n}===d${n})${this.slot(register, -1)}=d${n};else{${this.slot(register, 0)}=0;${this.slot(register, 1)}=-524288;}`,
          );
      } else if (held.bits) back.push(`${this.slot(register)}=i${n};`);
      else back.push(`if(f${n}===f${n})${this.slot(register, -1)}=f${n};else ${this.slot(register)}=2147483647;`);
    }
    const body = this.lines.join("\n") + back.join("\n") + finish;
    const declared = this.locals.size > 0 ? `let ${[...this.locals].map((name) => `${name}=0`).join(",")};` : "";
    const loop = body === "" ? "" : `for(let b=m;b!==0;b&=b-1){const l=31-Math.clz32(b&-b);${declared}\n${body}}`;
    return `(w,m)=>{const R=w.words,F=w.singles,D=w.doubles;let taken=0;${this.head.join("")}\n${loop}return ${result};}`;
  }
}
