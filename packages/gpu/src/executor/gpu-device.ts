// A device with the one stream that the executor's work goes through. It computes nothing.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import type { DeviceBuffer } from "../buffer.js";
import { Context } from "../context.js";
import type { ArrayOf, Dtype, DtypeOf, HostArray } from "../dtypes.js";
import { type OpenOptions, openDevice } from "../open-device.js";
import type { ReadonlyDeviceSlice } from "../slice.js";
import type { Stream } from "../stream.js";

/**
 * What a device is made of: its number, the name of a registered one ("sim"), how it is opened, or
 * a context that is open already.
 */
export type DeviceSource = number | string | OpenOptions | Context;

/** A device and a stream on it. */
export class GpuDevice extends DisposedByUsing {
  readonly context: Context;
  readonly stream: Stream;
  readonly #ownsContext: boolean;

  /**
   * Opens a device, or uses an open context, which it then leaves open. @throws as
   * `openDevice`.
   */
  constructor(source: DeviceSource = 0) {
    super();
    this.#ownsContext = !(source instanceof Context);
    this.context = source instanceof Context ? source : openDevice(source);
    try {
      this.stream = this.context.stream({ label: "executor" });
    } catch (error) {
      if (this.#ownsContext) this.context.dispose();
      throw error;
    }
  }

  /** The device's name. */
  get name(): string {
    return this.context.info.name;
  }

  /** A copy of an array on the device. @throws OutOfMemoryError, ArgumentError, CudaError. */
  upload<A extends HostArray, T extends Dtype = DtypeOf<A>>(array: A, options: { dtype?: T; label?: string } = {}): DeviceBuffer<T> {
    return this.context.upload(array, options);
  }

  /**
   * Device memory of `length` elements, zeros; default f32. @throws OutOfMemoryError,
   * ArgumentError, CudaError.
   */
  allocate(length: number): DeviceBuffer<"f32">;
  allocate<T extends Dtype>(length: number, dtype: T): DeviceBuffer<T>;
  allocate(length: number, dtype: Dtype = "f32"): DeviceBuffer {
    return this.context.zeros(dtype, length);
  }

  /**
   * A copy on the host of device memory as it is after all that the stream was given. @throws
   * CudaError, also of that work.
   */
  download<T extends Dtype>(slice: ReadonlyDeviceSlice<T>): Promise<ArrayOf<T>> {
    return this.stream.download(slice);
  }

  /**
   * @internal Waits for the stream's work, if there can still be any: a kernel must be there
   * until it has run. @throws CudaError.
   */
  waitForWork(): void {
    if (!this.stream.disposed && !this.context.disposed && !this.context.loss) this.stream.sync();
  }

  /**
   * Gives the stream back, and the context if it was opened here. A second call does nothing.
   * @throws CudaError.
   */
  dispose(): void {
    if (this.#ownsContext) this.context.dispose();
    else this.stream.dispose();
  }
}
