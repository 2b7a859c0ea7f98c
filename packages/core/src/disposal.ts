// The names by which `using` and `await using` dispose, where the JavaScript engine has none:
// Safari and the WebKit of GTK. They are those that compilers fall back to. Errors import this, and
// all else imports them: classes take the names when they are read.
for (const name of ["dispose", "asyncDispose"])
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for(`Symbol.${name}`) });

/** Something that is given back by `dispose`. */
export interface Disposes {
  dispose(): void;
}

/**
 * Disposes the last first: all of them, even if one of them throws. @throws the first error, once
 * all were disposed
 */
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

/** Disposes while another error is thrown, which matters more than one of this. */
export function disposeQuietly(things: Iterable<Disposes | null | undefined>): void {
  try {
    disposeAll(things);
  } catch {
    // The other error says what happened.
  }
}

/** Something that is given back by `dispose`, now or later. */
export interface DisposesAsync {
  dispose(): void | Promise<void>;
}

/** As `disposeAll`, of what is disposed one after the other. */
export async function disposeAllAsync(things: Iterable<DisposesAsync | null | undefined>): Promise<void> {
  const errors: unknown[] = [];
  for (const thing of [...things].reverse()) {
    try {
      await thing?.dispose();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** As `disposeQuietly`, of what is disposed one after the other. */
export async function disposeQuietlyAsync(things: Iterable<DisposesAsync | null | undefined>): Promise<void> {
  await disposeAllAsync(things).catch(() => undefined);
}

/** What work gives; if it fails, what it leaves behind is disposed. */
export async function orDispose<Result>(
  left: DisposesAsync | (() => Iterable<DisposesAsync>),
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await disposeQuietlyAsync(typeof left === "function" ? left() : [left]);
    throw error;
  }
}

/**
 * Makes one thing from each item, one after the other. If one fails, what was made before is disposed.
 * @param ownedBy what is disposed of a thing that was made
 */
export async function eachOrNone<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item, index: number) => Promise<Made>,
  ownedBy: (made: Made) => Iterable<DisposesAsync>,
): Promise<Made[]> {
  const made: Made[] = [];
  const makeAll = async () => {
    for (const item of items) made.push(await make(item, made.length));
    return made;
  };
  return orDispose(() => made.flatMap((each) => [...ownedBy(each)]), makeAll);
}

/** The base of what `using` disposes. */
export abstract class DisposedByUsing implements Disposable, Disposes {
  abstract dispose(): void;

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The base of what `await using` disposes. */
export abstract class DisposedByAwaitUsing implements AsyncDisposable, DisposesAsync {
  abstract dispose(): Promise<void>;

  /** Lets `await using` dispose of it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** Things that are disposed together. */
export class Held extends DisposedByUsing {
  readonly #things: Disposes[] = [];

  /** Takes a thing and returns it; it needs no `this`. */
  readonly own = <T extends Disposes>(thing: T): T => {
    this.#things.push(thing);
    return thing;
  };

  /** As `disposeAll`. Idempotent. */
  dispose(): void {
    disposeAll(this.#things.splice(0));
  }

  disposeQuietly(): void {
    disposeQuietly(this.#things.splice(0));
  }
}

/**
 * Things of something that is being made: `using` gives them back, past errors of that, unless
 * `done` was called; then they are held.
 */
export class Making extends Held {
  #state: "making" | "done" | "held" = "making";

  /** Says that all was made, and returns what it is given. */
  done<T = undefined>(made?: T): T {
    this.#state = "done";
    return made as T;
  }

  override [Symbol.dispose](): void {
    if (this.#state === "making") this.disposeQuietly();
    else if (this.#state === "done") this.#state = "held";
    else this.dispose();
  }
}
