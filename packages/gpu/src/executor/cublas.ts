// Matrix products by cuBLAS on a context's memory. Its sums are in an order of its own, which
// differs between its versions and devices.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context } from "../context.js";
import { Holding } from "../ledger.js";
import { isNative } from "../native-driver.js";
import { type DeviceSlice, noteUse, type ReadonlyDeviceSlice, usable } from "../slice.js";
import { type CublasLibrary, loadCublas } from "./cublas-library.js";
import type { GpuDevice } from "./gpu-device.js";

const one = Float32Array.of(1);
const zero = Float32Array.of(0);

/** 130100 as "13.1.0" and, of old ones, 11805 as "11.8.5". */
function versionText(version: number): string {
  const [major, rest] = version >= 100000 ? [10000, 100] : [1000, 100];
  return `${Math.floor(version / major)}.${Math.floor((version % major) / rest)}.${version % rest}`;
}

/** A handle of cuBLAS, which its context owns. */
export interface CublasHandle {
  readonly library: CublasLibrary;
  readonly handle: bigint;
  readonly holding: Holding;
  /** Such as "13.1.0". */
  readonly version: string;
}

/**
 * Opens cuBLAS on a context. @throws LibraryError if there is no cuBLAS; ArgumentError if the
 * device is not a GPU; CublasError.
 */
export function openCublas({ core, info }: Context): CublasHandle {
  if (!isNative(core.driver))
    throw ArgumentError.because(`cuBLAS works on a GPU only; this device is ${info.name} of the driver ${core.driver.library}`, {
      field: "blas",
      value: "cublas",
      expected: '"none" or "auto"',
    });
  const library = loadCublas();
  core.enter("cublasCreate");
  const handle = new BigUint64Array(1);
  library.call("cublasCreate", handle);
  const holding = new Holding("cuBLAS handle", "cuBLAS", 0, () => library.call("cublasDestroy", handle[0]!), true);
  core.ledger.enter(holding);
  const version = new Int32Array(1);
  library.call("cublasGetVersion", handle[0]!, version);
  return { library, handle: handle[0]!, holding, version: versionText(version[0]!) };
}

/** A cuBLAS handle on a device's stream. */
export class Cublas implements Disposable {
  readonly path: string;
  /** Such as "13.1.0". */
  readonly version: string;
  readonly #device: GpuDevice;
  readonly #library: CublasLibrary;
  readonly #handle: bigint;
  readonly #holding: Holding;

  /** @throws LibraryError if there is no cuBLAS, or the device is not a GPU; CublasError. */
  constructor(device: GpuDevice) {
    const { library, handle, holding, version } = openCublas(device.context);
    library.call("cublasSetStream", handle, device.stream.handle);
    this.path = library.path;
    this.version = version;
    this.#holding = holding;
    this.#device = device;
    this.#library = library;
    this.#handle = handle;
  }

  /**
   * C = A B, row-major, C m x n: to cuBLAS, whose matrices go by columns, it is C' = B' A'. @throws
   * CublasError.
   */
  matmul(a: ReadonlyDeviceSlice<"f32">, b: ReadonlyDeviceSlice<"f32">, c: DeviceSlice<"f32">, m: number, k: number, n: number): void {
    const { stream, context } = this.#device;
    stream.use();
    const [left, right, product] = [usable(context.core, a, false), usable(context.core, b, false), usable(context.core, c, true)];
    for (const slice of [left, right, product]) noteUse(slice.memory, stream.handle);
    context.core.enter("cublasSgemm");
    this.#library.call(
      "cublasSgemm",
      this.#handle,
      0,
      0,
      n,
      m,
      k,
      one,
      right.address,
      n,
      left.address,
      Math.max(1, k),
      zero,
      product.address,
      n,
    );
  }
  /** Gives the handle back. A second call does nothing. @throws CublasError. */
  dispose(): void {
    this.#device.context.core.release(this.#holding);
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
