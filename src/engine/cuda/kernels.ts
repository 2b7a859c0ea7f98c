// Shipped kernels that exist for both precisions, and device memory in either.
import type { ArgumentFor, Context, DeviceBuffer, Dtype, Parameter } from "@spillway/gpu";
import { type AnyKernel, type CompiledSource, shippedKernel } from "@spillway/gpu/shipped-kernels.js";
import type { Precision } from "@spillway/numerics";

export { type AnyKernel, type CompiledSource, loadEntries, shippedKernel } from "@spillway/gpu/shipped-kernels.js";

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
  return shippedKernel(context, file, name, typedParameters(precision, parameters), source);
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

/** Bytes of several buffers together. */
export const bytesOf = (buffers: readonly AnyBuffer[]): number => buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
