// Loads the WebAssembly modules. Instances own their memory; nothing is shared but the compiled
// code. One that is given back is cleared and serves again.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import type { FusedExports, WasmExports } from "./exports.js";
import { hasExactMultiplyAdd } from "./relaxed-simd.js";
import { keepSpare, takeSpare, type WasmInstance } from "./spare-instances.js";

export type { FusedExports, WasmExports } from "./exports.js";
export type { WasmInstance } from "./spare-instances.js";

/**
 * A compiled module. Declared without lib.dom's WebAssembly, so that the declarations can be read
 * where that library is not loaded.
 */
export type WasmModule = object;

/** Bytes of a WebAssembly page. */
const pageBytes = 65536;

/** The most memory one instance can have: 4 GiB. */
export const wasmMemoryLimit = 65536 * pageBytes;

/**
 * Bytes at the start of the memory that belong to the module itself (scratch of the kernels,
 * constants).
 */
export const wasmReserved = 65536;

type ModuleKind = "plain" | "threads" | "fused";

const modules = new Map<ModuleKind, WasmModule>();

/**
 * The compiled module. In Node it is compiled at first use; a browser must `await loadWasm()`
 * before.
 */
function wasmModule(kind: ModuleKind = "plain"): WasmModule {
  let module = modules.get(kind);
  if (!module) {
    const fs = globalThis.process?.getBuiltinModule?.("node:fs");
    if (!fs)
      throw new SpillwayError(
        "lifecycle",
        "the WebAssembly module is not loaded: in a browser, await loadWasm() before anything that trains or runs",
      );
    module = new WebAssembly.Module(fs.readFileSync(moduleUrl(kind)));
    modules.set(kind, module);
  }
  return module;
}

/**
 * Loads and compiles the WebAssembly module: from its file in Node, by fetch in a browser. A
 * reservoir does this itself. A browser needs it before a trainer or a spectrum that comes without
 * one; Node never does. Idempotent.
 * @throws SpillwayError naming the address if a browser finds no module there
 */
export async function loadWasm(): Promise<void> {
  if (globalThis.process?.versions?.node) wasmModule();
  else
    await Promise.all((["fused", "plain"] as const).map((kind) => (kind === "plain" || hasExactMultiplyAdd() ? loaded(kind) : undefined)));
}

/**
 * The module of reservoirs over shared memory, loaded as `loadWasm` does. @throws SpillwayError, as
 * loadWasm
 */
export const loadThreadsModule = (): Promise<WasmModule> => loaded("threads");

async function loaded(kind: ModuleKind): Promise<WasmModule> {
  if (!modules.has(kind) && !globalThis.process?.versions?.node) modules.set(kind, await fetchModule(moduleUrl(kind)));
  return wasmModule(kind);
}

/** @throws SpillwayError naming the address if there is no module */
async function fetchModule(url: URL): Promise<WasmModule> {
  return fetched(url)
    .then(WebAssembly.compile)
    .catch((cause: unknown) => {
      throw cause instanceof SpillwayError ? cause : noModule(url, (cause as Error).message, cause);
    });
}

/** @throws SpillwayError naming the address if it has nothing */
async function fetched(url: URL): Promise<ArrayBuffer> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw noModule(url, (cause as Error).message, cause);
  });
  if (!response.ok) throw noModule(url, `the server answers ${response.status}`);
  return response.arrayBuffer();
}

function noModule(url: URL, why: string, cause?: unknown): SpillwayError {
  return new SpillwayError(
    "file",
    `${url.href} is no WebAssembly module: ${why}. The .wasm files of the package belong beside the bundle`,
    {
      cause,
    },
  );
}

/** What an instance exports, with the types that its source declares. @internal */
export function exportsOf<Exports>(instance: WebAssembly.Instance): Exports {
  return instance.exports as unknown as Exports;
}

/**
 * An instance with `bytes` of memory from address `wasmReserved` on, all zero. @throws
 * ArgumentError above 4 GiB.
 */
export function wasmInstance(bytes: number): WasmInstance {
  const total = wasmReserved + bytes;
  if (total > wasmMemoryLimit)
    throw ArgumentError.because(`${total} bytes are asked for; a WebAssembly memory takes at most ${wasmMemoryLimit}`);
  const initial = Math.ceil(total / pageBytes);
  const spare = takeSpare(initial * pageBytes);
  if (spare) {
    new Uint8Array(spare.memory.buffer, wasmReserved, bytes).fill(0);
    return spare;
  }
  const memory = new WebAssembly.Memory({ initial });
  const instance = new WebAssembly.Instance(wasmModule(), { env: { memory } });
  return { exports: exportsOf<WasmExports>(instance), memory };
}

/**
 * Gives an instance back, for later calls of `wasmInstance`. Whoever does so holds no view of its
 * memory any more, nor hands one out: the next who takes it writes there. An instance whose memory
 * was grown, or a call of which threw, is left to the collector instead.
 */
export function releaseInstance(instance: WasmInstance): void {
  keepSpare(instance);
}

const fused = new WeakMap<WasmInstance["memory"], FusedExports>();

/**
 * The kernels that fuse, over the memory of an instance; undefined if the runtime has no relaxed
 * SIMD. For exact products only.
 */
export function fusedKernels({ memory }: WasmInstance): FusedExports | undefined {
  if (!hasExactMultiplyAdd()) return undefined;
  const env = { memory: memory as WebAssembly.Memory };
  return getOrMake(fused, memory, () => exportsOf<FusedExports>(new WebAssembly.Instance(wasmModule("fused"), { env })));
}

/** Written out for bundlers to find the files. */
function moduleUrl(kind: ModuleKind): URL {
  if (kind === "plain") return new URL("./spillway.wasm", import.meta.url);
  if (kind === "fused") return new URL("./spillway-fused.wasm", import.meta.url);
  return new URL("./spillway-threads.wasm", import.meta.url);
}

/** Where the WebAssembly modules are. @internal */
export function wasmUrls(): readonly URL[] {
  return (["plain", "fused", "threads"] as const).map(moduleUrl);
}
