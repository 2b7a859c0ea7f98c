// Operations on arrays of the host: the arrays are copied to a device, and the result back.
import { disposeAll } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { DeviceBuffer } from "../buffer.js";
import type { ArrayOf } from "../dtypes.js";
import { DeviceSlice } from "../slice.js";
import type { GpuDevice } from "./gpu-device.js";
import type { Input } from "./standard-kernels.js";

/** An array on the host with the length that it must have. */
export type HostInput = readonly [name: string, array: Float32Array, length: number, shape?: string];

/** Further arrays of an operation: on the host if the first is, else memory of the device. */
export type Like<X> = X extends Float32Array ? Float32Array : Input;
/** Arguments of an operation on device memory alone. */
export type OnDevice<X, Arguments extends unknown[]> = X extends Float32Array ? [] : Arguments;
/** A new array of the host, or nothing if device memory was written. */
export type Changed<X> = X extends Float32Array ? Promise<Float32Array> : undefined;

/** Whether values are memory of a device. */
export const onDevice = <X>(values: X): values is Exclude<X, Float32Array> => values instanceof DeviceSlice;

/** The two arrays of an operation on the host. */
export const pair = (a: unknown, b: unknown, length: number, formula: string): HostInput[] => [
  ["a", a as Float32Array, length],
  ["b", b as Float32Array, length, formula],
];

/** @throws ArgumentError if one is no Float32Array, or if its length is another. */
export function checkLengths(arrays: readonly HostInput[]): void {
  for (const [name, array, length, shape = String(length)] of arrays) {
    if (!(array instanceof Float32Array))
      throw new ArgumentError(name, undefined, "a Float32Array", { shown: Object.prototype.toString.call(array) });
    if (array.length !== length)
      throw ArgumentError.shape(`${name} has ${array.length} elements; ${shape} takes ${length}`, { field: name });
  }
}

/** Uploads arrays, gives the stream the work on them, and disposes of them after that work. */
export function withArrays<Result>(
  { context, stream }: GpuDevice,
  arrays: readonly HostInput[],
  work: (...buffers: DeviceBuffer<"f32">[]) => Result,
): Result {
  checkLengths(arrays);
  const buffers: DeviceBuffer<"f32">[] = [];
  try {
    for (const [, array] of arrays) {
      const buffer = context.alloc("f32", array.length, { stream });
      buffers.push(buffer);
      stream.upload(buffer, array);
    }
    return work(...buffers);
  } finally {
    disposeAll(buffers);
  }
}

/** What `work` writes into memory of its own, and what it returns. */
export async function computed<T extends "f32" | "f64", Returned>(
  device: GpuDevice,
  arrays: readonly HostInput[],
  dtype: T,
  length: number,
  work: (out: DeviceBuffer<T>, ...buffers: DeviceBuffer<"f32">[]) => Returned,
): Promise<[ArrayOf<T>, Returned]> {
  const [values, returned] = withArrays(device, arrays, (...buffers): [Promise<ArrayOf<T>>, Returned] => {
    const out = device.context.alloc(dtype, length, { stream: device.stream });
    try {
      const result = work(out, ...buffers);
      return [device.download(out), result];
    } finally {
      out.dispose();
    }
  });
  return [await values, returned];
}
