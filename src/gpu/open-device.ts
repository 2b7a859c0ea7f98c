// Opening a device: the driver that is meant, its initialisation, and the primary context.
import { ArgumentError, SpillwayError } from "../core/errors.js";
import { callback, choice, either, flag, option, optional, type Resolved, resolve, type TableOf, text, whole } from "../core/options.js";
import { Context, type KernelSource } from "./context.js";
import { checkedCall, describeStatus } from "./context-core.js";
import { type DeviceInfo, deviceCount, deviceInfo } from "./device-info.js";
import type { Driver } from "./driver.js";
import { CudaError } from "./errors.js";
import type { Leak } from "./ledger.js";
import { loadDriver } from "./native-driver.js";
import { loadNvrtc, type Nvrtc } from "./nvrtc.js";
import { anObject } from "./options.js";
import { losesContext, status } from "./status.js";

/** How a device is opened. */
export interface OpenOptions {
  /**
   * Its number among the devices that CUDA shows, or the name of a registered driver such as "sim";
   * default 0.
   */
  readonly device?: number | string;
  /** The driver; default the machine's, or the one registered under the name of `device`. */
  readonly driver?: Driver;
  /** The path of the CUDA driver's library, which is searched for otherwise. */
  readonly library?: string;
  /** The compiler of `Context.compile`; default NVRTC as it is found when first needed. */
  readonly nvrtc?: Nvrtc;
  /**
   * What the package's own kernels are loaded from: "ptx" (default), as they were compiled for the
   * package, or "nvrtc", which compiles their shipped source for this device when it first needs
   * them and takes the compiler at once. The bits are the same.
   */
  readonly kernelSource?: KernelSource;
  /**
   * Waits after each launch and notes its line: an error then names the launch that caused it;
   * default false. It is slow.
   */
  readonly debug?: boolean;
  /**
   * Called with what was collected without `dispose`; default a warning of the process,
   * `SpillwayLeakWarning`.
   */
  readonly onLeak?: (leak: Leak) => void;
}

const registered = new Map<string, () => Driver>();

/** Makes `openDevice({ device: name })` use a driver of one's own, such as a simulated device. */
export function registerDriver(name: string, driver: () => Driver): void {
  registered.set(name, driver);
}

/** The sentence about something that was collected without `dispose`. */
export function leakSentence({ kind, label, bytes, site }: Leak): string {
  return `${kind} ${JSON.stringify(label)}${bytes > 0 ? ` of ${bytes} bytes` : ""}, made at ${site}, was never disposed`;
}

function warnOfLeak(leak: Leak): void {
  process.emitWarning(leakSentence(leak), "SpillwayLeakWarning");
}

/** The options of `openDevice`. */
export const openTable = {
  device: option(
    either("a whole number of at least 0, or the name of a registered driver", whole(), text()),
    0,
    "Its number among the devices that CUDA shows, or the name of a registered driver such as sim.",
  ),
  driver: optional(anObject<Driver>("a driver"), "Left out, the machine's, or the one registered under the name of device."),
  library: optional(text(), "The path of the CUDA driver's library, which is searched for otherwise."),
  nvrtc: optional(anObject<Nvrtc>("a compiler, such as loadNvrtc gives"), "Left out, NVRTC as it is found when first needed."),
  kernelSource: option(
    choice("ptx", "nvrtc"),
    "ptx",
    "What the package's own kernels are loaded from: as they were compiled for the package, or compiled for this device. The bits are the same.",
  ),
  debug: option(flag, false, "Waits after each launch and notes its line, so that an error names the launch that caused it; slow."),
  onLeak: optional(callback<(leak: Leak) => void>(), "Is told of what was collected without dispose; left out, a warning."),
} satisfies TableOf<OpenOptions>;

const { driver: driverOption, library: libraryOption } = openTable;
const listTable = { driver: driverOption, library: libraryOption };

function driverFor({ driver, device, library }: Resolved<typeof openTable>): Driver {
  if (driver) return driver;
  if (typeof device !== "string") return loadDriver(library);
  const make = registered.get(device);
  if (!make) {
    const names = [...registered.keys()].map((name) => JSON.stringify(name)).join(", ");
    const takes = `a number${names && `, or ${names}`}`;
    const advice = device === "sim" ? '; import "spillway/sim" to have the simulated one' : "";
    throw ArgumentError.because(`there is no device ${JSON.stringify(device)}; a device is ${takes}${advice}`, {
      field: "device",
      value: device,
      expected: takes,
    });
  }
  return make();
}

/**
 * Initialises a driver; a second time costs nothing. @throws CudaError, such as
 * CUDA_ERROR_NO_DEVICE.
 */
export function initialise(driver: Driver): void {
  checkedCall(driver, "cuInit", 0);
}

/** The devices that CUDA shows, without opening any. @throws LibraryError, CudaError. */
export function listDevices(options: Pick<OpenOptions, "driver" | "library"> = {}): readonly DeviceInfo[] {
  const { library, driver = loadDriver(library) } = resolve(listTable, options, "listDevices");
  initialise(driver);
  return Array.from({ length: deviceCount(driver) }, (_, ordinal) => deviceInfo(driver, ordinal));
}

/**
 * Opens a device by its primary context, which is shared by all threads of the process and by other
 * libraries.
 *
 * @throws LibraryError naming every path tried if there is no driver, or no NVRTC that
 * `kernelSource` asks for; CudaError if CUDA refuses; ArgumentError for no such device or
 * option.
 */
export function openDevice(device: number | string | OpenOptions = 0): Context {
  const options = resolve(openTable, typeof device === "object" ? device : { device }, "openDevice");
  const { kernelSource, debug, onLeak = warnOfLeak } = options;
  const nvrtc = kernelSource === "nvrtc" ? (options.nvrtc ?? loadNvrtc()) : options.nvrtc;
  const driver = driverFor(options);
  initialise(driver);
  const ordinal = typeof options.device === "number" ? options.device : 0;
  const count = deviceCount(driver);
  if (ordinal >= count)
    throw new SpillwayError(
      "unavailable",
      `there is no device ${ordinal}: CUDA shows ${count} device${count === 1 ? "" : "s"}, numbered from 0`,
      { field: "device", value: ordinal },
    );
  const info = deviceInfo(driver, ordinal);
  const handle = new BigUint64Array(1);
  const code = driver.resolve("cuDevicePrimaryCtxRetain")(handle, ordinal);
  if (code !== status.success) {
    const failure = { statusCode: code, ...describeStatus(driver, code), call: "cuDevicePrimaryCtxRetain", launches: [] };
    throw new CudaError(failure, losesContext(code) ? "an earlier fault left this process without CUDA: go on in a new process" : "");
  }
  let compiler = nvrtc;
  return new Context(driver, info, handle[0]!, {
    debug,
    onLeak,
    kernelSource,
    nvrtc: () => {
      compiler ??= loadNvrtc();
      return compiler;
    },
  });
}
