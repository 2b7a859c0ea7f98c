// Opening a device: the driver that is meant, its initialisation, and the primary context.
import { deviceName, deviceNumbers } from "@spillway/core/device-name.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import {
  callback,
  choice,
  either,
  flag,
  type InputOf,
  option,
  optional,
  type Resolved,
  resolve,
  text,
  whole,
} from "@spillway/core/options.js";
import { nameTaken } from "@spillway/core/registry.js";
import { Context } from "./context.js";
import { checkedCall, describeStatus } from "./context-core.js";
import { type DeviceInfo, deviceCount, deviceInfo } from "./device-info.js";
import type { Driver } from "./driver.js";
import { CudaError } from "./errors.js";
import type { Leak } from "./ledger.js";
import { loadDriver } from "./native-driver.js";
import { loadNvrtc, type Nvrtc } from "./nvrtc.js";
import { anObject } from "./options.js";
import { losesContext, status } from "./status.js";

const registered = new Map<string, () => Driver>();

/**
 * Makes `openDevice({ device: name })` use a driver of one's own, such as a simulated device. The
 * same function again changes nothing. @throws ArgumentError for a name that another driver has
 */
export function registerDriver(name: string, driver: () => Driver): void {
  if ((registered.get(name) ?? driver) !== driver) throw nameTaken("registerDriver", "driver", name);
  registered.set(name, driver);
}

/** The sentence about something that was collected without `dispose`. */
export function leakSentence({ kind, label, bytes, site }: Leak): string {
  return `${kind} ${JSON.stringify(label)}${bytes > 0 ? ` of ${bytes} bytes` : ""}, made at ${site}, was never disposed`;
}

function warnOfLeak(leak: Leak): void {
  process.emitWarning(leakSentence(leak), "SpillwayLeakWarning");
}

export const openTable = {
  /**
   * Its number among the devices that CUDA shows, or a name: "cuda:1", or that of a registered
   * driver, "sim" or "sim:1"; default 0.
   */
  device: option(
    either("a whole number of at least 0, or the name of a registered driver", whole(), text()),
    0,
    "Its number among the devices that CUDA shows, or a name: cuda:1, or that of a registered driver, sim or sim:1.",
  ),
  /** The driver; default the machine's, or the one registered under the name of `device`. */
  driver: optional(anObject<Driver>("a driver"), "Left out, the machine's, or the one registered under the name of device."),
  /** The path of the CUDA driver's library, which is searched for otherwise. */
  library: optional(text(), "The path of the CUDA driver's library, which is searched for otherwise."),
  /** The compiler of `Context.compile`; default NVRTC as it is found when first needed. */
  nvrtc: optional(anObject<Nvrtc>("a compiler, such as loadNvrtc gives"), "Left out, NVRTC as it is found when first needed."),
  /**
   * What the package's own kernels are loaded from: "ptx" (default), as they were compiled for the
   * package, or "nvrtc", which compiles their shipped source for this device when it first needs
   * them and takes the compiler at once. The bits are the same.
   */
  kernelSource: option(
    choice("ptx", "nvrtc"),
    "ptx",
    "What the package's own kernels are loaded from: as they were compiled for the package, or compiled for this device. The bits are the same.",
  ),
  /**
   * Waits after each launch and notes its line: an error then names the launch that caused it;
   * default false. It is slow.
   */
  debug: option(flag, false, "Waits after each launch and notes its line, so that an error names the launch that caused it; slow."),
  /**
   * Called with what was collected without `dispose`; default a warning of the process,
   * `SpillwayLeakWarning`.
   */
  onLeak: optional(callback<(leak: Leak) => void>(), "Called with what was collected without dispose; left out, a warning."),
};

/** How a device is opened. */
export interface OpenOptions extends InputOf<typeof openTable> {}

const { driver: driverOption, library: libraryOption } = openTable;
const listTable = { driver: driverOption, library: libraryOption };

/** The driver of a family of devices: the machine's for "cuda", else a registered one. */
function driverFor(device: string | number, family: string | undefined, { driver, library }: Resolved<typeof listTable>): Driver {
  if (driver) return driver;
  const make = family === undefined ? undefined : registered.get(family);
  if (!make) {
    if (family === "cuda") return loadDriver(library);
    const names = [...registered.keys()].map((name) => JSON.stringify(name)).join(", ");
    const takes = `a number${names && `, or ${names}`}`;
    const advice = device === "sim" ? '; import "spillway/gpu" to have the simulated one' : "";
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
  const { family, devices = [0] } = (typeof options.device === "string" ? deviceName(options.device) : undefined) ?? {
    family: typeof options.device === "number" ? "cuda" : undefined,
    devices: typeof options.device === "number" ? [options.device] : [0],
  };
  const driver = driverFor(options.device, family, options);
  initialise(driver);
  if (devices === "all" || devices.length > 1)
    throw ArgumentError.because(`device is ${JSON.stringify(options.device)}, which names several; openDevices opens them`, {
      field: "device",
      value: options.device,
      expected: "one device",
    });
  const ordinal = devices[0]!;
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

/**
 * Opens several devices of one process, in the order named, each with streams and memory of its
 * own: all that there are, or those of a name such as "cuda:0-3", "0,2" or "sim:all". If one does
 * not open, those before it are given back.
 *
 * @example
 * const [a, b] = openDevices("cuda:0-1");
 * a.enableAccess(b); // kernels of a may now read and write memory of b
 * @throws as `openDevice`; ArgumentError if the text names no devices
 */
export function openDevices(devices: string | readonly number[] = "all", options: Omit<OpenOptions, "device"> = {}): readonly Context[] {
  const { family, numbers } = severalOf(devices);
  const driver = driverFor(typeof devices === "string" ? devices : family, family, resolve(openTable, options, "openDevices"));
  initialise(driver);
  const opened: Context[] = [];
  try {
    for (const device of numbers === "all" ? Array.from({ length: deviceCount(driver) }, (_, k) => k) : numbers)
      opened.push(openDevice({ ...options, driver, device }));
    return opened;
  } catch (error) {
    for (const context of opened.reverse())
      try {
        context.dispose();
      } catch {
        // The error under way says why the next did not open.
      }
    throw error;
  }
}

function severalOf(devices: string | readonly number[]): { readonly family: string; readonly numbers: readonly number[] | "all" } {
  if (typeof devices !== "string") {
    const numbers = deviceNumbers(Array.isArray(devices) ? devices.join(",") : "");
    if (numbers !== undefined) return { family: "cuda", numbers };
  } else {
    const alone = deviceNumbers(devices);
    if (alone !== undefined) return { family: "cuda", numbers: alone };
    const name = deviceName(devices);
    if (name && /^[a-z]/i.test(name.family)) return { family: name.family, numbers: name.devices ?? "all" };
  }
  throw new ArgumentError("devices", devices, '"all", numbers such as "0-3" or [0, 2], or a name such as "cuda:0-3" or "sim:all"');
}
