// How many blocks and clusters of a kernel a simulated device runs at once. Registers never limit
// it: they are not known before a compiler has laid them out.
import type { Simulation } from "./options.js";

/** Shared memory that CUDA keeps of each block from 8.0 on (Programming Guide). */
const reservedSharedBytes = 1024;

/** Registers of a thread that are reported: as many as let a multiprocessor be full. */
export const reportedRegisters = 32;

/** Blocks of `threads` threads and `sharedBytes` bytes that a multiprocessor runs at once. */
export function blocksPerMultiprocessor({ capability }: Simulation, threads: number, sharedBytes: number): number {
  const warps = Math.ceil(threads / 32);
  const reserved = capability.major >= 8 ? reservedSharedBytes : 0;
  if (sharedBytes > capability.sharedBytesPerBlock || threads > 1024 || threads < 1) return 0;
  const byShared = sharedBytes + reserved === 0 ? capability.blocks : Math.floor(capability.sharedBytes / (sharedBytes + reserved));
  return Math.min(capability.blocks, Math.floor(capability.threads / (32 * warps)), byShared);
}

export function residentBlocks(simulation: Simulation, threads: number, sharedBytes: number): number {
  return blocksPerMultiprocessor(simulation, threads, sharedBytes) * simulation.multiprocessors;
}
