// Kernels of one's own: compiled once under a name, run by that name. What the package ships is not
// here but in KernelExecutor.

import { ArgumentError } from "../../core/errors.js";
import { suggestion } from "../../core/near-names.js";
import type { CompileOptions } from "../compile-options.js";
import type { Dimensions } from "../launch-config.js";
import type { Module } from "../module.js";
import { type DeviceSource, GpuDevice } from "./gpu-device.js";
import { type KernelArgument, KernelLauncher, type LaunchOptions } from "./kernel-launcher.js";

interface Registered {
  readonly source: string;
  readonly options: string;
  readonly module: Module;
}

/** Whether a source is PTX, which begins with its version, and not CUDA C++. */
function isPtx(source: string): boolean {
  return /^(?:\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*\.version\s/.test(source);
}

/** A device, and kernels by name. */
export class GpuCompute implements Disposable {
  readonly device: GpuDevice;
  readonly launcher: KernelLauncher;
  readonly #ownsDevice: boolean;
  readonly #kernels = new Map<string, Registered>();

  /**
   * Opens a device, or stands on one that is open, which it then leaves open. @throws as
   * `openDevice`.
   */
  constructor(device: GpuDevice | DeviceSource = 0) {
    this.#ownsDevice = !(device instanceof GpuDevice);
    this.device = device instanceof GpuDevice ? device : new GpuDevice(device);
    this.launcher = new KernelLauncher(this.device);
  }

  /** The names of the kernels that were compiled. */
  get kernelNames(): readonly string[] {
    return [...this.#kernels.keys()];
  }

  /**
   * Makes a kernel ready by its name: PTX is loaded, CUDA C++ compiled by NVRTC and loaded. With
   * the same source and options a second time it does nothing; another source takes the place of
   * the first. A C++ kernel is named as `extern "C"`, or by a name expression such as
   * "scale<float>".
   *
   * @throws CompileError with the compiler's log; LibraryError if there is no NVRTC;
   * ModuleLoadError; ArgumentError if the source has no such kernel.
   */
  compileKernel(name: string, source: string, options: CompileOptions = {}): void {
    const key = JSON.stringify(options);
    const known = this.#kernels.get(name);
    if (known?.source === source && known.options === key) return;
    const module = this.#sharing(name, source, key) ?? this.#load(name, source, options);
    if (!module.parametersOf(name)) {
      if (![...this.#kernels.values()].some((each) => each.module === module)) module.dispose();
      throw ArgumentError.because(
        `the source of ${JSON.stringify(name)} has no kernel of this name; it has ${module.kernelNames?.join(", ") ?? "others"}`,
        { field: "name", value: name, expected: module.kernelNames?.join(", ") },
      );
    }
    this.#kernels.set(name, { source, options: key, module });
    if (known && ![...this.#kernels.values()].some((each) => each.module === known.module)) {
      this.device.stream.sync();
      known.module.dispose();
    }
  }

  /** The module of the same source, if another of its kernels was compiled before. */
  #sharing(name: string, source: string, options: string): Module | undefined {
    const others = [...this.#kernels.values()].filter((each) => each.source === source && each.options === options);
    return others.find(({ module }) => module.parametersOf(name))?.module;
  }

  #load(name: string, source: string, options: CompileOptions): Module {
    const { context } = this.device;
    if (isPtx(source)) return context.load(source, { label: options.name ?? name });
    const nameExpressions = options.nameExpressions ?? (/extern\s+"C"/.test(source) ? [] : [name]);
    return context.compile(source, { name: `${name.replace(/\W+/g, "_")}.cu`, ...options, nameExpressions });
  }

  /**
   * Launches a kernel in the order of the device's stream, or of the stream given. Numbers are
   * written as the types that the kernel has there.
   *
   * @throws ArgumentError if no kernel of the name was compiled; LaunchError if the kernel
   * does not take an argument or the device not the shape; CudaError.
   */
  runKernel(name: string, grid: Dimensions, block: Dimensions, args: readonly KernelArgument[], options: LaunchOptions = {}): void {
    const kernel = this.#kernels.get(name);
    if (!kernel) {
      const known = this.kernelNames;
      const there = known.length > 0 ? `are ${known.join(", ")}` : "is none";
      throw ArgumentError.because(`no kernel ${JSON.stringify(name)} was compiled${suggestion(name, known)}; there ${there}`, {
        field: "name",
        value: name,
        expected: known.join(", "),
      });
    }
    this.launcher.launch(kernel.module, name, grid, block, args, options);
  }

  /**
   * Unloads the kernels, and closes the device if it was opened here. A second call does
   * nothing. @throws CudaError.
   */
  dispose(): void {
    const modules = new Set([...this.#kernels.values()].map(({ module }) => module));
    this.#kernels.clear();
    this.launcher.dispose();
    if (modules.size > 0) this.device.settle();
    for (const module of modules) module.dispose();
    if (this.#ownsDevice) this.device.dispose();
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
