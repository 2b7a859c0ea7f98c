// Counts what a launch did: instructions by class, bytes by space, barriers. It counts per segment
// and lane, which costs nothing.
import type { CompiledKernel } from "../compile/function.js";
import { isScalarType, type PtxInstruction, scalarBytes } from "../types.js";

export function emptyCounters() {
  return {
    /** Instructions times threads. A guarded instruction counts for every lane that comes by. */
    instructions: 0,
    byClass: { integer: 0, float: 0, half: 0, matrix: 0, memory: 0, atomic: 0, control: 0, barrier: 0, exchange: 0, move: 0 },
    /** Bytes loaded and stored by space; a guarded access counts for every lane that comes by. */
    bytes: { generic: 0, global: 0, shared: 0, local: 0, const: 0, param: 0 },
    /** Barriers of blocks and of clusters that were completed. */
    barriers: 0,
    clusterBarriers: 0,
    /** Warp-wide steps that were run: straight pieces of code, whatever their length. */
    steps: 0,
  };
}

/** What a launch did, counted. */
export interface LaunchCounters extends ReturnType<typeof emptyCounters> {}

/** Classes that instructions are counted in. */
export type InstructionClass = keyof LaunchCounters["byClass"];

const classes: readonly [InstructionClass, RegExp][] = [
  ["matrix", /^(mma|wmma|wgmma|ldmatrix|stmatrix|movmatrix)$/],
  ["atomic", /^(atom|red)$/],
  ["memory", /^(ld|ldu|st|cp|prefetch|prefetchu|discard|applypriority)$/],
  ["barrier", /^(bar|barrier|mbarrier|fence|membar)$/],
  ["exchange", /^(shfl|vote|match|redux|elect|activemask)$/],
  ["control", /^(bra|brx|call|ret|exit|trap|brkpt|nanosleep|griddepcontrol)$/],
  ["move", /^(mov|selp|slct|cvta|mapa|getctarank|isspacep|createpolicy)$/],
];

export function classOf({ opcode, modifiers }: PtxInstruction): InstructionClass {
  for (const [name, pattern] of classes) if (pattern.test(opcode)) return name;
  const type = modifiers.findLast(isScalarType);
  if (type === "f32" || type === "f64" || type === "tf32") return "float";
  return type !== undefined && /^b?f16/.test(type) ? "half" : "integer";
}

function accessOf({ opcode, modifiers }: PtxInstruction): { space: keyof LaunchCounters["bytes"]; bytes: number } | undefined {
  if (!/^(ld|ldu|st|atom|red)$/.test(opcode)) return undefined;
  const type = modifiers.findLast(isScalarType);
  const vector = Number(modifiers.find((word) => /^v[248]$/.test(word))?.slice(1) ?? 1);
  const space = modifiers.map((word) => word.split("::")[0]!).find((word) => /^(global|shared|local|const|param)$/.test(word));
  return { space: (space ?? "generic") as keyof LaunchCounters["bytes"], bytes: type === undefined ? 0 : scalarBytes[type] * vector };
}

/** Adds up what the segments of a kernel counted, and sets that to zero. @internal */
export function collectCounters(kernel: CompiledKernel, counters: LaunchCounters): void {
  for (const fn of kernel.functions.values()) {
    for (const segment of fn.segments) {
      if (segment.lanes === 0) continue;
      counters.instructions += segment.lanes * segment.instructions.length;
      for (const instruction of segment.instructions) {
        counters.byClass[classOf(instruction)] += segment.lanes;
        const access = accessOf(instruction);
        if (access !== undefined) counters.bytes[access.space] += segment.lanes * access.bytes;
      }
      segment.lanes = 0;
    }
  }
}
