// The base of everything that is made on a device and must be given back: `dispose()` or `using`,
// as often as one likes.
import { DisposedByUsing } from "@spillway/core/disposal.js";
import { DisposedError } from "@spillway/core/errors.js";
import type { ContextCore } from "./context-core.js";
import { Holding } from "./ledger.js";

/** An object that holds something of the driver's. */
export abstract class Owned extends DisposedByUsing {
  /** @internal */
  readonly core: ContextCore;
  /** @internal */
  readonly holding: Holding;

  /** @internal */
  protected constructor(core: ContextCore, kind: string, label: string, release: () => void, bytes = 0) {
    super();
    this.core = core;
    this.holding = new Holding(kind, label, bytes, release);
    core.ledger.enter(this.holding, this);
  }

  /** The name given at its making, or a running one. */
  get label(): string {
    return this.holding.label;
  }

  /** Whether it was disposed, by itself or with its context. */
  get disposed(): boolean {
    return this.holding.disposed;
  }

  /**
   * Gives it back. A second call does nothing, and neither does a call on a lost context, if
   * nothing is left to give back.
   *
   * @throws CudaError if the driver refuses; the object counts as disposed all the same.
   */
  dispose(): void {
    this.core.release(this.holding);
  }

  /** @internal @throws DisposedError */
  use(): void {
    this.holding.use();
    if (this.core.disposed) throw new DisposedError(`the context of the ${this.holding.describe()}`);
  }
}
