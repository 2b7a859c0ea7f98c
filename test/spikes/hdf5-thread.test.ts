// The thread that HDF5 is read in: kept from file to file, ended if it hangs, and without a memory
// of the files before.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, expect, it, vi } from "vitest";
import { encodeSpikeHdf5, SpikeEventFile, SpikePattern } from "../../src/spikes/index.js";

const threads = { made: 0 };
const builtin = process.getBuiltinModule.bind(process);
const module = builtin("node:worker_threads");
class Counted extends module.Worker {
  constructor(...parts: ConstructorParameters<typeof module.Worker>) {
    super(...parts);
    threads.made++;
  }
}
const given = vi
  .spyOn(process, "getBuiltinModule")
  .mockImplementation(((name: string) => (name === "node:worker_threads" ? { ...module, Worker: Counted } : builtin(name))) as never);
afterAll(() => given.mockRestore());

const patterns = (count: number): SpikePattern[] =>
  Array.from({ length: count }, (_, k) => new SpikePattern({ times: [1, 2 + k], neurons: [0, 1] }, { durationMs: 20_000, neuronCount: 2 }));

const lastSpikes = async (bytes: Uint8Array): Promise<number[]> => {
  using file = await SpikeEventFile.decode(bytes, { source: "a.h5" });
  return [...file].map(({ times }) => Math.round(times.at(-1)!));
};

/** A file without the name of its times. */
function damaged(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes);
  const at = Buffer.from(out.buffer).indexOf("times");
  out[at] = 0x78;
  return out;
}

it("reads one file after another, refused ones too, and is begun again only after it took too long", async () => {
  const file = await encodeSpikeHdf5(patterns(3));
  const long = await encodeSpikeHdf5(patterns(2_000));
  const before = threads.made;
  expect(await lastSpikes(file)).toEqual([2, 3, 4]);
  await expect(SpikeEventFile.decode(damaged(file), { source: "a.h5" })).rejects.toThrow('a.h5: it has no datasets "spikes/times"');
  expect(await lastSpikes(await encodeSpikeHdf5(patterns(1)))).toEqual([2]);
  expect(await lastSpikes(file)).toEqual([2, 3, 4]);
  expect(threads.made).toBe(before);
  await expect(SpikeEventFile.decode(long, { timeLimitMs: 1 })).rejects.toThrow("takes more than 1 ms");
  expect(await lastSpikes(file)).toEqual([2, 3, 4]);
  expect(threads.made).toBe(before + 1);
});

it("reads files that are asked for at once", async () => {
  const files = await Promise.all([1, 2, 3].map((count) => encodeSpikeHdf5(patterns(count))));
  expect(await Promise.all(files.map(lastSpikes))).toEqual([[2], [2, 3], [2, 3, 4]]);
});

it("reads a file the same after one that overwrote the memory of the library", async () => {
  const worker = new Worker(new URL("./spoilt-hdf5-worker.mjs", import.meta.url), { execArgv: [], stdout: true, stderr: true });
  const answer = async (bytes: Uint8Array): Promise<unknown> => {
    worker.postMessage({ task: "read", bytes, memoryBytes: 2 ** 28 });
    return (await once(worker, "message"))[0];
  };
  try {
    expect(await once(worker, "message")).toEqual(["spoilt"]);
    const file = await encodeSpikeHdf5(patterns(3));
    const first = await answer(file);
    expect(first).toMatchObject({ value: { count: 3 }, again: true });
    expect(await answer(await encodeSpikeHdf5(patterns(1)))).toMatchObject({ value: { count: 1 }, again: true });
    expect(await answer(file)).toEqual(first);
  } finally {
    await worker.terminate();
  }
});
