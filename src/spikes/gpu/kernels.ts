// The kernels for spikes, loaded once a context. They are described in
// kernels/spike_encoding.cu and kernels/pattern_detection.cu.
import type { Context, Kernel, Module, Parameter } from "@spillway/gpu";

const binning = ["const f64*", "const u32*"] as const;
const shape = ["u64", "u32", "f64", "f64", "u32", "u32", "u32"] as const;
const each = ["const u64*", "const f64*", "const f64*", "const u64*", "u32", "u32", "u32"] as const;
const score = ["const f32*", "const f32*", "i32", "i32", "i32", "i32", "f32*"] as const;
const best = ["const f32*", "i32", "f64", "i32*", "i32*"] as const;

const means = ["const f32*", "const i32*", "i32", "i32", "i32", "f32*"] as const;

export interface SpikeKernels {
  readonly count: Kernel<readonly [...typeof binning, ...typeof shape, "u32*", "u64*"]>;
  readonly add: Kernel<readonly [...typeof binning, "const f32*", ...typeof shape, "i64*", "u64*", "u64*"]>;
  readonly countEach: Kernel<readonly [...typeof binning, ...typeof each, "u32*", "u64*"]>;
  readonly addEach: Kernel<readonly [...typeof binning, "const f32*", ...typeof each, "i64*", "u64*", "u64*"]>;
  readonly above: Kernel<readonly ["const f32*", "u64", "f64", "u64*"]>;
  readonly aboveDouble: Kernel<readonly ["const f64*", "u64", "f64", "u64*"]>;
  readonly counts: Kernel<readonly ["const u32*", "f32*", "u64", "u32"]>;
  readonly sums: Kernel<readonly ["const i64*", "const u64*", "f32*", "u64", "u32", "u64*"]>;
  readonly scores: Kernel<typeof score>;
  readonly best: Kernel<typeof best>;
  readonly means: Kernel<typeof means>;
}

/** What a kernel leaves that looks for the first thing that is wrong, if nothing is. */
export const none = 0xffffffffffffffffn;

/** Blocks of a launch at most: enough to fill any device. */
const mostBlocks = 4096;
const threads = 256;

/** The launch of a kernel that goes over so many elements. */
export const gridFor = (elements: number) => ({ grid: Math.max(1, Math.min(mostBlocks, Math.ceil(elements / threads))), block: threads });

/** A kernel whose arguments are checked when it is launched, not by TypeScript. */
export type AnyKernel = Kernel<readonly Parameter[]>;

const single = new WeakMap<Context, Map<string, { readonly module: Module; readonly kernel: AnyKernel }>>();

/** One entry of a shipped file, loaded alone and once a context. */
export function kernelOf(context: Context, file: string, name: string, parameters: readonly Parameter[]): AnyKernel {
  const known = single.get(context) ?? new Map();
  single.set(context, known);
  const found = known.get(name);
  if (found) return found.kernel;
  const module = context.load(context.shippedPtx(file, { entries: [name] }), { label: name });
  const kernel = module.kernel(name, parameters);
  known.set(name, { module, kernel });
  return kernel;
}

/**
 * The kernel of an encoder for series of a type; `options` are its parameters besides series and
 * spikes.
 */
export function encoderKernel(context: Context, encoder: string, dtype: "f32" | "f64", options: readonly Parameter[]): AnyKernel {
  const parameters = [`const ${dtype}*`, "const u64*", "u32", "u32", ...options, "u64*", "f64*", "u32*", "u64*"] as const;
  return kernelOf(context, "spike_encoders", `spike_encoders_${encoder}_${dtype}`, parameters);
}

/** The modules are kept with their kernels, for as long as the context. */
const loaded = new WeakMap<Context, { readonly kernels: SpikeKernels; readonly modules: readonly Module[] }>();

export function spikeKernels(context: Context): SpikeKernels {
  const known = loaded.get(context);
  if (known) return known.kernels;
  const [encoding, detection] = ["spike_encoding", "pattern_detection"].map((file) =>
    context.load(context.shippedPtx(file), { label: file }),
  ) as [Module, Module];
  const encoder = <const P extends readonly Parameter[]>(name: string, parameters: P) =>
    encoding.kernel(`spike_encoding_${name}`, parameters);
  const kernels: SpikeKernels = {
    count: encoder("count", [...binning, ...shape, "u32*", "u64*"]),
    add: encoder("add", [...binning, "const f32*", ...shape, "i64*", "u64*", "u64*"]),
    countEach: encoder("count_each", [...binning, ...each, "u32*", "u64*"]),
    addEach: encoder("add_each", [...binning, "const f32*", ...each, "i64*", "u64*", "u64*"]),
    above: encoder("above_f32", ["const f32*", "u64", "f64", "u64*"]),
    aboveDouble: encoder("above_f64", ["const f64*", "u64", "f64", "u64*"]),
    counts: encoder("counts", ["const u32*", "f32*", "u64", "u32"]),
    sums: encoder("sums", ["const i64*", "const u64*", "f32*", "u64", "u32", "u64*"]),
    scores: detection.kernel("pattern_detection_scores", score),
    best: detection.kernel("pattern_detection_best", best),
    means: detection.kernel("pattern_detection_means", means),
  };
  loaded.set(context, { kernels, modules: [encoding, detection] });
  return kernels;
}
