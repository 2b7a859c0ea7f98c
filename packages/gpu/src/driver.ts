// The interface below the CUDA layer: the driver's functions by name. A library
// reached by FFI or a simulated device implements it. It checks nothing and owns nothing;
// `ContextCore` checks, and the owned objects own.
import { SpillwayError } from "@spillway/core/errors.js";
import type { DriverArguments, DriverCall, DriverFunction } from "./driver-calls.js";

/** A CUDA driver, real or simulated. */
export interface Driver {
  /** What it is: the path of the library that was loaded, or the simulated device's name. */
  readonly library: string;

  /** Whether it has this function: an older library lacks some. */
  has(name: DriverCall): boolean;

  /** The function of that name. @throws MissingCallError if the library lacks it. */
  resolve<Name extends DriverCall>(name: Name): DriverFunction<Name>;

  /**
   * Calls the function away from the event loop and gives its status. @throws MissingCallError
   * if the library lacks it.
   */
  callAsync<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): Promise<number>;

  /**
   * The host address of a view's first byte. It holds for as long as the view's ArrayBuffer lives,
   * which is up to the caller. The driver may read and write there.
   */
  addressOf(view: ArrayBufferView): bigint;

  /** The NUL-terminated string at an address that the driver gave. */
  textAt(address: bigint): string;

  /**
   * Copies host memory on another thread: several copies at a time take about as long as one. The
   * caller keeps the memory of both until it resolves. Left out or undefined: it cannot.
   */
  copyHost?(destination: Uint8Array, source: Uint8Array): Promise<void> | undefined;

  /** Says that new memory will all be written: with large pages that takes less time. */
  willWrite?(memory: Uint8Array): void;

  /**
   * Whether modules must be PTX, because there is no machine code of the device; a simulated one's.
   * Default false.
   */
  readonly takesPtxOnly?: boolean;

  /**
   * What a simulated device knows of a status beyond CUDA's sentence, such as the line and the
   * thread at fault.
   */
  explain?(status: number): Error | undefined;

  /** Tells a simulated device what its errors shall call an allocation. */
  nameMemory?(address: bigint, name: string): void;
}

/** The library was loaded and lacks a function: it is too old. */
export class MissingCallError extends SpillwayError {
  override readonly name = "MissingCallError";
  /** The function. */
  readonly call: string;
  /** The library that lacks it. */
  readonly library: string;

  constructor(call: string, library: string) {
    super("unavailable", `${library} has no ${call}: the library is older than that function; install a newer one`);
    this.call = call;
    this.library = library;
  }
}
