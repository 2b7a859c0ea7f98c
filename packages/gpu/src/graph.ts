// A graph: work that was captured from a stream and is launched as one.
import type { ContextCore } from "./context-core.js";
import { CudaError } from "./errors.js";
import type { Holding } from "./ledger.js";
import { Owned } from "./owned.js";
import type { PinnedBuffer } from "./pinned.js";
import { DeviceSlice } from "./slice.js";
import { status } from "./status.js";
import type { Stream } from "./stream.js";
import { StreamMeter } from "./stream-meter.js";

/** What captured work uses, which must be there when it runs. */
export class GraphRecording {
  readonly holdings = new Set<Holding>();
  readonly pinned = new Set<PinnedBuffer>();
  /** Other contexts whose memory it reads. */
  readonly foreign = new Set<ContextCore>();
  /** What a launch of the graph does. */
  readonly meter: StreamMeter = new StreamMeter();

  noteSlice(slice: DeviceSlice): void {
    // The graph may be launched in any stream, so the memory is given back after all of them.
    slice.memory.shared = true;
    if (slice.memory.holding) this.holdings.add(slice.memory.holding);
  }

  noteLaunch(module: Holding, values: readonly unknown[]): void {
    this.holdings.add(module);
    for (const value of values) this.#noteValue(value);
  }

  /** Device memory of an argument, also within structs and arrays, which the launch has checked. */
  #noteValue(value: unknown): void {
    if (value instanceof DeviceSlice) this.noteSlice(value);
    else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value))
      for (const part of Object.values(value)) this.#noteValue(part);
  }

  noteForeign(slice: DeviceSlice): void {
    this.noteSlice(slice);
    this.foreign.add(slice.memory.core);
  }

  notePinned(buffer: PinnedBuffer): void {
    this.pinned.add(buffer);
    this.holdings.add(buffer.holding);
  }
}

/** CUgraphExecUpdateResult, cuda.h. */
const updateResults = [
  "the update succeeded",
  "the update failed for a reason of the driver's",
  "the number or the order of its parts changed",
  "a part changed its kind",
  "a kernel changed",
  "parameters changed in a way that cannot be updated",
  "a part cannot be updated",
  "a kernel changed in a way that cannot be updated",
  "the attributes of a part changed",
];

interface GraphState {
  graph: bigint;
  executable: bigint;
}

/** Captured work, ready to be launched. */
export class Graph extends Owned {
  readonly #state: GraphState;
  #recording: GraphRecording;

  private constructor(core: ContextCore, state: GraphState, recording: GraphRecording, label: string) {
    const release = () => {
      try {
        core.call("cuGraphExecDestroy", state.executable);
      } finally {
        if (!core.loss) core.call("cuGraphDestroy", state.graph);
      }
    };
    super(core, "graph", label, release);
    this.#state = state;
    this.#recording = recording;
  }

  /** @internal */
  static recording(): GraphRecording {
    return new GraphRecording();
  }

  /** @internal Makes captured work launchable. */
  static create(core: ContextCore, graph: bigint, recording: GraphRecording, label = core.nextName("graph")): Graph {
    try {
      return new Graph(core, { graph, executable: core.long("cuGraphInstantiate", graph, 0) }, recording, label);
    } catch (error) {
      core.function("cuGraphDestroy")(graph);
      throw error;
    }
  }

  /** Kernels, copies and other parts. @throws CudaError. */
  get size(): number {
    this.use();
    const count = new BigUint64Array(1);
    this.core.call("cuGraphGetNodes", this.#state.graph, 0n, count);
    return Number(count[0]);
  }

  /**
   * Sends the graph to the device: the first launch then costs no more than the next. @throws
   * CudaError.
   */
  upload(stream: Stream): void {
    this.#ready(stream);
    this.core.callOn(stream.history, "cuGraphUpload", this.#state.executable, stream.handle);
  }

  /**
   * Launches all of it, in the order of the stream. @throws CudaError; DisposedError if memory
   * that it uses was disposed.
   */
  launch(stream: Stream): void {
    this.#ready(stream);
    for (const pinned of this.#recording.pinned) pinned.noteUse(stream.handle);
    this.core.callOn(stream.history, "cuGraphLaunch", this.#state.executable, stream.handle);
    for (const other of this.#recording.foreign) this.core.holdUp(other, stream.handle);
    stream.meter?.noteGraph(this.#recording.meter);
    if (this.core.debug) this.core.callOn(stream.history, "cuStreamSynchronize", stream.handle);
  }

  #ready(stream: Stream): void {
    this.use();
    stream.use();
    for (const holding of this.#recording.holdings) if (holding.disposed) holding.use();
  }

  /**
   * Captures anew and launches the result from now on, which costs less than a new
   * graph. The parts must be the same in number, order and kind; sizes and arguments may differ.
   *
   * @throws CudaError with the reason if the new work is too different; the graph is then as
   * before.
   */
  update<S extends Stream>(stream: S, work: (stream: S) => void): void {
    this.use();
    const { handle, recording } = stream.captureWork(work);
    const core = this.core;
    // CUgraphExecUpdateResultInfo: the result, padding, and two nodes; 24 bytes.
    const result = new Uint32Array(6);
    const code = core.status("cuGraphExecUpdate", this.#state.executable, handle, result);
    const spent = code === status.success ? this.#state.graph : handle;
    if (code === status.success) {
      this.#state.graph = handle;
      this.#recording = recording;
    }
    const freed = core.function("cuGraphDestroy")(spent);
    if (code !== status.success) {
      const failure = core.describe(code, "cuGraphExecUpdate");
      throw new CudaError(failure, updateResults[result[0]!] ?? `result ${result[0]}`, false);
    }
    core.check(freed, "cuGraphDestroy");
  }
}
