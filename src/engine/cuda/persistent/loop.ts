// A time loop that is one kernel launch a chunk: blocks that stay, hold the weights and hand each
// other the states. Which kernel, and how W lies in it, was decided before.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, LaunchConfig, PinnedBuffer, Stream } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { CommonKernels } from "../common-kernels.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, bytesOf } from "../kernels.js";
import { spinLimitOf } from "../spin-limit.js";
import { type ClosedLoopRun, StallError, type TimeLoop, type TimeLoopRun } from "../time-loop.js";
import type { KernelCode, NamedParameters } from "./kernel-code.js";

/**
 * Parameters that every persistent kernel of CUDA C++ has between those for its weights and those
 * for its layout.
 */
export const stepParameters = {
  ...({ report: "u64*", leak: "const real*", drive: "const real*", feedback: "const real*", state: "real*", states: "real*" } as const),
  ...({ size: "i32", steps: "i32", activation: "i32", noiseLevel: "real" } as const),
  ...({ key0: "u32", key1: "u32", firstStep: "u32", sequence: "u32" } as const),
} as const satisfies NamedParameters;

/** Words of a Report (kernels/exchange.cuh), and the one that says which block stalled. */
export const reportWords = 3;
export const stalledWord = 2;

/** A kernel and what it is launched with. */
export interface PersistentKernel {
  readonly name: string;
  readonly code: KernelCode;
  /**
   * Of weights and layout those that `PersistentMemory` gives, of the steps those of
   * `stepParameters`, and `spinLimit`.
   */
  readonly parameters: NamedParameters;
  readonly config: LaunchConfig;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/**
 * What a closed loop's entry takes behind all else: CLOSED_PARAMETERS of
 * kernels/closed_loop.cuh, and where its shared memory begins.
 */
export const closedParameters = {
  ...({ readout: "const f64*", intercept: "const f64*", outputs: "i32", features: "i32", squareHalf: "i32", withInput: "i32" } as const),
  ...({ width: "i32", inputWeights: "const real*", bias: "const real*", feedbackWeights: "const real*" } as const),
  ...({ inputs: "real*", answers: "real*", closedAt: "i32" } as const),
} as const satisfies NamedParameters;

/**
 * What a loop holds on the device beside the report, and numbers: arguments by their names. The
 * buffer `slots`, if there is one, must be zeros after a stall.
 */
export interface PersistentMemory {
  readonly buffers: Readonly<Record<string, AnyBuffer>>;
  readonly numbers: Readonly<Record<string, number>>;
}

export class PersistentLoop implements TimeLoop {
  readonly name: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly kernelMilliseconds: number | undefined;
  readonly #description: PersistentKernel;
  readonly #context: Context;
  readonly #model: ReservoirModel;
  readonly #kernel: AnyKernel;
  readonly #memory: PersistentMemory;
  readonly #leak: AnyBuffer;
  readonly #report: DeviceBuffer<"u64">;
  readonly #told: PinnedBuffer<"u64">;
  readonly #neuron: Readonly<Record<string, number>>;
  readonly #spinLimit: number;
  readonly #owned = new Making();
  #closed: { readonly kernel: AnyKernel; readonly common: CommonKernels } | undefined;
  #stalled = false;

  private constructor(
    context: Context,
    model: ReservoirModel,
    kernel: AnyKernel,
    description: PersistentKernel,
    memory: PersistentMemory,
    spinLimit: number,
    kernelMilliseconds: number | undefined,
  ) {
    this.name = description.name;
    const { details, code } = description;
    const made = kernelMilliseconds === undefined ? {} : { kernelMilliseconds };
    this.details = { kernel: code.entry, kernelSource: code.source, ...made, ...details };
    this.kernelMilliseconds = kernelMilliseconds;
    this.#description = description;
    this.#context = context;
    this.#model = model;
    this.#kernel = kernel;
    this.#memory = memory;
    this.#spinLimit = spinLimit;
    const [key0, key1] = model.noiseKey;
    const { size, noiseLevel } = model;
    this.#neuron = { size, activation: activationNumber[model.activation], noiseLevel, key0, key1 };
    using owned = this.#owned;
    const { own } = owned;
    for (const buffer of Object.values(memory.buffers)) own(buffer);
    this.#leak = own(context.upload(model.leakRate, { label: "a" }));
    this.#report = own(context.zeros("u64", reportWords, { label: "report of the blocks" }));
    this.#told = own(context.pinned("u64", reportWords, { label: "report of the blocks" }));
    owned.done();
  }

  /**
   * Loads the kernel, asks the device whether all blocks can run at once, and only then makes the
   * memory. Undefined if they cannot.
   * `begun` is when the making of the kernel began.
   * @throws what making the kernel throws
   */
  static async open(
    context: Context,
    model: ReservoirModel,
    description: PersistentKernel,
    makeMemory: () => PersistentMemory,
    spinLimit?: number,
    begun: number = performance.now(),
  ): Promise<PersistentLoop | undefined> {
    const limit = spinLimitOf(spinLimit);
    const { code, parameters, config } = description;
    const kernel = await code.load(context, parameters);
    const milliseconds = code.source === "shipped" ? undefined : Number((performance.now() - begun).toPrecision(3));
    if (!coResident(kernel, config)) return undefined;
    return new PersistentLoop(context, model, kernel, description, makeMemory(), limit, milliseconds);
  }

  /**
   * A closed chunk is one launch however long: as many steps as progress and signals may wait for.
   */
  get closedSteps(): number | undefined {
    return this.#description.code.closedEntry === undefined ? undefined : 2048;
  }

  get bytes(): number {
    return bytesOf([...Object.values(this.#memory.buffers), this.#leak, this.#report]);
  }

  enqueue(stream: Stream, run: TimeLoopRun): void {
    this.#clear(stream);
    const { drive, feedback, state, states } = run;
    const slices = { drive, feedback: feedback ?? null, state, states: states ?? null };
    stream.launch(this.#kernel, this.#description.config, ...this.#arguments(this.#description.parameters, run, slices));
    stream.read(this.#report.slice(0), this.#told);
  }

  enqueueClosed(stream: Stream, run: ClosedLoopRun): boolean {
    const { config, code } = this.#description;
    if (code.closedEntry === undefined) return false;
    const context = this.#context;
    const closedAt = config.shared ?? 0;
    const wider = { ...config, shared: closedAt + closedBytes(this.#model, run) };
    const parameters = { ...this.#description.parameters, ...closedParameters };
    this.#closed ??= { kernel: code.loadClosed(context, parameters), common: new CommonKernels(context, this.#model.precision) };
    const { kernel, common } = this.#closed;
    if (!coResident(kernel, wider)) return false;
    this.#clear(stream);
    const more = { ...closedArguments(stream, common, this.#model, run), state: run.state, closedAt };
    stream.launch(kernel, wider, ...this.#arguments(parameters, run, more));
    stream.read(this.#report.slice(0), this.#told);
    return true;
  }

  /** What a stalled chunk left behind could be taken for states. */
  #clear(stream: Stream): void {
    if (!this.#stalled) return;
    const { slots } = this.#memory.buffers;
    stream.fill(this.#report);
    if (slots) stream.fill(slots);
    this.#stalled = false;
  }

  #arguments(
    parameters: NamedParameters,
    { steps, firstStep, sequence }: { readonly steps: number; readonly firstStep: number; readonly sequence: number },
    more: Readonly<Record<string, AnyArgument>>,
  ): AnyArgument[] {
    const { buffers, numbers } = this.#memory;
    const values: Readonly<Record<string, AnyArgument>> = {
      ...{ report: this.#report, leak: this.#leak, spinLimit: this.#spinLimit, ...this.#neuron, ...buffers, ...numbers },
      ...{ steps, firstStep: firstStep >>> 0, sequence, ...more },
    };
    return Object.keys(parameters).map((name) => values[name]!);
  }

  check(): void {
    const stalled = this.#told.array[stalledWord]!;
    if (stalled === 0n) return;
    this.#told.array[stalledWord] = 0n;
    this.#stalled = true;
    throw new StallError(this.#description.code.entry, Number(stalled >> 32n) - 1, Number(stalled & 0xffffffffn), this.#spinLimit);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/** Bytes of shared memory that a closed loop takes beside the steps. */
export const closedBytes = ({ inputSize }: ReservoirModel, { readout }: ClosedLoopRun): number => 8 * (readout.outputs + inputSize + 1);

/**
 * What a closed chunk takes of `closedParameters` and of the steps; the drive of its steps is given
 * to the stream first, if y is fed back by weights.
 */
export function closedArguments(stream: Stream, common: CommonKernels, model: ReservoirModel, run: ClosedLoopRun) {
  const { size, inputSize, outputSize } = model;
  const { features, weights, intercept, outputs, featureCount } = run.readout;
  const byWeights = outputSize > 0;
  if (byWeights) {
    const inputs = inputSize > 0 ? run.inputs.slice(inputSize, (run.steps + 1) * inputSize) : null;
    common.drive(stream, inputs && run.inputWeights, run.bias, inputs, run.drive, { size, inputs: inputSize, steps: run.steps });
  }
  return {
    ...{ drive: byWeights ? run.drive : null, feedback: null, states: run.states },
    ...{ readout: weights, intercept, outputs, features: featureCount, width: inputSize },
    ...{ squareHalf: features.state === "squareHalf" ? 1 : 0, withInput: features.input ? 1 : 0 },
    ...{ inputWeights: run.inputWeights, bias: run.bias, feedbackWeights: run.feedbackWeights ?? null },
    ...{ inputs: run.inputs, answers: run.outputs },
  };
}

/** Whether all blocks of a launch run at once, which blocks that wait for one another need. */
function coResident(kernel: AnyKernel, config: LaunchConfig): boolean {
  const { grid, block, shared } = config as { grid: number; block: number; shared: number };
  if (config.cluster !== undefined) return kernel.maxActiveClusters(config) > 0;
  return kernel.maxCooperativeBlocks(block, shared) >= grid;
}
