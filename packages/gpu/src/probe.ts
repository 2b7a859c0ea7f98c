// Whether CUDA can be used here, found by using it: nothing follows from a file that exists or a
// variable that is set.
import { callback, type InputOf, optional, resolve, text, tuple, whole } from "@spillway/core/options.js";
import { checkedCall, checkedWord, forgetCurrent } from "./context-core.js";
import { type DeviceInfo, deviceCount, deviceInfo } from "./device-info.js";
import type { Driver } from "./driver.js";
import { CudaError } from "./errors.js";
import { isWsl, LibraryError, type TriedPath } from "./library-search.js";
import { loadDriver } from "./native-driver.js";
import { loadNvrtc, type Nvrtc } from "./nvrtc.js";
import { anObject } from "./options.js";
import { driverForPtx, versionText } from "./ptx-entry.js";
import { status } from "./status.js";

/** A device and whether it opens. */
export interface ProbedDevice extends DeviceInfo {
  /** Free memory in bytes, of all processes; undefined if the device did not open. */
  readonly freeMemory: number | undefined;
  /** Why it did not open. */
  readonly problem: string | undefined;
}

/** What was found of NVRTC. Kernels that are shipped as PTX do not need it. */
export interface NvrtcProbe {
  readonly available: boolean;
  readonly library: string | undefined;
  /** "13.0". */
  readonly version: string | undefined;
  readonly problem: string | undefined;
}

/** What was found. */
export interface GpuProbe {
  /** Whether a device opens and takes the PTX that was asked about. */
  readonly available: boolean;
  /** Why not, in a sentence; undefined if it is available. */
  readonly reason: string | undefined;
  /** The driver's library; undefined if none loaded. */
  readonly library: string | undefined;
  /** Every path tried, if no library loaded. */
  readonly tried: readonly TriedPath[];
  /** The CUDA release the driver is of, "13.0". */
  readonly driverVersion: string | undefined;
  readonly devices: readonly ProbedDevice[];
  readonly nvrtc: NvrtcProbe;
  /** Whether this is Linux under Windows. */
  readonly wsl: boolean;
  /** CUDA_VISIBLE_DEVICES, which hides devices from CUDA; undefined if it is not set. */
  readonly visibleDevices: string | undefined;
}

export const probeTable = {
  /** The path of a driver's library to try in place of the usual ones. */
  library: optional(text(), "The path of a driver's library to try in place of the usual ones."),
  /** A driver that is loaded already, such as a simulated one. */
  driver: optional(anObject<Driver>("a driver"), "A driver that is loaded already."),
  /**
   * The PTX version that kernels are shipped as, such as [7, 0]: an older driver does not count as
   * available.
   */
  ptxVersion: optional(
    tuple<readonly [major: number, minor: number]>("[major, minor]", [whole(), whole()]),
    "The PTX version that kernels are shipped as; an older driver does not count as available.",
  ),
  /** How NVRTC is loaded; default `loadNvrtc`. */
  nvrtc: optional(callback<() => Nvrtc>(), "How NVRTC is loaded; left out, by loadNvrtc."),
};

/** How a probe looks. */
export interface ProbeOptions extends InputOf<typeof probeTable> {}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function probeNvrtc(load: () => Nvrtc): NvrtcProbe {
  try {
    const { library, version } = load();
    return { available: true, library, version: version.join("."), problem: undefined };
  } catch (error) {
    return { available: false, library: undefined, version: undefined, problem: sentence(error) };
  }
}

/** Opens a device for as long as it takes to ask for its free memory. */
function probeDevice(driver: Driver, ordinal: number): ProbedDevice {
  const info = deviceInfo(driver, ordinal);
  let problem: string | undefined;
  let freeMemory: number | undefined;
  try {
    const context = new BigUint64Array(1);
    checkedCall(driver, "cuDevicePrimaryCtxRetain", context, ordinal);
    const free = new BigUint64Array(1);
    try {
      checkedCall(driver, "cuCtxSetCurrent", context[0]!);
      checkedCall(driver, "cuMemGetInfo", free, new BigUint64Array(1));
      freeMemory = Number(free[0]);
    } finally {
      forgetCurrent(driver);
      driver.resolve("cuCtxSetCurrent")(0n);
      checkedCall(driver, "cuDevicePrimaryCtxRelease", ordinal);
    }
  } catch (error) {
    problem = sentence(error);
  }
  return { ...info, freeMemory, problem };
}

function hidden(visible: string | undefined): string {
  if (visible === undefined) return "";
  return visible === ""
    ? "; CUDA_VISIBLE_DEVICES is empty, which hides every device"
    : `; CUDA_VISIBLE_DEVICES is ${JSON.stringify(visible)}`;
}

/**
 * Looks for a driver, its devices and NVRTC. It does not throw: what went wrong is in what it
 * returns.
 */
export function probe(options: ProbeOptions = {}): GpuProbe {
  const { library, ptxVersion, nvrtc = () => loadNvrtc(), ...given } = resolve(probeTable, options, "probe");
  const visibleDevices = process.env["CUDA_VISIBLE_DEVICES"];
  const base = { nvrtc: probeNvrtc(nvrtc), wsl: isWsl(), visibleDevices };
  let driver: Driver;
  try {
    driver = given.driver ?? loadDriver(library);
  } catch (error) {
    const tried = error instanceof LibraryError ? error.tried : [];
    return { ...base, available: false, reason: sentence(error), library: undefined, tried, driverVersion: undefined, devices: [] };
  }
  const found = { ...base, library: driver.library, tried: [] };
  let driverVersion: string | undefined;
  let devices: readonly ProbedDevice[] = [];
  const answer = (reason: string | undefined): GpuProbe => ({ ...found, available: reason === undefined, reason, driverVersion, devices });
  try {
    const version = checkedWord(driver, "cuDriverGetVersion");
    driverVersion = versionText(version);
    checkedCall(driver, "cuInit", 0);
    const count = deviceCount(driver);
    if (count === 0) return answer(`the driver shows no device${hidden(visibleDevices)}`);
    devices = Array.from({ length: count }, (_, ordinal) => probeDevice(driver, ordinal));
    const needed = ptxVersion && driverForPtx(ptxVersion);
    if (needed !== undefined && version < needed)
      return answer(
        `the driver is of CUDA ${driverVersion}, and PTX ${ptxVersion!.join(".")} needs one of CUDA ${versionText(needed)} or later: update NVIDIA's driver`,
      );
    if (devices.every(({ problem }) => problem !== undefined)) return answer(`no device opens: ${devices[0]!.problem}`);
    return answer(undefined);
  } catch (error) {
    const none = error instanceof CudaError && error.statusCode === status.noDevice;
    return answer(`${sentence(error)}${none ? hidden(visibleDevices) : ""}`);
  }
}
