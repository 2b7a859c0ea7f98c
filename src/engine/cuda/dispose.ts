// Disposes several things: all of them, even if one of them throws.

/** Something that is given back. */
export interface Disposes {
  dispose(): void;
}

/** Disposes the last first. @throws the first error, once all were disposed */
export function disposeAll(things: Iterable<Disposes | null | undefined>): void {
  const errors: unknown[] = [];
  for (const thing of [...things].reverse()) {
    try {
      thing?.dispose();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** Disposes on the way of another error, which matters more than one of this. */
export function abandonAll(things: Iterable<Disposes | null | undefined>): void {
  try {
    disposeAll(things);
  } catch {
    // The error under way says what happened.
  }
}
