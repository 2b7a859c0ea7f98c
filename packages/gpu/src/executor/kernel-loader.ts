// Kernels on one device by their names: standard ones, one's own from PTX or CUDA C++, and those of
// a PTX text. Each is loaded once.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { suggestion } from "@spillway/core/near-names.js";
import type { CompileOptions } from "../compile-options.js";
import type { Kernel } from "../kernel.js";
import type { Dimensions, LaunchConfig } from "../launch-config.js";
import type { Module } from "../module.js";
import type { Parameter } from "../parameters.js";
import { StructType } from "../struct.js";
import type { GpuDevice } from "./gpu-device.js";
import { type KernelArgument, type LaunchOptions, parametersFor } from "./kernel-arguments.js";
import { type Declarations, declarations, type StandardKernel, standardKernelNames } from "./standard-kernels.js";

interface Registered {
  readonly source: string;
  readonly options: string;
  readonly module: Module;
}

const isStandard = (name: string): name is StandardKernel => Object.hasOwn(declarations, name);

/** Whether a source is PTX, which begins with its version, and not CUDA C++. */
const isPtx = (source: string): boolean => /^(?:\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*\.version\s/.test(source);

/** Equal for parameters with the same layout. */
const keyOf = (parameter: Parameter): string =>
  typeof parameter === "string" || parameter instanceof StructType ? String(parameter) : JSON.stringify(parameter);

/** Loads and launches kernels on one device. */
export abstract class KernelLoader extends DisposedByUsing {
  readonly device: GpuDevice;
  readonly #loaded = new Map<string, Module>();
  readonly #own = new Map<string, Registered>();
  readonly #kernels = new WeakMap<Module, Map<string, Kernel>>();
  readonly #standard = new Map<StandardKernel, Kernel>();
  #loads = 0;

  constructor(device: GpuDevice) {
    super();
    this.device = device;
  }

  /** The names of the kernels that `runKernel` knows. */
  get kernelNames(): readonly string[] {
    return [...new Set([...standardKernelNames, ...this.#own.keys()])];
  }

  /** How many modules of PTX were loaded so far. */
  get loads(): number {
    return this.#loads;
  }

  /**
   * Makes a kernel of one's own ready by its name: PTX is loaded, CUDA C++ compiled by NVRTC and
   * loaded. With the same source and options a second time it does nothing; another source replaces
   * the first. A C++ kernel is named as `extern "C"`, or by a name expression such as
   * "scale<float>". `runKernel` then prefers it to a standard kernel of the same name.
   *
   * @throws CompileError with the compiler's log; LibraryError if there is no NVRTC;
   * ModuleLoadError; ArgumentError if the source has no such kernel.
   */
  compileKernel(name: string, source: string, options: CompileOptions = {}): void {
    const key = JSON.stringify(options);
    const known = this.#own.get(name);
    if (known?.source === source && known.options === key) return;
    const module = this.#sharing(name, source, key) ?? this.#compile(name, source, options);
    if (!module.parametersOf(name)) {
      if (!this.#uses(module)) module.dispose();
      throw ArgumentError.because(
        `the source of ${JSON.stringify(name)} has no kernel of this name; it has ${module.kernelNames?.join(", ") ?? "others"}`,
        { field: "name", value: name, expected: module.kernelNames?.join(", ") },
      );
    }
    this.#own.set(name, { source, options: key, module });
    if (known && !this.#uses(known.module)) {
      this.device.stream.sync();
      known.module.dispose();
    }
  }

  #uses(module: Module): boolean {
    return [...this.#own.values()].some((each) => each.module === module);
  }

  /** The module of the same source, if another of its kernels was compiled before. */
  #sharing(name: string, source: string, options: string): Module | undefined {
    const others = [...this.#own.values()].filter((each) => each.source === source && each.options === options);
    return others.find(({ module }) => module.parametersOf(name))?.module;
  }

  #compile(name: string, source: string, options: CompileOptions): Module {
    const { context } = this.device;
    if (isPtx(source)) return context.load(source, { label: options.name ?? name });
    const nameExpressions = options.nameExpressions ?? (/extern\s+"C"/.test(source) ? [] : [name]);
    return context.compile(source, { name: `${name.replace(/\W+/g, "_")}.cu`, ...options, nameExpressions });
  }

  /**
   * Launches a kernel of one's own or a standard one, in the order of the device's stream or of the
   * stream given. Numbers are written as the types that the kernel has there.
   *
   * @throws ArgumentError if there is no kernel of the name; LaunchError if the kernel does not
   * accept an argument or the device not the shape; CudaError.
   */
  runKernel(name: string, grid: Dimensions, block: Dimensions, args: readonly KernelArgument[], options: LaunchOptions = {}): void {
    const own = this.#own.get(name)?.module;
    if (!own && !isStandard(name)) {
      const known = this.kernelNames;
      throw ArgumentError.because(
        `there is no kernel ${JSON.stringify(name)}, neither standard nor compiled${suggestion(name, known)}; there are ${known.join(", ")}`,
        { field: "name", value: name, expected: known.join(", ") },
      );
    }
    this.launch(own ?? this.#standardModule(name), name, grid, block, args, options);
  }

  /** The module of a PTX text, loaded when it is first asked for. @throws ModuleLoadError. */
  loadPtx(ptx: string, label?: string): Module {
    let module = this.#loaded.get(ptx);
    if (!module || module.disposed) {
      module = this.device.context.load(ptx, label === undefined ? {} : { label });
      this.#loaded.set(ptx, module);
      this.#loads++;
    }
    return module;
  }

  /**
   * Launches a kernel of a PTX text, which is loaded once however often it is launched.
   *
   * @throws ModuleLoadError; LaunchError if the kernel does not accept an argument or the device
   * not the shape; CudaError.
   */
  loadAndLaunchPtx(
    ptx: string,
    name: string,
    grid: Dimensions,
    block: Dimensions,
    args: readonly KernelArgument[],
    options: LaunchOptions = {},
  ): void {
    this.launch(this.loadPtx(ptx), name, grid, block, args, options);
  }

  /** Launches a kernel of a loaded module. @throws as `loadAndLaunchPtx`. */
  launch(
    module: Module,
    name: string,
    grid: Dimensions,
    block: Dimensions,
    args: readonly KernelArgument[],
    options: LaunchOptions = {},
  ): void {
    const { stream = this.device.stream, parameters = parametersFor(module, name, args), ...config } = options;
    const kernels = getOrMake(this.#kernels, module, () => new Map<string, Kernel>());
    const key = `${name}(${parameters.map(keyOf).join()})`;
    const kernel = getOrMake(kernels, key, () => module.kernel(name, parameters) as Kernel);
    const launch = stream.launch as (kernel: Kernel, config: LaunchConfig, ...values: readonly unknown[]) => void;
    launch.call(stream, kernel, { ...config, grid, block }, ...args);
  }

  #standardModule(name: string): Module {
    return this.loadPtx(this.device.context.shippedPtx("executor", { entries: [name] }), `executor ${name}`);
  }

  /**
   * A standard kernel, loaded when it is first asked for. @throws ArgumentError naming those there
   * are.
   */
  kernel<Name extends StandardKernel>(name: Name): Kernel<Declarations[Name]["parameters"]> {
    let kernel = this.#standard.get(name);
    if (!kernel) {
      if (!isStandard(name))
        throw ArgumentError.because(
          `there is no standard kernel ${JSON.stringify(name)}${suggestion(name, standardKernelNames)}; there are ${standardKernelNames.join(", ")}`,
          { field: "name", value: name, expected: standardKernelNames.join(", ") },
        );
      const { parameters, lengths } = declarations[name];
      kernel = this.#standardModule(name).kernel<readonly Parameter[]>(name, parameters, { lengths }) as Kernel;
      this.#standard.set(name, kernel);
    }
    return kernel as unknown as Kernel<Declarations[Name]["parameters"]>;
  }

  /** The modules that are loaded, which are then the caller's. */
  protected takeModules(): ReadonlySet<Module> {
    const modules = new Set([...this.#loaded.values(), ...[...this.#own.values()].map(({ module }) => module)]);
    for (const kernels of [this.#loaded, this.#own, this.#standard]) kernels.clear();
    return modules;
  }
}
