// Gives files to hdf5-worker.mjs, one at a time, and ends it if one takes too long or leaves it
// unfit for the next.
import type { Worker } from "node:worker_threads";
import { startWorker } from "@spillway/core/node-worker.js";
import { FileError } from "@spillway/io/errors.js";

/** Rows of variable length, one after the other. */
export interface EventRows {
  readonly bytes: Uint8Array;
  /** In numbers: row i is offsets[i] to offsets[i + 1]. */
  readonly offsets: Float64Array;
  /** As HDF5 describes numbers: type 0 whole, 1 float; size in bytes. */
  readonly type: { readonly type: number; readonly size: number; readonly signed: boolean };
}

/** What a file of event lists holds. */
export interface EventData {
  readonly count: number;
  readonly times: EventRows;
  readonly units: EventRows;
  readonly labels?: Float64Array | undefined;
  readonly speakers?: Float64Array | undefined;
  /** Of all spikes, pattern after pattern. */
  readonly amplitudes?: Float64Array | undefined;
  readonly classNames?: readonly string[] | undefined;
}

/** What is written. */
export interface EventsToWrite {
  readonly template: Uint8Array;
  readonly times: readonly (Float32Array | Uint16Array)[];
  readonly units: readonly Uint16Array[];
  readonly labels?: Uint16Array | undefined;
  readonly classNames?: readonly string[] | undefined;
  readonly amplitudes?: Float32Array | undefined;
}

/** A group of a file by the names of its members, or a dataset. */
export type Hdf5Value =
  | { readonly members: Readonly<Record<string, Hdf5Value>> }
  /** `whole`: whole numbers, which are written with 64 bits. */
  | { readonly shape: readonly number[]; readonly numbers: Float64Array; readonly whole?: true | undefined }
  | { readonly shape: readonly number[]; readonly texts: readonly string[] };

type Outcome = { readonly value: unknown } | { readonly missing: string } | { readonly refused: string } | { readonly broken: string };
/** `again`: the thread can be given another task. */
type Answer = Outcome & { readonly again: boolean };

/** The thread that has done its task and waits for another, and what ends it if none comes. */
let idle: { readonly worker: Worker; readonly timer: ReturnType<typeof setTimeout> } | undefined;
const idleMs = 2000;

/** Groups and datasets of a tree at most; the library takes some tenths of a millisecond for each. */
export const mostMembers = 4096;

/**
 * @throws FileError for a file that is none, is damaged, or takes longer than the limit, and if
 * h5wasm is not installed
 */
export async function readEvents(bytes: Uint8Array, source: string, timeLimitMs: number): Promise<EventData> {
  return (await read("read", bytes, source, timeLimitMs)) as EventData;
}

/** The bytes of a file. @throws FileError if h5wasm is not installed */
export async function writeEvents(events: EventsToWrite): Promise<Uint8Array> {
  return (await run({ task: "write", ...events }, "HDF5", Number.POSITIVE_INFINITY, [])) as Uint8Array;
}

/**
 * The groups and datasets of a file, but those that are neither numbers nor texts. @throws
 * FileError as `readEvents`
 */
export async function readTree(bytes: Uint8Array, source: string, timeLimitMs: number): Promise<Readonly<Record<string, Hdf5Value>>> {
  return (await read("readTree", bytes, source, timeLimitMs)) as Readonly<Record<string, Hdf5Value>>;
}

/** The bytes of a file with these members. @throws FileError if h5wasm is not installed */
export async function writeTree(members: Readonly<Record<string, Hdf5Value>>): Promise<Uint8Array> {
  return (await run({ task: "writeTree", members }, "HDF5", Number.POSITIVE_INFINITY, [])) as Uint8Array;
}

function read(task: "read" | "readTree", bytes: Uint8Array, source: string, timeLimitMs: number): Promise<unknown> {
  const memoryBytes = 2 ** 28 + 4 * bytes.length;
  // A copy to give away; `slice` of a Buffer would be the caller's own memory.
  const copy = new Uint8Array(bytes);
  return run({ task, bytes: copy, memoryBytes, mostMembers }, source, timeLimitMs, [copy.buffer]);
}

async function run(task: object, source: string, timeLimitMs: number, transferList: ArrayBuffer[]): Promise<unknown> {
  if (!globalThis.process?.versions?.node) throw new FileError(source, "HDF5 is read and written in Node only", "unavailable");
  const worker = await takeThread();
  const answer = await ask(worker, task, timeLimitMs, transferList);
  if (answer.again) keep(worker);
  else await worker.terminate();
  if ("value" in answer) return answer.value;
  if ("refused" in answer) throw new FileError(source, answer.refused, "content");
  if ("broken" in answer) throw new FileError(source, "the HDF5 library cannot read it: it is damaged", "content", answer.broken);
  const advice = "HDF5 takes the package h5wasm, which is not installed: npm install h5wasm";
  throw new FileError("HDF5", advice, "unavailable", answer.missing);
}

function ask(worker: Worker, task: object, timeLimitMs: number, transferList: ArrayBuffer[]): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new Promise<Answer>((resolve) => {
    worker.once("message", resolve);
    worker.once("error", (error) => resolve({ broken: String(error), again: false }));
    worker.once("exit", (code) => resolve({ broken: `its thread ended with ${code}`, again: false }));
    if (Number.isFinite(timeLimitMs)) {
      const refused = `reading it takes more than ${timeLimitMs} ms, so it was broken off: it is damaged, or give a larger timeLimitMs`;
      timer = setTimeout(() => resolve({ refused, again: false }), timeLimitMs);
    }
    worker.postMessage(task, transferList);
  }).finally(() => {
    clearTimeout(timer);
    stopListening(worker);
  });
}

/** Its own listeners, which it counts messages by, stay. */
function stopListening(worker: Worker): void {
  for (const event of ["message", "error", "exit"]) worker.removeAllListeners(event);
}

/** The thread that waits, or a new one. */
async function takeThread(): Promise<Worker> {
  if (idle) {
    const { worker, timer } = idle;
    idle = undefined;
    clearTimeout(timer);
    stopListening(worker);
    worker.ref();
    return worker;
  }
  return startWorker("./hdf5-worker.mjs", import.meta.url, {
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });
}

/**
 * Lets a thread wait for another task; it does not keep the program from ending. One that waits is
 * enough.
 */
function keep(worker: Worker): void {
  const end = (): void => {
    if (idle?.worker === worker) idle = undefined;
    void worker.terminate();
  };
  if (idle) {
    end();
    return;
  }
  worker.on("error", end);
  worker.on("exit", end);
  worker.unref();
  const timer = setTimeout(end, idleMs);
  timer.unref();
  idle = { worker, timer };
}
