// Shipped kernels, loaded once a context: only the entries that are asked for, since the driver
// compiles what is loaded.
import type { ArgumentFor, Context, DeviceBuffer, Dtype, Kernel, Module, Parameter } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";

const loaded = new WeakMap<Context, Map<string, Module>>();

/**
 * "nvrtc" compiles kernels from their shipped source; left out, they are what the context takes.
 */
export type CompiledSource = "nvrtc" | undefined;

/** The module of some entries of a shipped file. It lives as long as the context. */
export function loadEntries(context: Context, file: string, entries: readonly string[], source?: CompiledSource): Module {
  const modules = loaded.get(context) ?? new Map<string, Module>();
  loaded.set(context, modules);
  const key = `${file}: ${entries.join(", ")}${source ? ` by ${source}` : ""}`;
  const known = modules.get(key);
  if (known) return known;
  const module = context.load(context.shippedPtx(file, source ? { entries, kernelSource: source } : { entries }), { label: key });
  modules.set(key, module);
  return module;
}

/** The element types of the two precisions. */
export type RealType = "f32" | "f64";

/** The precision of an element type. */
export type PrecisionOf<T extends RealType> = { readonly f32: "float32"; readonly f64: "float64" }[T];

/** The element type of a precision. */
export const realType = <T extends RealType>(precision: PrecisionOf<T>): T => (precision === "float32" ? "f32" : "f64") as T;

/**
 * A parameter of a kernel that exists for both precisions: "real" stands for the precision's
 * element type.
 */
export type RealParameter = Extract<Parameter, string> | "real" | "real*" | "const real*";

/** A kernel whose arguments are checked when it is launched, not by TypeScript. */
export type AnyKernel = Kernel<readonly Parameter[]>;

/** Parameters as a precision has them. */
export function typedParameters(precision: Precision, parameters: readonly RealParameter[]): Parameter[] {
  return parameters.map((parameter) => parameter.replace("real", realType(precision)) as Parameter);
}

/** A shipped kernel for a precision. */
export function realKernel(
  context: Context,
  file: string,
  name: string,
  precision: Precision,
  parameters: readonly RealParameter[],
  source?: CompiledSource,
): AnyKernel {
  return loadEntries(context, file, [name], source).kernel(name, typedParameters(precision, parameters));
}

/** A kernel of kernels/neuromorphic_gemv.cu for a precision. */
export function namedKernel(
  context: Context,
  name: string,
  precision: Precision,
  parameters: readonly RealParameter[],
  source?: CompiledSource,
): AnyKernel {
  return realKernel(context, "neuromorphic_gemv", `${name}${precision === "float32" ? "" : "_f64"}`, precision, parameters, source);
}

/** An argument of an `AnyKernel`. */
export type AnyArgument = ArgumentFor<Parameter>;

/** Device memory of some type, as the arguments of an `AnyKernel` have it. */
export type AnyBuffer = DeviceBuffer;

/** `Context.alloc` with a label. */
export function allocAny<T extends Dtype>(context: Context, dtype: T, length: number, label: string): DeviceBuffer<T> {
  return context.alloc(dtype, length, { label });
}
