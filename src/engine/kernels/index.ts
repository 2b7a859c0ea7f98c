/**
 * The kernels that compute a reservoir's step, power iteration, spike encoding and pattern
 * detection, for own programs: on a device, and on the host with the same bits.
 */
export { type DeviceArrays, type NeuromorphicKernelOptions, NeuromorphicKernels } from "./device.js";
export { type HostArrays, HostNeuromorphicKernels } from "./host.js";
export {
  type ArrayKinds,
  type Detections,
  type DetectionWork,
  type InputWork,
  type LeakyWork,
  NeuromorphicOperations,
  type NoiseWork,
  type PowerStep,
  type PowerWork,
  type ProductWork,
  type SparseArrays,
} from "./operations.js";
