// x in the two buffers of a streamed step, and what a step reads beside W.
import { type Disposes, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import type { FloatArray, Precision } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type AnyKernel, loadEntries, type RealType, realKernel, realType } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";
import type { StepArguments, StreamedRun, StreamedWeights } from "./weights.js";

/** Of a Chunk (kernels/chunk.cuh). */
export const chunkBytes = 40;

/** The entries that set and advance the description of a chunk. */
export const chunkKernels = (context: Context) => loadEntries(context, "reservoir_step", ["set_chunk", "advance_chunk"]);

export class StepState implements Disposes {
  readonly chunk: DeviceBuffer<"u64">;
  /** The packed states that even and odd steps read. */
  readonly packed: readonly [RealSlice, RealSlice];
  readonly bytes: number;
  readonly #owned = new Making();
  readonly #weights: StreamedWeights;
  readonly #size: number;
  readonly #leak: RealSlice;
  readonly #keep: RealSlice;
  readonly #setChunk: AnyKernel;
  readonly #pack: AnyKernel;

  constructor(context: Context, { precision, size, leakRate }: ReservoirModel, weights: StreamedWeights, label: string) {
    using made = this.#owned;
    const real = realType(precision);
    this.#weights = weights;
    this.#size = size;
    const parameters = ["u64*", `const ${real}*`, `const ${real}*`, `${real}*`, "u32", "u32"] as const;
    this.#setChunk = chunkKernels(context).kernel("set_chunk", parameters);
    this.#pack = weights.packing?.pack ?? packingKernel(context, "pack_state", precision, ["const real*", "real*", "i32", "i32", "i32"]);
    const kept: DeviceBuffer[] = [];
    const keep = <B extends DeviceBuffer>(buffer: B): B => {
      kept.push(buffer);
      return made.own(buffer);
    };
    const state = () => keep(context.zeros(real, weights.stateLength, { label }));
    this.packed = [state(), state()];
    this.#leak = keep(context.upload<FloatArray, RealType>(leakRate, { label: "a" }));
    this.#keep = keep(context.upload<FloatArray, RealType>(keepRates(leakRate, precision), { label: "1 - a" }));
    this.chunk = keep(context.zeros("u64", chunkBytes / 8, { label: "chunk" }));
    this.bytes = kept.reduce((sum, { byteLength }) => sum + byteLength, 0);
    made.done();
  }

  /** Describes a run, and packs x. */
  begin(stream: Stream, { state, drive, feedback, states, firstStep, sequence }: Omit<StreamedRun, "packed">): void {
    const run = [drive, feedback ?? null, states ?? null, firstStep >>> 0, sequence] as const;
    stream.launch(this.#setChunk, { grid: 1, block: 1 }, this.chunk, ...run);
    const { stateLength, lanes } = this.#weights;
    const grid = { grid: Math.ceil(stateLength / 256), block: 256 };
    stream.launch(this.#pack, grid, state, this.packed[0], this.#size, stateLength, lanes);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  arguments(step: number): StepArguments {
    const [before, after] = step % 2 === 0 ? this.packed : [this.packed[1], this.packed[0]];
    return { before, after, chunk: this.chunk, leak: this.#leak, keep: this.#keep, step };
  }
}

/** A kernel of the form of pack_state_f32 or unpack_state_f32 (kernels/reservoir_step.cu). */
export const packingKernel = (context: Context, name: string, precision: Precision, parameters: Parameters<typeof realKernel>[4]) =>
  realKernel(context, "reservoir_step", `${name}_${realType(precision)}`, precision, parameters);

/** 1 - a, rounded once. */
export function keepRates(leak: FloatArray, precision: Precision): FloatArray {
  return precision === "float32" ? Float32Array.from(leak, (a) => 1 - a) : Float64Array.from(leak, (a) => 1 - a);
}
