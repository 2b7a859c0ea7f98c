// Writes the JavaScript of one segment: a loop over the active lanes, with registers in local
// variables that are read from the warp's file on first use and written back if something later
// reads them. The table of instructions.ts says what each computes.
import { getOrMake } from "@spillway/core/maps.js";
import { type PtxInstruction, type PtxOperand, type PtxRegister, type PtxVariable, type ScalarType, scalarBytes } from "../types.js";
import { Reading } from "./reading.js";
import type { RegisterFile } from "./registers.js";
import { specialRegister } from "./special.js";

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
  /** True for parameters of device functions and arguments of calls, in local memory. */
  isLocal(variable: PtxVariable): boolean;
  /** Byte offset of a kernel's parameter; undefined for any other variable. */
  entryParameter(variable: PtxVariable): number | undefined;
  /** Number of the architecture that the module is for: 90 of sm_90a. */
  architecture: number;
  file: RegisterFile;
  target: number;
  floatOnly: ReadonlySet<number>;
  /** The carry flag as a register of its own, if a function uses it. */
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

/** A JavaScript literal of a number, which may stand after any operator. */
export function literal(value: number): string {
  return Object.is(value, -0) ? "(-0)" : value < 0 ? `(${value})` : String(value);
}

const numbers = new DataView(new ArrayBuffer(8));

/** Low and high word of 64 bits as literals. */
function halvesOf(bits: bigint): [low: string, high: string] {
  return [literal(Number(BigInt.asIntN(32, bits))), literal(Number(BigInt.asIntN(32, bits >> 32n)))];
}

export class Emitter extends Reading {
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
  guarded = false;

  constructor(context: CompileContext) {
    super(context.target);
    this.context = context;
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

  emit(instruction: PtxInstruction, handler: (emitter: Emitter) => void, skipped?: string): void {
    this.begin(instruction);
    if (instruction.guard === undefined) {
      handler(this);
      this.refuseUnread();
      return;
    }
    const { register, negated } = instruction.guard;
    const condition = this.predicate({ kind: "register", register });
    const saved = this.out;
    this.out = [];
    this.guarded = true;
    handler(this);
    this.refuseUnread();
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
    return getOrMake(this.held, register.index, () => ({ bits: false, float: false, changed: false }));
  }

  /** Loads and conversions go before a guard: they hold whatever the guard says. */
  private always(text: string): void {
    (this.guarded ? this.lines : this.out).push(text);
  }

  isWide(register: PtxRegister): boolean {
    return scalarBytes[register.type] === 8;
  }

  private slot(register: PtxRegister, part = 0): string {
    const slot = this.context.file.slots.get(register.index);
    if (slot === undefined) return "";
    if (slot.kind === "quad") return `R[${slot.word + part}+4*l]`;
    if (slot.kind === "double") return part === -1 ? `D[${slot.word / 2}+l]` : `R[${slot.word + part}+l+l]`;
    return part === -1 ? `F[${slot.word}+l]` : `R[${slot.word}+l]`;
  }

  /** The variables of a register's bits, the lowest word first. */
  private names({ index, type }: PtxRegister): string[] {
    const parts = { 8: [`l${index}`, `h${index}`], 16: [0, 1, 2, 3].map((part) => `q${index}_${part}`) };
    return parts[scalarBytes[type] as 8 | 16] ?? [`i${index}`];
  }

  private needBits(register: PtxRegister): void {
    const held = this.state(register);
    if (held.bits) return;
    const n = register.index;
    const names = this.names(register);
    for (const name of names) this.local(name);
    if (!held.float) this.always(names.map((name, part) => `${name}=${this.slot(register, part) || "0"};`).join(""));
    else this.always(names.length === 1 ? `i${n}=singleBits(f${n});` : `l${n}=doubleLow(d${n});h${n}=doubleHigh(d${n});`);
    held.bits = true;
  }

  private needFloat(register: PtxRegister): void {
    const held = this.state(register);
    if (held.float) return;
    const n = register.index;
    const name = this.local(`${this.isWide(register) ? "d" : "f"}${n}`);
    const converted = this.isWide(register) ? `doubleFromBits(l${n},h${n})` : `singleFromBits(i${n})`;
    this.always(`${name}=${held.bits ? converted : this.slot(register, -1) || "0"};`);
    held.float = true;
  }

  /** True if a copy should move a float, not bits: never a NaN that may have its own bits. */
  prefersFloat(operand: PtxOperand, destination: PtxRegister, type: ScalarType): boolean {
    if (!this.context.floatOnly.has(destination.index)) return false;
    if (operand.kind === "register") return scalarBytes[operand.register.type] === scalarBytes[destination.type];
    return operand.kind === "float" && (type === "f32" || type === "f64") && !Number.isNaN(operand.value);
  }

  /** True if the operand is at hand as a float, not as bits. */
  holdsFloat(operand: PtxOperand): boolean {
    if (operand.kind !== "register") return false;
    const held = this.held.get(operand.register.index);
    if (held !== undefined && (held.bits || held.float)) return held.float && !held.bits;
    return this.context.floatOnly.has(operand.register.index);
  }

  /** What is no register or constant, as halves: a special register or an address. */
  private other(operand: PtxOperand, type: ScalarType): { low: string; high: string } {
    if (operand.kind === "special" && type !== "f32" && type !== "f64") return specialRegister(this, operand.name);
    if (operand.kind === "variable" && scalarBytes[type] >= 4) return this.context.address(operand);
    if (operand.kind === "function" && scalarBytes[type] === 8) return this.context.functionAddress(operand.name);
    throw this.unsupported(`a ${operand.kind} cannot stand where .${type} is expected`);
  }

  /** The signed words of an operand, the lowest first. `wider`: also of a larger register. */
  words(operand: PtxOperand, type: ScalarType, wider = false): string[] {
    if (operand.kind === "register") {
      this.checkRegister(operand.register, type, wider);
      this.needBits(operand.register);
      return this.names(operand.register);
    }
    if (type === "b128") throw this.unsupported("expected a .b128 register");
    const wanted = scalarBytes[type] === 8 ? 2 : 1;
    if (operand.kind === "integer" || operand.kind === "float") return halvesOf(this.constantBits(operand, type)).slice(0, wanted);
    const { low, high } = this.other(operand, type);
    return [low, high].slice(0, wanted);
  }

  word(operand: PtxOperand, type: ScalarType = "b32", wider = false): string {
    return this.words(operand, type, wider)[0]!;
  }

  halves(operand: PtxOperand, type: ScalarType = "b64"): [low: string, high: string] {
    return this.words(operand, type) as [string, string];
  }

  /** An address, or what else may have 32 or 64 bits, as two halves. */
  address(operand: PtxOperand): [low: string, high: string] {
    const narrow = operand.kind === "register" && scalarBytes[operand.register.type] !== 8;
    return narrow ? [this.word(operand, "u32"), "0"] : this.halves(operand, "u64");
  }

  /** An operand of a float's size as a JavaScript number; untyped bits count as `type`. */
  float(operand: PtxOperand, type: ScalarType): string {
    const wide = scalarBytes[type] === 8;
    if (operand.kind === "register") {
      this.checkRegister(operand.register, type);
      this.needFloat(operand.register);
      return `${wide ? "d" : "f"}${operand.register.index}`;
    }
    if (operand.kind !== "integer" && operand.kind !== "float")
      throw this.unsupported(`a ${operand.kind} cannot stand where .${type} is expected`);
    numbers.setBigUint64(0, this.constantBits(operand, type));
    return literal(wide ? numbers.getFloat64(0) : numbers.getFloat32(4));
  }

  predicate(operand: PtxOperand): string {
    if (operand.kind === "not") return `(${this.predicate(operand.operand)}?0:1)`;
    return this.word(operand, "pred");
  }

  private destination(operand: PtxOperand, type: ScalarType, float: boolean, wider = false): PtxRegister | undefined {
    if (operand.kind === "sink") return undefined;
    if (operand.kind !== "register") throw this.unsupported("the result must go to a register");
    const { register } = operand;
    this.checkRegister(register, type, wider);
    // Under a guard the old value must be there for the lanes that keep it.
    if (this.guarded) float ? this.needFloat(register) : this.needBits(register);
    const held = this.state(register);
    held.bits = !float;
    held.float = float;
    held.changed = true;
    return register;
  }

  /** Sets a register of at most 32 bits; `wider`: it may be larger than the type. */
  setWord(operand: PtxOperand, expression: string, type: ScalarType = "b32", wider = false): void {
    const register = this.destination(operand, type, false, wider);
    if (register === undefined) {
      this.line(`${expression};`);
      return;
    }
    if (this.isWide(register)) throw this.unsupported(`${register.name} takes 64 bits`);
    this.line(`${this.local(`i${register.index}`)}=${expression};`);
  }

  setPredicate(operand: PtxOperand, expression: string): void {
    this.setWord(operand, expression, "pred");
  }

  /** Sets 64 bits; `high` may use the `wide.high` of `low`. `wider`: as of setWord. */
  setHalves(operand: PtxOperand, low: string, high: string, type: ScalarType = "b64", wider = false): void {
    const register = this.destination(operand, type, false, wider);
    if (register === undefined) return;
    this.line(`${this.local(`l${register.index}`)}=${low};${this.local(`h${register.index}`)}=${high};`);
  }

  setWords(operand: PtxOperand, words: readonly string[], type: ScalarType): void {
    if (words.length === 1) this.setWord(operand, words[0]!, type);
    else if (words.length === 2) this.setHalves(operand, words[0]!, words[1]!, type);
    else {
      const register = this.destination(operand, type, false);
      if (register === undefined) return;
      this.line(this.names(register).reduce((text, name, k) => `${text}${this.local(name)}=${words[k]};`, ""));
    }
  }

  /** Sets a register of a float's size to a JavaScript number. */
  setFloat(operand: PtxOperand, expression: string, type: ScalarType): void {
    const register = this.destination(operand, type, true);
    if (register !== undefined) this.line(`${this.local(`${this.isWide(register) ? "d" : "f"}${register.index}`)}=${expression};`);
  }

  /** The whole function, which returns `result`; `finish` is run for each lane at the end. */
  source(alive: (index: number) => boolean, finish: string, result: string): string {
    const back: string[] = [];
    for (const [index, held] of this.held) {
      if (!held.changed || !alive(index)) continue;
      const register = this.registers.get(index)!;
      const float = `${this.isWide(register) ? "d" : "f"}${index}`;
      const bits = (words: readonly unknown[]) => words.map((word, part) => `${this.slot(register, part)}=${word};`).join("");
      const nan = bits(this.isWide(register) ? [0, -524288] : [2147483647]);
      if (held.bits) back.push(bits(this.names(register)));
      else back.push(`if(${float}===${float})${this.slot(register, -1)}=${float};else{${nan}}`);
    }
    const body = this.lines.join("\n") + back.join("\n") + finish;
    const declared = this.locals.size > 0 ? `let ${[...this.locals].map((name) => `${name}=0`).join(",")};` : "";
    const loop = body === "" ? "" : `for(let b=m;b!==0;b&=b-1){const l=31-Math.clz32(b&-b);${declared}\n${body}}`;
    return `(w,m)=>{const R=w.words,F=w.singles,D=w.doubles;let taken=0;${this.head.join("")}\n${loop}return ${result};}`;
  }
}
