// A kernel of a module with the parameters it was declared with. It is launched by a stream and
// owned by its module.
import { LaunchError } from "@spillway/core/errors.js";
import { type InputOf, list, option, whole } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { ArgumentBlock, argumentBytes } from "./argument-block.js";
import type { ContextCore } from "./context-core.js";
import type { DeviceInfo } from "./device-info.js";
import type { DriverFunction } from "./driver-calls.js";
import { CudaError } from "./errors.js";
import { type LaunchConfig, LaunchConfigMemory, launchConfigBytes } from "./launch-config.js";
import type { Layout } from "./layout.js";
import type { Holding } from "./ledger.js";
import { type Parameter, parseParameters } from "./parameters.js";
import type { EntryParameter } from "./ptx-entry.js";
import { status } from "./status.js";

/**
 * What a kernel uses. Bytes of shared, constant and local memory are those the compiler laid out.
 */
export interface KernelResources {
  readonly maxThreadsPerBlock: number;
  readonly sharedBytes: number;
  readonly constantBytes: number;
  /** Of a thread: spilled registers and arrays. */
  readonly localBytes: number;
  readonly registers: number;
  /** Of the PTX it was compiled from, 63 for 6.3. */
  readonly ptxVersion: number;
  /** Of the machine code, 90 for sm_90. */
  readonly binaryVersion: number;
}

export const kernelTable = {
  /**
   * For each parameter, by position, the parameters whose product is the number of elements that
   * the kernel touches through it: [[3, 4], [4], [3]] for y = A x of ("const f32*", "const f32*",
   * "f32*", "i32", "i32") with A of argument 3 times argument 4. A launch with a shorter buffer is
   * refused. Empty, or left out: any length.
   */
  lengths: option(
    list(list(whole(), "a list of positions of parameters"), "a list with a list for each parameter"),
    [],
    "For each parameter, the parameters whose product is how many elements the kernel touches through it.",
  ),
};

/** Options of `Module.kernel`. */
export interface KernelOptions extends InputOf<typeof kernelTable> {}

// CUfunction_attribute, cuda.h.
const attribute = {
  maxThreadsPerBlock: 0,
  sharedBytes: 1,
  constantBytes: 2,
  localBytes: 3,
  registers: 4,
  ptxVersion: 5,
  binaryVersion: 6,
  maxDynamicShared: 8,
  nonPortableCluster: 14,
} as const;

/**
 * A cluster of more blocks than this must be allowed for the kernel first. CUDA C++ Programming
 * Guide, "Thread Block Clusters".
 */
const portableCluster = 8;

/** What holds a kernel against its declaration. */
export type SignatureSource = "ptx" | "driver" | "none";

/** A kernel whose launches are typed by its parameters. */
export class Kernel<Parameters extends readonly Parameter[] = readonly Parameter[]> {
  readonly name: string;
  readonly parameters: Parameters;
  /**
   * What the parameters were checked against: the PTX entry, the driver (sizes only), or nothing
   * if neither tells.
   */
  readonly checkedBy: SignatureSource;
  /** @internal */
  readonly core: ContextCore;
  /** @internal */
  readonly handle: bigint;
  /** @internal */
  readonly block: ArgumentBlock;
  /** @internal */
  readonly checksLengths: boolean;
  readonly #module: Holding;
  readonly #info: DeviceInfo;
  readonly #config: LaunchConfigMemory;
  readonly #launchEx: DriverFunction<"cuLaunchKernelEx"> | undefined;
  readonly #staticShared: number;
  #dynamicShared: number;
  #largeClusters = false;

  /** @internal */
  constructor(
    core: ContextCore,
    info: DeviceInfo,
    module: Holding,
    handle: bigint,
    name: string,
    parameters: Parameters,
    entry: readonly EntryParameter[] | undefined,
    lengths: readonly (readonly number[])[],
  ) {
    this.core = core;
    this.handle = handle;
    this.name = name;
    this.parameters = parameters;
    this.#module = module;
    this.#info = info;
    const parsed = parseParameters(name, parameters);
    this.checkedBy = this.#checkSignature(parsed, entry);
    const limits = info.attributes;
    const threads = this.#attribute("maxThreadsPerBlock");
    this.#staticShared = this.#attribute("sharedBytes");
    this.#dynamicShared = Math.max(0, limits.sharedBytesPerBlock - this.#staticShared);
    const memory = new ArrayBuffer(launchConfigBytes + argumentBytes(parsed));
    const address = core.driver.addressOf(new Uint8Array(memory));
    this.#config = new LaunchConfigMemory(name, memory, address, {
      grid: [limits.maxGridX, limits.maxGridY, limits.maxGridZ],
      block: [limits.maxBlockX, limits.maxBlockY, limits.maxBlockZ],
      threads: Math.min(threads, limits.maxThreadsPerBlock),
      clusters: limits.clusterLaunch !== 0 && core.driver.has("cuLaunchKernelEx"),
      cooperative: limits.cooperativeLaunch !== 0,
      overlap: info.computeCapability[0] >= 9 && core.driver.has("cuLaunchKernelEx"),
    });
    checkLengths(name, parsed, lengths);
    this.checksLengths = lengths.some((factors) => factors.length > 0);
    this.block = new ArgumentBlock(name, parsed, lengths, memory, launchConfigBytes, address + BigInt(launchConfigBytes));
    this.#launchEx = core.driver.has("cuLaunchKernelEx") ? core.function("cuLaunchKernelEx") : undefined;
  }

  #attribute(name: keyof KernelResources): number {
    return this.core.word("cuFuncGetAttribute", attribute[name], this.handle);
  }

  #checkSignature(parsed: readonly Layout[], entry: readonly EntryParameter[] | undefined): SignatureSource {
    if (entry !== undefined) {
      checkEntry(this.name, parsed, entry);
      return "ptx";
    }
    if (!this.core.driver.has("cuFuncGetParamInfo")) return "none";
    const offset = new BigUint64Array(1);
    const size = new BigUint64Array(1);
    const parameterInfo = this.core.function("cuFuncGetParamInfo");
    const bytes: number[] = [];
    for (;;) {
      const code = parameterInfo(this.handle, bytes.length, offset, size);
      if (code === status.invalidValue) break;
      this.core.check(code, "cuFuncGetParamInfo");
      bytes.push(Number(size[0]));
    }
    checkCount(this.name, parsed, bytes.length);
    for (const [index, { text, bytes: declared }] of parsed.entries())
      if (bytes[index] !== declared)
        throw new LaunchError(this.name, `parameter ${index} takes ${bytes[index]} bytes; ${quoted(text)} has ${declared}`, {
          field: `parameters[${index}]`,
          value: text,
          expected: `${bytes[index]} bytes`,
        });
    return "driver";
  }

  /** @internal @throws DisposedError if its module was unloaded. */
  use(): void {
    this.#module.use();
  }

  /** @internal The holding that must last for as long as the kernel is launched. */
  get module(): Holding {
    return this.#module;
  }

  /**
   * @internal Fills the launch's shape; `launch` follows once the arguments are written. @throws
   * LaunchError, CudaError.
   */
  prepare(config: LaunchConfig, stream: bigint): void {
    this.#config.fill(config, stream);
    if (this.#config.sizes[6]! > this.#dynamicShared) this.#allowShared(this.#config.sizes[6]!);
    if (config.cluster !== undefined && !this.#largeClusters) this.#allowCluster(config.cluster);
  }

  #allowShared(bytes: number): void {
    const limit = this.#info.attributes.sharedBytesPerBlockOptIn - this.#staticShared;
    if (bytes > limit)
      throw new LaunchError(
        this.name,
        `shared is ${bytes} bytes; beside its ${this.#staticShared} static bytes a block can have ${limit} here`,
        { field: "shared", value: bytes, expected: `at most ${limit} bytes` },
      );
    this.core.call("cuFuncSetAttribute", this.handle, attribute.maxDynamicShared, bytes);
    this.#dynamicShared = bytes;
  }

  #allowCluster(cluster: NonNullable<LaunchConfig["cluster"]>): void {
    const blocks = typeof cluster === "number" ? cluster : cluster[0] * (cluster[1] ?? 1) * (cluster[2] ?? 1);
    if (blocks <= portableCluster) return;
    this.core.call("cuFuncSetAttribute", this.handle, attribute.nonPortableCluster, 1);
    this.#largeClusters = true;
  }

  /** @internal Grid, block and shared memory of the last `prepare`. */
  get sizes(): Uint32Array {
    return this.#config.sizes;
  }

  /** @internal The function that `launch` calls. */
  launchCall(config: LaunchConfig): "cuLaunchKernelEx" | "cuLaunchKernel" | "cuLaunchCooperativeKernel" {
    if (this.#launchEx !== undefined) return "cuLaunchKernelEx";
    return config.cooperative === true ? "cuLaunchCooperativeKernel" : "cuLaunchKernel";
  }

  #shape(): readonly [gx: number, gy: number, gz: number, bx: number, by: number, bz: number, shared: number] {
    const { sizes } = this.#config;
    return [sizes[0]!, sizes[1]!, sizes[2]!, sizes[3]!, sizes[4]!, sizes[5]!, sizes[6]!];
  }

  /** @internal The launch itself: CUDA's status. */
  launch(stream: bigint, config: LaunchConfig): number {
    if (this.#launchEx !== undefined) return this.#launchEx(this.#config.address, this.handle, this.block.address, 0n);
    const [gx, gy, gz, bx, by, bz, shared] = this.#shape();
    return config.cooperative === true
      ? this.core.function("cuLaunchCooperativeKernel")(this.handle, gx, gy, gz, bx, by, bz, shared, stream, this.block.address)
      : this.core.function("cuLaunchKernel")(this.handle, gx, gy, gz, bx, by, bz, shared, stream, this.block.address, 0n);
  }

  /** @internal The error of a failed launch. */
  failure(code: number, error: CudaError): CudaError {
    if (code !== status.cooperativeLaunchTooLarge) return error;
    const [, , , bx, by, bz, shared] = this.#shape();
    return new CudaError(
      error,
      `at most ${this.maxCooperativeBlocks(bx * by * bz, shared)} blocks of ${bx * by * bz} threads run at once here`,
    );
  }

  /** @throws CudaError. */
  resources(): KernelResources {
    this.use();
    return {
      maxThreadsPerBlock: this.#attribute("maxThreadsPerBlock"),
      sharedBytes: this.#attribute("sharedBytes"),
      constantBytes: this.#attribute("constantBytes"),
      localBytes: this.#attribute("localBytes"),
      registers: this.#attribute("registers"),
      ptxVersion: this.#attribute("ptxVersion"),
      binaryVersion: this.#attribute("binaryVersion"),
    };
  }

  /**
   * Blocks of `threads` threads and `shared` dynamic bytes that one multiprocessor runs at once; 0
   * if not even one can. @throws CudaError.
   */
  occupancy(threads: number, shared = 0): number {
    this.use();
    if (shared > this.#info.attributes.sharedBytesPerBlockOptIn - this.#staticShared) return 0;
    // The driver counts no blocks with more shared memory than the kernel was allowed.
    if (shared > this.#dynamicShared) this.#allowShared(shared);
    return this.core.word("cuOccupancyMaxActiveBlocksPerMultiprocessor", this.handle, threads, shared);
  }

  /** The most blocks of a cooperative launch. @throws CudaError. */
  maxCooperativeBlocks(threads: number, shared = 0): number {
    return this.occupancy(threads, shared) * this.#info.attributes.multiprocessors;
  }

  /**
   * The most clusters of a launch that run at once. @throws CudaError, LaunchError if the launch
   * has no cluster.
   */
  maxActiveClusters(config: LaunchConfig): number {
    this.use();
    if (config.cluster === undefined)
      throw new LaunchError(this.name, "maxActiveClusters takes a launch with a cluster", { field: "cluster" });
    this.prepare(config, 0n);
    return this.core.word("cuOccupancyMaxActiveClusters", this.handle, this.#config.address);
  }
}

function checkCount(kernel: string, parsed: readonly Layout[], actual: number): void {
  if (parsed.length !== actual)
    throw new LaunchError(kernel, `${parsed.length} parameters were declared; the kernel has ${actual}`, {
      field: "parameters",
      value: parsed.length,
      expected: `${actual} parameters`,
    });
}

/** A layout as errors tell it. */
const toldOf = ({ kind, text, bytes, alignment }: Layout): string =>
  quoted(text) + (kind === "struct" ? `, ${bytes} bytes aligned to ${alignment}` : "");

/**
 * Holds declared parameters against those of the PTX entry: number, width, floating point against
 * integer, and of a struct that the kernel counts on its alignment. A PTX alignment above the
 * struct's is a compiler's freedom.
 *
 * @throws LaunchError.
 */
export function checkEntry(kernel: string, parsed: readonly Layout[], entry: readonly EntryParameter[]): void {
  checkCount(kernel, parsed, entry.length);
  for (const [index, layout] of parsed.entries()) {
    const actual = entry[index]!;
    const whole = layout.kind === "struct" || layout.kind === "bytes";
    const float = layout.kind === "scalar" && (layout.dtype === "f32" || layout.dtype === "f64");
    const untyped = actual.type.startsWith("b");
    const agrees = untyped || (!whole && actual.type.startsWith("f") === float);
    if (actual.bytes === layout.bytes && agrees && !(layout.kind === "struct" && actual.alignment < layout.alignment)) continue;
    const aligned = whole ? ` aligned to ${actual.alignment}` : "";
    throw new LaunchError(
      kernel,
      `parameter ${index} is .${actual.type} of ${actual.bytes} bytes${aligned} in the PTX; it was declared ${toldOf(layout)}`,
      { field: `parameters[${index}]`, value: layout.text, expected: `.${actual.type} of ${actual.bytes} bytes${aligned}` },
    );
  }
}

function checkLengths(kernel: string, parsed: readonly Layout[], lengths: readonly (readonly number[])[]): void {
  if (lengths.length > parsed.length)
    throw new LaunchError(kernel, `lengths has ${lengths.length} entries for ${parsed.length} parameters`, {
      field: "lengths",
      value: lengths,
      expected: `at most ${parsed.length} entries`,
    });
  for (const [index, factors] of lengths.entries()) {
    if (factors.length > 0 && parsed[index]!.kind !== "pointer")
      throw new LaunchError(kernel, `lengths[${index}] is about ${quoted(parsed[index]!.text)}, which is no pointer`, {
        field: `lengths[${index}]`,
        value: factors,
        expected: "[]",
      });
    for (const factor of factors) {
      const parameter = parsed[factor];
      if (parameter?.kind !== "scalar" || !/^[iu]/.test(parameter.dtype))
        throw new LaunchError(kernel, `lengths[${index}] names parameter ${factor}, which is no integer`, {
          field: `lengths[${index}]`,
          value: factor,
          expected: "the position of an integer",
        });
    }
  }
}
