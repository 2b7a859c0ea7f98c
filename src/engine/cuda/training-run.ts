// Hands the chunks of a run to a trainer on the device, with the targets that go with them. It sums
// nothing itself.
import { type Disposes, disposeAll, Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, PinnedBuffer, Stream } from "@spillway/gpu";
import type { Matrix } from "@spillway/numerics";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { FinishedChunk } from "./chunk-pipeline.js";
import type { DeviceTrainer } from "./device-work.js";
import type { DeviceClock } from "./profile.js";

export class TrainingRun {
  readonly #context: Context;
  readonly #stream: Stream;
  readonly #trainer: DeviceTrainer;
  readonly #targets: Matrix;
  readonly #washout: number;
  readonly #model: ReservoirModel;
  readonly #clock: DeviceClock | undefined;
  #onDevice: readonly [DeviceBuffer<"f64">, DeviceBuffer<"f64">] | undefined;
  #onHost: readonly [PinnedBuffer<"f64">, PinnedBuffer<"f64">] | undefined;
  #chunks = 0;

  constructor(
    context: Context,
    stream: Stream,
    trainer: DeviceTrainer,
    targets: Matrix,
    washout: number,
    model: ReservoirModel,
    clock?: DeviceClock,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#trainer = trainer;
    this.#targets = targets;
    this.#washout = washout;
    this.#model = model;
    this.#clock = clock;
  }

  /** Enqueues the rows of a chunk after the washout. Two chunks may be under way. */
  add({ from, to, finite, slot }: FinishedChunk): void {
    const first = Math.max(0, this.#washout - from);
    if (first >= finite) return;
    const { size, inputSize } = this.#model;
    const { cols } = this.#targets;
    const rows = finite - first;
    const { device, host } = this.#buffers((to - from) * cols, this.#chunks++ % 2);
    host.array.set(this.#targets.data.subarray((from + first) * cols, (from + finite) * cols));
    this.#clock?.on(this.#stream, "upload");
    this.#stream.copy2D(device, host, { columns: cols, rows });
    this.#clock?.on(this.#stream, "train", { steps: rows });
    this.#trainer.add(this.#stream, {
      rows,
      states: slot.states.slice(first * size, finite * size),
      inputs: (slot.inputs ?? slot.states).slice(first * inputSize, finite * inputSize),
      targets: device.slice(0, rows * cols),
    });
    this.#clock?.off(this.#stream);
  }

  /** After the last chunk. */
  finish(): Promise<void> {
    return this.#trainer.finish(this.#stream);
  }

  dispose(): void {
    disposeAll([...(this.#onDevice ?? []), ...(this.#onHost ?? []), this.#trainer]);
  }

  #buffers(values: number, index: number): { device: DeviceBuffer<"f64">; host: PinnedBuffer<"f64"> } {
    if (!this.#onDevice || !this.#onHost || this.#onHost[0].length < values) {
      this.#release();
      const [context, label] = [this.#context, "targets"];
      const made = new Held();
      const two = <T extends Disposes>(make: () => T): [T, T] => [made.own(make()), made.own(make())];
      try {
        this.#onDevice = two(() => context.alloc("f64", values, { label }));
        this.#onHost = two(() => context.pinned("f64", values, { label }));
      } catch (error) {
        this.#onDevice = undefined;
        made.disposeQuietly();
        throw error;
      }
    }
    return { device: this.#onDevice[index]!, host: this.#onHost[index]! };
  }

  #release(): void {
    const both = [...(this.#onDevice ?? []), ...(this.#onHost ?? [])];
    this.#onDevice = undefined;
    this.#onHost = undefined;
    disposeAll(both);
  }
}
