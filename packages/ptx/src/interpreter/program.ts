// A loaded PTX module: its variables on the device, its kernels compiled on first use, and launches
// of them.
import { LaunchError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { checkBlock, dimensions, type MachineArgument, type MachineDimensions, packArguments } from "./arguments.js";
import { bindKernel } from "./compile/bind.js";
import { type CompiledKernel, KernelCompiler, parameterLayout } from "./compile/function.js";
import type { Support } from "./compile/support.js";
import { UnsupportedPtxError } from "./errors.js";
import type { Access } from "./run/access.js";
import { collectCounters, type LaunchCounters } from "./run/counters.js";
import { GridRun, type GridShape, type Slot } from "./run/grid.js";
import { LaunchState, mostRegisterBytes } from "./run/launch-state.js";
import { type Allocation, type DeviceMemory, shadow, windows } from "./run/memory.js";
import { type Checks, checksTable, type Limits, limitsTable } from "./run/options.js";
import type { Spares } from "./run/spares.js";
import { translationOf } from "./translations.js";
import { type PtxFunction, type PtxInitialValue, type PtxModule, type PtxVariable, scalarBytes } from "./types.js";

/** What a launch left behind besides memory. */
export interface LaunchResult {
  counters: LaunchCounters;
  /** What the kernel printed, one entry a call. */
  printed: string[];
}

/** A launch under way. */
export interface RunningLaunch {
  /** Grows whenever it changes something that another could be waiting for. */
  readonly progress: number;
  /** True once it is over; false if no thread changed anything in its turns. Throws as `launch`. */
  advance(): boolean;
  /** Tells it that somebody else changed memory: what it waits for may have come. */
  noteChange(): void;
  /** What it left behind. */
  readonly result: LaunchResult;
  /** Gives back what it holds, if it is not over. */
  abandon(): void;
}

/** What a host may ask of a kernel before launching it. */
export interface KernelInfo {
  name: string;
  parameters: { name: string; type: string; bytes: number; offset: number }[];
  staticSharedBytes: number;
  localBytes: number | undefined;
  directives: ReadonlyMap<string, readonly number[]>;
}

const alignUp = (value: number, to: number): number => Math.ceil(value / to) * to;
/** Workspace of a cooperative grid: its size, the barrier word, and padding. */
const workspaceBytes = 16;
const initialView = new DataView(new ArrayBuffer(16));

/** One launch: the kernel, its shape and arguments. */
export interface MachineLaunchOptions {
  /** The kernel's name. */
  entry: string;
  /** Blocks in each direction. */
  grid: MachineDimensions;
  /** Threads of a block in each direction. */
  block: MachineDimensions;
  /** Shared memory besides what the kernel declares; default 0. */
  dynamicSharedBytes?: number;
  /** Blocks of a cluster; taken from the kernel's `.reqnctapercluster` if it has one. */
  cluster?: MachineDimensions;
  /** All blocks are on the device at once and may wait for one another. */
  cooperative?: boolean;
  /** One a parameter, or the bytes of all as a driver lays them out. */
  args: Uint8Array | readonly MachineArgument[];
  /** In place of the machine's. */
  checks?: Partial<Omit<Checks, "initialised">>;
  /** In place of the machine's. */
  limits?: Partial<Limits>;
  /** Blocks on the device at once, if the grid is not cooperative; default the machine's. */
  residentBlocks?: number;
  /** Whether it may reach memory that has an owner; left out, it reaches all. */
  reaches?: (owner: object) => boolean;
  /** Is given what the kernel prints, as it prints it, also if it ends with an error. */
  print?: (text: string) => void;
}

export interface ProgramMachine {
  /** @internal */
  readonly memory: DeviceMemory;
  /** @internal */
  readonly access: Access;
  /** @internal */
  readonly support: Support;
  /** @internal */
  readonly spares: Spares;
  readonly checks: Checks;
  readonly limits: Limits;
  readonly sharedBytesPerBlock: number;
  readonly residentBlocks: number;
  nanoseconds: number;
  /** @internal */
  nextGridId(): number;
}

/** A module loaded into a machine's memory; `PtxMachine.load` makes one. */
export class PtxProgram {
  readonly module: PtxModule;
  private readonly machine: ProgramMachine;
  private readonly allocations = new Map<PtxVariable, Allocation>();
  private readonly kernels = new Map<string, CompiledKernel>();
  private readonly functionNames: string[];
  private readonly functionNumbers: ReadonlyMap<string, number>;
  private unloaded = false;

  /** Allocates and fills the variables. @throws UnsupportedPtxError on an undefined extern */
  constructor(machine: ProgramMachine, module: PtxModule, owner?: object) {
    this.machine = machine;
    this.module = module;
    this.functionNames = [...module.functions.keys()];
    this.functionNumbers = new Map(this.functionNames.map((name, k) => [name, k]));
    try {
      const variables = this.variables;
      for (const variable of variables) {
        if (variable.external) throw new UnsupportedPtxError(`"${variable.name}" is extern and nothing defines it`, variable.line);
        const kind = variable.space === "const" ? "constant" : "global";
        this.allocations.set(variable, machine.memory.allocate(variable.bytes, kind, `variable ${variable.name}`, owner));
      }
      for (const variable of variables) this.initialise(variable);
    } catch (error) {
      this.unload();
      throw error;
    }
  }

  /** Variables in global and constant memory, those of function bodies after the module's. */
  get variables(): PtxVariable[] {
    const all = [...this.module.variables.values(), ...[...this.module.functions.values()].flatMap(({ variables }) => variables)];
    return all.filter(({ space }) => space === "global" || space === "const");
  }

  /** Names of the kernels, in the order of the file. */
  get entries(): string[] {
    return [...this.module.functions.values()].filter(({ kind }) => kind === "entry").map(({ name }) => name);
  }

  /** Address and size of a module variable, as cuModuleGetGlobal gives them. */
  global(name: string): { address: bigint; bytes: number } {
    const variable = this.module.variables.get(name);
    const allocation = variable && this.allocations.get(variable);
    if (allocation === undefined)
      throw new LaunchError(
        undefined,
        `the module has no variable "${name}": it has ${[...this.module.variables.keys()].join(", ") || "none"}`,
      );
    return { address: (BigInt(windows.global) << 32n) + BigInt(allocation.base), bytes: allocation.bytes };
  }

  /** Parameters, memory and directives of a kernel. @throws LaunchError if there is none */
  info(entry: string): KernelInfo {
    const fn = this.entry(entry);
    const { offsets } = parameterLayout(fn.parameters);
    const { staticSharedBytes, localBytes } = this.kernel(fn, this.machine.checks);
    const parameters = fn.parameters.map(({ name, type, bytes }, k) => ({ name, type, bytes, offset: offsets[k]! }));
    return { name: entry, parameters, staticSharedBytes, localBytes, directives: fn.directives };
  }

  /** Gives the variables' memory back; the program cannot be launched afterwards. */
  unload(): void {
    if (this.unloaded) return;
    this.unloaded = true;
    for (const allocation of this.allocations.values()) this.machine.memory.free(allocation);
  }

  private initialise(variable: PtxVariable): void {
    const allocation = this.allocations.get(variable)!;
    const bytes = new Uint8Array(allocation.bytes);
    const size = scalarBytes[variable.type];
    for (const [at, value] of variable.initial) {
      initialView.setBigUint64(8, 0n);
      this.initialBytes(value, variable);
      bytes.set(new Uint8Array(initialView.buffer, 0, size), at * size);
    }
    this.machine.memory.write(allocation.base, bytes, variable.space === "const" ? shadow.constant : shadow.written);
  }

  private initialBytes(value: PtxInitialValue, variable: PtxVariable): void {
    if (value.kind === "bits") {
      initialView.setBigUint64(0, BigInt.asUintN(64, value.value), true);
      return;
    }
    const target = value.variable ?? this.module.variables.get(value.name);
    const allocation = target && this.allocations.get(target);
    const fn = this.functionNumbers.get(value.name);
    if (allocation === undefined && fn === undefined)
      throw new UnsupportedPtxError(`the initial value of "${variable.name}" names "${value.name}"`, variable.line);
    const address =
      allocation === undefined
        ? (BigInt(windows.function) << 32n) + BigInt(16 * (fn! + 1))
        : (BigInt(windows.global) << 32n) + BigInt(allocation.base + value.offset);
    initialView.setBigUint64(0, address, true);
  }

  private entry(name: string): PtxFunction {
    const fn = this.module.functions.get(name);
    if (fn?.kind !== "entry" || !fn.defined)
      throw new LaunchError(undefined, `the module has no kernel "${name}": it has ${this.entries.join(", ") || "none"}`);
    return fn;
  }

  private kernel(fn: PtxFunction, { races, globalRaces }: Checks): CompiledKernel {
    const key = `${fn.name}/${races}/${globalRaces}`;
    let kernel = this.kernels.get(key);
    if (kernel === undefined) {
      const linkage = {
        module: this.module,
        offsetOf: (variable: PtxVariable) => {
          const allocation = this.allocations.get(variable);
          if (allocation === undefined) throw new UnsupportedPtxError(`"${variable.name}" has no memory`, variable.line);
          return allocation.base;
        },
        functionNumber: (name: string) => this.functionNumbers.get(name)!,
      };
      const bases = [...this.allocations.values()].map(({ base }) => base);
      const translated = translationOf(this.module, `${key}/${bases}`, () =>
        new KernelCompiler(linkage, { races, globalRaces }).translate(fn),
      );
      kernel = bindKernel(translated, this.machine.support);
      this.kernels.set(key, kernel);
    }
    return kernel;
  }

  private shape(fn: PtxFunction, kernel: CompiledKernel, options: MachineLaunchOptions): GridShape {
    const grid = dimensions(options.grid, "grid", { x: 2 ** 31 - 1, y: 65535, z: 65535 });
    const block = dimensions(options.block, "block", { x: 1024, y: 1024, z: 64 });
    checkBlock(fn, block);
    const declared = fn.directives.get("reqnctapercluster") as [number, number, number] | undefined;
    const clusterOption = options.cluster ?? declared;
    const cluster = dimensions(clusterOption ?? 1, "cluster", { x: 16, y: 16, z: 16 });
    if (cluster.x * cluster.y * cluster.z > 16)
      throw new LaunchError(undefined, `a cluster of ${cluster.x * cluster.y * cluster.z} blocks: it takes at most 16`);
    for (const axis of ["x", "y", "z"] as const)
      if (grid[axis] % cluster[axis] !== 0)
        throw new LaunchError(undefined, `grid.${axis} ${grid[axis]} is no multiple of cluster.${axis} ${cluster[axis]}`);
    const dynamicSharedBytes = options.dynamicSharedBytes ?? 0;
    if (!Number.isInteger(dynamicSharedBytes) || dynamicSharedBytes < 0)
      throw new LaunchError(undefined, `dynamicSharedBytes is ${dynamicSharedBytes}: it takes a whole number from 0`);
    const own = kernel.staticSharedBytes + dynamicSharedBytes;
    const most = this.machine.sharedBytesPerBlock;
    if (own > most) throw new LaunchError(undefined, `${fn.name} would have ${own} bytes of shared memory a block: there are ${most}`);
    const sharedBytes = kernel.reservedSharedBytes + own;
    return { grid, block, cluster, explicitCluster: clusterOption !== undefined, sharedBytes, dynamicSharedBytes };
  }

  /**
   * Runs a kernel to its end. Throws LaunchError for a launch that cannot be, UnsupportedPtxError
   * for PTX that is not modelled, and SimulationError for what the kernel does wrong; memory then
   * holds what was written so far.
   */
  launch(options: MachineLaunchOptions): LaunchResult {
    const running = this.begin(options);
    while (!running.advance());
    return running.result;
  }

  /**
   * Begins a launch that runs by `advance`, so that launches of several devices can wait for one
   * another. One at a time of a program. Throws LaunchError, UnsupportedPtxError.
   */
  begin(options: MachineLaunchOptions): RunningLaunch {
    if (this.unloaded) throw new LaunchError(undefined, "the program was unloaded");
    const { machine } = this;
    const { memory } = machine;
    const fn = this.entry(options.entry);
    const given = resolve(checksTable, { ...machine.checks, ...options.checks }, "checks of a launch");
    const checks = { ...given, initialised: machine.checks.initialised };
    const limits = resolve(limitsTable, { ...machine.limits, ...options.limits }, "limits of a launch");
    const kernel = this.kernel(fn, checks);
    const shape = this.shape(fn, kernel, options);
    const packed = packArguments(fn, options.args);
    const { blocks, resident, lanes } = this.residency(fn, kernel, shape, options);
    const localBytes = alignUp(kernel.localBytes ?? limits.stackBytes, 16);
    let taken: readonly Allocation[] = [];
    const end = () => {
      for (const allocation of taken) memory.free(allocation);
      if (taken.length > 0) for (const each of kernel.functions.values()) for (const segment of each.segments) segment.lanes = 0;
      taken = [];
    };
    const take = (bytes: number, kind: "shared" | "local" | "parameter", name: string): number => {
      const allocation = memory.allocate(bytes, kind, name);
      taken = [...taken, allocation];
      return allocation.base;
    };
    try {
      const paramBase = take(packed.length, "parameter", "the kernel's parameters");
      memory.write(paramBase, packed, shadow.constant);
      const workspace = { low: 0, high: 0 };
      if (options.cooperative) {
        workspace.low = take(workspaceBytes, "parameter", "the grid's workspace");
        workspace.high = windows.global;
        memory.write(workspace.low, new Uint8Array(new Int32Array([workspaceBytes, 0, 0, 0]).buffer));
      }
      const slots: Slot[] = [];
      for (let k = 0; k < resident; k++) {
        slots.push({
          sharedBase: take(shape.sharedBytes, "shared", "shared memory"),
          localBase: take(lanes * localBytes, "local", "local memory"),
        });
      }
      const launch = new LaunchState({
        kernel,
        checks,
        limits,
        gridId: machine.nextGridId(),
        blocks,
        localBytes,
        paramBase,
        tagWords: resident * ((shape.sharedBytes + 3) >> 2),
        spares: machine.spares,
        access: machine.access,
        functionNames: this.functionNames,
        workspace,
        fileNames: this.module.files,
        startNanoseconds: machine.nanoseconds,
        print: options.print,
      });
      const run = new GridRun(launch, shape, slots, memory);
      return this.running(kernel, launch, run, options.reaches, () => {
        if (taken.length > 0) launch.giveBack();
        end();
      });
    } catch (error) {
      end();
      throw error;
    }
  }

  /** All blocks of a grid, those that run at a time, and the lanes of a block's warps. */
  private residency(fn: PtxFunction, kernel: CompiledKernel, { grid, block, cluster }: GridShape, options: MachineLaunchOptions) {
    const blocks = grid.x * grid.y * grid.z;
    const clusterBlocks = cluster.x * cluster.y * cluster.z;
    const most = Math.max(1, Math.floor((options.residentBlocks ?? this.machine.residentBlocks) / clusterBlocks)) * clusterBlocks;
    const resident = options.cooperative ? blocks : Math.min(blocks, most);
    const warpsOfBlock = Math.ceil((block.x * block.y * block.z) / 32);
    const bytes = resident * warpsOfBlock * kernel.entry.registerBytes;
    if (bytes > mostRegisterBytes)
      throw new LaunchError(
        undefined,
        `the registers of ${resident * warpsOfBlock} warps of ${fn.name} take ${bytes} bytes: there are ${mostRegisterBytes}`,
      );
    return { blocks, resident, lanes: 32 * warpsOfBlock };
  }

  private running(
    kernel: CompiledKernel,
    launch: LaunchState,
    run: GridRun,
    reaches: MachineLaunchOptions["reaches"],
    finish: () => void,
  ): RunningLaunch {
    const { machine } = this;
    return {
      get progress() {
        return launch.progress;
      },
      advance: () => {
        const show = reaches && machine.memory.hide(reaches);
        const before = launch.steps;
        let over = true;
        try {
          over = run.advance();
          if (over) {
            collectCounters(kernel, launch.counters);
            launch.counters.steps = launch.steps;
          }
          return over;
        } finally {
          machine.nanoseconds += launch.steps - before;
          show?.();
          if (over) finish();
        }
      },
      noteChange: () => {
        launch.progress++;
      },
      result: { counters: launch.counters, printed: launch.printed },
      abandon: finish,
    };
  }
}
