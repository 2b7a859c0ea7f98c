// A time loop that is one kernel launch a chunk: blocks that stay, hold the weights and hand each other the states. Which kernel, and how W lies in
// it, was decided before.
import type { Context, DeviceBuffer, LaunchConfig, PinnedBuffer, Stream } from "../../../gpu/index.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { type AnyBuffer, type AnyKernel, realKernel, type RealParameter } from "../kernels.js";
import { StallError, type TimeLoop, type TimeLoopRun } from "../time-loop.js";

/** Clock ticks that a block waits for the others: seconds on any device, and far more than a step. */
export const defaultSpinLimit = 8e9;

/** Parameters that every persistent kernel has between those for its weights and those for its layout. */
export const stepParameters = [
  ...(["u64*", "const real*", "const real*", "const real*", "real*", "real*"] as const),
  ...(["i32", "i32", "i32", "real", "u32", "u32", "u32", "u32"] as const),
] as const satisfies readonly RealParameter[];

/** Words of a Report (kernels/include/exchange.cuh), and the one that says which block stalled. */
const reportWords = 3;
const stalledWord = 2;

/** A kernel and what it is launched with. */
export interface PersistentKernel {
  readonly name: string;
  readonly file: string;
  readonly entry: string;
  /** Parameters before and after `stepParameters`. */
  readonly leading: readonly RealParameter[];
  readonly trailing: readonly RealParameter[];
  readonly config: LaunchConfig;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** What a loop holds on the device beside the report: arguments before and after those of the steps, and the memory that must be zeros after a stall. */
export interface PersistentMemory {
  readonly leading: readonly AnyBuffer[];
  readonly trailing: readonly number[];
  readonly places?: DeviceBuffer<"u64"> | undefined;
}

export class PersistentLoop implements TimeLoop {
  readonly name: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly #description: PersistentKernel;
  readonly #kernel: AnyKernel;
  readonly #memory: PersistentMemory;
  readonly #leak: AnyBuffer;
  readonly #report: DeviceBuffer<"u64">;
  readonly #told: PinnedBuffer<"u64">;
  readonly #neuron: readonly [activation: number, noiseLevel: number, key0: number, key1: number];
  readonly #size: number;
  readonly #spinLimit: number;
  #stalled = false;

  private constructor(
    context: Context,
    model: ReservoirModel,
    kernel: AnyKernel,
    description: PersistentKernel,
    memory: PersistentMemory,
    spinLimit: number,
  ) {
    this.name = description.name;
    this.details = description.details;
    this.#description = description;
    this.#kernel = kernel;
    this.#memory = memory;
    this.#size = model.size;
    this.#spinLimit = spinLimit;
    const [key0, key1] = model.noiseKey;
    this.#neuron = [activationNumber[model.activation], model.noiseLevel, key0, key1];
    const held: { dispose(): void }[] = [];
    const kept = <B extends { dispose(): void }>(buffer: B): B => {
      held.push(buffer);
      return buffer;
    };
    try {
      this.#leak = kept(context.upload(model.leakRate as Float32Array<ArrayBuffer>, { label: "a" })) as unknown as AnyBuffer;
      this.#report = kept(context.zeros("u64", reportWords, { label: "report of the blocks" }));
      this.#told = kept(context.pinned("u64", reportWords, { label: "report of the blocks" }));
    } catch (error) {
      for (const buffer of held) buffer.dispose();
      throw error;
    }
  }

  /**
   * Loads the kernel, asks the device whether all blocks can run at once, and only then makes the memory. Undefined where they cannot.
   */
  static open(
    context: Context,
    model: ReservoirModel,
    description: PersistentKernel,
    makeMemory: () => PersistentMemory,
    spinLimit: number = defaultSpinLimit,
  ): PersistentLoop | undefined {
    const { file, entry, leading, trailing, config } = description;
    const kernel = realKernel(context, file, entry, model.precision, [...leading, ...stepParameters, ...trailing, "i64"]);
    if (!coResident(kernel, config)) return undefined;
    const memory = makeMemory();
    try {
      return new PersistentLoop(context, model, kernel, description, memory, spinLimit);
    } catch (error) {
      for (const buffer of memory.leading) buffer.dispose();
      throw error;
    }
  }

  get bytes(): number {
    return [...this.#memory.leading, this.#leak, this.#report].reduce((sum, buffer) => sum + buffer.byteLength, 0);
  }

  enqueue(stream: Stream, run: TimeLoopRun): void {
    if (this.#stalled) {
      // What a stalled chunk left behind could be taken for states.
      stream.fill(this.#report);
      if (this.#memory.places) stream.fill(this.#memory.places);
      this.#stalled = false;
    }
    const [activation, noiseLevel, key0, key1] = this.#neuron;
    stream.launch(
      this.#kernel,
      this.#description.config,
      ...([...this.#memory.leading, this.#report, this.#leak, run.drive, run.feedback ?? null, run.state, run.states ?? null] as never[]),
      ...([this.#size, run.steps, activation, noiseLevel, key0, key1, run.firstStep >>> 0, run.sequence] as never[]),
      ...([...this.#memory.trailing, this.#spinLimit] as never[]),
    );
    stream.read(this.#report.slice(0), this.#told);
  }

  check(): void {
    const stalled = this.#told.array[stalledWord]!;
    if (stalled === 0n) return;
    this.#told.array[stalledWord] = 0n;
    this.#stalled = true;
    throw new StallError(this.#description.entry, Number(stalled >> 32n) - 1, Number(stalled & 0xffffffffn), this.#spinLimit);
  }

  dispose(): void {
    for (const buffer of [...this.#memory.leading, this.#leak, this.#report, this.#told]) buffer.dispose();
  }
}

/** Whether all blocks of a launch run at once, which blocks that wait for one another need. */
function coResident(kernel: AnyKernel, config: LaunchConfig): boolean {
  const { grid, block, shared } = config as { grid: number; block: number; shared: number };
  if (config.cluster !== undefined) return kernel.maxActiveClusters(config) > 0;
  return kernel.maxCooperativeBlocks(block, shared) >= grid;
}
