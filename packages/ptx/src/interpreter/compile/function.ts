// Translates the functions that a kernel reaches: lays out registers and variables, and makes every
// segment a JavaScript function of a warp and a mask of lanes, for all devices. bind.ts binds it.
import { UnsupportedPtxError } from "../errors.js";
import { isStateSpace } from "../parse-declarations.js";
import { windows } from "../run/memory.js";
import { systemCalls } from "../run/system-calls.js";
import type { Registers, Warp } from "../run/warp.js";
import type { PtxFunction, PtxInstruction, PtxModule, PtxOperand, PtxRegister, PtxVariable } from "../types.js";
import type { Collective } from "./collective.js";
import { type CompileContext, type CompiledChecks, Emitter, literal } from "./emitter.js";
import { handlerOf } from "./instructions.js";
import { floatOnly, type Liveness, layOut, liveness, Paths, type RegisterFile, touched } from "./registers.js";
import { cutIntoSegments, type Segment, type SegmentEnd } from "./segments.js";
import { asksForReserved, reservedBytes } from "./special.js";
import type { Support } from "./support.js";

/** Runs a segment for lanes; gives those whose guard takes the segment's branch or leave. */
export type RunSegment = (warp: Warp, mask: number) => number;

export interface CompiledSegment {
  run: RunSegment | undefined;
  end: SegmentEnd;
  guarded: boolean;
  collective: Collective | undefined;
  /** Registers that are read after it. */
  alive(index: number): boolean;
  /** Nothing but branches: to come here is to have done nothing. */
  idle: boolean;
  /** Lanes that went through, for the counters. */
  lanes: number;
  /** All of its instructions, the last one included. */
  instructions: readonly PtxInstruction[];
}

/** A function in JavaScript that is bound to no device; nothing in it changes. */
export interface TranslatedFunction {
  readonly source: PtxFunction;
  readonly segments: readonly Segment[];
  readonly alive: Liveness["alive"];
  readonly file: RegisterFile;
  readonly paths: Paths;
  readonly frameBytes: number;
  readonly offsets: ReadonlyMap<PtxVariable, number>;
  /** What runs the segments, bound to a device. */
  readonly bind: (support: Support) => readonly (RunSegment | undefined)[];
}

/** A kernel in JavaScript that is bound to no device. */
export interface TranslatedKernel extends Readonly<Omit<CompiledKernel, "entry" | "functions">> {
  readonly functions: readonly TranslatedFunction[];
  readonly target: number;
}

export interface CompiledFunction {
  name: string;
  source: PtxFunction;
  segments: CompiledSegment[];
  paths: Paths;
  registerBytes: number;
  /** Registers that ended activations left, for the next. */
  spareRegisters: Registers[];
  frameBytes: number;
  /** Local offsets of call arguments and results, by variable. */
  offsets: ReadonlyMap<PtxVariable, number>;
  /** First word of a 64-bit register's lanes in the register file; undefined for any other. */
  lanesOf(register: PtxRegister): number | undefined;
}

export interface CompiledKernel {
  name: string;
  entry: CompiledFunction;
  functions: ReadonlyMap<string, CompiledFunction>;
  /** Instructions by the numbers that compiled code calls them. */
  sites: readonly PtxInstruction[];
  /** Bytes of statically declared shared memory, and where dynamic shared memory begins. */
  staticSharedBytes: number;
  /** First bytes of shared memory that are the system's, if the kernel asks where they are. */
  reservedSharedBytes: number;
  /** Byte offsets of the parameters, and their bytes together. */
  parameterOffsets: readonly number[];
  parameterBytes: number;
  /** Local bytes of the deepest calls; undefined if recursion, pointers or alloca hide them. */
  localBytes: number | undefined;
}

/** Addresses of a module's variables and functions in the 64-bit address space. */
export interface Linkage {
  module: PtxModule;
  offsetOf(variable: PtxVariable): number;
  /** Number of a function, for calls through pointers. */
  functionNumber(name: string): number;
}

/** As many as sm_70 and later have, PTX ISA 9.0, section 5.1.6. */
const mostParameterBytes = 32_764;

const alignUp = (value: number, to: number): number => Math.ceil(value / Math.max(to, 1)) * Math.max(to, 1);

/** Byte offsets of parameters, each at its alignment. */
export function parameterLayout(parameters: readonly PtxVariable[]): { offsets: number[]; bytes: number } {
  let bytes = 0;
  const offsets = parameters.map((parameter) => {
    const offset = alignUp(bytes, parameter.alignment);
    bytes = offset + parameter.bytes;
    return offset;
  });
  return { offsets, bytes };
}

/** Device functions that a function calls; undefined among them for a call through a pointer. */
function callees(fn: PtxFunction): Set<string | undefined> {
  const found = new Set<string | undefined>();
  for (const statement of fn.statements) {
    if ("label" in statement || statement.opcode !== "call") continue;
    const target = statement.operands.find((operand) => operand.kind === "function" || operand.kind === "register");
    found.add(target?.kind === "function" ? target.name : undefined);
  }
  return found;
}

/** The number of the target that a module is for, as 90 of sm_90a; without end if it names none. */
function targetOf({ target }: PtxModule): number {
  return Number(/^sm_(\d+)/.exec(target[0] ?? "")?.[1] ?? Infinity);
}

export class KernelCompiler {
  private readonly linkage: Linkage;
  private readonly checks: CompiledChecks;
  private readonly target: number;
  private readonly sites: PtxInstruction[] = [];
  private readonly siteNumbers = new Map<PtxInstruction, number>();
  private readonly sharedOffsets = new Map<PtxVariable, number>();
  private sharedBytes = 0;
  private readonly dynamicShared = new Set<PtxVariable>();

  constructor(linkage: Linkage, checks: CompiledChecks) {
    this.linkage = linkage;
    this.checks = checks;
    this.target = targetOf(linkage.module);
  }

  translate(entry: PtxFunction): TranslatedKernel {
    const reached = this.reach(entry);
    const instructions = reached.functions.flatMap(({ statements }) => statements.flatMap((each) => ("label" in each ? [] : [each])));
    const reservedSharedBytes = instructions.some(({ operands }) => operands.some(asksForReserved)) ? reservedBytes : 0;
    this.sharedBytes = reservedSharedBytes;
    for (const fn of reached.functions) this.placeShared(fn);
    this.sharedBytes = alignUp(
      this.sharedBytes,
      [...this.dynamicShared].reduce((most, { alignment }) => Math.max(most, alignment), 16),
    );
    for (const variable of this.dynamicShared) this.sharedOffsets.set(variable, this.sharedBytes);
    const { offsets, bytes } = parameterLayout(entry.parameters);
    if (bytes > mostParameterBytes)
      throw new UnsupportedPtxError(
        `${entry.name} has ${bytes} bytes of parameters; a kernel has at most ${mostParameterBytes}`,
        entry.line,
      );
    const functions = reached.functions.map((fn) => this.function(fn, offsets));
    return {
      name: entry.name,
      functions,
      target: this.target,
      sites: this.sites,
      staticSharedBytes: this.sharedBytes - reservedSharedBytes,
      reservedSharedBytes,
      parameterOffsets: offsets,
      parameterBytes: bytes,
      localBytes: reached.open ? undefined : deepest(entry.name, new Map(functions.map((fn) => [fn.source.name, fn]))),
    };
  }

  /** Functions that can run. `open`: the text does not say how deep the stack gets. */
  private reach(entry: PtxFunction): { functions: PtxFunction[]; open: boolean } {
    const { module } = this.linkage;
    const functions = [entry];
    const names = new Set([entry.name]);
    let open = false;
    const grows = (fn: PtxFunction): boolean => fn.statements.some((each) => !("label" in each) && each.opcode === "alloca");
    const add = (name: string): void => {
      const fn = module.functions.get(name);
      if (fn?.defined === false && !systemCalls.has(name) && fn.kind === "func")
        throw new UnsupportedPtxError(`"${name}" is declared but not defined in the module`, fn.line);
      if (fn === undefined || !fn.defined || names.has(name)) return;
      names.add(name);
      functions.push(fn);
    };
    let pointer = false;
    for (const fn of functions) {
      open ||= grows(fn);
      for (const name of callees(fn)) {
        if (name !== undefined) add(name);
        else if (!pointer) {
          pointer = true;
          open = true;
          for (const other of module.functions.values()) if (other.kind === "func" && other.defined) add(other.name);
        }
      }
    }
    return { functions, open };
  }

  private placeShared(fn: PtxFunction): void {
    const used = new Set<PtxVariable>(fn.variables.filter(({ space }) => space === "shared"));
    const look = (operand: PtxOperand): void => {
      if (operand.kind === "variable" && operand.variable.space === "shared") used.add(operand.variable);
      else if (operand.kind === "address") look(operand.base);
      else if (operand.kind === "vector") operand.elements.forEach(look);
    };
    for (const statement of fn.statements) if (!("label" in statement)) statement.operands.forEach(look);
    for (const variable of used) {
      if (this.sharedOffsets.has(variable) || this.dynamicShared.has(variable)) continue;
      if (variable.bytes === 0) {
        this.dynamicShared.add(variable);
        continue;
      }
      const offset = alignUp(this.sharedBytes, variable.alignment);
      this.sharedOffsets.set(variable, offset);
      this.sharedBytes = offset + variable.bytes;
    }
  }

  private site(instruction: PtxInstruction): number {
    let number = this.siteNumbers.get(instruction);
    if (number === undefined) {
      number = this.sites.length;
      this.sites.push(instruction);
      this.siteNumbers.set(instruction, number);
    }
    return number;
  }

  private function(fn: PtxFunction, entryOffsets: readonly number[]): TranslatedFunction {
    const offsets = new Map<PtxVariable, number>();
    let frameBytes = 0;
    for (const variable of fn.variables) {
      if (variable.space !== "local" && variable.space !== "param") continue;
      const offset = alignUp(frameBytes, variable.alignment);
      offsets.set(variable, offset);
      frameBytes = offset + variable.bytes;
    }
    // A call takes stack space even if it keeps nothing: endless recursion then ends.
    frameBytes = alignUp(fn.kind === "func" ? Math.max(1, frameBytes) : frameBytes, 16);
    const segments = cutIntoSegments(fn);
    const usesCarry = fn.statements.some(
      (each) => !("label" in each) && (each.modifiers.includes("cc") || /^(addc|subc|madc)$/.test(each.opcode)),
    );
    const carry = usesCarry ? { name: "%carry", type: "pred" as const, index: fn.registers.length } : undefined;
    const { alive, kept } = liveness(segments);
    if (carry !== undefined) kept.add(carry.index);
    /** Registers that the lanes of a collective or a call find in the file. */
    const handed = segments.map(({ end }) => {
      if (end.kind !== "collective" && end.kind !== "call") return undefined;
      const { reads, writes } = touched(end.instruction);
      for (const { index } of [...reads, ...writes]) kept.add(index);
      return new Set(reads.map(({ index }) => index));
    });
    const isAlive = (segment: number, index: number): boolean =>
      index === carry?.index || alive(segment, index) || handed[segment]?.has(index) === true;
    const file = layOut(carry === undefined ? fn.registers : [...fn.registers, carry], kept);
    const formal = new Map([...fn.returns, ...fn.parameters].map((variable, k) => [variable, k]));
    const parameterOffsets = new Map(fn.kind === "entry" ? fn.parameters.map((variable, k) => [variable, entryOffsets[k]!]) : []);
    const context: CompileContext = {
      address: ({ variable, offset }) => {
        if (!isStateSpace(variable.space)) throw new UnsupportedPtxError(`"${variable.name}" has no address`, variable.line);
        const shared = this.sharedOffsets.get(variable);
        if (shared !== undefined) return constantAddress(0, shared + offset);
        const local = offsets.get(variable);
        if (local !== undefined) return { low: `(w.frameBase+${local + offset})`, high: "0" };
        const index = formal.get(variable);
        if (index === undefined) return constantAddress(windows.global, this.linkage.offsetOf(variable) + offset);
        if (fn.kind === "func") return { low: `(w.parameters[${index}]+${offset})`, high: "0" };
        return { low: `(w.paramBase+${entryOffsets[index]! + offset})`, high: String(windows.global) };
      },
      functionAddress: (name) => ({ low: String(16 * (this.linkage.functionNumber(name) + 1)), high: String(windows.function) }),
      isLocal: (variable) => offsets.has(variable) || (fn.kind === "func" && formal.has(variable)),
      entryParameter: (variable) => parameterOffsets.get(variable),
      site: (instruction) => this.site(instruction),
      architecture: Number(
        this.linkage.module.target.map((name) => /^sm_(\d+)/.exec(name)?.[1]).find((number) => number !== undefined) ?? 0,
      ),
      file,
      target: this.target,
      floatOnly: floatOnly(fn, segments),
      checks: this.checks,
      ...(carry && { carry: { kind: "register" as const, register: carry } }),
    };
    const sources = segments.map((segment, k) => this.source(segment, (index) => isAlive(k, index), context));
    for (const { end } of segments) if (end.kind !== "next" && end.instruction !== undefined) this.site(end.instruction);
    let make: ((support: Support) => (RunSegment | undefined)[]) | undefined;
    const bind = (support: Support) => {
      // One compilation for all segments: what they call is bound once. Every device has the same
      // names.
      make ??= new Function(
        "support",
        `"use strict";const {${Object.keys(support).join(",")}}=support;return [${sources.join(",\n")}];`,
      ) as NonNullable<typeof make>;
      return make(support);
    };
    return { source: fn, segments, alive, file, paths: new Paths(segments), frameBytes, offsets, bind };
  }

  private source(segment: Segment, alive: (index: number) => boolean, context: CompileContext): string {
    const emitter = new Emitter(context);
    for (const instruction of segment.instructions) emitter.emit(instruction, handlerOf(emitter, instruction));
    let finish = "";
    if (segment.guard !== undefined) {
      if (segment.end.kind === "branch" || segment.end.kind === "leave") emitter.begin(segment.end.instruction!);
      const condition = emitter.predicate({ kind: "register", register: segment.guard.register });
      finish = `if(${segment.guard.negated ? `!${condition}` : condition})taken|=1<<l;`;
    } else if (segment.end.kind === "switch") {
      emitter.begin(segment.end.instruction);
      finish = `w.switchTo[l]=${emitter.word(emitter.operand(0), "u32")};`;
    } else if (segment.instructions.length === 0) return "undefined";
    return emitter.source(alive, finish, "taken");
  }
}

/** An address so many bytes from the beginning of a window, as its halves. */
function constantAddress(window: number, bytes: number): { low: string; high: string } {
  return { low: literal(bytes | 0), high: literal((window + Math.floor(bytes / 2 ** 32)) | 0) };
}

/** Local bytes of the deepest chain of calls; undefined if a function may come to call itself. */
function deepest(entry: string, functions: ReadonlyMap<string, TranslatedFunction>): number | undefined {
  const known = new Map<string, number | undefined>();
  const path = [{ name: entry, next: calledFrom(entry, functions), deepest: 0 }];
  known.set(entry, undefined);
  for (;;) {
    const top = path.at(-1)!;
    const callee = top.next.pop();
    if (callee === undefined) {
      path.pop();
      const bytes = functions.get(top.name)!.frameBytes + top.deepest;
      known.set(top.name, bytes);
      const caller = path.at(-1);
      if (caller === undefined) return bytes;
      caller.deepest = Math.max(caller.deepest, bytes);
    } else if (!known.has(callee)) {
      known.set(callee, undefined);
      path.push({ name: callee, next: calledFrom(callee, functions), deepest: 0 });
    } else {
      const bytes = known.get(callee);
      if (bytes === undefined) return undefined;
      top.deepest = Math.max(top.deepest, bytes);
    }
  }
}

function calledFrom(name: string, functions: ReadonlyMap<string, TranslatedFunction>): string[] {
  return [...callees(functions.get(name)!.source)].filter((callee) => callee !== undefined && functions.has(callee)) as string[];
}
