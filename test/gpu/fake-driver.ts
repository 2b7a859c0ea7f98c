// A driver in memory that records its calls and knows what is held: copies are real, kernels do
// nothing. It complains of what a real driver would not survive: handles that are gone, calls
// without a context, memory freed twice.
import type { Driver, DriverArguments, DriverCall, DriverFunction } from "../../packages/gpu/src/index.js";

const success = 0;
const notReady = 600;

/** What the device is like. */
export interface FakeOptions {
  /** Device memory in bytes. */
  memory?: number;
  /** Calls that the library lacks, as an old one does. */
  lacks?: readonly DriverCall[];
  /** Device attributes that differ. */
  attributes?: Readonly<Record<number, number>>;
  devices?: number;
  version?: number;
  /** Parameter sizes by kernel name, for images that are not PTX. */
  parameters?: Readonly<Record<string, readonly number[]>>;
}

interface Held {
  readonly kind: string;
  readonly context: number;
}

const attributes: Readonly<Record<number, number>> = {
  ...{ 1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2147483647, 6: 65535, 7: 65535, 8: 49152, 10: 32, 16: 4, 75: 9, 76: 0, 78: 1 },
  ...{ 95: 1, 97: 232448, 99: 1, 115: 1, 120: 1 },
};

type Pointer = bigint | ArrayBufferView;
type Table = { [Name in DriverCall]: DriverFunction<Name> };

export class FakeDriver implements Driver {
  readonly library = "fake";
  /** The names of the calls that were made, in order. */
  readonly calls: DriverCall[] = [];
  /** What a real driver would have answered by a crash. */
  readonly violations: string[] = [];
  /** How many looks at an event or stream say "not yet". */
  pending = 0;
  /**
   * The last launch: the 56 bytes of its CUlaunchConfig with attributes, and the argument slots.
   */
  lastLaunch: { config: Uint8Array; slots: Uint8Array } | undefined;
  readonly #options: FakeOptions;
  readonly #held = new Map<bigint, Held>();
  readonly #memory = new Map<bigint, Uint8Array>();
  readonly #functions = new Map<bigint, string>();
  readonly #host = new Map<bigint, ArrayBuffer>();
  readonly #hostAddresses = new WeakMap<ArrayBuffer, bigint>();
  readonly #retained: number[] = [];
  readonly #table: Table;
  #next = 0x10000n;
  #used = 0;
  #current = -1;

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.#table = this.#functionsTable();
  }

  has(name: DriverCall): boolean {
    return !(this.#options.lacks ?? []).includes(name);
  }

  resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
    if (!this.has(name)) throw new Error(`fake lacks ${name}`);
    return ((...values: never[]) => {
      this.calls.push(name);
      return (this.#table[name] as (...all: never[]) => number)(...values);
    }) as unknown as DriverFunction<Name>;
  }

  async callAsync<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.pending = 0;
    // A thread of the pool has a current context of its own; waiting needs none.
    const current = this.#current;
    this.#current = 0;
    const code = this.resolve(name)(...values);
    this.#current = current;
    return code;
  }

  addressOf(view: ArrayBufferView): bigint {
    const buffer = view.buffer as ArrayBuffer;
    let base = this.#hostAddresses.get(buffer);
    if (base === undefined) {
      base = this.#take(buffer.byteLength) + 16n;
      this.#hostAddresses.set(buffer, base);
      this.#host.set(base, buffer);
    }
    return base + BigInt(view.byteOffset);
  }

  textAt(): string {
    return "a sentence of the driver";
  }

  /** How many of each kind are held. */
  outstanding(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { kind } of this.#held.values()) counts[kind] = (counts[kind] ?? 0) + 1;
    const retained = this.#retained.reduce((sum, each) => sum + (each ?? 0), 0);
    return retained > 0 ? { ...counts, retained } : counts;
  }

  #take(bytes: number): bigint {
    const at = this.#next;
    this.#next += BigInt(Math.ceil((bytes + 64) / 4096) * 4096);
    return at;
  }

  /** A CUDA_MEMCPY2D; side k begins at word 7 k. */
  #copyRows(words: BigUint64Array): void {
    const [width, rows] = [Number(words[14]), Number(words[15])];
    const types = new Uint32Array(words.buffer, words.byteOffset);
    const sides = [0, 7].map((at) => {
      const [onHost, pitch] = [types[2 * (at + 2)] === 1, Number(words[at + 6])];
      const bytes = (rows - 1) * pitch + width;
      return { pitch, bytes: onHost ? this.#hostBytes(words[at + 3]!, bytes) : this.#deviceBytes(words[at + 4]!, bytes) };
    });
    const [from, to] = [sides[0]!, sides[1]!];
    for (let row = 0; row < rows; row++) to.bytes.set(from.bytes.subarray(row * from.pitch, row * from.pitch + width), row * to.pitch);
  }

  #make(kind: string): bigint {
    const handle = this.#take(8);
    this.#held.set(handle, { kind, context: this.#current });
    return handle;
  }

  #drop(handle: bigint, kind: string): number {
    if (this.#held.get(handle)?.kind !== kind) this.violations.push(`${kind} ${handle} was given back and is not held`);
    this.#held.delete(handle);
    return success;
  }

  #uses(handle: bigint, ...kinds: string[]): void {
    const kind = this.#held.get(handle)?.kind;
    if (kind === undefined || !kinds.includes(kind)) this.violations.push(`${handle} is ${kind ?? "nothing"}, not ${kinds.join(" or ")}`);
  }

  #needsContext(): void {
    if (this.#current < 0) this.violations.push("a call was made without a current context");
  }

  /** Bytes of host memory; left out, up to its end. */
  #hostBytes(pointer: Pointer, bytes?: number): Uint8Array {
    if (typeof pointer !== "bigint") return new Uint8Array(pointer.buffer, pointer.byteOffset, bytes);
    for (const [base, buffer] of this.#host)
      if (pointer >= base && pointer + BigInt(bytes ?? 1) <= base + BigInt(buffer.byteLength))
        return new Uint8Array(buffer, Number(pointer - base), bytes);
    throw new Error(`no host memory of ${bytes} bytes at ${pointer}`);
  }

  #deviceBytes(address: bigint, bytes: number): Uint8Array {
    for (const [base, memory] of this.#memory)
      if (address >= base && address + BigInt(bytes) <= base + BigInt(memory.length)) {
        const at = Number(address - base);
        return memory.subarray(at, at + bytes);
      }
    this.violations.push(`${bytes} bytes at ${address} are no device memory`);
    return new Uint8Array(bytes);
  }

  #allocate(out: Pointer, bytes: number): number {
    this.#needsContext();
    if (this.#used + bytes > (this.#options.memory ?? 2 ** 30)) return 2;
    const address = this.#take(bytes);
    this.#memory.set(address, new Uint8Array(bytes).fill(0xcd));
    this.#held.set(address, { kind: "memory", context: this.#current });
    this.#used += bytes;
    return give(out, address);
  }

  #free(address: bigint): number {
    this.#needsContext();
    this.#used -= this.#memory.get(address)?.length ?? 0;
    this.#memory.delete(address);
    return this.#drop(address, "memory");
  }

  #setCurrent(context: number): number {
    this.#current = context;
    return success;
  }

  #finishWork(): void {
    this.pending = 0;
  }

  #release(device: number): number {
    this.#retained[device] = (this.#retained[device] ?? 0) - 1;
    if (this.#retained[device]! > 0) return success;
    if (this.#retained[device]! < 0) this.violations.push(`the context of device ${device} was released too often`);
    for (const [handle, held] of this.#held) {
      if (held.context !== device) continue;
      this.#used -= this.#memory.get(handle)?.length ?? 0;
      this.#memory.delete(handle);
      this.#held.delete(handle);
    }
    return success;
  }

  #look(): number {
    this.#needsContext();
    if (this.pending === 0) return success;
    this.pending--;
    return notReady;
  }

  #launch(config: Uint8Array, parameters: Pointer): number {
    this.#needsContext();
    this.lastLaunch = { config: config.slice(), slots: new Uint8Array(0) };
    if (parameters !== 0n) {
      const first = new DataView(this.#hostBytes(parameters, 16).slice().buffer).getBigUint64(0, true);
      const count = Number(first - (parameters as bigint)) / 8;
      if (count > 0 && count < 64) this.lastLaunch.slots = this.#hostBytes(first).slice();
    }
    return success;
  }

  #functionsTable(): Table {
    const memset = (width: number) => (address: bigint, value: number, count: number) => {
      const bytes = this.#deviceBytes(address, width * count);
      for (let i = 0; i < bytes.length; i++) bytes[i] = value >>> (8 * (i % width));
      return success;
    };
    return {
      cuGetErrorString: (_code, out) => give(out, 1n),
      cuGetErrorName: () => 1,
      cuInit: () => success,
      cuDriverGetVersion: (out) => give(out, this.#options.version ?? 13000),
      cuDeviceGetCount: (out) => give(out, this.#options.devices ?? 1),
      cuDeviceGet: (out, ordinal) => give(out, ordinal),
      cuDeviceGetName: (out) => last(new Uint8Array((out as Uint8Array).buffer).set(new TextEncoder().encode("Fake")), success),
      cuDeviceGetUuid: () => success,
      cuDeviceGetPCIBusId: () => success,
      cuDeviceTotalMem: (out) => give(out, this.#options.memory ?? 2 ** 30),
      cuDeviceGetAttribute: (out, attribute) => give(out, this.#options.attributes?.[attribute] ?? attributes[attribute] ?? 0),
      cuDeviceCanAccessPeer: (out) => give(out, 1),
      cuDevicePrimaryCtxRetain: (out, device) => {
        this.#retained[device] = (this.#retained[device] ?? 0) + 1;
        return give(out, BigInt(0xc0 + device));
      },
      cuDevicePrimaryCtxRelease: (device) => this.#release(device),
      cuCtxSetCurrent: (context) => this.#setCurrent(context === 0n ? -1 : Number(context) - 0xc0),
      cuCtxSynchronize: () => last(this.#needsContext(), this.#finishWork(), success),
      cuCtxGetStreamPriorityRange: (least, greatest) => give(least, 0) || give(greatest, -5),
      cuCtxEnablePeerAccess: () => success,
      cuCtxDisablePeerAccess: () => success,
      cuStreamCreateWithPriority: (out) => last(this.#needsContext(), give(out, this.#make("stream"))),
      cuStreamDestroy: (stream) => this.#drop(stream, "stream"),
      cuStreamSynchronize: (stream) => last(this.#needsContext(), this.#uses(stream, "stream"), this.#finishWork(), success),
      cuStreamQuery: (stream) => last(this.#uses(stream, "stream"), this.#look()),
      cuStreamWaitEvent: (stream, event) => last(this.#uses(stream, "stream"), this.#uses(event, "event"), success),
      cuStreamBeginCapture: (stream) => last(this.#uses(stream, "stream"), success),
      cuStreamEndCapture: (stream, out) => last(this.#uses(stream, "stream"), give(out, this.#make("graph"))),
      cuEventCreate: (out) => last(this.#needsContext(), give(out, this.#make("event"))),
      cuEventDestroy: (event) => this.#drop(event, "event"),
      cuEventRecord: (event, stream) => last(this.#uses(event, "event"), this.#uses(stream, "stream"), success),
      cuEventQuery: (event) => last(this.#uses(event, "event"), this.#look()),
      cuEventSynchronize: (event) => last(this.#uses(event, "event"), success),
      cuEventElapsedTime: (out) => last((out as Float32Array).fill(2), success),
      cuMemGetInfo: (free, total) => {
        const memory = this.#options.memory ?? 2 ** 30;
        return give(free, memory - this.#used) || give(total, memory);
      },
      cuMemAlloc: (out, bytes) => this.#allocate(out, bytes),
      cuMemFree: (address) => this.#free(address),
      cuMemPoolCreate: (out) => give(out, this.#make("pool")),
      cuMemPoolDestroy: (pool) => this.#drop(pool, "pool"),
      cuMemPoolSetAttribute: () => success,
      cuMemPoolGetAttribute: (_pool, _attribute, out) => give(out, this.#used),
      cuMemPoolSetAccess: () => success,
      cuMemPoolTrimTo: () => success,
      cuMemAllocFromPoolAsync: (out, bytes, pool, stream) =>
        last(this.#uses(pool, "pool"), this.#uses(stream, "stream"), this.#allocate(out, bytes)),
      cuMemFreeAsync: (address, stream) => last(this.#uses(stream, "stream"), this.#free(address)),
      cuMemHostRegister: (pointer) => {
        const address = typeof pointer === "bigint" ? pointer : this.addressOf(pointer);
        this.#held.set(address, { kind: "registered", context: this.#current });
        return success;
      },
      cuMemHostUnregister: (pointer) => this.#drop(typeof pointer === "bigint" ? pointer : this.addressOf(pointer), "registered"),
      cuMemcpyHtoDAsync: (to, from, bytes) => last(this.#deviceBytes(to, bytes).set(this.#hostBytes(from, bytes)), success),
      cuMemcpyDtoHAsync: (to, from, bytes) => last(this.#hostBytes(to, bytes).set(this.#deviceBytes(from, bytes)), success),
      cuMemcpyDtoDAsync: (to, from, bytes) => last(this.#deviceBytes(to, bytes).set(this.#deviceBytes(from, bytes)), success),
      cuMemcpyPeerAsync: (to, _there, from, _here, bytes) =>
        last(this.#deviceBytes(to, bytes).set(this.#deviceBytes(from, bytes)), success),
      cuMemcpy2DAsync: (copy, stream) => last(this.#uses(stream, "stream"), this.#copyRows(copy as BigUint64Array), success),
      cuMemsetD8Async: memset(1),
      cuMemsetD16Async: memset(2),
      cuMemsetD32Async: memset(4),
      cuModuleLoadDataEx: (out) => last(this.#needsContext(), give(out, this.#make("module"))),
      cuModuleUnload: (module) => this.#drop(module, "module"),
      cuModuleGetFunction: (out, module, name) => {
        this.#uses(module, "module");
        if (name === "missing") return 500;
        const handle = this.#take(8);
        this.#functions.set(handle, name);
        return give(out, handle);
      },
      cuModuleGetGlobal: (address, bytes, module, name) => {
        this.#uses(module, "module");
        if (name === "missing") return 500;
        return give(address, this.#take(64)) || give(bytes, 64);
      },
      cuFuncGetAttribute: (out, attribute) => give(out, [1024, 16, 0, 0, 24, 75, 90][attribute] ?? 0),
      cuFuncSetAttribute: () => success,
      cuFuncGetParamInfo: (handle, index, offset, size) => {
        const sizes = this.#options.parameters?.[this.#functions.get(handle) ?? ""] ?? [];
        return index < sizes.length ? give(offset, 0) || give(size, sizes[index]!) : 1;
      },
      cuLaunchKernelEx: (config, _function, parameters) => this.#launch(this.#hostBytes(config, 280), parameters),
      cuLaunchKernel: (_function, ...rest) => this.#launch(sizesOf(rest.slice(0, 7) as number[]), rest[8]),
      cuLaunchCooperativeKernel: (_function, ...rest) => this.#launch(sizesOf(rest.slice(0, 7) as number[]), rest[8]),
      cuOccupancyMaxActiveBlocksPerMultiprocessor: (out) => give(out, 2),
      cuOccupancyMaxActiveClusters: (out) => give(out, 3),
      cuGraphInstantiate: (out, graph) => last(this.#uses(graph, "graph"), give(out, this.#make("executable graph"))),
      cuGraphGetNodes: (graph, _nodes, count) => last(this.#uses(graph, "graph"), give(count, 3)),
      cuGraphUpload: (graph) => last(this.#uses(graph, "executable graph"), success),
      cuGraphLaunch: (graph) => last(this.#uses(graph, "executable graph"), success),
      cuGraphExecUpdate: (executable, graph) => last(this.#uses(executable, "executable graph"), this.#uses(graph, "graph"), success),
      cuGraphExecDestroy: (graph) => this.#drop(graph, "executable graph"),
      cuGraphDestroy: (graph) => this.#drop(graph, "graph"),
    };
  }
}

const sizesOf = (sizes: readonly number[]) => new Uint8Array(Uint32Array.from(sizes).buffer);

/** What the last of several steps gives. */
const last = (...steps: unknown[]) => steps.at(-1) as number;

/** Writes a result if the driver would. */
function give(out: Pointer, value: number | bigint): number {
  if (out instanceof BigUint64Array) out[0] = BigInt(value);
  else if (out instanceof Int32Array) out[0] = Number(value);
  else throw new Error("a result needs a typed array of its width");
  return success;
}
