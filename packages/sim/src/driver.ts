// The simulated driver: every function of the binding, answered by the PTX interpreter. Calls are
// checked as CUDA checks them.
import type { Driver, DriverArguments, DriverCall, DriverFunction } from "@spillway/gpu";
import { deviceCalls } from "./device-calls.js";
import { copyCalls, fillCalls, memoryCalls, poolCalls } from "./memory-calls.js";
import { launchCalls, moduleCalls } from "./module-calls.js";
import { resolveOptions, type SimulatedDriverOptions } from "./options.js";
import { code, Refusal } from "./refusal.js";
import { type Calls, Simulator } from "./simulator.js";
import { eventCalls, graphCalls, streamCalls } from "./stream-calls.js";

/** Calls that take no context, and answer also if the current one is lost. */
const contextFree = /^cu(GetError|Init$|DriverGetVersion$|Device|CtxSetCurrent$)/;

/** Calls that waiting is made of, which another thread may make without a context. */
const waits = /^cu(Event|Stream)(Query|Synchronize)$/;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A CUDA driver without a GPU. */
export class SimulatedDriver implements Driver {
  readonly library = "simulated";
  readonly takesPtxOnly = true;
  readonly #simulator: Simulator;
  readonly #table: Calls;
  /** What is known of the last call that failed. */
  #last: { readonly status: number; readonly reason: Error | undefined } | undefined;

  /** @throws ArgumentError if an option or an environment variable cannot be. */
  constructor(options: SimulatedDriverOptions = {}) {
    const simulator = new Simulator(resolveOptions(options));
    this.#simulator = simulator;
    this.#table = {
      ...deviceCalls(simulator),
      ...memoryCalls(simulator),
      ...poolCalls(simulator),
      ...copyCalls(simulator),
      ...fillCalls(simulator),
      ...streamCalls(simulator),
      ...eventCalls(simulator),
      ...graphCalls(simulator),
      ...moduleCalls(simulator),
      ...launchCalls(simulator),
    };
  }

  has(): boolean {
    return true;
  }

  resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
    const run = this.#table[name] as (...values: unknown[]) => unknown;
    const free = contextFree.test(name);
    const check = () => {
      if (!this.#simulator.initialised && !/^cu(Init|GetError|DriverGetVersion)/.test(name))
        throw new Refusal(code.notInitialized, "cuInit was not called");
      if (free) return;
      const context = waits.test(name) ? this.#simulator.current : this.#simulator.here;
      if (context?.fault) throw new Refusal(context.fault.status, context.fault.reason);
    };
    return ((...values: unknown[]) => {
      try {
        check();
        const status = run(...values);
        return typeof status === "number" ? this.#noteFault(status) : code.success;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.#last = { status: error.status, reason: error.reason };
        return error.status;
      }
    }) as unknown as DriverFunction<Name>;
  }

  #noteFault(status: number): number {
    if (status === code.success || status === code.notReady) return status;
    const fault = this.#simulator.contexts.find((context) => context.fault?.status === status)?.fault;
    this.#last = { status, reason: fault?.reason };
    return status;
  }

  async callAsync<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): Promise<number> {
    await turn();
    const query = /^cu(Event|Stream)Synchronize$/.exec(name)?.[1];
    if (query === undefined) return this.resolve(name)(...values);
    // One piece of work for each turn of the event loop.
    const look = this.resolve(query === "Event" ? "cuEventQuery" : "cuStreamQuery");
    for (;;) {
      const status = look(values[0] as bigint);
      if (status !== code.notReady) return status;
      await turn();
    }
  }

  addressOf(view: ArrayBufferView): bigint {
    return this.#simulator.host.addressOf(view);
  }

  textAt(address: bigint): string {
    return this.#simulator.host.text(address);
  }

  /** What the simulation knows of a status that the last failed call returned. */
  explain(status: number): Error | undefined {
    return this.#last?.status === status ? this.#last.reason : undefined;
  }

  /** Gives an allocation the name that errors call it by. */
  nameMemory(address: bigint, name: string): void {
    this.#simulator.machine.ptx.rename(address, name);
  }

  /** Objects of each kind that live, for tests that look for leaks: none if all was given back. */
  outstanding(): Readonly<Record<string, number>> {
    return this.#simulator.outstanding();
  }
}

/**
 * A CUDA driver without a GPU, for `openDevice({ driver: simulatedDriver() })`. It runs PTX in
 * JavaScript, strictly: what a GPU would pass over in silence is an error that names kernel, PTX
 * line, block and thread.
 *
 * @throws ArgumentError if an option or an environment variable cannot be.
 */
export function simulatedDriver(options: SimulatedDriverOptions = {}): SimulatedDriver {
  return new SimulatedDriver(options);
}
