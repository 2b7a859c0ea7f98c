// What a device says of itself. Nothing here opens a context.
import { textUpToNul } from "./c-functions.js";
import { checkedCall, checkedWord } from "./context-core.js";
import type { Driver } from "./driver.js";

/**
 * The attributes that have a name here; CUdevice_attribute of cuda.h has the numbers of the others.
 */
export const deviceAttributes = {
  ...{ maxThreadsPerBlock: 1, maxBlockX: 2, maxBlockY: 3, maxBlockZ: 4, maxGridX: 5, maxGridY: 6, maxGridZ: 7 },
  ...{ sharedBytesPerBlock: 8, constantBytes: 9, warpSize: 10, registersPerBlock: 12, clockKilohertz: 13, multiprocessors: 16 },
  ...{ kernelTimeout: 17, integrated: 18, computeMode: 20, concurrentKernels: 31, errorCorrection: 32 },
  ...{ memoryClockKilohertz: 36, memoryBusBits: 37, l2Bytes: 38, threadsPerMultiprocessor: 39, copyEngines: 40 },
  ...{ unifiedAddressing: 41, capabilityMajor: 75, capabilityMinor: 76, streamPriorities: 78 },
  ...{ sharedBytesPerMultiprocessor: 81, registersPerMultiprocessor: 82, cooperativeLaunch: 95, sharedBytesPerBlockOptIn: 97 },
  ...{ hostRegister: 99, blocksPerMultiprocessor: 106, memoryPools: 115, clusterLaunch: 120 },
} as const;

/** The name of a device attribute. */
export type DeviceAttribute = keyof typeof deviceAttributes;

/** A device. Sizes in bytes. */
export interface DeviceInfo {
  readonly ordinal: number;
  readonly name: string;
  /** As nvidia-smi writes it, GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx. */
  readonly uuid: string;
  readonly pciBusId: string;
  /** Compute capability: [9, 0] is sm_90. */
  readonly computeCapability: readonly [major: number, minor: number];
  readonly totalMemory: number;
  readonly attributes: Readonly<Record<DeviceAttribute, number>>;
}

/** One attribute, by name or by its number in cuda.h. @throws CudaError. */
export function deviceAttribute(driver: Driver, device: number, attribute: DeviceAttribute | number): number {
  return checkedWord(driver, "cuDeviceGetAttribute", typeof attribute === "number" ? attribute : deviceAttributes[attribute], device);
}

/** Devices that the driver shows; `cuInit` must have been called. @throws CudaError. */
export function deviceCount(driver: Driver): number {
  return checkedWord(driver, "cuDeviceGetCount");
}

/**
 * All of a device; `cuInit` must have been called. @throws CudaError, such as
 * CUDA_ERROR_INVALID_DEVICE if there is none.
 */
export function deviceInfo(driver: Driver, ordinal: number): DeviceInfo {
  const device = checkedWord(driver, "cuDeviceGet", ordinal);
  const name = new Uint8Array(256);
  checkedCall(driver, "cuDeviceGetName", name, name.length, device);
  const uuid = new Uint8Array(16);
  checkedCall(driver, "cuDeviceGetUuid", uuid, device);
  const bus = new Uint8Array(64);
  checkedCall(driver, "cuDeviceGetPCIBusId", bus, bus.length, device);
  const memory = new BigUint64Array(1);
  checkedCall(driver, "cuDeviceTotalMem", memory, device);
  const attributes = Object.fromEntries(
    Object.entries(deviceAttributes).map(([key, id]) => [key, deviceAttribute(driver, device, id)]),
  ) as Record<DeviceAttribute, number>;
  const hex = Buffer.from(uuid).toString("hex");
  return {
    ordinal,
    name: textUpToNul(name),
    uuid: `GPU-${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")}`,
    pciBusId: textUpToNul(bus),
    computeCapability: [attributes.capabilityMajor, attributes.capabilityMinor],
    totalMemory: Number(memory[0]),
    attributes,
  };
}
