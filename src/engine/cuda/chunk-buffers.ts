// The buffers of two chunks under way: while the device makes the states of one, those of the other
// come over. They grow with the longest chunk yet.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceEvent, DeviceSlice, PinnedBuffer } from "@spillway/gpu";
import { allocAny, realType } from "./kernels.js";
import type { ModelShape } from "./shape.js";
import type { RealSlice } from "./time-loop.js";

/** Page-locked memory in the model's precision. */
export type RealPinned = PinnedBuffer<"f32" | "f64">;

/** One of the two chunks. */
export interface ChunkSlot {
  /** capacity x I. */
  readonly inputs: RealSlice | null;
  readonly hostInputs: RealPinned | null;
  /** capacity x O: row t is what step t feeds back. */
  readonly outputs: RealSlice | null;
  readonly hostOutputs: RealPinned | null;
  /** capacity x N. */
  readonly states: RealSlice;
  /** N: x before the chunk. */
  readonly before: RealSlice;
  /** The index of the first state that is not finite, 2^64 - 1 if all are. */
  readonly firstNonFinite: DeviceSlice<"u64">;
  readonly hostFirstNonFinite: PinnedBuffer<"u64">;
  readonly computed: DeviceEvent;
  readonly copied: DeviceEvent;
}

export class ChunkBuffers {
  /** Steps that fit. */
  readonly capacity: number;
  readonly slots: readonly [ChunkSlot, ChunkSlot];
  /** capacity x N, of the chunk that is computed. */
  readonly drive: RealSlice;
  /** capacity x N, if the model has feedback. */
  readonly feedback: RealSlice | null;
  readonly #context: Context;
  readonly #shape: ModelShape;
  readonly #owned = new Making();
  #hostStates: readonly [RealPinned, RealPinned] | undefined;

  constructor(context: Context, shape: ModelShape, capacity: number) {
    const { size, outputSize } = shape;
    this.#context = context;
    this.#shape = shape;
    this.capacity = capacity;
    using owned = this.#owned;
    this.slots = [this.#slot(), this.#slot()];
    this.drive = this.#device(capacity * size, "drive");
    this.feedback = outputSize > 0 ? this.#device(capacity * size, "feedback") : null;
    owned.done();
  }

  /** capacity x N of page-locked memory for each chunk, taken when it is first needed. */
  hostStates(): readonly [RealPinned, RealPinned] {
    const values = this.capacity * this.#shape.size;
    this.#hostStates ??= [this.#pinned(values, "states"), this.#pinned(values, "states")];
    return this.#hostStates;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #slot(): ChunkSlot {
    const { size, inputSize, outputSize } = this.#shape;
    const { capacity } = this;
    const optional = <T>(columns: number, make: (values: number) => T): T | null => (columns > 0 ? make(capacity * columns) : null);
    return {
      inputs: optional(inputSize, (values) => this.#device(values, "inputs")),
      hostInputs: optional(inputSize, (values) => this.#pinned(values, "inputs")),
      outputs: optional(outputSize, (values) => this.#device(values, "fed back outputs")),
      hostOutputs: optional(outputSize, (values) => this.#pinned(values, "fed back outputs")),
      states: this.#device(capacity * size, "states"),
      before: this.#device(size, "x before a chunk"),
      firstNonFinite: this.#owned.own(this.#context.alloc("u64", 1, { label: "first non-finite state" })),
      hostFirstNonFinite: this.#owned.own(this.#context.pinned("u64", 1, { label: "first non-finite state" })),
      computed: this.#owned.own(this.#context.event({ timing: false })),
      copied: this.#owned.own(this.#context.event({ timing: false })),
    };
  }

  #device(values: number, label: string): RealSlice {
    return this.#owned.own(allocAny(this.#context, realType(this.#shape.precision), values, label));
  }

  #pinned(values: number, label: string): RealPinned {
    return this.#owned.own(this.#context.pinned(realType(this.#shape.precision), values, { label }));
  }
}
