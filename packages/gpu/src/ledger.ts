// What a context owns: every buffer, stream, event, module and graph that was made and not yet
// disposed. It does not hold the objects themselves: a forgotten one can be collected and reported.
import { DisposedError } from "@spillway/core/errors.js";
import { callSite } from "./call-site.js";
import type { MemoryHolder } from "./errors.js";

/**
 * Something that was collected without `dispose`. What it held stays held until its context is
 * disposed.
 */
export interface Leak {
  /** "buffer", "stream", "module" and so on. */
  readonly kind: string;
  readonly label: string;
  /** Device bytes, or page-locked host bytes of a pinned buffer. */
  readonly bytes: number;
  /** Where it was made, file and line. */
  readonly site: string;
}

/** One thing that is owned. */
export class Holding {
  readonly kind: string;
  readonly label: string;
  readonly bytes: number;
  readonly site: string;
  /**
   * Gives it back to the driver. It must not refer to the object that users hold, which could then
   * never be collected.
   */
  readonly release: () => void;
  /** Whether the context made it for itself. */
  readonly internal: boolean;
  disposed = false;

  constructor(kind: string, label: string, bytes: number, release: () => void, internal = false) {
    this.internal = internal;
    this.kind = kind;
    this.label = label;
    this.bytes = bytes;
    this.site = internal ? "the context" : callSite();
    this.release = release;
  }

  /** `buffer "weights" of 4096 bytes made at reservoir.ts:88`. */
  describe(): string {
    const size = this.bytes > 0 ? ` of ${this.bytes} bytes` : "";
    return `${this.kind} ${JSON.stringify(this.label)}${size} made at ${this.site}`;
  }

  /** @throws DisposedError if it was disposed. */
  use(): void {
    if (this.disposed) throw new DisposedError(`the ${this.describe()}`);
  }
}

/** One for all, since a registry that is itself collected reports nothing. */
const forgotten = new FinalizationRegistry<{ holding: Holding; onLeak: (leak: Leak) => void }>(({ holding, onLeak }) => {
  if (!holding.disposed) onLeak({ kind: holding.kind, label: holding.label, bytes: holding.bytes, site: holding.site });
});

/** The holdings of a context, in the order they were made. */
export class Ledger {
  readonly #holdings = new Set<Holding>();
  readonly #onLeak: (leak: Leak) => void;

  constructor(onLeak: (leak: Leak) => void) {
    this.#onLeak = onLeak;
  }

  /**
   * Enters a holding and watches the object that owns it; without one it is the context's own, and
   * no leak.
   */
  enter(holding: Holding, owner?: object): void {
    this.#holdings.add(holding);
    if (owner) forgotten.register(owner, { holding, onLeak: this.#onLeak }, holding);
  }

  remove(holding: Holding): void {
    holding.disposed = true;
    this.#holdings.delete(holding);
    forgotten.unregister(holding);
  }

  /** What is held, oldest first. */
  list(): readonly Holding[] {
    return [...this.#holdings];
  }

  /** Bytes of one kind, grouped by label, largest first. */
  holders(kind: string): readonly MemoryHolder[] {
    const groups = new Map<string, { label: string; count: number; bytes: number }>();
    for (const holding of this.#holdings) {
      if (holding.kind !== kind) continue;
      const group = groups.get(holding.label) ?? { label: holding.label, count: 0, bytes: 0 };
      group.count++;
      group.bytes += holding.bytes;
      groups.set(holding.label, group);
    }
    return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
  }
}
