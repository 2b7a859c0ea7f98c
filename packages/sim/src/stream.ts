// Streams of work that is given now and runs when something waits for it. Work of a stream runs in
// order. Streams interleave only as waits require, so a missing dependency fails instead of working
// by accident.
import type { DeviceContext } from "./device-context.js";
import type { Capture } from "./graph.js";

/** What kind of part work is in a graph. */
export type WorkKind = "kernel" | "copy" | "fill" | "free" | "record" | "wait" | "graph";

/** Work that was begun and is not done. */
export interface Unfinished {
  /** Goes on; true if it is done. */
  advance(): boolean;
  /** Gives back what it holds: it never goes on. */
  abandon?(): void;
}

export interface Work {
  readonly kind: WorkKind;
  run(): Unfinished | undefined;
}

const done: Unfinished = { advance: () => true };

export interface Ticket {
  readonly stream: WorkStream;
  /** Pieces of work that come before it in its stream. */
  readonly number: number;
  /** Simulated time when it was passed, in nanoseconds; undefined until then. */
  time: number | undefined;
}

export class WorkStream {
  readonly context: DeviceContext;
  /** The graph that work goes into instead of running. */
  capture: Capture | undefined;
  /** Pieces of work put into the capture, which tells whether it was joined since. */
  captured = 0;
  /** Its handle is gone; its work still runs. */
  destroyed = false;
  #queue: Work[] = [];
  /** What was begun of the first piece of work. */
  #begun: Unfinished | undefined;
  #busy = false;
  #given = 0;
  #done = 0;

  constructor(context: DeviceContext) {
    this.context = context;
  }

  get idle(): boolean {
    return this.#queue.length === 0;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get next(): WorkKind | undefined {
    return this.#queue[0]?.kind;
  }

  get given(): number {
    return this.#given;
  }

  /** Adds work, here or to the graph that is being captured. */
  give(work: Work): void {
    if (this.capture) {
      this.capture.works.push(work);
      this.captured++;
      return;
    }
    this.#queue.push(work);
    this.#given++;
  }

  /** Goes on with the next piece of work; what goes wrong with it is the context's fault. */
  step(): void {
    const work = this.#queue[0];
    if (work === undefined || this.#busy) return;
    const { machine } = this.context;
    this.#busy = true;
    try {
      this.#begun ??= work.run() ?? done;
      if (!this.#begun.advance()) return;
    } catch (error) {
      this.context.fail(error);
    } finally {
      this.#busy = false;
    }
    this.#begun = undefined;
    // A failed context forgot all of its work.
    if (this.#queue[0] === work) this.#queue.shift();
    machine.changes++;
    this.#done++;
  }

  drain(upTo: number = this.#given): void {
    while (this.#done < upTo && this.#queue.length > 0) this.step();
  }

  passed(number: number): boolean {
    return this.#done >= number;
  }

  abandon(): void {
    this.#begun?.abandon?.();
    this.#begun = undefined;
    this.#queue = [];
  }
}
