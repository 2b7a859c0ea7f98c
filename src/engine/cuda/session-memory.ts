// What a session has open on its device: the model, buffers of chunks, two streams, the time loop.
// It computes nothing by itself.
import { disposeAll, Held } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { FloatArray } from "@spillway/numerics";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { StatePlace } from "../session-record.js";
import { ChunkBuffers } from "./chunk-buffers.js";
import type { PipelineParts } from "./chunk-pipeline.js";
import { CommonKernels } from "./common-kernels.js";
import { DeviceModel } from "./device-model.js";
import type { CompiledSource } from "./kernels.js";
import type { DeviceClock } from "./profile.js";
import { shapeOf } from "./shape.js";
import type { RealSlice, TimeLoop } from "./time-loop.js";

/** What the memory of a session is made of. */
export interface MemoryParts {
  readonly context: Context;
  readonly model: ReservoirModel;
  readonly loop: TimeLoop;
  /** The most steps of a chunk. */
  readonly capacity: number;
  /** A loop that takes every closed loop, used if `loop` has none. */
  readonly openStreamed: () => Promise<TimeLoop>;
  /** Where the plan's own matvec_input comes from. */
  readonly compiled?: CompiledSource;
  /** Times phases; the session disposes of it. */
  readonly clock?: DeviceClock | undefined;
}

export class SessionMemory implements PipelineParts, StatePlace {
  readonly context: Context;
  readonly model: ReservoirModel;
  readonly loop: TimeLoop;
  readonly clock: DeviceClock | undefined;
  readonly device: DeviceModel;
  readonly common: CommonKernels;
  readonly compute: Stream;
  readonly copies: Stream;
  readonly #parts: MemoryParts;
  readonly #owned = new Held();
  #buffers: ChunkBuffers | undefined;
  #streamed: TimeLoop | undefined;

  /** x is the model's initial state. */
  constructor(parts: MemoryParts) {
    const { context, model, loop, clock } = parts;
    this.context = context;
    this.model = model;
    this.loop = loop;
    this.clock = clock;
    this.#parts = parts;
    const { own } = this.#owned;
    try {
      if (clock) own(clock);
      this.device = own(new DeviceModel(context, model));
      this.common = new CommonKernels(context, model.precision, {
        source: parts.compiled,
        integers: model.config.arithmetic === "integer",
      });
      this.compute = own(context.stream({ label: "reservoir" }));
      this.copies = own(context.stream({ label: "states to the host" }));
      this.setValues(model.initialState);
      clock?.watch(this.compute);
      clock?.watch(this.copies);
    } catch (error) {
      this.#owned.disposeQuietly();
      throw error;
    }
  }

  getValues(): FloatArray {
    return this.context.read(this.device.state);
  }

  setValues(values: FloatArray): void {
    this.compute.upload(this.device.state, values);
  }

  get lost(): boolean {
    return this.context.loss !== undefined;
  }

  async openStreamed(): Promise<TimeLoop> {
    this.#streamed ??= await this.#parts.openStreamed();
    return this.#streamed;
  }

  /** Buffers for chunks of up to `rows` steps, within what was planned. */
  buffersFor(rows: number): ChunkBuffers {
    const wanted = Math.min(this.#parts.capacity, Math.max(1, rows));
    if (this.#buffers && this.#buffers.capacity >= wanted) return this.#buffers;
    this.#buffers?.dispose();
    this.#buffers = undefined;
    this.#buffers = new ChunkBuffers(this.context, shapeOf(this.model), wanted);
    return this.#buffers;
  }

  /**
   * Waits for all work and puts x back; an error of that work, or a wait that expired, is thrown in
   * place of the one under way.
   */
  async goBack(state: RealSlice): Promise<void> {
    if (this.lost) return;
    await this.copies.done();
    await this.compute.done();
    this.loop.check();
    this.compute.copy(this.device.state, state);
    this.compute.sync();
  }

  /** Gives all of it back, the time loops too. */
  dispose(): void {
    disposeAll([this.#owned, this.loop, this.#streamed, this.#buffers]);
  }
}
