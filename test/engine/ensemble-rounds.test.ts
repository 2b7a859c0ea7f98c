// Rounds of blocks on a device: of about equal numbers, by the shared memory that a block is given.
import { expect, it } from "vitest";
import type { DeviceInfo } from "../../packages/gpu/src/index.js";
import { evenShared } from "../../src/engine/cuda/ensemble/rounds.js";

const attributes = { multiprocessors: 132, sharedBytesPerMultiprocessor: 233_472, sharedBytesPerBlockOptIn: 232_448 };
const staticBytes = 200;

/** How many blocks of so many bytes fit on a multiprocessor, at most 16. */
const occupancy = (_threads: number, shared = 0) =>
  Math.min(16, Math.floor(attributes.sharedBytesPerMultiprocessor / (Math.ceil((shared + staticBytes) / 128) * 128 + 1024)));
const kernel = { occupancy, resources: () => ({ sharedBytes: staticBytes }) } as unknown as Parameters<typeof evenShared>[1];

/** Blocks that a multiprocessor then runs at once. */
const together = (blocks: number, shared: number) =>
  occupancy(320, evenShared({ attributes } as DeviceInfo, kernel, { threads: 320, shared, resident: true }, blocks));

it.each([
  ["one round stays one", 3, 3],
  ["3 + 1 are 2 + 2", 4, 2],
  ["3 + 2 stay", 5, 3],
  ["3 + 3 stay", 6, 3],
  ["3 + 3 + 1 are three rounds in any case", 7, 3],
])("of three blocks on a multiprocessor %s", (_, each, expected) => {
  for (const blocks of [132 * each, 132 * each - 131]) expect(together(blocks, 70_000), `${blocks}`).toBe(expected);
});

it.each([
  [16, 16],
  [17, 9],
  [33, 11],
  [40, 14],
])("of 16 small blocks that fit, %i a multiprocessor run in rounds of %i", (each, expected) => {
  expect(together(132 * each, 0)).toBe(expected);
});

it("gives a block that fills a multiprocessor, and one whose weights lie elsewhere, what it asks for", () => {
  expect(evenShared({ attributes } as DeviceInfo, kernel, { threads: 320, shared: 150_000, resident: true }, 1000)).toBe(150_000);
  const other = { threads: 320, shared: 70_000, resident: false };
  expect(evenShared({ attributes } as DeviceInfo, kernel, other, 4 * 132)).toBe(70_000);
});
