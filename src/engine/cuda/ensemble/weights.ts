// What members of one shape do not change when they run: their weights, parameters and initial
// states, in device memory.
import { disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, HostArray, Stream } from "@spillway/gpu";
import { allocate, type FloatArray, isSparse, type Matrix, type SparseMatrix } from "@spillway/numerics";
import { tanhTable } from "../../../reservoir/integer/tanh.js";
import { integerRows } from "../../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { entriesInWords, inWords, pairsInWords, ratesInWords } from "../integer-words.js";
import type { AnyArgument } from "../kernels.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { Distinct } from "./distinct.js";
import { type EnsembleKernel, integerWords } from "./kernel-choice.js";
import { type SlicedPattern, sliceValues } from "./slices.js";
import { Uploads } from "./uploads.js";

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
  readonly #memory: Uploads;
  readonly #stream: Stream;
  /** Dense matrices that are not there yet, and the memory that takes them one behind another. */
  #toSend: { readonly target: RealSlice; readonly matrices: readonly Matrix[] } | undefined;
  #sending: Promise<void> | undefined;
  readonly #indices: readonly { readonly weights: number; readonly parameters: number }[];

  constructor(context: Context, stream: Stream, kernel: EnsembleKernel, models: readonly ReservoirModel[], patterns: Patterns) {
    this.kernel = kernel;
    const { precision, size, inputSize, outputSize } = models[0]!;
    const memory = new Uploads(context, stream, precision);
    this.#memory = memory;
    this.#stream = stream;
    try {
      const weights = new Distinct<Matrix | SparseMatrix>();
      const distinct = new Distinct<ReservoirModel>();
      this.#indices = models.map((model) => ({ weights: weights.index(model.weights), parameters: distinct.index(model) }));
      const gathered = (columns: number, label: string, values: (model: ReservoirModel) => FloatArray) =>
        memory.gathered(distinct.items, columns, label, values);
      const fedBack = outputSize * size;
      const rows = new Map(kernel.integers ? distinct.items.map((model) => [model, integerRows(model)] as const) : []);
      const parametersOf = new Map(
        distinct.items.map((model) => [model, kernel.integers ? inWords(model, rows.get(model)!) : model] as const),
      );
      const parameters = [
        gathered(inputSize * size, "W_in", (model) => transposed(parametersOf.get(model)!.inputWeights)),
        gathered(fedBack, "W_fb", (model) => {
          const { feedbackWeights } = parametersOf.get(model)!;
          return feedbackWeights ? transposed(feedbackWeights) : allocate(precision, fedBack);
        }),
        gathered(size, "b", (model) => parametersOf.get(model)!.bias),
        gathered(size, "leak rates", (model) => (kernel.integers ? ratesInWords(rows.get(model)!) : model.leakRate)),
        gathered(1, "noise levels", ({ noiseLevel }) => allocate(precision, 1).fill(noiseLevel)),
        memory.table(
          "u32",
          [Uint32Array.from(distinct.items.flatMap(({ noiseKey }) => [...noiseKey]))],
          2 * distinct.items.length,
          "noise keys",
        ),
      ];
      this.initial = memory.gathered(models, size, "initial states", ({ initialState }) => initialState);
      const steps = (weight: Matrix | SparseMatrix): Int16Array => rows.get(models.find((model) => model.weights === weight)!)!.weights;
      const matrices =
        kernel.storage === "sliced"
          ? this.#sliced(models, weights.items as SparseMatrix[], patterns, kernel.integers ? steps : undefined)
          : kernel.integers
            ? [memory.matrix(weights.items, integerWords(size), "W", (weight) => pairsInWords(steps(weight), size))]
            : [this.#later(memory.real(weights.items.length * size * size, "W"), weights.items as Matrix[])];
      const table = kernel.integers ? [memory.table("i16", [tanhTable], tanhTable.length, "tanh")] : [];
      this.arguments = [...matrices, ...table, ...parameters];
    } catch (error) {
      disposeQuietly([memory]);
      throw error;
    }
  }

  #later(target: RealSlice, matrices: readonly Matrix[]): RealSlice {
    this.#toSend = { target, matrices };
    return target;
  }

  /** Resolves when all weights are there; no kernel may be given them before. @throws CudaError */
  async sent(): Promise<void> {
    const { target, matrices } = this.#toSend ?? {};
    if (!target || !matrices) return;
    const parts = matrices.map(({ data }, k) => ({ start: k * data.length, array: data as HostArray }));
    this.#sending ??= this.#stream.fromHost(target, parts);
    await this.#sending;
    this.#toSend = undefined;
  }

  /** Which weights and which parameters are a model's. */
  indicesOf(model: number): { readonly weights: number; readonly parameters: number } {
    return this.#indices[model]!;
  }

  dispose(): void {
    this.#memory.dispose();
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
    const { slots } = list[0]!;
    const values = memory.matrix([...weights.entries()], entries, "W", ([w, matrix]) => {
      const pattern = list[patternOf[w]!]!;
      if (steps) return entriesInWords(pattern, steps(matrix));
      return sliceValues(pattern, matrix.values, allocate(models[0]!.precision, pattern.entries));
    });
    const table = <T extends "i32" | "u16">(
      dtype: T,
      columns: number,
      label: string,
      of: (pattern: SlicedPattern) => Int32Array | Uint16Array,
    ) => memory.table(dtype, list.map(of) as Int32Array<ArrayBuffer>[], columns, label);
    return [
      values,
      memory.table("i32", [patternOf], patternOf.length, "patterns"),
      table("u16", entries, "columns", (pattern) => pattern.columns),
      table("i32", slots, "rows of slots", (pattern) => pattern.order),
      table("i32", slots / 32 + 1, "slices", (pattern) => pattern.offsets),
      entries,
      slots,
    ];
  }
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

function transposed({ rows, cols, data }: Matrix): FloatArray {
  const out = allocate(data instanceof Float32Array ? "float32" : "float64", data.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out[c * rows + r] = data[r * cols + c]!;
  return out;
}

/** A model's weights if they are sparse. */
export function sparseWeights(model: ReservoirModel): SparseMatrix | undefined {
  return isSparse(model.weights) ? model.weights : undefined;
}
