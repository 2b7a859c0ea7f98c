// The checked middle layer: driver calls made in the right context, whose errors throw. The objects
// that users see are built on it.
import { DisposedError } from "@spillway/core/errors.js";
import type { Driver } from "./driver.js";
import type { DriverArguments, DriverCall, DriverFunction } from "./driver-calls.js";
import { ContextLostError, CudaError, type CudaFailure } from "./errors.js";
import { type LaunchHistory, recentLaunches } from "./launch-history.js";
import { type Holding, type Leak, Ledger } from "./ledger.js";
import { losesContext, status, statusName } from "./status.js";

/** The context that is current in this thread, as far as this package set it, for each driver. */
const currentContexts = new WeakMap<Driver, bigint>();

/** To be called when the current context of this thread is changed by other means. */
export function forgetCurrent(driver: Driver): void {
  currentContexts.delete(driver);
}

/** A driver's own name and sentence for a status, or the known name if it does not give them. */
export function describeStatus(driver: Driver, code: number): { status: string; description: string; cause?: Error } {
  const cause = driver.explain?.(code);
  const text = (call: "cuGetErrorName" | "cuGetErrorString"): string | undefined => {
    if (!driver.has(call)) return undefined;
    const address = new BigUint64Array(1);
    return driver.resolve(call)(code, address) === status.success && address[0] !== 0n ? driver.textAt(address[0]!) : undefined;
  };
  const name = text("cuGetErrorName") ?? statusName(code);
  const description = text("cuGetErrorString") ?? "the driver gives no description";
  return { status: name, description, ...(cause && { cause }) };
}

/** Calls a driver function that needs no context. @throws CudaError if it returns an error. */
export function checkedCall<Name extends DriverCall>(driver: Driver, call: Name, ...values: DriverArguments<Name>): void {
  const code = driver.resolve(call)(...values);
  if (code !== status.success) throw new CudaError({ statusCode: code, ...describeStatus(driver, code), call, launches: [] });
}

/** The arguments of a function after the first, in which it gives its result. */
type AfterResult<Name extends DriverCall> = DriverArguments<Name> extends [bigint | ArrayBufferView, ...infer Rest] ? Rest : never;

/** The 32-bit result of a driver function that needs no context. @throws CudaError. */
export function checkedWord<Name extends DriverCall>(driver: Driver, call: Name, ...rest: AfterResult<Name>): number {
  const result = new Int32Array(1);
  const checked = checkedCall as (driver: Driver, call: string, ...values: readonly unknown[]) => void;
  checked(driver, call, result, ...rest);
  return result[0]!;
}

/** CUevent_flags, cuda.h. */
export const eventFlags = { default: 0, blockingSync: 1, disableTiming: 2 } as const;

/** Settings of a context that its objects read. */
export interface CoreOptions {
  readonly debug: boolean;
  readonly onLeak: (leak: Leak) => void;
}

/** Where a context's device memory comes from. */
export interface DevicePool {
  /** Whether allocation is in stream order. */
  readonly streamOrdered: boolean;
  allocate(bytes: number, stream: bigint): bigint;
  free(address: bigint, bytes: number, stream: bigint): void;
}

/** One retained primary context: its handle, its state, and what it owns. */
export class ContextCore {
  readonly driver: Driver;
  readonly device: number;
  readonly handle: bigint;
  readonly debug: boolean;
  readonly ledger: Ledger;
  /** The launches of every stream that lives. */
  readonly histories = new Set<LaunchHistory>();
  /** The handles of every stream that lives and is not being captured. */
  readonly streams = new Set<bigint>();
  /** Contexts whose memory kernels here may reach. */
  readonly peers = new WeakSet<ContextCore>();
  /** A stream of the context's own, for allocation and for copies that wait. */
  service = 0n;
  /** Waits on other threads that have not ended: the context outlives them. */
  waits = 0;
  /** Where device memory comes from. */
  pool!: DevicePool;
  #afterWaits: (() => void) | undefined;
  #functions: { [Name in DriverCall]?: DriverFunction<Name> } = {};
  #loss: CudaFailure | undefined;
  #disposed = false;
  #names = 0;

  constructor(driver: Driver, device: number, handle: bigint, options: CoreOptions) {
    this.driver = driver;
    this.device = device;
    this.handle = handle;
    this.debug = options.debug;
    this.ledger = new Ledger(options.onLeak);
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  /** The error that made the context unusable, if one did. */
  get loss(): CudaFailure | undefined {
    return this.#loss;
  }

  /** A running name for something that was given none. */
  nextName(kind: string): string {
    return `${kind} #${++this.#names}`;
  }

  /** The function itself, for calls that must cost nothing more. */
  function<Name extends DriverCall>(name: Name): DriverFunction<Name> {
    const known = this.#functions[name] as DriverFunction<Name> | undefined;
    if (known) return known;
    const found = this.driver.resolve(name);
    (this.#functions as Record<string, unknown>)[name] = found;
    return found;
  }

  /**
   * Makes the context usable by the next call in this thread. @throws ContextLostError,
   * DisposedError, CudaError.
   */
  enter(call: string): void {
    if (this.#loss) throw new ContextLostError(this.#loss, call);
    if (this.#disposed) throw new DisposedError(`the context of device ${this.device}`);
    if (currentContexts.get(this.driver) === this.handle) return;
    this.check(this.function("cuCtxSetCurrent")(this.handle), "cuCtxSetCurrent");
    currentContexts.set(this.driver, this.handle);
  }

  /** The status of a driver function called in this context. @throws as `enter`. */
  status<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): number {
    this.enter(name);
    return this.function(name)(...values);
  }

  /** Calls a driver function in this context. @throws CudaError if it returns an error. */
  call<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): void {
    this.callOn(undefined, name, ...values);
  }

  /** As `call`, for a call whose error is about one stream. */
  callOn<Name extends DriverCall>(history: LaunchHistory | undefined, name: Name, ...values: DriverArguments<Name>): void {
    this.enter(name);
    this.check(this.function(name)(...values), name, history);
  }

  /** @throws CudaError if the status that a call gave is an error. */
  check(code: number, call: string, history?: LaunchHistory): void {
    if (code !== status.success) throw this.failure(code, call, history);
  }

  /** As `call`: the 32-bit result, which the function gives in its first argument. */
  word<Name extends DriverCall>(name: Name, ...rest: AfterResult<Name>): number {
    return this.#result(new Int32Array(1), name, rest);
  }

  /** As `call`: the 64-bit result, such as a handle, which the function gives in its first argument. */
  long<Name extends DriverCall>(name: Name, ...rest: AfterResult<Name>): bigint {
    return this.#result(new BigUint64Array(1), name, rest);
  }

  #result<T>(result: ArrayLike<T>, name: DriverCall, rest: readonly unknown[]): T {
    const call = this.call as (name: DriverCall, ...values: readonly unknown[]) => void;
    call.call(this, name, result, ...rest);
    return result[0]!;
  }

  /**
   * Calls a function that says "not yet" by CUDA_ERROR_NOT_READY: whether it is ready. @throws
   * CudaError on other errors.
   */
  ready(name: "cuEventQuery" | "cuStreamQuery", handle: bigint, history?: LaunchHistory): boolean {
    const code = this.status(name, handle);
    if (code === status.notReady) return false;
    this.check(code, name, history);
    return true;
  }

  /**
   * What a failed call is, with the launches that may have caused it; an error that loses the
   * context marks it lost.
   */
  describe(code: number, call: string, history?: LaunchHistory): CudaFailure {
    const launches = recentLaunches(history ? [history] : this.histories);
    const failure = { statusCode: code, ...describeStatus(this.driver, code), call, launches };
    if (losesContext(code)) this.#loss ??= failure;
    return failure;
  }

  /** The error of a failed call. */
  failure(code: number, call: string, history?: LaunchHistory): CudaError {
    return new CudaError(this.describe(code, call, history));
  }

  /**
   * Ends a wait that `waits` counted; the last one lets a context go that was disposed meanwhile.
   */
  endWait(): void {
    if (--this.waits > 0) return;
    const close = this.#afterWaits;
    this.#afterWaits = undefined;
    close?.();
  }

  /** Makes what a stream does next come after all that was given to others. @throws CudaError. */
  orderAfter(stream: bigint, others: Iterable<bigint>): void {
    this.#withEvent((event) => {
      for (const other of others) {
        if (other === stream) continue;
        this.call("cuEventRecord", event, other);
        this.call("cuStreamWaitEvent", stream, event, 0);
      }
    });
  }

  /**
   * Makes another context give its memory back only after all that a stream of this one was given,
   * which may read it. @throws CudaError.
   */
  holdUp(other: ContextCore, stream: bigint): void {
    this.#withEvent((event) => {
      this.call("cuEventRecord", event, stream);
      other.call("cuStreamWaitEvent", other.service, event, 0);
    });
  }

  #withEvent(work: (event: bigint) => void): void {
    const event = this.long("cuEventCreate", eventFlags.disableTiming);
    try {
      work(event);
    } finally {
      this.call("cuEventDestroy", event);
    }
  }

  /** Gives a holding back: see `Owned.dispose`. */
  release(holding: Holding): void {
    if (holding.disposed) return;
    this.ledger.remove(holding);
    if (this.#loss || this.#disposed) return;
    try {
      holding.release();
    } catch (error) {
      if (!this.#loss) throw error;
    }
  }

  /** Gives a holding back on the way of another error, which matters more than one of this. */
  releaseQuietly(holding: Holding): void {
    try {
      this.release(holding);
    } catch {
      // The error under way says what happened.
    }
  }

  /**
   * Gives back everything and then the context, past any error on the way.
   *
   * @throws CudaError, or AggregateError of several, if the driver refused something and the
   * context was not lost.
   */
  dispose(): void {
    if (this.#disposed) return;
    const errors: unknown[] = [];
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        errors.push(error);
      }
    };
    if (!this.#loss) attempt(() => this.call("cuCtxSynchronize"));
    for (const holding of [...this.ledger.list()].reverse()) attempt(() => this.release(holding));
    const lost = this.#loss !== undefined;
    this.#disposed = true;
    forgetCurrent(this.driver);
    const close = () => {
      const code = this.function("cuDevicePrimaryCtxRelease")(this.device);
      if (code !== status.success && !lost) throw this.failure(code, "cuDevicePrimaryCtxRelease");
    };
    if (this.waits > 0) this.#afterWaits = close;
    else attempt(close);
    if (lost) return;
    if (errors.length > 1)
      throw new AggregateError(errors, `the context of device ${this.device} was disposed with ${errors.length} errors`);
    if (errors.length === 1) throw errors[0];
  }
}
