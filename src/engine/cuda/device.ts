// The device of an engine: opened when it is first needed, kept for what comes after, and opened anew where it was lost.
import type { Context } from "../../gpu/index.js";

export class EngineDevice {
  readonly #open: () => Context;
  #context: Context | undefined;

  constructor(open: () => Context) {
    this.#open = open;
  }

  /** The open device. @throws what opening it throws */
  context(): Context {
    if (this.#context && (this.#context.loss || this.#context.disposed)) this.close();
    this.#context ??= this.#open();
    return this.#context;
  }

  /** Gives the device back with all that is open on it. It opens again when it is next needed. */
  close(): void {
    this.#context?.dispose();
    this.#context = undefined;
  }
}
