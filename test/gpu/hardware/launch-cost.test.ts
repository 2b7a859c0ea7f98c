// What a launch from TypeScript costs on a real GPU. Figures are printed; the bounds are those the project holds itself to.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Module, Stream } from "../../../src/gpu/index.js";
import { fixture, openHardware } from "./device.js";

let context: Context;
let module: Module;
let stream: Stream;

beforeAll(() => {
  context = openHardware();
  module = context.load(fixture("kernels.ptx"));
  stream = context.stream();
});

afterAll(() => context?.dispose());

/** Microseconds of one of `count` pieces of work, the best round of a second, with the wait for all of them: clocks rise from idle. */
function cost(count: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (const begin = performance.now(); performance.now() - begin < 1000; ) {
    const start = performance.now();
    work();
    stream.sync();
    best = Math.min(best, ((performance.now() - start) * 1000) / count);
  }
  return best;
}

describe("the cost of a launch", () => {
  it("of an empty kernel is at most 3 us, and of six arguments not much more", () => {
    const empty = module.kernel("empty", []);
    const config = { grid: 1, block: 32 };
    const count = 20_000;
    const bare = cost(count, () => {
      for (let i = 0; i < count; i++) stream.launch(empty, config);
    });
    const add = module.kernel("vector_add", ["const f32*", "const f32*", "f32*", "i32"]);
    using x = context.zeros("f32", 32);
    const full = cost(count, () => {
      for (let i = 0; i < count; i++) stream.launch(add, config, x, x, x, 32);
    });
    console.log(`launch: empty ${bare.toFixed(3)} us, vector_add ${full.toFixed(3)} us, ${Math.round(1e6 / bare)} launches/s`);
    expect(bare).toBeLessThanOrEqual(3);
  });

  it("in a graph of 1000 is what the device needs from one kernel to the next, and nothing of the host", () => {
    const empty = module.kernel("empty", []);
    using graph = stream.capture((s) => {
      for (let i = 0; i < 1000; i++) s.launch(empty, { grid: 1, block: 32 });
    });
    graph.launch(stream);
    const each = cost(20_000, () => {
      for (let i = 0; i < 20; i++) graph.launch(stream);
    });
    using start = context.event();
    using end = context.event();
    start.record(stream);
    graph.launch(stream);
    end.record(stream);
    end.sync();
    const onDevice = end.elapsedSince(start);
    console.log(`graph of 1000 launches: ${each.toFixed(3)} us each, ${onDevice.toFixed(3)} us of them on the device`);
    expect(each).toBeLessThan(1.05 * onDevice);
    // 0.608 us on an H200 at 1980 MHz, by cuLaunchKernel and cuLaunchKernelEx alike.
    expect(each).toBeLessThanOrEqual(0.65);
  });
});
