// Runs hdf5-worker.mjs for one file, and ends it if it takes too long.
import { FileError } from "../../io/errors.js";

/** Rows of variable length, one after the other. */
export interface EventRows {
  readonly bytes: Uint8Array;
  /** In numbers: row i is offsets[i] to offsets[i + 1]. */
  readonly offsets: Float64Array;
  /** As HDF5 describes numbers: type 0 whole, 1 float; size in bytes. */
  readonly type: { readonly type: number; readonly size: number; readonly signed: boolean; readonly littleEndian: boolean };
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

type Answer = { readonly value: unknown } | { readonly missing: string } | { readonly refused: string } | { readonly broken: string };

/** @throws FileError for a file that is none, is damaged, or takes longer than the limit, and if h5wasm is not installed */
export async function readEvents(bytes: Uint8Array, source: string, timeLimitMs: number): Promise<EventData> {
  const memoryBytes = 2 ** 28 + 4 * bytes.length;
  // A copy to give away; `slice` of a Buffer would be the caller's own memory.
  const copy = new Uint8Array(bytes);
  return (await run({ task: "read", bytes: copy, memoryBytes }, source, timeLimitMs, [copy.buffer])) as EventData;
}

/** The bytes of a file. @throws FileError if h5wasm is not installed */
export async function writeEvents(events: EventsToWrite): Promise<Uint8Array> {
  return (await run({ task: "write", ...events }, "HDF5", Number.POSITIVE_INFINITY, [])) as Uint8Array;
}

async function run(workerData: object, source: string, timeLimitMs: number, transferList: ArrayBuffer[]): Promise<unknown> {
  if (!globalThis.process?.versions?.node)
    throw new FileError(source, "event lists in HDF5 are read and written in Node only", "unavailable");
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(new URL("./hdf5-worker.mjs", import.meta.url), {
    workerData,
    transferList,
    // Options of the main program are not for this file, and the library prints a page for every thing that is wrong.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const answer = await new Promise<Answer>((resolve) => {
      worker.once("message", resolve);
      worker.once("error", (error) => resolve({ broken: String(error) }));
      worker.once("exit", (code) => resolve({ broken: `its thread ended with ${code}` }));
      if (Number.isFinite(timeLimitMs)) {
        const ended = {
          refused: `reading it takes more than ${timeLimitMs} ms, so it was broken off: it is damaged, or give a larger timeLimitMs`,
        };
        timer = setTimeout(() => resolve(ended), timeLimitMs);
      }
    });
    if ("value" in answer) return answer.value;
    if ("refused" in answer) throw new FileError(source, answer.refused, "content");
    if ("broken" in answer) throw new FileError(source, "the HDF5 library cannot read it: it is damaged", "content", answer.broken);
    const advice = "event lists in HDF5 take the package h5wasm, which is not installed: npm install h5wasm";
    throw new FileError("HDF5", advice, "unavailable", answer.missing);
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
