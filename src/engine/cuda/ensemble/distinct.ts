// Things that several members may share, each of them once.

import { getOrMake } from "@spillway/core/maps.js";

/** Things by identity, in the order in which they first came. */
export class Distinct<T> {
  readonly items: T[] = [];
  readonly #indices = new Map<T, number>();

  index(item: T): number {
    return getOrMake(this.#indices, item, () => this.items.push(item) - 1);
  }
}
