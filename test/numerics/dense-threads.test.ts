// Eigenvalues by threads: the bits of the calling thread, even if threads fail.
import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../src/numerics/index.js";
import { wholeMatrix } from "../../src/numerics/spectrum/components.js";
import { denseEigenvalues } from "../../src/numerics/spectrum/dense.js";
import { DenseThreads } from "../../src/numerics/spectrum/dense-threads.js";

const blocks = [40, 7, 90, 12, 55].map((size, b) => {
  const stream = new RandomStream(seedKeys(b).weights, 0);
  return wholeMatrix(
    new Matrix(
      size,
      size,
      Float64Array.from({ length: size * size }, (_, i) => stream.uniform(0, i) - 0.5),
    ),
  );
});
const expected = blocks.map(denseEigenvalues);

/** The threads that start from here on. */
const workers: Worker[] = [];
const note = (worker: Worker) => void workers.push(worker);
process.on("worker", note);
afterEach(() => void workers.splice(0));

const ended = (worker: Worker) =>
  new Promise<void>((resolve) => (worker.threadId === -1 ? resolve() : worker.once("exit", () => resolve())));

describe("eigenvalues by threads", () => {
  it.each([1, 2, 8])("have the bits of the calling thread, %i threads", async (count) => {
    const threads = new DenseThreads(count);
    const found = await Promise.all(blocks.map((block) => threads.eigenvalues(block)));
    expect(found).toEqual(expected);
    expect(workers).toHaveLength(count);
    expect(threads.milliseconds).toBeGreaterThan(0);
    await threads.dispose();
    expect(threads.running).toBe(0);
    expect(workers.every(({ threadId }) => threadId === -1)).toBe(true);
  });

  it("start no thread before there is a block, and none of a count of 0", async () => {
    await new DenseThreads(2).dispose();
    expect(await new DenseThreads(0).eigenvalues(blocks[0]!)).toEqual(expected[0]);
    expect(workers).toHaveLength(0);
  });

  it.each([1, 2])("are the same if a thread of %i ends before its blocks are done", async (count) => {
    const threads = new DenseThreads(count);
    process.once("worker", (worker: Worker) => void worker.terminate());
    expect(await Promise.all(blocks.map((block) => threads.eigenvalues(block)))).toEqual(expected);
    await ended(workers[0]!);
    expect(threads.running).toBe(count - 1);
    await threads.dispose();
  });

  it("are refused once the threads are disposed, and no thread is left", async () => {
    const threads = new DenseThreads(2);
    const found = blocks.map((block) => threads.eigenvalues(block));
    const refused = Promise.allSettled(found);
    await threads.dispose();
    expect((await refused).filter(({ status }) => status === "rejected")).not.toHaveLength(0);
    await Promise.all(workers.map(ended));
    await expect(threads.eigenvalues(blocks[0]!)).rejects.toThrow("were ended");
  });
});
