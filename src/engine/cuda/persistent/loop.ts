// A time loop that is one kernel launch a chunk: blocks that stay, hold the weights and hand each other the states. Which kernel, and how W lies in
// it, was decided before.
import type { Context, DeviceBuffer, LaunchConfig, PinnedBuffer, Stream } from "../../../gpu/index.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { CommonKernels } from "../common-kernels.js";
import { abandonAll, disposeAll, type Disposes } from "../dispose.js";
import { type AnyBuffer, type AnyKernel, realKernel, type RealParameter } from "../kernels.js";
import { spinLimitOf } from "../spin-limit.js";
import { type ClosedLoopRun, type RealSlice, StallError, type TimeLoop, type TimeLoopRun } from "../time-loop.js";

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
  /** Whether there is an entry with "_closed" behind its name. */
  readonly closed: boolean;
}

/** What a closed loop's entry takes behind all else: CLOSED_PARAMETERS of kernels/include/closed_loop.cuh, and where its shared memory begins. */
const closedParameters = [
  ...(["const f64*", "const f64*", "i32", "i32", "i32", "i32", "i32", "const real*", "const real*", "const real*"] as const),
  ...(["real*", "real*", "i32"] as const),
] as const satisfies readonly RealParameter[];

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
  readonly #context: Context;
  readonly #model: ReservoirModel;
  readonly #kernel: AnyKernel;
  readonly #memory: PersistentMemory;
  readonly #leak: AnyBuffer;
  readonly #report: DeviceBuffer<"u64">;
  readonly #told: PinnedBuffer<"u64">;
  readonly #neuron: readonly [activation: number, noiseLevel: number, key0: number, key1: number];
  readonly #size: number;
  readonly #spinLimit: number;
  #closed: { readonly kernel: AnyKernel; readonly common: CommonKernels } | undefined;
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
    this.#context = context;
    this.#model = model;
    this.#kernel = kernel;
    this.#memory = memory;
    this.#size = model.size;
    this.#spinLimit = spinLimit;
    const [key0, key1] = model.noiseKey;
    this.#neuron = [activationNumber[model.activation], model.noiseLevel, key0, key1];
    const held: Disposes[] = [];
    const kept = <B extends Disposes>(buffer: B): B => {
      held.push(buffer);
      return buffer;
    };
    try {
      this.#leak = kept(context.upload(model.leakRate as Float32Array<ArrayBuffer>, { label: "a" })) as unknown as AnyBuffer;
      this.#report = kept(context.zeros("u64", reportWords, { label: "report of the blocks" }));
      this.#told = kept(context.pinned("u64", reportWords, { label: "report of the blocks" }));
    } catch (error) {
      abandonAll(held);
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
    spinLimit?: number,
  ): PersistentLoop | undefined {
    const limit = spinLimitOf(spinLimit);
    const { file, entry, leading, trailing, config } = description;
    const kernel = realKernel(context, file, entry, model.precision, [...leading, ...stepParameters, ...trailing, "i64"]);
    if (!coResident(kernel, config)) return undefined;
    const memory = makeMemory();
    try {
      return new PersistentLoop(context, model, kernel, description, memory, limit);
    } catch (error) {
      abandonAll(memory.leading);
      throw error;
    }
  }

  /** A closed chunk is one launch however long: as many steps as progress and signals may wait for. */
  get closedSteps(): number | undefined {
    return this.#description.closed ? 2048 : undefined;
  }

  get bytes(): number {
    return [...this.#memory.leading, this.#leak, this.#report].reduce((sum, buffer) => sum + buffer.byteLength, 0);
  }

  enqueue(stream: Stream, run: TimeLoopRun): void {
    this.#clear(stream);
    const { drive, feedback, state, states } = run;
    stream.launch(this.#kernel, this.#description.config, ...this.#arguments(run, [drive, feedback ?? null, state, states ?? null]));
    stream.read(this.#report.slice(0), this.#told);
  }

  enqueueClosed(stream: Stream, run: ClosedLoopRun): boolean {
    const { precision, size, inputSize, outputSize } = this.#model;
    const { config, entry, file, leading, trailing, closed } = this.#description;
    const { features, weights, intercept, outputs, featureCount } = run.readout;
    if (!closed) return false;
    const context = this.#context;
    const closedAt = config.shared ?? 0;
    const wider = { ...config, shared: closedAt + 8 * (outputs + inputSize + 1) };
    this.#closed ??= {
      kernel: realKernel(context, file, `${entry}_closed`, precision, [
        ...leading,
        ...stepParameters,
        ...trailing,
        "i64",
        ...closedParameters,
      ]),
      common: new CommonKernels(context, precision),
    };
    const { kernel, common } = this.#closed;
    if (!coResident(kernel, wider)) return false;
    this.#clear(stream);
    const byWeights = outputSize > 0;
    if (byWeights) {
      const inputs = inputSize > 0 ? (run.inputs.slice(inputSize, (run.steps + 1) * inputSize) as RealSlice) : null;
      common.drive(stream, inputs && run.inputWeights, run.bias, inputs, run.drive, { size, inputs: inputSize, steps: run.steps });
    }
    stream.launch(
      kernel,
      wider,
      ...this.#arguments(run, [byWeights ? run.drive : null, null, run.state, run.states]),
      ...([
        weights,
        intercept,
        outputs,
        featureCount,
        features.state === "squareHalf" ? 1 : 0,
        features.input ? 1 : 0,
        inputSize,
      ] as never[]),
      ...([run.inputWeights, run.bias, run.feedbackWeights ?? null, run.inputs, run.outputs, closedAt] as never[]),
    );
    stream.read(this.#report.slice(0), this.#told);
    return true;
  }

  /** What a stalled chunk left behind could be taken for states. */
  #clear(stream: Stream): void {
    if (!this.#stalled) return;
    stream.fill(this.#report);
    if (this.#memory.places) stream.fill(this.#memory.places);
    this.#stalled = false;
  }

  #arguments(run: { steps: number; firstStep: number; sequence: number }, slices: readonly (RealSlice | null)[]): never[] {
    const { steps, firstStep, sequence } = run;
    const neuron = [this.#size, steps, ...this.#neuron, firstStep >>> 0, sequence];
    return [...this.#memory.leading, this.#report, this.#leak, ...slices, ...neuron, ...this.#memory.trailing, this.#spinLimit] as never[];
  }

  check(): void {
    const stalled = this.#told.array[stalledWord]!;
    if (stalled === 0n) return;
    this.#told.array[stalledWord] = 0n;
    this.#stalled = true;
    throw new StallError(this.#description.entry, Number(stalled >> 32n) - 1, Number(stalled & 0xffffffffn), this.#spinLimit);
  }

  dispose(): void {
    disposeAll([...this.#memory.leading, this.#leak, this.#report, this.#told]);
  }
}

/** Whether all blocks of a launch run at once, which blocks that wait for one another need. */
function coResident(kernel: AnyKernel, config: LaunchConfig): boolean {
  const { grid, block, shared } = config as { grid: number; block: number; shared: number };
  if (config.cluster !== undefined) return kernel.maxActiveClusters(config) > 0;
  return kernel.maxCooperativeBlocks(block, shared) >= grid;
}
