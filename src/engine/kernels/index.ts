/**
 * The kernels that compute a reservoir's step, power iteration, spike encoding and pattern
 * detection, for own programs: on a device, and on the host with the same bits.
 */
export { NeuromorphicKernels } from "./device.js";
export { HostNeuromorphicKernels } from "./host.js";
export { NeuromorphicOperations } from "./operations.js";
