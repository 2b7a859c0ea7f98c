// Launches kernels by name with arguments whose types are read off the PTX: for code that is
// written at the keyboard. Kernels that are known beforehand are better declared (`Module.kernel`),
// because then TypeScript checks their launches.
import { LaunchError } from "../../core/errors.js";
import { describe } from "../../core/text.js";
import type { Kernel } from "../kernel.js";
import type { Dimensions, LaunchConfig } from "../launch-config.js";
import type { Module } from "../module.js";
import type { Parameter } from "../parameters.js";
import type { EntryParameter } from "../ptx-entry.js";
import { DeviceSlice, type ReadonlyDeviceSlice } from "../slice.js";
import type { Stream } from "../stream.js";
import { StructType } from "../struct.js";
import type { GpuDevice } from "./gpu-device.js";

/**
 * An argument of a launch: device memory (null for none), a number, a bigint for 64 bits, a truth
 * value for a `bool`, a struct's bytes, or with
 * `parameters` an object for a described struct.
 */
export type KernelArgument = ReadonlyDeviceSlice | null | number | bigint | boolean | ArrayBufferView | Readonly<Record<string, unknown>>;

/** What a launch may have beside grid and block. */
export interface LaunchOptions extends Omit<LaunchConfig, "grid" | "block"> {
  /** The stream; default the device's. */
  readonly stream?: Stream;
  /** The kernel's parameters, if the image does not say what they are, or to be checked by. */
  readonly parameters?: readonly Parameter[];
}

const described = (argument: KernelArgument): string =>
  argument instanceof DeviceSlice ? `memory of ${argument.dtype}` : `${describe(argument)}${typeof argument === "bigint" ? "n" : ""}`;

/**
 * The parameter that an argument is meant for, by the PTX type there. @throws LaunchError if the
 * two do not go together.
 */
function parameterFor(kernel: string, index: number, { type, bytes }: EntryParameter, argument: KernelArgument): Parameter {
  const refuse = (takes: string) =>
    new LaunchError(kernel, `argument ${index} is ${described(argument)}, and the kernel has .${type} there: it takes ${takes}`, {
      field: `args[${index}]`,
      value: argument,
      expected: takes,
    });
  const width = Number(/\d+/.exec(type)?.[0] ?? 0);
  if (bytes * 8 !== width) {
    if (ArrayBuffer.isView(argument)) return `bytes[${bytes}]`;
    throw refuse(`a struct: a Uint8Array of its ${bytes} bytes, or an object where \`parameters\` describe the struct`);
  }
  const floating = type.startsWith("f");
  if (argument === null || argument instanceof DeviceSlice) {
    if (width !== 64 || floating) throw refuse(floating ? "a number" : "an integer");
    if (argument === null) return "u8*";
    const { dtype, writable } = argument as DeviceSlice;
    return writable ? `${dtype}*` : `const ${dtype}*`;
  }
  if (typeof argument === "boolean") {
    if (width !== 8) throw refuse("a number");
    return "bool";
  }
  if (typeof argument === "bigint") {
    if (width !== 64 || floating) throw refuse("a number");
    return argument < 0n ? "i64" : "u64";
  }
  if (typeof argument !== "number") throw refuse("a buffer, null, a number, a bigint or a truth value");
  if (width === 64 && !floating) throw refuse("device memory, or a bigint for an integer");
  if (floating) return width === 64 ? "f64" : "f32";
  const bits = width as 8 | 16 | 32;
  return argument < 0 ? `i${bits}` : `u${bits}`;
}

/** Equal for parameters with the same layout. */
const keyOf = (parameter: Parameter): string =>
  typeof parameter === "string" || parameter instanceof StructType ? String(parameter) : JSON.stringify(parameter);

/** Loads images once and launches their kernels. */
export class KernelLauncher implements Disposable {
  readonly device: GpuDevice;
  readonly #modules = new Map<string, Module>();
  readonly #kernels = new WeakMap<Module, Map<string, Kernel>>();
  #loads = 0;

  /** For kernels of one device; it loads nothing yet. */
  constructor(device: GpuDevice) {
    this.device = device;
  }

  /** How many modules were loaded so far. */
  get loads(): number {
    return this.#loads;
  }

  /** The module of a PTX text, loaded when it is first asked for. @throws ModuleLoadError. */
  loadPtx(ptx: string, label?: string): Module {
    let module = this.#modules.get(ptx);
    if (!module || module.disposed) {
      module = this.device.context.load(ptx, label === undefined ? {} : { label });
      this.#modules.set(ptx, module);
      this.#loads++;
    }
    return module;
  }

  /**
   * Launches a kernel of a PTX text, which is loaded once however often it is launched.
   *
   * @throws ModuleLoadError; LaunchError if the kernel does not take an argument or the device
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
    const { stream = this.device.stream, parameters, ...config } = options;
    const kernel = this.#kernel(module, name, parameters ?? this.#parameters(module, name, args));
    const launch = stream.launch as (kernel: Kernel, config: LaunchConfig, ...values: readonly unknown[]) => void;
    launch.call(stream, kernel, { ...config, grid, block }, ...args);
  }

  /**
   * Unloads what `loadPtx` loaded, after the work of the device's stream. A second call does
   * nothing. @throws CudaError.
   */
  dispose(): void {
    if (this.#modules.size > 0) this.device.settle();
    for (const module of this.#modules.values()) module.dispose();
    this.#modules.clear();
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #parameters(module: Module, name: string, args: readonly KernelArgument[]): readonly Parameter[] {
    const entry = module.parametersOf(name);
    if (!entry) {
      const what = module.kernelNames
        ? `there is no kernel of this name in ${module.label}, which has ${module.kernelNames.join(", ")}`
        : "";
      throw new LaunchError(name, what || "machine code does not say what its parameters are: give `parameters`", {
        field: what ? "name" : "parameters",
        value: what ? name : undefined,
      });
    }
    if (entry.length !== args.length) {
      const takes = entry.map(({ type }) => `.${type}`).join(", ");
      throw new LaunchError(name, `${args.length} arguments were given; it takes ${entry.length}: (${takes})`, {
        field: "args",
        value: args,
        expected: `(${takes})`,
      });
    }
    return args.map((argument, index) => parameterFor(name, index, entry[index]!, argument));
  }

  #kernel(module: Module, name: string, parameters: readonly Parameter[]): Kernel {
    let kernels = this.#kernels.get(module);
    if (!kernels) {
      kernels = new Map();
      this.#kernels.set(module, kernels);
    }
    const key = `${name}(${parameters.map(keyOf).join()})`;
    let kernel = kernels.get(key);
    if (!kernel) {
      kernel = module.kernel(name, parameters) as Kernel;
      kernels.set(key, kernel);
    }
    return kernel;
  }
}
