// Things of a device that are given back together: all of them, even if one throws.
export class Held implements Disposable {
  readonly #things: Disposable[] = [];

  own<T extends Disposable>(thing: T): T {
    this.#things.push(thing);
    return thing;
  }

  /** Gives back the last first. Idempotent. @throws the first error, once all were given back */
  dispose(): void {
    const errors: unknown[] = [];
    for (let thing = this.#things.pop(); thing; thing = this.#things.pop()) {
      try {
        thing[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Gives back on the way of another error, which matters more than one of this. */
  abandon(): void {
    try {
      this.dispose();
    } catch {
      // The error under way says what happened.
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
