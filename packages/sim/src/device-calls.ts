// Initialisation, devices and contexts of the simulated driver.
import { statusName } from "@spillway/gpu";
import { code, Refusal, sentenceOf } from "./refusal.js";
import type { Calls, Simulator } from "./simulator.js";

/** CUdevice_attribute (cuda.h) and the answers of a simulated device; others are 0. */
function attributes({ simulation }: Simulator): Readonly<Record<number, number>> {
  const { capability, multiprocessors } = simulation;
  return {
    // Threads, block and grid.
    ...{ 1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2147483647, 6: 65535, 7: 65535, 10: 32 },
    // Shared, constant memory and registers of a block; clock in kilohertz: a step of the
    // simulation is a nanosecond.
    ...{ 8: 49152, 9: 65536, 12: 65536, 13: 1_000_000 },
    16: multiprocessors,
    // Concurrent kernels, memory clock and bus, L2, copy engines, unified addressing.
    ...{ 31: 1, 36: 1_000_000, 37: 4096, 38: 52428800, 40: 1, 41: 1 },
    39: capability.threads,
    75: capability.major,
    76: capability.minor,
    ...{ 78: 1, 81: capability.sharedBytes, 82: 65536 },
    // Cooperative launches, shared memory a block may ask for, host registration, blocks of a
    // multiprocessor, pools, clusters.
    ...{ 95: 1, 97: capability.sharedBytesPerBlock, 99: 1, 106: capability.blocks, 115: 1, 120: capability.major >= 9 ? 1 : 0 },
  };
}

export function deviceCalls(simulator: Simulator) {
  const { host, simulation } = simulator;
  const known = attributes(simulator);
  return {
    cuGetErrorString: (status, out) => host.giveLong(out, host.addressOfText(sentenceOf(status))),
    cuGetErrorName: (status, out) => host.giveLong(out, host.addressOfText(statusName(status))),
    cuInit: () => {
      simulator.initialised = true;
    },
    cuDriverGetVersion: (out) => host.giveWord(out, simulation.driverVersion),

    cuDeviceGetCount: (out) => host.giveWord(out, simulator.contexts.length),
    cuDeviceGet: (out, ordinal) => host.giveWord(out, simulator.device(ordinal).ordinal),
    cuDeviceGetName: (out, capacity, device) => {
      const { ordinal } = simulator.device(device);
      host.giveText(out, capacity, `Spillway simulated device${ordinal > 0 ? ` ${ordinal}` : ""}`);
    },
    cuDeviceGetUuid: (out, device) => {
      const bytes = host.bytes(out, 16);
      bytes.set(new TextEncoder().encode("spillway-sim").subarray(0, 15));
      bytes.fill(0, 12, 15);
      bytes[15] = simulator.device(device).ordinal;
    },
    cuDeviceGetPCIBusId: (out, capacity, device) =>
      host.giveText(out, capacity, `0000:${simulator.device(device).ordinal.toString(16).padStart(2, "0")}:00.0`),
    cuDeviceTotalMem: (out, device) => host.giveLong(out, simulator.device(device).capacity),
    cuDeviceGetAttribute: (out, attribute, device) => {
      simulator.device(device);
      host.giveWord(out, known[attribute] ?? 0);
    },
    cuDeviceCanAccessPeer: (out, device, peer) => host.giveWord(out, simulator.device(device) === simulator.device(peer) ? 0 : 1),

    cuDevicePrimaryCtxRetain: (out, device) => {
      const context = simulator.device(device);
      context.retained++;
      host.giveLong(out, context.handle);
    },
    cuDevicePrimaryCtxRelease: (device) => {
      const context = simulator.device(device);
      if (context.retained === 0)
        throw new Refusal(code.invalidContext, `the context of device ${device} was released more often than retained`);
      if (--context.retained === 0) simulator.close(context);
    },
    cuCtxSetCurrent: (handle) => {
      simulator.current = handle === 0n ? undefined : simulator.context(handle);
    },
    cuCtxSynchronize: () => {
      simulator.here.synchronise();
    },
    cuCtxGetStreamPriorityRange: (least, greatest) => {
      host.giveWord(least, 0);
      host.giveWord(greatest, -5);
    },
    cuCtxEnablePeerAccess: (handle) => {
      const peer = simulator.context(handle);
      const { here } = simulator;
      if (peer === here) throw new Refusal(code.invalidContext, "a context needs no access to itself");
      if (here.peers.has(peer)) throw new Refusal(code.peerAccessAlreadyEnabled);
      here.peers.add(peer);
    },
    cuCtxDisablePeerAccess: (handle) => {
      if (!simulator.here.peers.delete(simulator.context(handle))) throw new Refusal(code.peerAccessNotEnabled);
    },
  } satisfies Partial<Calls>;
}
