// What all calls of one simulated driver share: handles, contexts, the current one, host memory,
// and what is known of the last error.
import type { DriverCall, DriverFunction } from "@spillway/gpu";
import { DeviceContext } from "./device-context.js";
import { HostMemory } from "./host-memory.js";
import { Machine } from "./machine.js";
import type { Simulation } from "./options.js";
import { code, Refusal } from "./refusal.js";
import { type Work, type WorkKind, WorkStream } from "./stream.js";

const firstHandle = 0x5000_0000_0000n;
const handleStep = 0x100n;

/** CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, cuda.h. */
const streamLegacy = 1n;
const streamPerThread = 2n;

/** Pieces of work that may wait in a stream before it runs them. */
const mostWaiting = 256;

interface Entry {
  readonly object: object;
  readonly context: DeviceContext | undefined;
}

/** Driver functions: each throws a Refusal, returns a status, or anything else for success. */
export type Calls = { readonly [Name in DriverCall]: (...values: Parameters<DriverFunction<Name>>) => unknown };

export class Simulator {
  readonly simulation: Simulation;
  readonly machine: Machine;
  readonly host = new HostMemory();
  readonly contexts: readonly DeviceContext[];
  /** Page-locked host memory by address, and the context that it goes with. */
  readonly locked = new Map<bigint, { readonly bytes: number; readonly context: DeviceContext }>();
  initialised = false;
  current: DeviceContext | undefined;
  readonly #entries = new Map<bigint, Entry>();
  #next = firstHandle;
  /** Whether other devices have their turns now. */
  #taken = false;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.machine = new Machine(simulation);
    this.machine.othersGoOn = (waiting) => this.#othersGoOn(waiting);
    this.contexts = Array.from({ length: simulation.devices }, (_, ordinal) => this.#freshContext(ordinal));
  }

  /** One turn for each stream of the other devices: the kernel that waits may wait for them. */
  #othersGoOn(waiting: object): void {
    if (this.#taken) return;
    this.#taken = true;
    try {
      for (const context of this.contexts) if (context !== waiting) for (const stream of context.streams) stream.step();
    } finally {
      this.#taken = false;
    }
  }

  #freshContext(ordinal: number): DeviceContext {
    return new DeviceContext(ordinal, this.#takeHandle(), this.machine, this.simulation.memoryBytes);
  }

  #takeHandle(): bigint {
    this.#next += handleStep;
    return this.#next;
  }

  enter(object: object): bigint {
    const handle = this.#takeHandle();
    this.#entries.set(handle, { object, context: this.current });
    return handle;
  }

  /** The object of a handle. @throws Refusal if it is of nothing, or of something else. */
  find<T extends object>(handle: bigint, kind: abstract new (...values: never[]) => T): T {
    const object = this.#entries.get(handle)?.object;
    if (object instanceof kind) return object as T;
    const is = object === undefined ? "nothing, or what is gone" : `a ${object.constructor.name}`;
    throw new Refusal(code.invalidHandle, `0x${handle.toString(16)} is ${is}; a ${kind.name} is needed`);
  }

  /** Ends a handle. @throws Refusal as `find`. */
  leave<T extends object>(handle: bigint, kind: abstract new (...values: never[]) => T): T {
    const object = this.find(handle, kind);
    this.#entries.delete(handle);
    return object;
  }

  /** The stream of a handle, also of those that cuda.h names. @throws Refusal. */
  stream(handle: bigint): WorkStream {
    if (handle === 0n || handle === streamLegacy) return this.here.legacy;
    return handle === streamPerThread ? this.here.perThread : this.find(handle, WorkStream);
  }

  /** The current context. @throws Refusal if there is none. */
  get here(): DeviceContext {
    if (this.current === undefined) throw new Refusal(code.invalidContext, "no context is current in this thread");
    return this.current;
  }

  /** @throws Refusal if there is no such device. */
  device(ordinal: number): DeviceContext {
    const context = this.contexts[ordinal];
    if (context === undefined) throw new Refusal(code.invalidDevice, `there is no device ${ordinal}; there are ${this.contexts.length}`);
    return context;
  }

  /** The context of a handle that is retained. @throws Refusal. */
  context(handle: bigint): DeviceContext {
    const context = this.contexts.find((each) => each.handle === handle && each.retained > 0);
    if (context === undefined) throw new Refusal(code.invalidContext, `0x${handle.toString(16)} is no context that is retained`);
    return context;
  }

  /** Ends a context with all that was made in it; the next retain finds a new one. */
  close(context: DeviceContext): void {
    for (const [handle, entry] of this.#entries)
      if (entry.context === context) {
        this.#entries.delete(handle);
        if ("unload" in entry.object) (entry.object as { unload(): void }).unload();
      }
    for (const [address, lock] of this.locked) if (lock.context === context) this.locked.delete(address);
    context.close();
    (this.contexts as DeviceContext[])[context.ordinal] = this.#freshContext(context.ordinal);
    if (this.current === context) this.current = undefined;
  }

  /** How many of each kind of object live, for those who look for leaks. */
  outstanding(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    const count = (kind: string, more = 1) => {
      if (more > 0) counts[kind] = (counts[kind] ?? 0) + more;
    };
    for (const { object } of this.#entries.values()) count(object.constructor.name);
    for (const { blocks, retained } of this.contexts) {
      count("Allocation", blocks.size);
      count("Context", retained);
    }
    count("LockedMemory", this.locked.size);
    return counts;
  }

  /** Gives work to a stream; that of handle 0 waits for all others and runs at once. */
  giveWork(stream: WorkStream, work: Work): void {
    stream.give(work);
    if (stream === stream.context.legacy) {
      stream.context.drain();
      stream.drain();
    } else if (stream.waiting > mostWaiting) stream.context.goOn();
  }

  give(stream: WorkStream, kind: WorkKind, run: Work["run"]): void {
    this.giveWork(stream, { kind, run });
  }
}
