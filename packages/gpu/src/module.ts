// A module: compiled kernels and their globals, loaded from PTX, a cubin or a fatbin.
import { LaunchError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { textUpToNul } from "./c-functions.js";
import type { ContextCore } from "./context-core.js";
import type { DeviceInfo } from "./device-info.js";
import { bytesOf, type Dtype } from "./dtypes.js";
import { CudaError, ModuleLoadError } from "./errors.js";
import { Kernel, type KernelOptions, kernelTable } from "./kernel.js";
import { Owned } from "./owned.js";
import type { Parameter } from "./parameters.js";
import { driverForPtx, type EntryParameter, ptxEntries, ptxVersion, versionText } from "./ptx-entry.js";
import { DeviceSlice } from "./slice.js";
import { status } from "./status.js";

/** What an image is. */
export type ImageKind = "ptx" | "cubin" | "fatbin";

// CUjit_option, cuda.h.
const jitOption = { infoLog: 3, infoLogBytes: 4, errorLog: 5, errorLogBytes: 6 } as const;

const logBytes = 16384;

/**
 * The kind of an image by its first bytes: an ELF file is a cubin, 0xBA55ED50 begins a fatbin, and
 * else it is PTX text.
 */
export function imageKind(image: string | Uint8Array): ImageKind {
  if (typeof image === "string") return "ptx";
  const [a, b, c, d] = image;
  if (a === 0x7f && b === 0x45 && c === 0x4c && d === 0x46) return "cubin";
  return a === 0x50 && b === 0xed && c === 0x55 && d === 0xba ? "fatbin" : "ptx";
}

/** Loads an image with the driver's logs. @throws ModuleLoadError. */
function loadImage(core: ContextCore, label: string, image: string | Uint8Array, kind: ImageKind): { handle: bigint; log: string } {
  const bytes = kind === "ptx" ? Buffer.concat([Buffer.from(image as Uint8Array), Buffer.alloc(1)]) : (image as Uint8Array);
  const info = new Uint8Array(logBytes);
  const error = new Uint8Array(logBytes);
  const options = Int32Array.of(jitOption.infoLog, jitOption.infoLogBytes, jitOption.errorLog, jitOption.errorLogBytes);
  const size = BigInt(logBytes);
  const values = BigUint64Array.of(core.driver.addressOf(info), size, core.driver.addressOf(error), size);
  const handle = new BigUint64Array(1);
  const code = core.status("cuModuleLoadDataEx", handle, bytes, options.length, options, values);
  if (code === status.success) return { handle: handle[0]!, log: textUpToNul(info).trim() };
  let advice = "";
  const version = kind === "ptx" ? ptxVersion(textUpToNul(bytes)) : undefined;
  if (code === status.unsupportedPtxVersion && version) {
    const speaks = new Int32Array(1);
    const known = core.function("cuDriverGetVersion")(speaks) === status.success;
    advice = `PTX ${version.join(".")} needs a driver of CUDA ${versionText(driverForPtx(version))} or later${known ? `, and this one is of CUDA ${versionText(speaks[0]!)}` : ""}`;
  }
  throw new ModuleLoadError(core.describe(code, "cuModuleLoadDataEx"), label, textUpToNul(error).trim(), advice);
}

/** What a compiler knows of an image and the image does not tell. */
interface AboutImage {
  /** The PTX that a cubin was made from. */
  readonly ptx?: string | undefined;
  /** The symbols of name expressions, such as `gemv<float>`. */
  readonly loweredNames?: Readonly<Record<string, string>>;
}

/** Compiled kernels and their globals. */
export class Module extends Owned {
  readonly kind: ImageKind;
  /** What the driver's compiler said while loading. */
  readonly log: string;
  readonly #handle: bigint;
  readonly #info: DeviceInfo;
  readonly #loweredNames: Readonly<Record<string, string>>;
  readonly #entries: ReadonlyMap<string, readonly EntryParameter[]> | undefined;

  private constructor(
    core: ContextCore,
    info: DeviceInfo,
    handle: bigint,
    label: string,
    image: string | Uint8Array,
    log: string,
    about: AboutImage,
  ) {
    super(core, "module", label, () => core.call("cuModuleUnload", handle));
    this.kind = imageKind(image);
    this.log = log;
    this.#handle = handle;
    this.#info = info;
    const ptx = this.kind === "ptx" ? (typeof image === "string" ? image : textUpToNul(image)) : about.ptx;
    this.#entries = ptx === undefined ? undefined : ptxEntries(ptx);
    this.#loweredNames = about.loweredNames ?? {};
  }

  /** @internal */
  static load(core: ContextCore, info: DeviceInfo, image: string | Uint8Array, label?: string, about: AboutImage = {}): Module {
    const name = label ?? core.nextName("module");
    const { handle, log } = loadImage(core, name, image, imageKind(image));
    return new Module(core, info, handle, name, image, log, about);
  }

  /** The kernels' names, if the image is PTX; a cubin or fatbin is not read. */
  get kernelNames(): readonly string[] | undefined {
    return this.#entries && [...this.#entries.keys()];
  }

  /**
   * The parameters of a kernel as the PTX has them; undefined if it has no such kernel, or the
   * image is no PTX.
   */
  parametersOf(name: string): readonly EntryParameter[] | undefined {
    return this.#entries?.get(this.#loweredNames[name] ?? name);
  }

  /**
   * A kernel with its parameters, such as
   * `module.kernel("gemv", ["const f32*", "f32*", "i32", "f32"])`. TypeScript checks launches by
   * them, and they are checked here against the PTX or, by their sizes, against the driver.
   *
   * @throws LaunchError if the parameters are not the kernel's; CudaError, CUDA_ERROR_NOT_FOUND
   * if the module has no such kernel.
   */
  kernel<const Parameters extends readonly Parameter[]>(
    name: string,
    parameters: Parameters,
    options: KernelOptions = {},
  ): Kernel<Parameters> {
    this.use();
    const { lengths } = resolve(kernelTable, options, `options of kernel ${name}`);
    const core = this.core;
    const handle = new BigUint64Array(1);
    const symbol = this.#loweredNames[name] ?? name;
    this.#check(core.status("cuModuleGetFunction", handle, this.#handle, symbol), "cuModuleGetFunction", "kernel", name);
    return new Kernel(core, this.#info, this.holding, handle[0]!, name, parameters, this.#entries?.get(symbol), lengths);
  }

  /**
   * A global or constant variable's memory, as elements of a type. It lasts as long as the module.
   *
   * @throws CudaError, CUDA_ERROR_NOT_FOUND if there is none of the name; LaunchError if its
   * size is no whole number of elements.
   */
  global<T extends Dtype>(name: string, dtype: T): DeviceSlice<T> {
    this.use();
    const address = new BigUint64Array(1);
    const size = new BigUint64Array(1);
    const code = this.core.status("cuModuleGetGlobal", address, size, this.#handle, this.#loweredNames[name] ?? name);
    this.#check(code, "cuModuleGetGlobal", "global", name);
    const bytes = Number(size[0]);
    if (bytes % bytesOf(dtype) !== 0)
      throw new LaunchError(name, `the global has ${bytes} bytes, no whole number of ${dtype}`, { field: "dtype", value: dtype });
    const memory = { core: this.core, holding: this.holding, stream: undefined, shared: false };
    return new DeviceSlice(memory, dtype, address[0]!, bytes / bytesOf(dtype));
  }

  /** @throws CudaError, which for CUDA_ERROR_NOT_FOUND says what was looked for. */
  #check(code: number, call: string, what: "kernel" | "global", name: string): void {
    if (code !== status.notFound) {
      this.core.check(code, call);
      return;
    }
    const has = what === "kernel" && this.kernelNames ? `, which has ${this.kernelNames.join(", ") || "no kernels"}` : "";
    throw new CudaError(
      this.core.describe(code, call),
      `there is no ${what} ${JSON.stringify(name)} in module ${JSON.stringify(this.label)}${has}`,
      false,
    );
  }
}
