// The CUDA driver of this machine as a `Driver`, through koffi.
import type { Driver } from "./driver.js";
import { driverCalls } from "./driver-calls.js";
import { ForeignLibrary } from "./ffi.js";
import { HostMemory } from "./host-memory.js";
import { driverCandidates, loadFirst, thisSystem } from "./library-search.js";

class NativeDriver extends ForeignLibrary<typeof driverCalls> implements Driver {
  readonly #host = new HostMemory();

  constructor(path: string) {
    super(path, driverCalls);
  }

  get library(): string {
    return this.path;
  }

  copyHost(destination: Uint8Array, source: Uint8Array): Promise<void> | undefined {
    return this.#host.copy(destination, source);
  }

  willWrite(memory: Uint8Array): void {
    this.#host.willWrite(memory);
  }
}

/** Whether a driver is CUDA's own: other CUDA libraries work on its memory. */
export function isNative(driver: Driver): boolean {
  return driver instanceof NativeDriver;
}

/** One driver object for a library and thread, because the current context belongs to both. */
const drivers = new Map<string, Driver>();

/**
 * Loads the CUDA driver's library: `library` if given, else the one that SPILLWAY_CUDA_LIBRARY
 * names, else the first that loads of the usual paths. Nothing is initialised.
 *
 * @throws LibraryError naming every path that was tried.
 */
export function loadDriver(library?: string): Driver {
  const candidates = driverCandidates(thisSystem(), library);
  for (const path of candidates) {
    const known = drivers.get(path);
    if (known) return known;
  }
  const advice = "Install NVIDIA's driver, or name its library by the option `library` or the variable SPILLWAY_CUDA_LIBRARY.";
  const driver = loadFirst("The CUDA driver (libcuda)", candidates, (path) => new NativeDriver(path), advice);
  drivers.set(driver.library, driver);
  return driver;
}
