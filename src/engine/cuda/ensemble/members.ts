// Members of one shape in one run: their inputs and states on the device, and the launches that run
// them.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import type { DeviceMatrix } from "../../../reservoir/device-matrix.js";
import type { SequenceInput } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { copyRows, slicesOf } from "../device-rows.js";
import { uploadSoon } from "../host-calls.js";
import { type AnyArgument, type AnyKernel, type RealParameter, realKernel } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";
import { Distinct } from "./distinct.js";
import type { EnsembleKernel } from "./kernel-choice.js";
import { evenShared } from "./rounds.js";
import { Uploads } from "./uploads.js";
import type { DeviceWeights } from "./weights.js";

/** One reservoir and one sequence through it. */
export interface Member {
  readonly model: ReservoirModel;
  readonly sequence: SequenceInput;
  /** The noise sequence. */
  readonly number: number;
}

/** Words of a row of the kernels' table of members. */
export const tableColumns = 8;

const parameterTypes: readonly RealParameter[] = [
  ...(["const real*", "const real*", "const real*", "const real*", "const real*", "const u32*"] as const),
  ...(["const real*", "const real*", "real*", "real*", "const i32*", "u64*", "i32", "i32", "i32", "i32"] as const),
];
const sliceTypes: readonly RealParameter[] = ["const i32*", "const u16*", "const i32*", "const i32*", "i32", "i32"];

/**
 * The kernel of a choice: weights, for sliced ones their patterns, and then what all ensemble
 * kernels take.
 */
export function ensembleKernel(
  context: Context,
  { file, name, storage, integers }: EnsembleKernel,
  precision: "float32" | "float64",
): AnyKernel {
  const own: RealParameter[] = [...(storage === "sliced" ? sliceTypes : []), ...(integers ? (["const i16*"] as const) : [])];
  return realKernel(context, file, name, precision, ["const real*", ...own, ...parameterTypes]);
}

/** Series one after the other, each of them once. */
class Rows<Series extends Matrix | DeviceMatrix> {
  readonly series = new Distinct<Series>();
  readonly starts: number[] = [];
  rows = 0;
  readonly #gap: number;

  /** `gap` rows stand before each series. */
  constructor(gap: number) {
    this.#gap = gap;
  }

  /** The first row of a series, its gap not counted. */
  start(series: Series): number {
    const index = this.series.index(series);
    if (index === this.starts.length) {
      this.starts.push(this.rows + this.#gap);
      this.rows += this.#gap + series.rows;
    }
    return this.starts[index]!;
  }
}

/** Where a member's data are. */
interface MemberData {
  readonly weights: number;
  readonly parameters: number;
  readonly inputRow: number;
  /** The row that the first step feeds back; below 0 if that and all others are zeros. */
  readonly outputRow: number;
}

/** Members of one shape with their series, ready to run in chunks of steps. */
export class DeviceMembers {
  /** members x N: x. */
  readonly state: RealSlice;
  /** All input series, one after the other: rows x I. */
  readonly inputs: RealSlice;
  readonly #members: readonly Member[];
  readonly #kernel: AnyKernel;
  readonly #shape: EnsembleKernel;
  /** Dynamic shared memory of a launch. */
  readonly #shared: number;
  readonly #model: ReservoirModel;
  readonly #owned = new Making();
  readonly #failures: DeviceBuffer<"u64">;
  readonly #table: DeviceBuffer<"i32">;
  readonly #arguments: readonly AnyArgument[];
  readonly #data: readonly MemberData[];

  /** `first` is the index of the first member's model in `weights`; the others follow it. */
  constructor(context: Context, stream: Stream, weights: DeviceWeights, members: readonly Member[], first = 0) {
    this.#members = members;
    this.#shape = weights.kernel;
    this.#model = members[0]!.model;
    const { precision, size, inputSize, outputSize } = this.#model;
    this.#kernel = ensembleKernel(context, this.#shape, precision);
    this.#shared = evenShared(context.info, this.#kernel, this.#shape, members.length);
    using made = this.#owned;
    const memory = new Uploads(made, context, stream, precision);
    const inputs = new Rows<Matrix | DeviceMatrix>(0);
    // y before the first step is 0, and row t of a teacher reaches step t + 1.
    const teachers = new Rows<Matrix>(1);
    this.#data = members.map(({ sequence: { inputs: series, teacher } }, r) => {
      const { weights: matrix, parameters } = weights.indicesOf(first + r);
      const outputRow = outputSize > 0 && teacher ? teachers.start(teacher) - 1 : -1;
      return { weights: matrix, parameters, inputRow: inputs.start(series), outputRow };
    });
    this.inputs = memory.real(inputs.rows * inputSize, "inputs");
    const given = [...inputs.series.items.entries()].flatMap(([s, series]) =>
      series instanceof Matrix ? [{ series, start: inputs.starts[s]! }] : [],
    );
    memory.fillRowsAt(
      this.inputs,
      given.map(({ series }) => series),
      given.map(({ start }) => start),
      inputSize,
    );
    stream.waitFor(slicesOf(members.map(({ sequence }) => sequence)));
    copyRows(stream, inputs.series.items, 0, Number.POSITIVE_INFINITY, this.inputs, (s) => inputs.starts[s]! * inputSize);
    const outputs = memory.real(teachers.rows * outputSize, "fed back outputs");
    stream.fill(outputs);
    memory.fillRowsAt(outputs, teachers.series.items, teachers.starts, outputSize);
    this.state = memory.real(members.length * size, "x");
    const initial = weights.initial.slice(first * size, (first + members.length) * size);
    stream.copy(this.state, initial);
    this.#failures = memory.take("u64", members.length, "first non-finite states");
    stream.fill(this.#failures.as("u32"), 0xffffffff);
    this.#table = memory.take("i32", tableColumns * members.length, "members");
    this.#arguments = [...weights.arguments, this.inputs, outputs];
    made.done();
  }

  /** The first row of a member's inputs. */
  inputRow(member: number): number {
    return this.#data[member]!.inputRow;
  }

  /**
   * Enqueues steps [from, to) of every member that is as long; states, if they are kept, go to
   * rows member * pitch + step - from. Members may be given in parts, the first of them first.
   */
  enqueue(
    stream: Stream,
    from: number,
    to: number,
    states: RealSlice | null,
    pitch: number,
    { first, count } = { first: 0, count: this.#members.length },
  ): void {
    const { size, inputSize, outputSize, activation } = this.#model;
    if (first === 0) this.#fillTable(stream, from, to, pitch);
    const config = { grid: count, block: this.#shape.threads, shared: this.#shared };
    const sizes = [size, inputSize, outputSize, activationNumber[activation]];
    const own = [this.state.slice(first * size), states, this.#table.slice(first * tableColumns), this.#failures.slice(first)];
    stream.launch(this.#kernel, config, ...this.#arguments, ...own, ...sizes);
  }

  #fillTable(stream: Stream, from: number, to: number, pitch: number): void {
    const table = new Int32Array(tableColumns * this.#members.length);
    for (const [r, { sequence, number }] of this.#members.entries()) {
      const { weights, parameters, inputRow, outputRow } = this.#data[r]!;
      const steps = Math.max(0, Math.min(to, sequence.inputs.rows) - from);
      const at = r * tableColumns;
      table[at] = weights;
      table[at + 1] = parameters;
      table[at + 2] = inputRow + from;
      table[at + 3] = outputRow < 0 ? -1 : outputRow + from;
      table[at + 4] = r * pitch;
      table[at + 5] = steps;
      table[at + 6] = number;
      table[at + 7] = from;
    }
    uploadSoon(stream, this.#table, table);
  }

  /**
   * The members that have a state that is not finite, and step and neuron of the first of each,
   * after all that the stream was given.
   */
  async failures(stream: Stream): Promise<readonly { readonly member: number; readonly step: number; readonly neuron: number }[]> {
    // As pairs of 32-bit words: the neuron, then the step; both all ones if there is none.
    const words = await stream.download(this.#failures.as("u32"));
    const found = [];
    for (let member = 0; member < this.#members.length; member++) {
      const [neuron, step] = [words[2 * member]!, words[2 * member + 1]!];
      if (neuron !== 0xffffffff || step !== 0xffffffff) found.push({ member, step, neuron });
    }
    return found;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
