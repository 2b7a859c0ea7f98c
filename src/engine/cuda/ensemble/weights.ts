// What members of one shape do not change when they run: their weights, parameters and initial
// states, in device memory.
import { Making } from "@spillway/core/disposal.js";
import type { Context, HostArray, Stream } from "@spillway/gpu";
import { allocate, type FloatArray, isSparse, type Matrix, type SparseMatrix } from "@spillway/numerics";
import { tanhTable } from "../../../reservoir/integer/tanh.js";
import { integerRows } from "../../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { entriesInWords, inWords, pairsInWords, ratesInWords } from "../integer-words.js";
import type { AnyArgument } from "../kernels.js";
import type { DeviceClock } from "../profile.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { Distinct } from "./distinct.js";
import { type EnsembleKernel, integerWords } from "./kernel-choice.js";
import { type SlicedPattern, sliceValues } from "./slices.js";
import { Uploads } from "./uploads.js";

/** How weights come to the device. */
export interface WeightTransfer {
  /** Copies parameters, and runs the members. */
  readonly compute: Stream;
  /** Copies dense weights. */
  readonly sender: Stream;
  readonly clock: DeviceClock | undefined;
  /** About so many bytes of dense weights are a portion; default 64 MiB. */
  readonly portionBytes?: number | undefined;
}

/** Patterns of the models whose weights are sparse. */
export type Patterns = ReadonlyMap<ReservoirModel, SlicedPattern>;

/**
 * Models of one size, precision, storage and activation, with as many inputs and outputs. What
 * several share is there once.
 */
export class DeviceWeights {
  readonly kernel: EnsembleKernel;
  /** models x N: x before the first step. */
  readonly initial: RealSlice;
  /** What the kernel takes first: weights, for sliced ones their patterns, and parameters. */
  readonly arguments: readonly AnyArgument[];
  /** Members of a portion: they run while the weights of those after them are on their way. */
  readonly portion: number;
  readonly #owned = new Making();
  readonly #memory: Uploads;
  readonly #sender: Stream;
  readonly #clock: DeviceClock | undefined;
  /** Dense matrices, and the memory that takes them one behind another. */
  #dense: { readonly target: RealSlice; readonly matrices: readonly Matrix[] } | undefined;
  /** Each resolves when the weights of a portion, and of those before it, are there. */
  #portions: readonly Promise<void>[] | undefined;
  #stopped = false;
  readonly #indices: readonly { readonly weights: number; readonly parameters: number }[];

  constructor(
    context: Context,
    { compute, sender, clock, portionBytes = 64 * 2 ** 20 }: WeightTransfer,
    kernel: EnsembleKernel,
    models: readonly ReservoirModel[],
    patterns: Patterns,
  ) {
    this.kernel = kernel;
    const { precision, size, inputSize, outputSize } = models[0]!;
    using made = this.#owned;
    const memory = new Uploads(made, context, compute, precision);
    this.#memory = memory;
    this.#sender = sender;
    this.#clock = clock;
    const { multiprocessors } = context.info.attributes;
    const fitting = Math.floor(portionBytes / (size * size * elementBytes(precision)));
    this.portion = multiprocessors * Math.max(1, Math.round(fitting / multiprocessors));
    const weights = new Distinct<Matrix | SparseMatrix>();
    const distinct = new Distinct<ReservoirModel>();
    this.#indices = models.map((model) => ({ weights: weights.index(model.weights), parameters: distinct.index(model) }));
    const rows = new Map(kernel.integers ? distinct.items.map((model) => [model, integerRows(model)] as const) : []);
    const parameterModels = kernel.integers ? distinct.items.map((model) => inWords(model, rows.get(model)!)) : distinct.items;
    const { items } = distinct;
    const parameters = [
      memory.gathered(parameterModels, inputSize * size, "W_in", ({ inputWeights }, to, at) => transpose(inputWeights, to, at)),
      memory.gathered(parameterModels, outputSize * size, "W_fb", ({ feedbackWeights }, to, at) => {
        if (feedbackWeights) transpose(feedbackWeights, to, at);
      }),
      memory.gathered(parameterModels, size, "b", ({ bias }, to, at) => to.set(bias, at)),
      memory.gathered(items, size, "leak rates", (model, to, at) =>
        to.set(kernel.integers ? ratesInWords(rows.get(model)!) : model.leakRate, at),
      ),
      memory.gathered(items, 1, "noise levels", ({ noiseLevel }, to, at) => {
        to[at] = noiseLevel;
      }),
      memory.table("u32", [Uint32Array.from(items.flatMap(({ noiseKey }) => [...noiseKey]))], 2 * items.length, "noise keys"),
    ];
    this.initial = memory.gathered(models, size, "initial states", ({ initialState }, to, at) => to.set(initialState, at));
    const steps = (weight: Matrix | SparseMatrix): Int16Array => rows.get(models.find((model) => model.weights === weight)!)!.weights;
    const matrices =
      kernel.storage === "sliced"
        ? this.#sliced(models, weights.items as SparseMatrix[], patterns, kernel.integers ? steps : undefined)
        : kernel.integers
          ? [memory.matrix(weights.items, integerWords(size), "W", (weight) => pairsInWords(steps(weight), size))]
          : [this.#later(memory.real(weights.items.length * size * size, "W"), weights.items as Matrix[])];
    const table = kernel.integers ? [memory.table("i16", [tanhTable], tanhTable.length, "tanh")] : [];
    this.arguments = [...matrices, ...table, ...parameters];
    made.done();
  }

  #later(target: RealSlice, matrices: readonly Matrix[]): RealSlice {
    this.#dense = { target, matrices };
    return target;
  }

  /** Begins to send the weights. */
  begin(): void {
    if (this.#dense) this.#portions ??= this.#send(this.#dense);
  }

  /**
   * Resolves when the weights of the first `models` are there, by default of all; no kernel may be
   * given them before. @throws CudaError
   */
  async sent(models = this.#indices.length): Promise<void> {
    this.begin();
    if (!this.#dense || !this.#portions) return;
    // Matrices are numbered in the order of the models.
    const last = this.#indices.slice(0, models).reduce((most, { weights }) => Math.max(most, weights), 0);
    const portion = Math.floor(last / this.portion);
    await this.#portions[portion];
    if (portion === this.#portions.length - 1) this.#dense = undefined;
  }

  /** Whether no weights are on their way any more. */
  get allSent(): boolean {
    return !this.#dense;
  }

  /** Ends the sending after the portion that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#portions ?? []);
  }

  #send({ target, matrices }: { readonly target: RealSlice; readonly matrices: readonly Matrix[] }): Promise<void>[] {
    const portions: Promise<void>[] = [];
    const sendFrom = async (first: number, before: Promise<void> | undefined): Promise<void> => {
      await before;
      if (this.#stopped) return;
      const portion = matrices.slice(first, first + this.portion);
      const parts = portion.map(({ data }, k) => ({ start: (first + k) * data.length, array: data as HostArray }));
      this.#clock?.on(this.#sender, "upload");
      await this.#sender.fromHost(target, parts);
      this.#clock?.off(this.#sender);
    };
    for (let first = 0; first < matrices.length; first += this.portion) {
      const sending = sendFrom(first, portions.at(-1));
      // Whoever waits for it gets the error.
      sending.catch(() => undefined);
      portions.push(sending);
    }
    return portions;
  }

  /** Which weights and which parameters are a model's. */
  indicesOf(model: number): { readonly weights: number; readonly parameters: number } {
    return this.#indices[model]!;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Values, the pattern of each weight matrix, and the patterns. */
  #sliced(
    models: readonly ReservoirModel[],
    weights: readonly SparseMatrix[],
    patterns: Patterns,
    steps: ((weight: SparseMatrix) => Int16Array) | undefined,
  ): AnyArgument[] {
    const distinct = new Distinct<SlicedPattern>();
    const patternOf = new Int32Array(weights.length);
    for (const [r, model] of models.entries()) patternOf[this.#indices[r]!.weights] = distinct.index(patterns.get(model)!);
    const memory = this.#memory;
    const list = distinct.items;
    const entries = largest(list);
    const values = memory.matrix([...weights.entries()], entries, "W", ([w, matrix]) => {
      const pattern = list[patternOf[w]!]!;
      if (steps) return entriesInWords(pattern, steps(matrix));
      return sliceValues(pattern, matrix.values, allocate(models[0]!.precision, pattern.entries));
    });
    return [values, memory.table("i32", [patternOf], patternOf.length, "patterns"), ...patternTables(memory, list, entries)];
  }
}

/** What a kernel takes of sliced patterns of up to so many entries. */
export function patternTables(memory: Uploads, patterns: readonly SlicedPattern[], entries: number): AnyArgument[] {
  const { slots } = patterns[0]!;
  const table = (dtype: "i32" | "u16", columns: number, label: string, of: (pattern: SlicedPattern) => Int32Array | Uint16Array) =>
    memory.table(dtype, patterns.map(of) as Int32Array<ArrayBuffer>[], columns, label);
  return [
    table("u16", entries, "columns", (pattern) => pattern.columns),
    table("i32", slots, "rows of slots", (pattern) => pattern.order),
    table("i32", slots / 32 + 1, "slices", (pattern) => pattern.offsets),
    ...[entries, slots],
  ];
}

/** Bytes of device memory that `DeviceWeights` takes for these models. */
export function weightBytes(models: readonly ReservoirModel[], patterns: Patterns): number {
  const { size, inputSize, outputSize, precision } = models[0]!;
  const element = elementBytes(precision);
  const distinct = new Set(models).size;
  const matrices = new Set(models.map(({ weights }) => weights)).size;
  const lists = [...new Set(models.map((model) => patterns.get(model)).filter((pattern) => pattern !== undefined))];
  const entries = lists.length > 0 ? largest(lists) : size * size;
  const perPattern = lists.length > 0 ? 2 * entries + 4 * (lists[0]!.slots + lists[0]!.slots / 32 + 1) : 0;
  const parameters = element * (size * (inputSize + outputSize + 2) + 1) + 8;
  return (
    matrices * (element * entries + (lists.length > 0 ? 4 : 0)) +
    lists.length * perPattern +
    distinct * parameters +
    models.length * size * element
  );
}

const largest = (patterns: readonly SlicedPattern[]): number => patterns.reduce((most, { entries }) => Math.max(most, entries), 0);

function transpose({ rows, cols, data }: Matrix, to: FloatArray, at: number): void {
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) to[at + c * rows + r] = data[r * cols + c]!;
}

/** A model's weights if they are sparse. */
export function sparseWeights(model: ReservoirModel): SparseMatrix | undefined {
  return isSparse(model.weights) ? model.weights : undefined;
}
