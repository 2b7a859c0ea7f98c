// Binds a translated kernel to one device: its memory, its arithmetic, and counts of its own.
import { compileCollective } from "./collective.js";
import type { CompiledFunction, CompiledKernel, TranslatedFunction, TranslatedKernel } from "./function.js";
import { allInstructions } from "./registers.js";
import type { Support } from "./support.js";

/** A kernel on the device whose memory and arithmetic `support` has. */
export function bindKernel(translated: TranslatedKernel, support: Support): CompiledKernel {
  const functions = new Map(translated.functions.map((fn) => [fn.source.name, bindFunction(fn, support, translated.target)]));
  return { ...translated, entry: functions.get(translated.name)!, functions };
}

function bindFunction(translated: TranslatedFunction, support: Support, target: number): CompiledFunction {
  const { source, segments, alive, file, paths, frameBytes, offsets } = translated;
  const runs = translated.bind(support);
  return {
    name: source.name,
    source,
    segments: segments.map((segment, k) => ({
      run: runs[k],
      end: segment.end,
      guarded: segment.guard !== undefined,
      collective: segment.end.kind === "collective" ? compileCollective(segment.end.instruction, file, support, target) : undefined,
      idle: allInstructions(segment).every(({ opcode }) => /^(bra|ret|exit)$/.test(opcode)),
      alive: (index) => alive(k, index),
      lanes: 0,
      instructions: allInstructions(segment),
    })),
    paths,
    registerBytes: file.bytes,
    spareRegisters: [],
    frameBytes,
    offsets,
    lanesOf: ({ index }) => {
      const slot = file.slots.get(index);
      return slot?.kind === "double" ? slot.word : undefined;
    },
  };
}
