// The parts of a sweep: which are under way at a time, and what happens if one fails.
import { expect, it } from "vitest";
import type { BaseDrawing, SeedRange } from "../../src/model/sweep/bases.js";
import { makeParts, type PartWork } from "../../src/model/sweep/parts.js";

const parts: SeedRange[] = [0, 1, 2].map((p) => ({ from: p, to: p + 1 }));
const drawing = { draw: async () => [] } as unknown as BaseDrawing;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Parts that end when they are told to, and what happened. */
function watched(beside: boolean, together = true) {
  const seen: string[] = [];
  const made: number[] = [];
  const ends = new Map<number, { resolve: (value: number) => void; reject: (error: unknown) => void }>();
  const begin = ({ from }: SeedRange, options: { signal: AbortSignal; onProgress: (made: number) => void }) => {
    seen.push(`begin ${from}`);
    options.signal.addEventListener("abort", () => seen.push(`stop ${from}`));
    options.onProgress(10);
    return new Promise<number>((resolve, reject) => ends.set(from, { resolve, reject }));
  };
  const work: PartWork<number> = {
    together: (part, _, options) => (together ? begin(part, options) : undefined),
    alone: (part, _, options) => begin(part, options),
    take: (result, { from }) => void seen.push(`take ${from}: ${result}`),
  };
  const end = async (part: number, error?: Error) => {
    if (error) ends.get(part)!.reject(error);
    else ends.get(part)!.resolve(100 + part);
    await turn();
  };
  return { seen, made, end, result: makeParts(parts, drawing, work, { beside, onProgress: (steps) => made.push(steps) }) };
}

it("begins a part while the one before is under way, and takes them in order", async () => {
  const { seen, made, end, result } = watched(true);
  await turn();
  expect(seen).toEqual(["begin 0", "begin 1"]);
  await end(1);
  expect(seen).toHaveLength(2);
  await end(0);
  expect(seen.slice(2)).toEqual(["take 0: 100", "begin 2", "take 1: 101"]);
  await end(2);
  await result;
  expect(seen.at(-1)).toBe("take 2: 102");
  expect(made).toEqual([10, 20, 30]);
});

it.each([
  ["what is measured", false, true],
  ["what an engine does not take together", true, false],
])("makes %s one part at a time", async (_, beside, together) => {
  const { seen, end, result } = watched(beside, together);
  for (const part of [0, 1, 2]) {
    await turn();
    expect(seen.at(-1)).toBe(`begin ${part}`);
    await end(part);
  }
  await result;
  expect(seen).toEqual(["begin 0", "take 0: 100", "begin 1", "take 1: 101", "begin 2", "take 2: 102"]);
});

it("stops the part behind one that fails, and waits for its end", async () => {
  const { seen, end, result } = watched(true);
  let failure: unknown;
  const over = result.catch((error: unknown) => {
    failure = error;
  });
  await turn();
  await end(0, new Error("no memory"));
  expect(seen).toEqual(["begin 0", "begin 1", "stop 0", "stop 1"]);
  expect(failure).toBeUndefined();
  await end(1, new Error("stopped"));
  await over;
  expect((failure as Error).message).toBe("no memory");
});
