// Page-locked memory that serves one batch after another: to lock a MiB takes half a millisecond.
import { type Disposes, disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, PinnedBuffer } from "@spillway/gpu";

/**
 * What comes back beyond so many bytes is unlocked: enough for the states of one chunk of a batch,
 * and for its inputs.
 */
const mostKeptBytes = 160 * 2 ** 20;

/** Memory that is in use: `dispose` hands it back. */
export interface LentMemory extends Disposes {
  /** At least as long as asked for, with any values. */
  readonly buffer: PinnedBuffer<"f32">;
}

/** The page-locked memory of a session's batches. */
export class KeptLocked implements Disposes {
  readonly #context: Context;
  readonly #kept: PinnedBuffer<"f32">[] = [];
  #disposed = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The shortest that is kept and long enough, or new memory. @throws CudaError */
  lend(length: number): LentMemory {
    const found = this.#kept.findIndex((kept) => kept.length >= length);
    const buffer = found < 0 ? this.#context.pinned("f32", length, { label: "rows of batches" }) : this.#kept.splice(found, 1)[0]!;
    let isLent = true;
    const dispose = () => {
      if (isLent) this.#takeBack(buffer);
      isLent = false;
    };
    return { buffer, dispose };
  }

  #takeBack(buffer: PinnedBuffer<"f32">): void {
    const bytes = this.#kept.reduce((sum, { byteLength }) => sum + byteLength, buffer.byteLength);
    if (this.#disposed || this.#context.loss || bytes > mostKeptBytes) {
      buffer.dispose();
      return;
    }
    try {
      buffer.waitForCopies();
    } catch (error) {
      disposeQuietly([buffer]);
      throw error;
    }
    this.#kept.push(buffer);
    this.#kept.sort((a, b) => a.length - b.length);
  }

  dispose(): void {
    this.#disposed = true;
    disposeAll(this.#kept.splice(0));
  }
}
