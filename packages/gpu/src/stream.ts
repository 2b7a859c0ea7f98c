// A stream: work for the device in order. Nothing here waits but `sync`, and what resolves does so
// without holding up the event loop.
import { ArgumentError, LaunchError, SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { callSite } from "./call-site.js";
import type { ContextCore } from "./context-core.js";
import { checkRectangle, describeCopy2D, hostSide, type Rectangle, rectangleTable } from "./copies.js";
import { type ArrayOf, bytesOf, type Dtype, type HostArray, holds } from "./dtypes.js";
import type { DeviceEvent } from "./event.js";
import { Graph, type GraphRecording } from "./graph.js";
import type { Kernel } from "./kernel.js";
import type { LaunchConfig } from "./launch-config.js";
import { LaunchHistory } from "./launch-history.js";
import { type LabelOptions, labelTable } from "./options.js";
import { Owned } from "./owned.js";
import type { ArgumentsFor, Parameter } from "./parameters.js";
import { bytesOfParts, checkParts, type HostPart } from "./parts.js";
import { noteArrayUse, PinnedBuffer } from "./pinned.js";
import { DeviceSlice, noteUse, type ReadonlyDeviceSlice, usable } from "./slice.js";
import type { CopyMarks, Staging } from "./staging.js";
import { status } from "./status.js";
import type { StreamMeter } from "./stream-meter.js";

/** CU_STREAM_NON_BLOCKING: no order with the default stream, which is not used here. */
const nonBlocking = 1;

/**
 * CU_STREAM_CAPTURE_MODE_RELAXED: other work may go on during a capture, such as the loading of a
 * kernel by its first launch.
 */
const relaxed = 2;

const bitsError = (dtype: Dtype, bits: number, expected: string): ArgumentError =>
  ArgumentError.because(`the bits of an element of ${dtype} are ${expected}; got ${bits}`, { field: "bits", value: bits, expected });

function destroy(core: ContextCore, handle: bigint, history: LaunchHistory): void {
  try {
    // Memory that this stream used is given back in the order of another once it is gone.
    core.streams.delete(handle);
    core.histories.delete(history);
    core.orderAfter(core.service, [handle]);
  } finally {
    if (!core.loss) core.call("cuStreamDestroy", handle);
  }
}

/** Work for the device in order. */
export class Stream extends Owned {
  /** @internal */
  readonly handle: bigint;
  /** @internal */
  readonly history: LaunchHistory;
  /**
   * Counts what is given to the stream, if there is one. What is captured counts when its graph
   * is launched.
   */
  meter: StreamMeter | undefined;
  readonly #staging: Staging;
  #recording: GraphRecording | undefined;

  private constructor(core: ContextCore, handle: bigint, history: LaunchHistory, staging: Staging, label: string) {
    super(core, "stream", label, () => destroy(core, handle, history));
    this.handle = handle;
    this.history = history;
    this.#staging = staging;
    core.streams.add(handle);
    core.histories.add(history);
  }

  /** @internal */
  static create(core: ContextCore, staging: Staging, priority: number, label = core.nextName("stream")): Stream {
    const handle = core.long("cuStreamCreateWithPriority", nonBlocking, priority);
    const stream = new Stream(core, handle, new LaunchHistory(label), staging, label);
    try {
      // After what was allocated, and after the work of a stream that was destroyed, whose handle
      // this one may have.
      core.orderAfter(stream.handle, [core.service]);
      return stream;
    } catch (error) {
      core.releaseQuietly(stream.holding);
      throw error;
    }
  }

  /** Whether what is given now goes into a graph. */
  get capturing(): boolean {
    return this.#recording !== undefined;
  }

  get #counts(): StreamMeter | undefined {
    return this.#recording ? this.#recording.meter : this.meter;
  }

  /**
   * @throws Error if the stream is being captured: the call would have no meaning, or spoil the
   * graph.
   */
  #notCapturing(what: string): void {
    if (this.#recording)
      throw new SpillwayError("lifecycle", `${this.label} is being captured into a graph, and ${what} cannot be: do it before or after`);
  }

  /**
   * Launches a kernel. The arguments are checked and copied before this returns.
   *
   * @throws LaunchError if the kernel does not take an argument or the device not the shape;
   * CudaError of the launch, or with
   * `debug: true` of the kernel's run.
   */
  launch<const Parameters extends readonly Parameter[]>(
    kernel: Kernel<Parameters>,
    config: LaunchConfig,
    ...values: ArgumentsFor<Parameters>
  ): void {
    const core = this.core;
    this.use();
    kernel.use();
    if (kernel.core !== core)
      throw new LaunchError(
        kernel.name,
        `it belongs to a context of device ${kernel.core.device} and the stream to another, of device ${core.device}`,
        { field: "kernel", expected: `a kernel of the context of device ${core.device}` },
      );
    const block = kernel.block;
    const count = (values as readonly unknown[]).length;
    if (count !== block.count) block.checkCount(count);
    for (let i = 0; i < count; i++) block.write(i, (values as readonly unknown[])[i], this);
    if (kernel.checksLengths) block.checkLengths(values as readonly unknown[]);
    core.enter("cuLaunchKernelEx");
    kernel.prepare(config, this.handle);
    this.history.note(kernel.name, kernel.sizes, core.debug ? callSite() : undefined);
    const code = kernel.launch(this.handle, config);
    if (code !== status.success) throw kernel.failure(code, core.failure(code, kernel.launchCall(config), this.history));
    this.#counts?.noteLaunch(kernel.name);
    if (this.#recording) this.#recording.noteLaunch(kernel.module, values as readonly unknown[]);
    else if (core.debug) core.callOn(this.history, "cuStreamSynchronize", this.handle);
  }

  #use<T extends Dtype>(slice: ReadonlyDeviceSlice<T>, toWrite: boolean): DeviceSlice<T> {
    const inner = usable(this.core, slice, toWrite);
    noteUse(inner.memory, this.handle);
    this.#recording?.noteSlice(inner);
    return inner;
  }

  /**
   * Host memory for a copy. A graph runs later and again, so only page-locked memory, which it
   * keeps, may go into one.
   */
  #host(array: HostArray | PinnedBuffer): HostArray {
    if (array instanceof PinnedBuffer) {
      array.use();
      array.noteUse(this.handle);
      this.#recording?.notePinned(array);
      return array.array;
    }
    this.#notCapturing("a copy of memory that is not page-locked");
    noteArrayUse(this.core, array, this.handle);
    return array;
  }

  /** Copies between device memory and a host array of its type and length, in order. */
  #copyArray(memory: ReadonlyDeviceSlice, host: HostArray | PinnedBuffer, up: boolean): void {
    this.use();
    const { dtype, length, address, byteLength } = this.#use(memory, up);
    const array = this.#host(host);
    if (!holds(dtype, array))
      throw ArgumentError.because(`a copy of ${dtype} needs an array of that type on the host; got ${array.constructor.name}`, {
        field: "array",
        expected: `an array of ${dtype}`,
      });
    if (array.length !== length)
      throw ArgumentError.shape(`a copy is between equal lengths; got ${length} elements on the device and ${array.length} on the host`, {
        field: "array",
        expected: `${length} elements`,
      });
    if (byteLength === 0) return;
    if (up) this.core.callOn(this.history, "cuMemcpyHtoDAsync", address, array, byteLength, this.handle);
    else this.core.callOn(this.history, "cuMemcpyDtoHAsync", array, address, byteLength, this.handle);
    this.#counts?.noteCopy(up ? byteLength : 0, up ? 0 : byteLength);
  }

  /**
   * Copies host memory to the device, in order. From a pinned buffer the copy goes on while this
   * returns; an ordinary array is read before this returns.
   *
   * @throws ArgumentError if types or lengths differ; CudaError.
   */
  upload<T extends Dtype>(destination: DeviceSlice<T>, source: ArrayOf<T> | PinnedBuffer<T>): void {
    this.#copyArray(destination, source as HostArray | PinnedBuffer, true);
  }

  /**
   * Copies device memory into a pinned buffer, in order; what it holds is there once `done`
   * resolves. @throws as `upload`.
   */
  read<T extends Dtype>(source: ReadonlyDeviceSlice<T>, destination: PinnedBuffer<T>): void {
    this.#copyArray(source, destination as PinnedBuffer, false);
  }

  /**
   * A copy of device memory as it is after all that was given to the stream before. `marks` are
   * called right before and after the copy is given to the stream, to put events there.
   *
   * @throws CudaError, also of that work.
   */
  async download<T extends Dtype>(source: ReadonlyDeviceSlice<T>, marks?: CopyMarks): Promise<ArrayOf<T>> {
    this.use();
    this.#notCapturing("a download");
    const from = this.#use(source, false);
    this.meter?.noteCopy(0, from.byteLength);
    return this.#staging.download(from, { stream: this.handle, history: this.history, marks });
  }

  /**
   * Copies parts of device memory to arrays on the host, as they are after all that was given
   * before: through page-locked memory and by several threads, and straight into arrays of
   * page-locked memory (`lockedMatrix`, `Context.pinned`). Before it resolves the device memory
   * must not be written again, and no array be transferred.
   *
   * @throws ArgumentError if parts are of another type, overlap or lie outside the memory;
   * CudaError, also of the work before.
   */
  async toHost<T extends Dtype>(source: ReadonlyDeviceSlice<T>, parts: readonly HostPart[], marks?: CopyMarks): Promise<void> {
    this.use();
    this.#notCapturing("a download");
    const from = this.#use(source, false);
    checkParts(from, parts);
    this.meter?.noteCopy(0, bytesOfParts(parts));
    await this.#staging.toHost(from, parts, { stream: this.handle, history: this.history, marks });
  }

  /**
   * The same in the other direction: copies arrays on the host to parts of device memory. What is
   * given to the stream once it resolved finds them there. Until then nothing may use these parts
   * of the memory, and the arrays must stay as they are.
   *
   * @throws as `toHost`.
   */
  async fromHost<T extends Dtype>(destination: DeviceSlice<T>, parts: readonly HostPart[]): Promise<void> {
    this.use();
    this.#notCapturing("an upload that is waited for");
    const target = this.#use(destination, true);
    checkParts(target, parts);
    this.meter?.noteCopy(bytesOfParts(parts), 0);
    await this.#staging.fromHost(target, parts, { stream: this.handle, history: this.history });
  }

  /**
   * Copies device memory to device memory, in order; from another device also, if the source
   * belongs to another context.
   *
   * @throws ArgumentError if types or lengths differ; CudaError.
   */
  copy<T extends Dtype>(destination: DeviceSlice<T>, source: ReadonlyDeviceSlice<T>): void {
    this.use();
    const target = this.#use(destination, true);
    if (target.dtype !== source.dtype || target.length !== source.length)
      throw ArgumentError.because(
        `a copy is between equals; got ${source.length} of ${source.dtype} onto ${target.length} of ${target.dtype}`,
        { field: "source", expected: `${target.length} of ${target.dtype}` },
      );
    if (target.byteLength === 0) return;
    const there = source instanceof DeviceSlice ? source.memory.core : this.core;
    if (there === this.core) {
      const from = this.#use(source, false);
      this.core.callOn(this.history, "cuMemcpyDtoDAsync", target.address, from.address, target.byteLength, this.handle);
      return;
    }
    const from = usable(there, source, false);
    // Its memory is given back in the order of a stream of its own context.
    from.memory.shared = true;
    const bytes = target.byteLength;
    this.core.callOn(this.history, "cuMemcpyPeerAsync", target.address, this.core.handle, from.address, there.handle, bytes, this.handle);
    if (this.#recording) this.#recording.noteForeign(from);
    else this.core.holdUp(there, this.handle);
  }

  /**
   * Copies a rectangle, in order. One side at least is device memory; the other may be a pinned
   * buffer or an array.
   *
   * @throws ArgumentError if types differ or a side is too short; CudaError.
   */
  copy2D<T extends Dtype>(
    destination: DeviceSlice<T> | ArrayOf<T> | PinnedBuffer<T>,
    source: ReadonlyDeviceSlice<T> | ArrayOf<T> | PinnedBuffer<T>,
    rectangle: Rectangle,
  ): void {
    this.use();
    const { columns, rows, sourcePitch = columns, destinationPitch = columns } = resolve(rectangleTable, rectangle, "a 2-D copy");
    const device = [destination, source].find((side) => side instanceof DeviceSlice);
    if (!device) throw ArgumentError.because("a 2-D copy has device memory on one side at least", { field: "destination" });
    const dtype = device.dtype;
    const width = bytesOf(dtype);
    const side = (name: string, memory: unknown, pitch: number, toWrite: boolean) => {
      if (memory instanceof DeviceSlice) {
        const slice = this.#use(memory, toWrite);
        if (slice.dtype !== dtype)
          throw ArgumentError.because(`a 2-D copy is between equal types; got ${slice.dtype} and ${dtype}`, { field: name });
        checkRectangle(name, columns, rows, pitch, slice.length);
        return { host: false, address: slice.address, pitchBytes: pitch * width };
      }
      const array = this.#host(memory as HostArray | PinnedBuffer);
      if (!holds(dtype, array))
        throw ArgumentError.because(`a 2-D copy of ${dtype} needs an array of that type on the host; got ${array.constructor.name}`, {
          field: name,
        });
      checkRectangle(name, columns, rows, pitch, array.length);
      return hostSide(this.core.driver, array, pitch * width);
    };
    const from = side("source", source, sourcePitch, false);
    const to = side("destination", destination, destinationPitch, true);
    this.core.callOn(this.history, "cuMemcpy2DAsync", describeCopy2D(from, to, columns * width, rows), this.handle);
    const bytes = rows * columns * width;
    this.#counts?.noteCopy(from.host ? bytes : 0, to.host ? bytes : 0);
  }

  /**
   * Fills device memory with one element's bits, in order: 0 for zeros, else a number whose element
   * is of 1, 2 or 4 bytes and is given as those bits.
   *
   * @throws ArgumentError if the bits do not fit or the element has 8 bytes; CudaError.
   */
  fill(destination: DeviceSlice, bits = 0): void {
    this.use();
    const { address, byteLength, dtype, length } = this.#use(destination, true);
    if (byteLength === 0) return;
    const width = bytesOf(dtype);
    if (bits === 0 || width === 1) {
      if (bits >>> 0 !== bits || bits > 255) throw bitsError(dtype, bits, "from 0 to 255");
      this.core.callOn(this.history, "cuMemsetD8Async", address, bits, byteLength, this.handle);
      return;
    }
    const most = width === 2 ? 65535 : 4294967295;
    if (width === 8) throw bitsError(dtype, bits, "0");
    if (bits >>> 0 !== bits || bits > most) throw bitsError(dtype, bits, `from 0 to ${most}`);
    this.core.callOn(this.history, width === 2 ? "cuMemsetD16Async" : "cuMemsetD32Async", address, bits, length, this.handle);
  }

  /** Puts an event after all that was given so far. @throws CudaError. */
  record(event: DeviceEvent): void {
    event.record(this);
  }

  /**
   * Lets what is given from now on wait for an event, which may be another stream's. @throws
   * CudaError.
   */
  wait(event: DeviceEvent): void {
    this.use();
    event.use();
    this.core.callOn(this.history, "cuStreamWaitEvent", this.handle, event.awaited.handle, 0);
  }

  /**
   * Lets what is given from now on wait for all that other streams were given with these stretches
   * of memory.
   * @throws ArgumentError for memory of another context, DisposedError, CudaError
   */
  waitFor(slices: Iterable<ReadonlyDeviceSlice>): void {
    this.use();
    const { core } = this;
    const users = new Set<bigint>();
    for (const slice of slices) {
      const { memory } = usable(core, slice, false);
      const those = memory.shared ? [core.service, ...core.streams] : [memory.stream];
      for (const stream of those) if (stream !== undefined) users.add(stream);
    }
    users.delete(this.handle);
    // A stream that is gone was waited for when it went.
    const others = [...users].filter((stream) => stream === core.service || core.streams.has(stream));
    if (others.length > 0) core.orderAfter(this.handle, others);
  }

  /** Whether all that was given is done. @throws CudaError, also of that work. */
  get ready(): boolean {
    this.use();
    this.#notCapturing("a look whether it is done");
    return this.core.ready("cuStreamQuery", this.handle, this.history);
  }

  /**
   * Waits until all that was given is done, holding up the event loop. @throws CudaError, also of
   * that work.
   */
  sync(): void {
    this.use();
    this.#notCapturing("a wait");
    this.core.callOn(this.history, "cuStreamSynchronize", this.handle);
  }

  /**
   * Resolves when all that was given before is done. The event loop goes on. @throws CudaError,
   * also of that work.
   */
  async done(): Promise<void> {
    this.use();
    this.#notCapturing("a wait");
    await this.#staging.whenDone({ stream: this.handle, history: this.history });
  }

  /**
   * A graph of what `work` gives to this stream; nothing of it runs now. Memory that it uses must
   * outlive the graph.
   *
   * @throws CudaError; what `work` throws, after which the stream is as before.
   */
  capture(work: (stream: this) => void, options: LabelOptions = {}): Graph {
    const { label } = resolve(labelTable, options, "capture");
    const { handle, recording } = this.captureWork(work);
    return Graph.create(this.core, handle, recording, label);
  }

  /** @internal What `work` gives, as a CUgraph. */
  captureWork(work: (stream: this) => void): { handle: bigint; recording: GraphRecording } {
    this.use();
    this.#notCapturing("another capture");
    const core = this.core;
    const recording = Graph.recording();
    core.callOn(this.history, "cuStreamBeginCapture", this.handle, relaxed);
    core.streams.delete(this.handle);
    this.#recording = recording;
    const graph = new BigUint64Array(1);
    const end = (): number => {
      this.#recording = undefined;
      core.streams.add(this.handle);
      return core.loss || core.disposed ? status.success : core.function("cuStreamEndCapture")(this.handle, graph);
    };
    try {
      work(this);
    } catch (error) {
      end();
      if (graph[0] !== 0n) core.function("cuGraphDestroy")(graph[0]!);
      throw error;
    }
    const code = end();
    core.check(code, "cuStreamEndCapture", this.history);
    return { handle: graph[0]!, recording };
  }
}
