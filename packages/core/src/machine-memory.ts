// How much memory there is to be had: of the machine, or of the container that the process runs in.

/** Bytes; infinity if nothing says it, as in a browser. */
export function machineMemory(): number {
  const total = globalThis.process?.getBuiltinModule?.("node:os").totalmem() ?? Number.POSITIVE_INFINITY;
  const constrained = globalThis.process?.constrainedMemory?.() ?? 0;
  return constrained > 0 ? Math.min(total, constrained) : total;
}
