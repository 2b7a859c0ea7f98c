// What a context's pool keeps for reuse counts as free if work is cut into pieces: after a large
// reservoir is gone, the next one's are as large.
import { describe, expect, it } from "vitest";
import { type Context, openDevice } from "../../packages/gpu/src/index.js";
import { seedKeys } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { DenseBatchRun } from "../../src/engine/cuda/batch/dense.js";
import { batchKernels, planBatch } from "../../src/engine/cuda/batch/shapes.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import { quantizedLayout, quantizedWeights } from "../../src/engine/cuda/streamed/quantized.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { undrawnMatrix, unscaledDraws } from "../../src/reservoir/weight-draws.js";
import { model, randomMatrix } from "./contract.js";

const memoryBytes = 2 ** 22;

/**
 * Launches by kernel on a device whose pool holds all but a little of its memory, none of it in
 * use.
 */
async function launches(work: (context: Context) => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const onLaunch = ({ kernel }: { kernel: string }) => void counts.set(kernel, (counts.get(kernel) ?? 0) + 1);
  const context = openDevice({ driver: simulatedDriver({ memoryBytes, onLaunch }) });
  context.alloc("u8", memoryBytes - 4096).dispose();
  context.sync();
  expect(context.memoryInfo().free).toBeLessThan(8192);
  await work(context);
  context.dispose();
  return counts;
}

describe("memory that the pool keeps", () => {
  it("holds all steps of a batch at once", async () => {
    const of = model({ size: 33, storage: "dense", seed: 3 });
    const sequences = [0, 1, 2].map((b) => ({ inputs: randomMatrix(12, 1, "float32", b) }));
    const counts = await launches(async (context) => {
      const kernels = batchKernels.filter(({ name }) => name === "reservoir_batch_16");
      const run = new DenseBatchRun(context, of, planBatch(context.info, of, 3, { kernels })!, sequences, {});
      await run.run();
      run.dispose();
    });
    expect(counts.get("reservoir_batch_16")).toBe(1);
  });

  it("holds many rows at a time if weights of eight bits are drawn", async () => {
    const options = { size: 200, arithmetic: "fast", storage: "dense", weightPrecision: "int8", connectionProbability: 1 } as const;
    const config = resolveConfig({ ...options, spectralRadius: null });
    const counts = await launches(async (context) => {
      const layout = quantizedLayout(shapeOf(model({ ...options, spectralRadius: null })), context.info)!;
      const stream = context.stream();
      const draws = unscaledDraws(config, seedKeys(config.seed));
      const weights = quantizedWeights(context, stream, { size: 200, weights: undrawnMatrix(200), draws }, layout, [0, 0, 0, 0]);
      stream.sync();
      weights.dispose();
      stream.dispose();
    });
    // Rows in binary32 may take as much as W itself: 516 of 800 bytes a row.
    expect(counts.get("draw_some_rows")).toBe(2);
  });
});
