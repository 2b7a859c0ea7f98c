// Modules, kernels, launches and occupancy of the simulated driver.
import { getOrMake } from "@spillway/core/maps.js";
import type { KernelWork } from "./graph.js";
import type { HostPointer } from "./host-memory.js";
import { beginLaunch, checkLaunch, clusterOf, type Launch, readArguments, readLaunchConfig } from "./launch.js";
import { SimulatedKernel, SimulatedModule } from "./module.js";
import { blocksPerMultiprocessor, residentBlocks } from "./occupancy.js";
import { code, Refusal } from "./refusal.js";
import type { Calls, Simulator } from "./simulator.js";

// CUjit_option, cuda.h: those of the log of errors.
const jitOption = { errorLog: 5, errorLogBytes: 6 } as const;

export function moduleCalls(simulator: Simulator) {
  const { host } = simulator;

  const kernelOf = (handle: bigint) => simulator.find(handle, SimulatedKernel);

  /** Kernels by name: a module gives one handle for each, and they go with it. */
  const kernels = new WeakMap<SimulatedModule, Map<string, bigint>>();

  const writeLog = (count: number, options: HostPointer, values: HostPointer, text: string): void => {
    if (count === 0) return;
    const kinds = host.view(options, 4 * count);
    const given = host.view(values, 8 * count);
    let log: bigint | undefined;
    let capacity = 0;
    for (let k = 0; k < count; k++) {
      const kind = kinds.getInt32(4 * k, true);
      if (kind === jitOption.errorLog) log = given.getBigUint64(8 * k, true);
      if (kind === jitOption.errorLogBytes) capacity = given.getUint32(8 * k, true);
    }
    if (log !== undefined && capacity > 0) host.giveText(log, capacity, text);
  };

  /** The image, which is text up to its NUL or, by its first bytes, machine code. */
  const imageAt = (pointer: HostPointer): Uint8Array => {
    const bytes = host.rest(pointer);
    const end = bytes.indexOf(0);
    const isElf = bytes[0] === 0x7f;
    return isElf || bytes[0] === 0x50 || end < 0 ? bytes : bytes.subarray(0, end);
  };

  return {
    cuModuleLoadDataEx: (out, image, count, options, values) => {
      try {
        host.giveLong(out, simulator.enter(new SimulatedModule(simulator.here, imageAt(image))));
      } catch (error) {
        if (error instanceof Refusal && error.reason) writeLog(count, options, values, error.reason.message);
        throw error;
      }
    },
    cuModuleUnload: (handle) => {
      const module = simulator.find(handle, SimulatedModule);
      module.context.drain();
      simulator.leave(handle, SimulatedModule);
      for (const kernel of kernels.get(module)?.values() ?? []) simulator.leave(kernel, SimulatedKernel);
      module.unload();
    },
    cuModuleGetFunction: (out, handle, name) => {
      const module = simulator.find(handle, SimulatedModule);
      const known = getOrMake(kernels, module, () => new Map<string, bigint>());
      host.giveLong(
        out,
        getOrMake(known, name, () => simulator.enter(module.kernel(name))),
      );
    },
    cuModuleGetGlobal: (address, bytes, handle, name) => {
      const { program } = simulator.find(handle, SimulatedModule);
      const space = program.module.variables.get(name)?.space;
      if (space !== "global" && space !== "const") throw new Refusal(code.notFound);
      const found = program.global(name);
      if (address !== 0n) host.giveLong(address, found.address);
      if (bytes !== 0n) host.giveLong(bytes, found.bytes);
    },
    cuFuncGetAttribute: (out, attribute, handle) => host.giveWord(out, kernelOf(handle).attribute(attribute)),
    cuFuncSetAttribute: (handle, attribute, value) => kernelOf(handle).set(attribute, value),
    cuFuncGetParamInfo: (handle, index, offset, size) => {
      const parameter = kernelOf(handle).info.parameters[index];
      if (parameter === undefined) throw new Refusal(code.invalidValue);
      host.giveLong(offset, parameter.offset);
      if (size !== 0n) host.giveLong(size, parameter.bytes);
    },
  } satisfies Partial<Calls>;
}

export function launchCalls(simulator: Simulator) {
  const { host, simulation } = simulator;

  const kernelOf = (handle: bigint) => simulator.find(handle, SimulatedKernel);

  const launch = (kernel: SimulatedKernel, shape: Launch, parameters: HostPointer): void => {
    const stream = simulator.stream(shape.stream);
    if (kernel.module.context !== stream.context)
      throw new Refusal(code.invalidHandle, `kernel ${kernel.info.name} and its stream belong to different contexts`);
    checkLaunch(kernel, shape);
    const args = readArguments(host, kernel, parameters);
    const work: KernelWork = { kind: "kernel", kernel, run: () => beginLaunch(kernel, shape, args) };
    simulator.giveWork(stream, work);
  };

  const plain = (grid: Launch["grid"], block: Launch["block"], shared: number, stream: bigint, cooperative: boolean): Launch => ({
    ...{ grid, block, shared, stream, cooperative },
    cluster: undefined,
  });

  return {
    cuLaunchKernelEx: (config, handle, parameters, extra) => {
      if (extra !== 0n) throw new Refusal(code.notSupported, "arguments in `extra` are not simulated; give kernelParams");
      launch(kernelOf(handle), readLaunchConfig(host, config), parameters);
    },
    cuLaunchKernel: (handle, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra) => {
      if (extra !== 0n) throw new Refusal(code.notSupported, "arguments in `extra` are not simulated; give kernelParams");
      launch(kernelOf(handle), plain([gx, gy, gz], [bx, by, bz], shared, stream, false), parameters);
    },
    cuLaunchCooperativeKernel: (handle, gx, gy, gz, bx, by, bz, shared, stream, parameters) =>
      launch(kernelOf(handle), plain([gx, gy, gz], [bx, by, bz], shared, stream, true), parameters),
    cuOccupancyMaxActiveBlocksPerMultiprocessor: (out, handle, threads, shared) => {
      const { info, maxDynamicShared } = kernelOf(handle);
      // As on a GPU: none with more dynamic shared memory than the kernel was allowed.
      const blocks = shared > maxDynamicShared ? 0 : blocksPerMultiprocessor(simulation, threads, info.staticSharedBytes + shared);
      host.giveWord(out, blocks);
    },
    cuOccupancyMaxActiveClusters: (out, handle, config) => {
      const kernel = kernelOf(handle);
      const shape = readLaunchConfig(host, config);
      const [x, y, z] = clusterOf(kernel, shape) ?? [1, 1, 1];
      const threads = shape.block[0] * shape.block[1] * shape.block[2];
      host.giveWord(out, Math.floor(residentBlocks(simulation, threads, kernel.info.staticSharedBytes + shape.shared) / (x * y * z)));
    },
  } satisfies Partial<Calls>;
}
