// Special registers: where compiled code finds thread and block indices, clocks and masks. Values
// come from the warp and its block.
import type { PtxOperand } from "../types.js";

/** Vectors of three elements, and the fields of a block's position that they are. */
const blockVectors = {
  ...{ ntid: "blockSize", ctaid: "index", nctaid: "gridSize", clusterid: "clusterIndex", nclusterid: "clusterCount" },
  ...{ cluster_ctaid: "inCluster", cluster_nctaid: "clusterSize" },
};
const blockFields = new Map([
  ...Object.entries(blockVectors).flatMap(([name, field]) =>
    ["x", "y", "z"].map((axis): [string, string] => [`${name}.${axis}`, `${field}.${axis}`]),
  ),
  ...Object.entries({
    ...{ cluster_ctarank: "clusterRank", cluster_nctarank: "clusterBlocks", is_explicit_cluster: "explicitCluster" },
    ...{ nwarpid: "warpCount", smid: "slot", nsmid: "slots", gridid: "gridId" },
    ...{ dynamic_smem_size: "dynamicSharedBytes", aggr_smem_size: "sharedBytes" },
  }),
]);

const laneMasks = new Map(
  Object.entries({
    laneid: "l",
    lanemask_eq: "(1<<l)",
    lanemask_lt: "((1<<l)-1)",
    lanemask_le: "(l===31?-1:(1<<(l+1))-1)",
    lanemask_gt: "(l===31?0:-1<<(l+1))",
    lanemask_ge: "(-1<<l)",
  }),
);

const others = /^(tid\.[xyz]|warpid|clock(_lo|_hi|64)?|globaltimer(_lo|_hi)?|envreg\d+|pm\d+(_64)?|current_graph_exec|total_smem_size)$/;

/** First bytes of shared memory, which the system keeps (PTX ISA 9.0, section 10.30). */
export const reservedBytes = 1024;
const reserved = new Map(
  Object.entries({ begin: 0, end: reservedBytes, cap: reservedBytes, 0: 0, 1: reservedBytes / 2 }).map(([name, value]) => [
    `reserved_smem_offset_${name}`,
    value,
  ]),
);

/** Whether an operand asks where the system's shared memory is. */
export const asksForReserved = (operand: PtxOperand): boolean => operand.kind === "special" && reserved.has(operand.name);

/** True for the name, without its %, of a special register that is modelled. */
export function isSpecialRegister(name: string): boolean {
  return (
    blockFields.has(name) ||
    laneMasks.has(name) ||
    reserved.has(name) ||
    others.test(name) ||
    (name.endsWith(".w") && isVector(name.slice(0, -2)))
  );
}

/** True for a register of four elements, `tid` and its kin. The last one holds nothing. */
export function isVector(name: string): boolean {
  return name === "tid" || blockFields.has(`${name}.x`);
}

/** What compiles a function: it holds values that are the same in all lanes. */
interface Uniforms {
  uniform(name: string, expression: string): string;
  unsupported(reason: string): Error;
}

export function specialRegister(emitter: Uniforms, name: string): { low: string; high: string } {
  const word = (low: string) => ({ low, high: "0" });
  const axis = /^tid\.([xyz])$/.exec(name)?.[1];
  if (axis !== undefined) {
    const lanes = emitter.uniform(`tid_${axis}`, `w.thread.${axis}`);
    return word(`${lanes}[l]`);
  }
  const field = blockFields.get(name);
  if (field !== undefined) return word(emitter.uniform(`s_${name.replace(".", "_")}`, `w.block.at.${field}`));
  const mask = laneMasks.get(name);
  if (mask !== undefined) return word(mask);
  const value = reserved.get(name);
  if (value !== undefined) return word(String(value));
  if (name === "total_smem_size") return word("(w.block.at.sharedBytes-w.launch.kernel.reservedSharedBytes)");
  if (name === "warpid") return word("w.index");
  if (name === "clock" || name === "clock_lo") return word("(w.clock()|0)");
  if (name === "clock_hi") return word("(w.clock()/4294967296|0)");
  if (name === "clock64") return { low: "(w.clock()|0)", high: "(w.clock()/4294967296|0)" };
  if (name === "globaltimer_lo") return word("(w.nanoseconds()|0)");
  if (name === "globaltimer_hi") return word("(w.nanoseconds()/4294967296|0)");
  if (name === "globaltimer") return { low: "(w.nanoseconds()|0)", high: "(w.nanoseconds()/4294967296|0)" };
  // Where cooperative groups look for the workspace of the grid that the driver provides: two
  // words, the barrier's in the second.
  if (name === "envreg1") return word("w.launch.setting.workspace.high");
  if (name === "envreg2") return word("w.launch.setting.workspace.low");
  // Other environment and performance registers hold nothing here.
  if (isSpecialRegister(name)) return word("0");
  throw emitter.unsupported(`special register %${name} is not modelled`);
}
