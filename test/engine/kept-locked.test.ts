// Page-locked memory of a session's batches: it serves again, and only when nothing reads it.
import { afterAll, expect, it } from "vitest";
import { CudaError, type DriverCall, openDevice } from "../../packages/gpu/src/index.js";
import { FaultyDriver, simulatedDriver } from "../../packages/sim/src/index.js";
import { KeptLocked } from "../../src/engine/cuda/kept-locked.js";

const context = openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 28 }) });
afterAll(() => context.dispose());
const held = () => context.held().filter(({ kind }) => kind === "pinned buffer").length;

it("lends the shortest that is long enough, and each piece once at a time", () => {
  const locked = new KeptLocked(context);
  const [long, short] = [locked.lend(100), locked.lend(10)];
  expect(held()).toBe(2);
  for (const lent of [long, short]) lent.dispose();
  const again = locked.lend(8);
  expect(again.buffer).toBe(short.buffer);
  const other = locked.lend(8);
  expect(other.buffer).toBe(long.buffer);
  const third = locked.lend(8);
  expect([long.buffer, short.buffer]).not.toContain(third.buffer);
  for (const lent of [again, other, third]) lent.dispose();
  expect(held()).toBe(3);
  locked.dispose();
});

it("waits for copies before memory serves again", async () => {
  const locked = new KeptLocked(context);
  using stream = context.stream();
  using target = context.zeros("f32", 1000);
  const lent = locked.lend(1000);
  lent.buffer.array.fill(1);
  stream.upload(target, lent.buffer);
  lent.dispose();
  const again = locked.lend(1000);
  again.buffer.array.fill(2);
  expect(await stream.download(target)).toEqual(new Float32Array(1000).fill(1));
  again.dispose();
  locked.dispose();
});

it("keeps the states of a chunk and a bit more, and nothing once it is disposed", () => {
  const locked = new KeptLocked(context);
  const [states, small, large, late] = [locked.lend(2 ** 25), locked.lend(1000), locked.lend(2 ** 23), locked.lend(10)];
  for (const lent of [states, small, large]) lent.dispose();
  expect(held()).toBe(3);
  locked.dispose();
  expect(held()).toBe(1);
  late.dispose();
  expect(held()).toBe(0);
});

it("takes back memory once, however often it is disposed", () => {
  const locked = new KeptLocked(context);
  const lent = locked.lend(10);
  lent.dispose();
  lent.dispose();
  expect(locked.lend(10).buffer).not.toBe(locked.lend(10).buffer);
  locked.dispose();
});

/** A device whose n-th call of a name fails, memory of it that is lent, and a copy that reads it. */
function failing(call: DriverCall, use: number, code: number) {
  const driver = new FaultyDriver(simulatedDriver({ memoryBytes: 2 ** 28 }), [{ call, use, code }]);
  const faulty = openDevice({ driver });
  const stream = faulty.stream();
  const target = faulty.zeros("f32", 1000);
  const lent = new KeptLocked(faulty).lend(1000);
  return { faulty, lent, copy: () => stream.upload(target, lent.buffer) };
}

it.each([400, 700])("keeps nothing that it could not wait for: status %i", (code) => {
  // To open the device and to make zeros takes a wait each.
  const { faulty, lent, copy } = failing("cuStreamSynchronize", 3, code);
  copy();
  expect(() => lent.dispose()).toThrow(CudaError);
  expect(faulty.held().filter(({ kind }) => kind === "pinned buffer")).toEqual([]);
  faulty.dispose();
});

it("says nothing of a device that was lost before, which has an error of its own", () => {
  const { faulty, lent, copy } = failing("cuMemcpyHtoDAsync", 1, 700);
  expect(copy).toThrow(CudaError);
  lent.dispose();
  expect(faulty.held().filter(({ kind }) => kind === "pinned buffer")).toEqual([]);
  faulty.dispose();
});
