// A driver whose chosen calls fail, for tests of what happens then. It wraps any driver, simulated
// or real.

import type { Driver } from "./driver.js";
import type { DriverArguments, DriverCall, DriverFunction } from "./driver-calls.js";

/** A call that fails: the n-th use of a function, from 1, returns a status without being made. */
export interface Fault {
  readonly call: DriverCall;
  readonly use: number;
  readonly code: number;
  /**
   * Whether every later use fails likewise, as after an error that loses the context; default
   * false.
   */
  readonly lasting?: boolean;
}

/** A driver that counts its calls and fails some. */
export class FaultyDriver implements Driver {
  readonly library: string;
  readonly #inner: Driver;
  readonly #faults: readonly Fault[];
  readonly #uses = new Map<DriverCall, number>();
  /** The last status that was made up. */
  #injected: number | undefined;

  /** Makes every call by `inner`, but for those in `faults`. */
  constructor(inner: Driver, faults: readonly Fault[] = []) {
    this.#inner = inner;
    this.#faults = faults;
    this.library = inner.library;
  }

  /** How often each function was called. */
  get uses(): ReadonlyMap<DriverCall, number> {
    return this.#uses;
  }

  #verdict(call: DriverCall): number {
    const use = (this.#uses.get(call) ?? 0) + 1;
    this.#uses.set(call, use);
    for (const fault of this.#faults)
      if (fault.call === call && (fault.use === use || (fault.lasting === true && use > fault.use))) {
        this.#injected = fault.code;
        return fault.code;
      }
    return 0;
  }

  has(name: DriverCall): boolean {
    return this.#inner.has(name);
  }

  resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
    const inner = this.#inner.resolve(name);
    return (...values) => this.#verdict(name) || inner(...values);
  }

  async callAsync<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): Promise<number> {
    return this.#verdict(name) || this.#inner.callAsync(name, ...values);
  }

  addressOf(view: ArrayBufferView): bigint {
    return this.#inner.addressOf(view);
  }

  textAt(address: bigint): string {
    return this.#inner.textAt(address);
  }

  copyHost(destination: Uint8Array, source: Uint8Array): Promise<void> | undefined {
    return this.#inner.copyHost?.(destination, source);
  }

  willWrite(memory: Uint8Array): void {
    this.#inner.willWrite?.(memory);
  }

  get takesPtxOnly(): boolean {
    return this.#inner.takesPtxOnly ?? false;
  }

  explain(status: number): Error | undefined {
    return this.#injected === status ? undefined : this.#inner.explain?.(status);
  }

  nameMemory(address: bigint, name: string): void {
    this.#inner.nameMemory?.(address, name);
  }
}
