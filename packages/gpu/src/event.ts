// A point in a stream's work: to wait for, to order streams by, and to time by.
import { ArgumentError } from "@spillway/core/errors.js";
import { type ContextCore, eventFlags } from "./context-core.js";
import { Owned } from "./owned.js";
import type { Stream } from "./stream.js";
import { type AwaitedEvent, destroyEvent, waitFor } from "./waiting.js";

/** A point in a stream's work. */
export class DeviceEvent extends Owned {
  /** @internal */
  readonly awaited: AwaitedEvent;
  readonly #timing: boolean;

  /** @internal */
  private constructor(core: ContextCore, awaited: AwaitedEvent, timing: boolean, label: string) {
    super(core, "event", label, () => destroyEvent(core, awaited));
    this.awaited = awaited;
    this.#timing = timing;
  }

  /** @internal */
  static create(core: ContextCore, timing: boolean, label?: string): DeviceEvent {
    const handle = core.long("cuEventCreate", eventFlags.blockingSync | (timing ? 0 : eventFlags.disableTiming));
    return new DeviceEvent(core, { handle, waits: 0, destroyed: false }, timing, label ?? core.nextName("event"));
  }

  /** Puts the event after all that the stream was given so far. @throws CudaError. */
  record(stream: Stream): void {
    this.use();
    stream.use();
    this.core.callOn(stream.history, "cuEventRecord", this.awaited.handle, stream.handle);
  }

  /**
   * Whether the work before it is done; true also if it was never recorded. @throws CudaError,
   * also of that work.
   */
  get ready(): boolean {
    this.use();
    return this.core.ready("cuEventQuery", this.awaited.handle);
  }

  /**
   * Waits for the work before it, holding up the event loop. @throws CudaError, also of that work.
   */
  sync(): void {
    this.use();
    this.core.call("cuEventSynchronize", this.awaited.handle);
  }

  /**
   * Resolves when the work before it is done. The event loop goes on. @throws CudaError, also of
   * that work.
   */
  async done(): Promise<void> {
    this.use();
    await waitFor(this.core, this.awaited);
  }

  /**
   * Milliseconds from an earlier event to this one, to about half a microsecond.
   *
   * @throws CudaError if either was not recorded or is not ready; ArgumentError if an event
   * was made with `timing: false`.
   */
  elapsedSince(start: DeviceEvent): number {
    this.use();
    start.use();
    if (!this.#timing || !start.#timing)
      throw ArgumentError.because("an event made with timing: false tells no time", {
        field: "timing",
        value: false,
        expected: "true",
      });
    const milliseconds = new Float32Array(1);
    this.core.call("cuEventElapsedTime", milliseconds, start.awaited.handle, this.awaited.handle);
    return milliseconds[0]!;
  }
}
