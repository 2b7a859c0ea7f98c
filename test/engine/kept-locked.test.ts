// Page-locked memory of a session's batches: it serves again, and only when nothing reads it.
import { afterAll, expect, it } from "vitest";
import { KeptLocked } from "../../src/engine/cuda/kept-locked.js";
import { openDevice } from "../../src/gpu/index.js";
import { simulatedDriver } from "../../src/sim/index.js";

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

it("keeps 64 MiB, and nothing once it is disposed", () => {
  const locked = new KeptLocked(context);
  const [large, small, late] = [locked.lend(2 ** 24 - 999), locked.lend(1000), locked.lend(10)];
  large.dispose();
  small.dispose();
  expect(held()).toBe(2);
  locked.dispose();
  expect(held()).toBe(1);
  late.dispose();
  expect(held()).toBe(0);
});
