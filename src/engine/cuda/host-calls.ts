// Calls of the driver by the one thread that serves all devices: what they cost, and how they do
// not wait for a device.
import type { ArrayOf, DeviceSlice, Dtype, Stream } from "@spillway/gpu";

/**
 * Microseconds that the host takes for a launch or another call of the driver from JavaScript.
 * Measured on four H200 (bench/results/gpu-sharded-2026-11-27.md).
 */
export const callMicroseconds = 2.5;

/**
 * Bytes that CUDA copies to a device without waiting, also from memory that is not page-locked
 * (CUDA Programming Guide, "Concurrent Execution between Host and Device"). A larger copy may wait
 * for all that its stream was given before, and meanwhile no other device gets work.
 */
const bytesAtOnce = 2 ** 16;

/** Arrays of more pieces are copied at once: one call each would cost more than a wait. */
const mostPieces = 16;

/** As `Stream.upload`; arrays of up to 1 MiB do not wait for the work of the stream. */
export function uploadSoon<T extends Dtype>(stream: Stream, target: DeviceSlice<T>, values: ArrayOf<T>): void {
  const atOnce = bytesAtOnce / values.BYTES_PER_ELEMENT;
  if (values.length > mostPieces * atOnce) {
    stream.upload(target, values);
    return;
  }
  for (let first = 0; first < values.length; first += atOnce) {
    const end = Math.min(values.length, first + atOnce);
    stream.upload(target.slice(first, end), values.subarray(first, end) as ArrayOf<T>);
  }
}
