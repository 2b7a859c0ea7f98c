// What goes wrong on a device, as classes with fields. Errors of finding libraries are in
// library-search.ts, that of a missing function is in driver.ts.
import { SpillwayError } from "@spillway/core/errors.js";
import { describeLaunch, type LaunchRecord } from "./launch-history.js";

/** What an error of a driver call is made of. */
export interface CudaFailure {
  /** CUDA's status, such as 700. */
  readonly statusCode: number;
  /** Its name, such as CUDA_ERROR_ILLEGAL_ADDRESS. */
  readonly status: string;
  /** The driver's sentence about it. */
  readonly description: string;
  /** The driver function that returned it. */
  readonly call: string;
  /**
   * The last launches before it, oldest first: of the call's stream, or of all streams if the
   * call has none.
   */
  readonly launches: readonly LaunchRecord[];
  /** What a simulated device says of it: kernel, PTX line, block and thread. */
  readonly cause?: unknown;
}

const launchSentence = (launches: readonly LaunchRecord[]): string => {
  if (launches.length === 0) return "";
  const streams = new Set(launches.map(({ stream }) => stream));
  const shown = launches.map((launch) => describeLaunch(launch) + (streams.size > 1 ? ` on ${launch.stream}` : "")).join(", ");
  const where = streams.size === 1 ? ` on ${launches[0]!.stream}` : "";
  const hint = launches.some(({ source }) => source === undefined)
    ? " (open the device with debug: true to learn the launch and its line)"
    : "";
  return `; last launches${where}: ${shown}${hint}`;
};

/**
 * A driver call returned an error. A kernel's fault is returned by a call after its launch:
 * `launches` says which kernels ran.
 */
export class CudaError extends SpillwayError implements CudaFailure {
  override readonly name: string = "CudaError";
  /** CUDA's status, such as 700. */
  readonly statusCode: number;
  readonly status: string;
  readonly description: string;
  readonly call: string;
  readonly launches: readonly LaunchRecord[];

  constructor(failure: CudaFailure, more = "", kernels = true) {
    const { statusCode, status, description, call, launches, cause } = failure;
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    super(
      "device",
      `${status} (${statusCode}) from ${call}: ${description}${reason}${more && `; ${more}`}${kernels ? launchSentence(launches) : ""}`,
      { cause },
    );
    this.statusCode = statusCode;
    this.status = status;
    this.description = description;
    this.call = call;
    this.launches = launches;
  }
}

/**
 * An earlier error left the context unusable. `code`, `status` and `launches` are those of the
 * error that lost it.
 */
export class ContextLostError extends CudaError {
  override readonly name = "ContextLostError";
  /** The call that was not made because of it. */
  readonly refused: string;

  constructor(loss: CudaFailure, refused: string) {
    super(
      loss,
      `the context was lost to it and ${refused} was not called: dispose the context and open the device again, in a new process if it fails there too`,
    );
    this.refused = refused;
  }
}

/** What holds device memory, largest first. */
export interface MemoryHolder {
  readonly label: string;
  readonly count: number;
  readonly bytes: number;
}

const mebibytes = (bytes: number) => (bytes < 2 ** 20 ? `${bytes} bytes` : `${(bytes / 2 ** 20).toFixed(1)} MiB`);

/** The device has not enough memory for an allocation. */
export class OutOfMemoryError extends CudaError {
  override readonly name = "OutOfMemoryError";
  /** Bytes asked for. */
  readonly requested: number;
  /** Bytes free on the device, or undefined if the driver would not say. */
  readonly free: number | undefined;
  /** Bytes of the device, or undefined likewise. */
  readonly total: number | undefined;
  /** Bytes that this context's buffers hold. */
  readonly held: number;
  /** By what they are held, largest first. */
  readonly holders: readonly MemoryHolder[];

  constructor(
    failure: CudaFailure,
    memory: { requested: number; free: number | undefined; total: number | undefined; holders: readonly MemoryHolder[] },
  ) {
    const held = memory.holders.reduce((sum, holder) => sum + holder.bytes, 0);
    const free = memory.free === undefined ? "free memory unknown" : `${mebibytes(memory.free)} of ${mebibytes(memory.total ?? 0)} free`;
    const top = memory.holders
      .slice(0, 5)
      .map(({ label, count, bytes }) => `${label}${count > 1 ? ` x ${count}` : ""} ${mebibytes(bytes)}`);
    super(
      failure,
      `${mebibytes(memory.requested)} asked for, ${free}, ${mebibytes(held)} held by this context${top.length > 0 ? ` (${top.join(", ")})` : ""}`,
      false,
    );
    this.requested = memory.requested;
    this.free = memory.free;
    this.total = memory.total;
    this.held = held;
    this.holders = memory.holders;
  }
}

/** The driver would not load a module: `log` is what its compiler or linker said. */
export class ModuleLoadError extends CudaError {
  override readonly name = "ModuleLoadError";
  readonly module: string;
  readonly log: string;

  constructor(failure: CudaFailure, module: string, log: string, advice = "") {
    super(
      failure,
      `module ${JSON.stringify(module)} was not loaded${advice && `; ${advice}`}${log && `; the driver's log:\n${log}`}`,
      false,
    );
    this.module = module;
    this.log = log;
  }
}

/** NVRTC would not compile a source. */
export class CompileError extends SpillwayError {
  override readonly name = "CompileError";
  /** The source's name. */
  readonly source: string;
  /** NVRTC's status, such as NVRTC_ERROR_COMPILATION. */
  readonly status: string;
  readonly options: readonly string[];
  /** What the compiler said. */
  readonly log: string;

  constructor(source: string, status: string, options: readonly string[], log: string) {
    super("format", `${source} did not compile (${status}) with options ${options.join(" ") || "(none)"}:\n${log}`);
    this.source = source;
    this.status = status;
    this.options = options;
    this.log = log;
  }
}
