// Things that several members may share, each of them once.

/** Things by identity, in the order in which they first came. */
export class Distinct<T> {
  readonly items: T[] = [];
  readonly #indices = new Map<T, number>();

  index(item: T): number {
    let index = this.#indices.get(item);
    if (index === undefined) {
      index = this.items.push(item) - 1;
      this.#indices.set(item, index);
    }
    return index;
  }
}
