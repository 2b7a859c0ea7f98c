// The kernels for spikes, each loaded by its first use on a context. They are described in
// kernels/spike_encoding.cu and kernels/pattern_detection.cu.
import type { Context, Parameter } from "@spillway/gpu";
import { type AnyKernel, shippedKernel } from "@spillway/gpu/shipped-kernels.js";

const columns = ["const f64*", "const u32*"] as const;
const shape = ["u64", "u32", "f64", "f64", "u32", "u32", "u32"] as const;
const each = ["const u64*", "const f64*", "const f64*", "const u64*", "u32", "u32", "u32"] as const;

const encoding = {
  count: [...columns, ...shape, "u32*", "u64*"],
  add: [...columns, "const f32*", ...shape, "i64*", "u64*", "u64*"],
  count_each: [...columns, ...each, "u32*", "u64*"],
  add_each: [...columns, "const f32*", ...each, "i64*", "u64*", "u64*"],
  above_f32: ["const f32*", "u64", "f64", "u64*"],
  above_f64: ["const f64*", "u64", "f64", "u64*"],
  counts: ["const u32*", "f32*", "u64", "u32"],
  sums: ["const i64*", "const u64*", "f32*", "u64", "u32", "u64*"],
} as const satisfies Record<string, readonly Parameter[]>;

const detection = {
  scores: ["const f32*", "const f32*", "i32", "i32", "i32", "i32", "f32*"],
  best: ["const f32*", "i32", "f64", "i32*", "i32*"],
  means: ["const f32*", "const i32*", "i32", "i32", "i32", "f32*"],
} as const satisfies Record<string, readonly Parameter[]>;

/** A kernel of kernels/spike_encoding.cu that bins. */
export const binningKernel = (context: Context, name: keyof typeof encoding): AnyKernel =>
  shippedKernel(context, "spike_encoding", `spike_encoding_${name}`, encoding[name]);

/** A kernel of kernels/pattern_detection.cu. */
export const detectionKernel = (context: Context, name: keyof typeof detection): AnyKernel =>
  shippedKernel(context, "pattern_detection", `pattern_detection_${name}`, detection[name]);

/** What a kernel leaves that looks for the first thing that is wrong, if nothing is. */
export const none = 0xffffffffffffffffn;

/** Blocks of a launch at most: enough to fill any device. */
const mostBlocks = 4096;
const threads = 256;

/** The launch of a kernel that goes over so many elements. */
export const gridFor = (elements: number) => ({ grid: Math.max(1, Math.min(mostBlocks, Math.ceil(elements / threads))), block: threads });
