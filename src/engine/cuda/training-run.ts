// Hands the chunks of a run to a trainer on the device, with the targets that go with them. It sums
// nothing itself.
import { type Disposes, disposeAll, Making } from "@spillway/core/disposal.js";
import type { DeviceBuffer, PinnedBuffer } from "@spillway/gpu";
import type { Matrix } from "@spillway/numerics";
import type { FinishedChunk, PipelineParts } from "./chunk-pipeline.js";
import type { GramTrainer } from "./training/gram.js";

/** Targets of two chunks that may be under way. */
interface TargetMemory extends Disposes {
  readonly device: readonly [DeviceBuffer<"f64">, DeviceBuffer<"f64">];
  readonly host: readonly [PinnedBuffer<"f64">, PinnedBuffer<"f64">];
}

export class TrainingRun {
  readonly #parts: PipelineParts;
  readonly #trainer: GramTrainer;
  readonly #targets: Matrix;
  readonly #washout: number;
  #memory: TargetMemory | undefined;
  #chunks = 0;

  constructor(parts: PipelineParts, trainer: GramTrainer, targets: Matrix, washout: number) {
    this.#parts = parts;
    this.#trainer = trainer;
    this.#targets = targets;
    this.#washout = washout;
  }

  /** Enqueues the rows of a chunk after the washout. Two chunks may be under way. */
  add({ from, to, finite, slot }: FinishedChunk): void {
    const first = Math.max(0, this.#washout - from);
    if (first >= finite) return;
    const { compute, clock, model } = this.#parts;
    const { size, inputSize } = model;
    const { cols } = this.#targets;
    const rows = finite - first;
    const memory = this.#memoryFor((to - from) * cols);
    const index = this.#chunks++ % 2;
    const [device, host] = [memory.device[index]!, memory.host[index]!];
    host.array.set(this.#targets.data.subarray((from + first) * cols, (from + finite) * cols));
    clock?.on(compute, "upload");
    compute.copy2D(device, host, { columns: cols, rows });
    clock?.on(compute, "train", { steps: rows });
    this.#trainer.add(compute, {
      ...{ rows, statePitch: 0, inputPitch: 0, targets: device.slice(0, rows * cols) },
      states: slot.states.slice(first * size, finite * size),
      inputs: (slot.inputs ?? slot.states).slice(first * inputSize, finite * inputSize),
    });
    clock?.off(compute);
  }

  /** After the last chunk. */
  finish(): Promise<void> {
    return this.#trainer.finish(this.#parts.compute);
  }

  dispose(): void {
    disposeAll([this.#memory, this.#trainer]);
  }

  #memoryFor(values: number): TargetMemory {
    if (this.#memory && this.#memory.host[0].length >= values) return this.#memory;
    const before = this.#memory;
    this.#memory = undefined;
    before?.dispose();
    const { context } = this.#parts;
    using made = new Making();
    const two = <T extends Disposes>(make: () => T): [T, T] => [made.own(make()), made.own(make())];
    const device = two(() => context.alloc("f64", values, { label: "targets" }));
    const host = two(() => context.pinned("f64", values, { label: "targets" }));
    this.#memory = made.done({ device, host, dispose: () => made.dispose() });
    return this.#memory;
  }
}
