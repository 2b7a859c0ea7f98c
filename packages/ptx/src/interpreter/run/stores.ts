// Stores that conflict with other stores, until it is known what they store: equal bytes are no
// race. It finds no conflicts itself.
interface Store {
  readonly offset: number;
  readonly before: Uint8Array;
  readonly error: () => Error;
}

export class ConflictingStores {
  private readonly heap: Uint8Array;
  private readonly found: Store[] = [];

  constructor(heap: Uint8Array) {
    this.heap = heap;
  }

  /** Refuses a conflict of the next access, between two stores only if their bytes differ. */
  refuse({ stored }: { readonly stored: boolean }, stores: boolean, offset: number, bytes: number, error: () => Error): void {
    if (!stores || !stored) throw error();
    this.found.push({ offset, before: this.heap.slice(offset, offset + bytes), error });
  }

  /** Checks what stores have changed. @throws SimulationError for the first that changed a byte */
  check(): void {
    if (this.found.length === 0) return;
    // What a store left is what the next one at its offset found, or what is there now.
    const left = new Map<number, number>();
    let first: Store | undefined;
    for (const store of this.found.splice(0).reverse()) {
      const { offset, before } = store;
      for (const [k, byte] of before.entries()) {
        if ((left.get(offset + k) ?? this.heap[offset + k]) !== byte) first = store;
        left.set(offset + k, byte);
      }
    }
    if (first !== undefined) throw first.error();
  }
}
