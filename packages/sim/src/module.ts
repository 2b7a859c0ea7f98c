// Modules and kernels of the simulated driver: loaded from PTX text, with the log that a driver's
// compiler would give, and the attributes that hosts ask for.
import { driverForPtx, imageKind, ptxTarget, ptxVersion } from "@spillway/gpu";
import { type KernelInfo, type PtxProgram, PtxSyntaxError, UnsupportedPtxError } from "@spillway/ptx/interpreter/index.js";
import type { DeviceContext } from "./device-context.js";
import { reportedRegisters } from "./occupancy.js";
import type { Capability } from "./options.js";
import { code, Refusal } from "./refusal.js";

/** Dynamic shared memory that a kernel has without being asked: 48 KiB with its static. */
const sharedWithoutAsking = 49152;

/** A cluster may have this many blocks without being asked, and 16 if it was. */
export const portableCluster = 8;

// CUfunction_attribute, cuda.h.
const attribute = { maxDynamicShared: 8, sharedCarveout: 9, nonPortableCluster: 14, clusterPolicy: 15 } as const;

const product = (numbers: readonly number[] | undefined): number | undefined => numbers?.reduce((all, each) => all * each, 1);

/** @throws Refusal if the driver does not know the PTX version, or it is for another device. */
function checkHeader(ptx: string, capability: Capability, driverVersion: number): void {
  const version = ptxVersion(ptx);
  const needed = version && driverForPtx(version);
  if (version === undefined) throw new Refusal(code.invalidPtx, "the text has no .version and is no PTX");
  if (needed === undefined || needed > driverVersion)
    throw new Refusal(code.unsupportedPtxVersion, `PTX .version ${version.join(".")} is newer than this driver`);
  const target = ptxTarget(ptx);
  const [, number, suffix] = /^sm_(\d+)([af]?)$/.exec(target ?? "") ?? [];
  if (number === undefined) throw new Refusal(code.invalidPtx, `the PTX has no .target such as sm_75`);
  const here = 10 * capability.major + capability.minor;
  const fits =
    suffix === "a"
      ? Number(number) === here
      : suffix === "f"
        ? Math.floor(Number(number) / 10) === capability.major && Number(number) <= here
        : Number(number) <= here;
  if (!fits)
    throw new Refusal(
      code.invalidPtx,
      `.target ${target} is not for a device of compute capability ${capability.major}.${capability.minor}`,
    );
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof PtxSyntaxError) return new Refusal(code.invalidPtx, error);
  if (error instanceof UnsupportedPtxError) return new Refusal(code.notSupported, error);
  return new Refusal(code.outOfMemory, error as Error);
}

export class SimulatedModule {
  readonly context: DeviceContext;
  readonly program: PtxProgram;
  readonly ptxVersion: number;
  readonly #bytes: number;

  /** @throws Refusal whose reason belongs in the log. */
  constructor(context: DeviceContext, image: Uint8Array) {
    const { machine } = context;
    const { capability, driverVersion } = machine.simulation;
    const kind = imageKind(image);
    if (kind !== "ptx") throw new Refusal(code.noBinaryForGpu, `the simulated device takes PTX; this is a ${kind}, which is machine code`);
    const text = new TextDecoder().decode(image);
    checkHeader(text, capability, driverVersion);
    const before = machine.ptx.memoryInfo.used;
    try {
      this.program = machine.ptx.load(text, context);
    } catch (error) {
      throw refusalOf(error);
    }
    const [major, minor] = this.program.module.version;
    this.context = context;
    this.ptxVersion = 10 * major + minor;
    this.#bytes = machine.ptx.memoryInfo.used - before;
    context.direct += this.#bytes;
  }

  /** @throws Refusal if there is no such kernel, or it uses what is not simulated. */
  kernel(name: string): SimulatedKernel {
    if (!this.program.entries.includes(name)) throw new Refusal(code.notFound);
    try {
      return new SimulatedKernel(this, this.program.info(name));
    } catch (error) {
      throw refusalOf(error);
    }
  }

  unload(): void {
    this.context.direct -= this.#bytes;
    this.program.unload();
  }
}

export class SimulatedKernel {
  readonly module: SimulatedModule;
  readonly info: KernelInfo;
  readonly maxThreads: number;
  /** Bytes of parameters, as they lie in memory. */
  readonly parameterBytes: number;
  maxDynamicShared: number;
  nonPortableCluster = false;
  readonly #settings = new Map<number, number>();

  constructor(module: SimulatedModule, info: KernelInfo) {
    this.module = module;
    this.info = info;
    const { directives, parameters } = info;
    this.maxThreads = Math.min(1024, product(directives.get("reqntid")) ?? product(directives.get("maxntid")) ?? 1024);
    this.parameterBytes = parameters.reduce((most, { offset, bytes }) => Math.max(most, offset + bytes), 0);
    this.maxDynamicShared = Math.max(0, sharedWithoutAsking - info.staticSharedBytes);
  }

  /** Blocks of a cluster that the kernel was built for. */
  get requiredCluster(): readonly number[] | undefined {
    const declared = this.info.directives.get("reqnctapercluster");
    return declared === undefined || declared.every((each) => each === 0) ? undefined : declared;
  }

  /** CUfunction_attribute, cuda.h. */
  attribute(id: number): number {
    const { info, module } = this;
    const { capability, limits } = module.context.machine.simulation;
    const constants = module.program.variables.filter(({ space }) => space === "const");
    const [x = 0, y = 1, z = 1] = this.requiredCluster ?? [0, 0, 0];
    const answers: readonly (number | undefined)[] = [
      this.maxThreads,
      info.staticSharedBytes,
      constants.reduce((sum, { bytes }) => sum + bytes, 0),
      info.localBytes ?? limits.stackBytes,
      reportedRegisters,
      module.ptxVersion,
      10 * capability.major + capability.minor,
      0,
      this.maxDynamicShared,
      this.#settings.get(attribute.sharedCarveout) ?? -1,
      this.requiredCluster ? 1 : 0,
      ...[x, y, z],
      this.nonPortableCluster ? 1 : 0,
      this.#settings.get(attribute.clusterPolicy) ?? 0,
    ];
    const answer = answers[id];
    if (answer === undefined) throw new Refusal(code.invalidValue, `there is no function attribute ${id}`);
    return answer;
  }

  /** @throws Refusal if the attribute cannot be set, or not to that. */
  set(id: number, value: number): void {
    const { capability } = this.module.context.machine.simulation;
    if (id === attribute.maxDynamicShared) {
      const most = capability.sharedBytesPerBlock - this.info.staticSharedBytes;
      if (value < 0 || value > most)
        throw new Refusal(code.invalidValue, `${value} bytes of dynamic shared memory; a block can have ${most}`);
      this.maxDynamicShared = value;
    } else if (id === attribute.nonPortableCluster) this.nonPortableCluster = value !== 0;
    else if (id === attribute.sharedCarveout || id === attribute.clusterPolicy) this.#settings.set(id, value);
    else throw new Refusal(code.invalidValue, `function attribute ${id} cannot be set`);
  }
}
