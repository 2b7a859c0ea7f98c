// NCCL: sums and copies of device memory among several devices, of one process or of many. On
// simulated devices the same calls are copies, and sums in the order of the ranks.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { checked, given, resolve, type TableOf, whole } from "@spillway/core/options.js";
import type { Context } from "./context.js";
import { forgetCurrent } from "./context-core.js";
import type { Dtype } from "./dtypes.js";
import { firstLine } from "./ffi.js";
import { isNative } from "./native-driver.js";
import { loadedNccl, loadNccl, NcclError, type NcclLibrary } from "./nccl-library.js";
import { type Operation, SimulatedGroup } from "./nccl-simulated.js";
import { Owned } from "./owned.js";
import { type DeviceSlice, noteUse, type ReadonlyDeviceSlice, usable } from "./slice.js";
import type { Stream } from "./stream.js";

/** ncclDataType_t, nccl.h. */
const types: Partial<Record<Dtype, number>> = { i8: 0, u8: 1, i32: 2, u32: 3, i64: 4, u64: 5, f16: 6, f32: 7, f64: 8, bf16: 9 };

/** How elements of several ranks become one. */
export type Reduction = "sum" | "product" | "max" | "min";

/** ncclRedOp_t, nccl.h. */
const reductions: Readonly<Record<Reduction, number>> = { sum: 0, product: 1, max: 2, min: 3 };

function typeOf({ dtype }: DeviceSlice): number {
  const type = types[dtype];
  if (type === undefined) throw ArgumentError.because(`NCCL knows no ${dtype}`, { field: "dtype", value: dtype });
  return type;
}

function codeOf(reduction: Reduction): number {
  if (Object.hasOwn(reductions, reduction)) return reductions[reduction];
  const names = Object.keys(reductions).map((name) => `"${name}"`);
  throw new ArgumentError("reduction", reduction, names.join(", "));
}

/** Whether NCCL loads here. */
export interface NcclProbe {
  readonly available: boolean;
  /** "2.27.7". */
  readonly version: string | undefined;
  readonly library: string | undefined;
  /** Why it does not load, in a sentence. */
  readonly problem: string | undefined;
}

/** Looks for NCCL. It does not throw: what went wrong is in what it returns. */
export function probeNccl(): NcclProbe {
  try {
    const library = loadNccl();
    const version = new Int32Array(1);
    library.call("ncclGetVersion", version);
    const [major, rest] = [Math.floor(version[0]! / 10000), version[0]! % 10000];
    return { available: true, version: `${major}.${Math.floor(rest / 100)}.${rest % 100}`, library: library.path, problem: undefined };
  } catch (error) {
    return { available: false, version: undefined, library: undefined, problem: firstLine(error) };
  }
}

/**
 * An identity for a communicator of several processes, 128 bytes: one process makes it and sends it
 * to the others, each of which gives it to `joinCommunicator`. @throws LibraryError, NcclError
 */
export function ncclIdentity(): Uint8Array {
  const identity = new Uint8Array(128);
  loadNccl().call("ncclGetUniqueId", identity);
  return identity;
}

/** What does the work of a communicator: NCCL, or copies among simulated devices. */
type Worker = { readonly library: NcclLibrary; readonly handle: bigint } | SimulatedGroup;

/** NCCL's function for each piece of work. */
const functions = {
  ...({ allReduce: "ncclAllReduce", allGather: "ncclAllGather", reduceScatter: "ncclReduceScatter" } as const),
  ...({ broadcast: "ncclBroadcast", send: "ncclSend", receive: "ncclRecv" } as const),
};

/** One device's part in collective work. All of its calls are in the order of a stream. */
export class Communicator extends Owned {
  readonly rank: number;
  /** How many ranks there are. */
  readonly size: number;
  readonly #worker: Worker;
  readonly #state: { aborted: boolean };

  /** @internal */
  constructor(context: Context, rank: number, size: number, worker: Worker) {
    const state = { aborted: false };
    super(context.core, "communicator", `rank ${rank} of ${size}`, () => {
      if (!(worker instanceof SimulatedGroup) && !state.aborted) worker.library.call("ncclCommDestroy", worker.handle);
      forgetCurrent(context.core.driver);
    });
    this.rank = rank;
    this.size = size;
    this.#state = state;
    this.#worker = worker;
  }

  /** Every rank's `destination` becomes the reduction of every rank's `source`; they may be one. */
  allReduce<T extends Dtype>(
    stream: Stream,
    destination: DeviceSlice<T>,
    source: ReadonlyDeviceSlice<T>,
    reduction: Reduction = "sum",
  ): void {
    const by = codeOf(reduction);
    const [to, from] = this.#pair(stream, destination, source, 1, 1);
    this.#give({ kind: "allReduce", stream, to, from, reduction }, (library, handle) =>
      library.call("ncclAllReduce", from.address, to.address, from.length, typeOf(from), by, handle, stream.handle),
    );
  }

  /** `destination` becomes all ranks' `source` in their order: it is `size` times as long. */
  allGather<T extends Dtype>(stream: Stream, destination: DeviceSlice<T>, source: ReadonlyDeviceSlice<T>): void {
    const [to, from] = this.#pair(stream, destination, source, this.size, 1);
    this.#give({ kind: "allGather", stream, to, from }, (library, handle) =>
      library.call("ncclAllGather", from.address, to.address, from.length, typeOf(from), handle, stream.handle),
    );
  }

  /**
   * `destination` becomes this rank's part of the reduction of every rank's `source`, which is
   * `size` times as long.
   */
  reduceScatter<T extends Dtype>(
    stream: Stream,
    destination: DeviceSlice<T>,
    source: ReadonlyDeviceSlice<T>,
    reduction: Reduction = "sum",
  ): void {
    const by = codeOf(reduction);
    const [to, from] = this.#pair(stream, destination, source, 1, this.size);
    this.#give({ kind: "reduceScatter", stream, to, from, reduction }, (library, handle) =>
      library.call("ncclReduceScatter", from.address, to.address, to.length, typeOf(from), by, handle, stream.handle),
    );
  }

  /** Every rank's `memory` becomes that of the rank `root`. */
  broadcast<T extends Dtype>(stream: Stream, memory: DeviceSlice<T>, root: number): void {
    this.#checkRank("root", root);
    const [to] = this.#pair(stream, memory, memory, 1, 1);
    this.#give({ kind: "broadcast", stream, to, from: to, peer: root }, (library, handle) =>
      library.call("ncclBroadcast", to.address, to.address, to.length, typeOf(to), root, handle, stream.handle),
    );
  }

  /** Sends to a rank that receives as many. */
  send<T extends Dtype>(stream: Stream, source: ReadonlyDeviceSlice<T>, peer: number): void {
    this.#checkRank("peer", peer);
    const from = this.#use(stream, source, false);
    this.#give({ kind: "send", stream, to: from, from, peer }, (library, handle) =>
      library.call("ncclSend", from.address, from.length, typeOf(from), peer, handle, stream.handle),
    );
  }

  /** Receives what a rank sends. */
  receive<T extends Dtype>(stream: Stream, destination: DeviceSlice<T>, peer: number): void {
    this.#checkRank("peer", peer);
    const to = this.#use(stream, destination, true);
    this.#give({ kind: "receive", stream, to, from: to, peer }, (library, handle) =>
      library.call("ncclRecv", to.address, to.length, typeOf(to), peer, handle, stream.handle),
    );
  }

  /** @throws NcclError if work under way failed, such as when another process ended. */
  check(): void {
    this.use();
    if (this.#worker instanceof SimulatedGroup) return;
    const result = new Int32Array(1);
    this.#worker.library.call("ncclCommGetAsyncError", this.#worker.handle, result);
    if (result[0] !== 0 && result[0] !== 7) throw new NcclError(result[0]!, "ncclCommGetAsyncError");
  }

  /**
   * Ends the communicator with the work that it has under way, which may wait for ever otherwise.
   */
  abort(): void {
    if (this.disposed || this.#state.aborted) return;
    this.#state.aborted = true;
    try {
      if (this.#worker instanceof SimulatedGroup) this.#worker.abort();
      else this.#worker.library.call("ncclCommAbort", this.#worker.handle);
    } finally {
      this.dispose();
    }
  }

  #give(operation: Omit<Operation, "rank">, call: (library: NcclLibrary, handle: bigint) => void): void {
    const worker = this.#worker;
    if (worker instanceof SimulatedGroup) {
      worker.take({ ...operation, rank: this.rank });
      return;
    }
    this.core.enter(functions[operation.kind]);
    try {
      call(worker.library, worker.handle);
    } finally {
      forgetCurrent(this.core.driver);
    }
  }

  #use<T extends Dtype>(stream: Stream, slice: ReadonlyDeviceSlice<T>, toWrite: boolean): DeviceSlice<T> {
    this.use();
    stream.use();
    if (stream.core !== this.core)
      throw ArgumentError.because(`the stream is of device ${stream.core.device}, and rank ${this.rank} of device ${this.core.device}`, {
        field: "stream",
      });
    const inner = usable(this.core, slice, toWrite);
    noteUse(inner.memory, stream.handle);
    return inner;
  }

  #pair<T extends Dtype>(
    stream: Stream,
    destination: DeviceSlice<T>,
    source: ReadonlyDeviceSlice<T>,
    timesTo: number,
    timesFrom: number,
  ): [DeviceSlice<T>, DeviceSlice<T>] {
    const [to, from] = [this.#use(stream, destination, true), this.#use(stream, source, false)];
    if (to.dtype !== from.dtype || to.length * timesFrom !== from.length * timesTo)
      throw ArgumentError.shape(
        `the destination has ${to.length} of ${to.dtype} and the source ${from.length} of ${from.dtype}; they are to be of one type, and in the ratio ${timesTo} to ${timesFrom}`,
        { field: "destination" },
      );
    return [to, from];
  }

  #checkRank(field: string, rank: number): void {
    if (!Number.isInteger(rank) || rank < 0 || rank >= this.size)
      throw new ArgumentError(field, rank, `a rank, a whole number from 0 to ${this.size - 1}`);
  }
}

/**
 * A communicator for each of several devices of this process, ranked in the order given. A call is
 * made for every rank, within `communicatorGroup`.
 *
 * @example
 * const contexts = openDevices("cuda:0-1");
 * const ranks = openCommunicators(contexts);
 * communicatorGroup(() => ranks.forEach((rank, k) => rank.allReduce(streams[k], sums[k],
 * sums[k])));
 * @throws LibraryError naming every path tried if there is no NCCL; NcclError; ArgumentError
 */
export function openCommunicators(contexts: readonly Context[]): readonly Communicator[] {
  if (contexts.length === 0 || new Set(contexts.map(({ info }) => info.ordinal)).size < contexts.length)
    throw ArgumentError.because("communicators are for at least one device, each of them once", { field: "contexts" });
  const size = contexts.length;
  if (contexts.every(({ core }) => core.driver.takesPtxOnly === true)) {
    const group = new SimulatedGroup(size);
    return contexts.map((context, rank) => new Communicator(context, rank, size, group));
  }
  if (!contexts.every(({ core }) => isNative(core.driver)))
    throw new SpillwayError("unavailable", "NCCL works on devices of the machine's CUDA driver, or on simulated ones alone");
  const library = loadNccl();
  const handles = new BigUint64Array(size);
  contexts[0]!.core.enter("ncclCommInitAll");
  try {
    library.call(
      "ncclCommInitAll",
      handles,
      size,
      Int32Array.from(contexts, ({ info }) => info.ordinal),
    );
  } finally {
    for (const { core } of contexts) forgetCurrent(core.driver);
  }
  return contexts.map((context, rank) => new Communicator(context, rank, size, { library, handle: handles[rank]! }));
}

/** A process's part in a communicator of several. */
export interface JoinOptions {
  /** What `ncclIdentity` gave one of them. */
  readonly identity: Uint8Array;
  /** The rank of this process, from 0. */
  readonly rank: number;
  /** How many processes there are. */
  readonly size: number;
}

// Compilers before TypeScript 5.7 cannot read the array of `InputOf<typeof joinTable>`.
const joinTable = {
  identity: given(
    checked<Uint8Array>("the 128 bytes that ncclIdentity gave", (value) => value instanceof Uint8Array && value.length === 128),
    "What ncclIdentity gave one of the processes.",
  ),
  rank: given(whole({ atLeast: 0 }), "The rank of this process, from 0."),
  size: given(whole({ atLeast: 1 }), "How many processes there are."),
} satisfies TableOf<JoinOptions>;

/**
 * A communicator with other processes. It returns when all `size` have come, and holds up the event
 * loop until then.
 *
 * @throws LibraryError if there is no NCCL; NcclError; ArgumentError
 */
export function joinCommunicator(context: Context, options: JoinOptions): Communicator {
  const { identity, rank, size } = resolve(joinTable, options, "joinCommunicator");
  if (rank >= size) throw new ArgumentError("rank", rank, `a whole number from 0 to ${size - 1}`);
  if (!isNative(context.core.driver))
    throw new SpillwayError("unavailable", "simulated devices have communicators within one process; openCommunicators makes them");
  const library = loadNccl();
  const handle = new BigUint64Array(1);
  context.core.enter("ncclCommInitRank");
  try {
    library.call("ncclCommInitRank", handle, size, { bytes: identity }, rank);
  } finally {
    forgetCurrent(context.core.driver);
  }
  return new Communicator(context, rank, size, { library, handle: handle[0]! });
}

/**
 * Makes the calls of several ranks, or several calls, as one. @throws NcclError; what `work` throws
 */
export function communicatorGroup(work: () => void): void {
  const library = loadedNccl();
  library?.call("ncclGroupStart");
  try {
    work();
  } catch (error) {
    // What the others had begun ends here; the first error says what happened.
    library?.status("ncclGroupEnd");
    throw error;
  }
  library?.call("ncclGroupEnd");
}
