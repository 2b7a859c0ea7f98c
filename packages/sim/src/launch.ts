// A launch of the simulated driver: the shape that a CUlaunchConfig asks for, held against what
// kernel and device take, and the run itself.
import { launchAttribute, launchConfigLayout } from "@spillway/gpu/launch-config.js";
import type { HostMemory, HostPointer } from "./host-memory.js";
import { portableCluster, type SimulatedKernel } from "./module.js";
import { residentBlocks } from "./occupancy.js";
import { code, Refusal } from "./refusal.js";
import type { Unfinished } from "./stream.js";

type Triple = readonly [number, number, number];

export interface Launch {
  readonly grid: Triple;
  readonly block: Triple;
  readonly shared: number;
  readonly stream: bigint;
  readonly cooperative: boolean;
  readonly cluster: Triple | undefined;
}

/**
 * Launch attributes that change nothing here (CUlaunchAttributeID, cuda.h): access policy,
 * synchronisation, scheduling, programmatic serialisation (launches here never overlap), priority,
 * memory domains, preferred cluster and shared carveout.
 */
const hints: ReadonlySet<number> = new Set([0, 1, 3, 5, 6, 8, 9, 10, 11, 14, 16]);

const configBytes = 56;

/** @throws Refusal if it has an attribute that is not simulated. */
export function readLaunchConfig(host: HostMemory, config: HostPointer): Launch {
  const words = host.view(config, configBytes);
  const triple = (view: DataView, at: number): Triple => [
    view.getUint32(at, true),
    view.getUint32(at + 4, true),
    view.getUint32(at + 8, true),
  ];
  const { attributesAt, attributeBytes, countAt, streamAt, valueAt } = launchConfigLayout;
  const count = words.getUint32(countAt, true);
  let cooperative = false;
  let cluster: Triple | undefined;
  if (count > 0) {
    const attributes = host.view(words.getBigUint64(attributesAt, true), count * attributeBytes);
    for (let at = 0; at < count * attributeBytes; at += attributeBytes) {
      const id = attributes.getUint32(at, true);
      if (id === launchAttribute.cooperative) cooperative = attributes.getUint32(at + valueAt, true) !== 0;
      else if (id === launchAttribute.cluster) cluster = triple(attributes, at + valueAt);
      else if (!hints.has(id)) throw new Refusal(code.notSupported, `launch attribute ${id} is not simulated`);
    }
  }
  return {
    grid: triple(words, 0),
    block: triple(words, 12),
    shared: words.getUint32(24, true),
    stream: words.getBigUint64(streamAt, true),
    cooperative,
    cluster,
  };
}

const volume = ([x, y, z]: Triple) => x * y * z;

/** @throws Refusal if the kernel or the device does not take the shape. */
export function checkLaunch(kernel: SimulatedKernel, launch: Launch): void {
  const { grid, block, shared, cooperative } = launch;
  const { simulation } = kernel.module.context.machine;
  const refuse = (status: number, reason: string): never => {
    throw new Refusal(status, `kernel ${kernel.info.name}: ${reason}`);
  };
  const limits = { grid: [2 ** 31 - 1, 65535, 65535], block: [1024, 1024, 64] };
  for (const [name, size] of Object.entries({ grid, block }))
    for (const [axis, length] of size.entries()) {
      const most = limits[name as "grid" | "block"][axis]!;
      if (length < 1 || length > most) refuse(code.invalidValue, `${name}.${"xyz"[axis]} is ${length}; it takes 1 to ${most}`);
    }
  const threads = volume(block);
  if (threads > 1024) refuse(code.invalidValue, `a block of ${threads} threads; it takes at most 1024`);
  if (threads > kernel.maxThreads)
    refuse(code.launchOutOfResources, `a block of ${threads} threads; it is built for at most ${kernel.maxThreads}`);
  if (shared > kernel.maxDynamicShared)
    refuse(code.invalidValue, `${shared} bytes of dynamic shared memory; it was allowed ${kernel.maxDynamicShared}`);
  const resident = residentBlocks(simulation, threads, kernel.info.staticSharedBytes + shared);
  if (cooperative && volume(grid) > resident)
    refuse(code.cooperativeLaunchTooLarge, `a cooperative grid of ${volume(grid)} blocks; ${resident} run at once`);
  const cluster = clusterOf(kernel, launch);
  if (cluster === undefined) return;
  if (simulation.capability.major < 9) refuse(code.notSupported, "clusters need compute capability 9.0");
  const size = volume(cluster);
  const most = kernel.nonPortableCluster ? 16 : portableCluster;
  if (size < 1 || size > most) refuse(code.invalidClusterSize, `a cluster of ${size} blocks; it takes at most ${most}`);
  if (grid.some((length, axis) => length % cluster[axis]! !== 0))
    refuse(code.invalidValue, `a grid of ${grid.join(" x ")} blocks is no multiple of its clusters of ${cluster.join(" x ")}`);
  if (resident < size) refuse(code.invalidClusterSize, `a cluster of ${size} blocks; ${resident} blocks of this kernel run at once`);
}

/** Blocks of a cluster: what the launch asks for, else what the kernel was built for. */
export function clusterOf(kernel: SimulatedKernel, launch: Launch): Triple | undefined {
  const [x = 1, y = 1, z = 1] = kernel.requiredCluster ?? [];
  return launch.cluster ?? (kernel.requiredCluster ? [x, y, z] : undefined);
}

/** The arguments that `kernelParams` points to. @throws Refusal if it is no table of addresses. */
export function readArguments(host: HostMemory, kernel: SimulatedKernel, table: HostPointer): Uint8Array {
  const { parameters } = kernel.info;
  const packed = new Uint8Array(kernel.parameterBytes);
  if (parameters.length === 0) return packed;
  if (table === 0n)
    throw new Refusal(code.invalidValue, `kernel ${kernel.info.name} takes ${parameters.length} arguments and was given none`);
  const addresses = host.view(table, 8 * parameters.length);
  for (const [index, { offset, bytes }] of parameters.entries())
    packed.set(host.bytes(addresses.getBigUint64(8 * index, true), bytes), offset);
  return packed;
}

/** Begins a launch, which advances with its stream. Throws what the interpreter throws. */
export function beginLaunch(kernel: SimulatedKernel, launch: Launch, args: Uint8Array): Unfinished {
  const { context } = kernel.module;
  const { machine } = context;
  const { simulation } = machine;
  const cluster = clusterOf(kernel, launch);
  const running = kernel.module.program.begin({
    entry: kernel.info.name,
    grid: launch.grid,
    block: launch.block,
    dynamicSharedBytes: launch.shared,
    cooperative: launch.cooperative,
    residentBlocks: residentBlocks(simulation, volume(launch.block), kernel.info.staticSharedBytes + launch.shared),
    args,
    ...(cluster && { cluster }),
    print: simulation.print,
    ...(simulation.devices > 1 && { reaches: context.reaches }),
  });
  let known = machine.changes;
  return {
    advance: () => {
      if (machine.changes !== known) running.noteChange();
      const before = running.progress;
      const over = running.advance();
      if (running.progress !== before) machine.changes++;
      known = machine.changes;
      if (!over) machine.othersGoOn(context);
      else simulation.onLaunch({ kernel: kernel.info.name, counters: running.result.counters });
      return over;
    },
    abandon: () => running.abandon(),
  };
}
