// Loading a persistent loop when the driver fails: any call of it, at any of its uses. The error is
// the driver's, and nothing stays behind.
import { describe, expect, it } from "vitest";
import { type Fault, FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { type Context, CudaError, ModuleLoadError, openDevice } from "../../packages/gpu/src/index.js";
import { isSparse } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { fitPlan, sortedPlan } from "../../src/engine/cuda/persistent/index.js";
import { longestRow } from "../../src/engine/cuda/persistent/pack.js";
import { denseVariants, fitDense, fitSparse, sparseVariants } from "../../src/engine/cuda/persistent/shapes.js";
import { fitSorted, sortedVariants } from "../../src/engine/cuda/persistent/sorted-shapes.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import type { TimeLoopPlan } from "../../src/engine/cuda/time-loop.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { casesOf } from "../exhaustive.js";
import { model } from "./contract.js";

const variant = (plan: "cluster" | "grid") => denseVariants.find((each) => each.plan === plan)!;
const dense = model({ size: 10, storage: "dense", seed: 1 });
const sparse = model({ size: 10, storage: "sparse", seed: 1 });
const longest = isSparse(sparse.weights) ? longestRow(sparse.weights) : 0;
const kinds: readonly (readonly [string, ReservoirModel, (context: Context) => TimeLoopPlan])[] = [
  ["cluster", dense, ({ info }) => fitPlan(fitDense(variant("cluster"), 10, info)!)],
  ["grid", dense, ({ info }) => fitPlan(fitDense(variant("grid"), 10, info)!)],
  ["sparse grid", sparse, ({ info }) => fitPlan(fitSparse(sparseVariants[0]!, 10, longest, info)!)],
  ["sorted sparse grid", sparse, ({ info }) => sortedPlan(fitSorted(sortedVariants[0]!, shapeOf(sparse), info)!)],
];

/**
 * Opens a loop on a device whose driver has some faults from then on; says which calls that took.
 */
async function open(of: ReservoirModel, plan: (context: Context) => TimeLoopPlan, faults: readonly Fault[]) {
  const driver = new FaultyDriver(simulatedDriver({ multiprocessors: 132, memoryBytes: 2 ** 22 }), faults);
  const context = openDevice({ driver, onLeak: () => undefined });
  const before = new Map(driver.uses);
  const outcome = await Promise.resolve()
    .then(() => plan(context).open(context, of, { kernelSource: "shipped" }))
    .then(
      (loop) => {
        loop!.dispose();
        return undefined;
      },
      (error: unknown) => error,
    );
  const held = context.held().filter(({ kind }) => kind !== "module");
  const uses = [...driver.uses].map(([call, count]) => [call, before.get(call) ?? 0, count] as const).filter(([, from, to]) => to > from);
  context.dispose();
  return { outcome, held, uses };
}

describe.each(kinds)("loading the %s loop", async (_, of, plan) => {
  const healthy = await open(of, plan, []);
  const asked = healthy.uses.filter(([call]) =>
    /^cu(Mem(Alloc|Memset|cpy|HostRegister)|ModuleLoad|FuncGetAttribute|Occupancy|Memset|Memcpy)/.test(call),
  );

  it("takes memory, copies, and asks whether all blocks run at once", () => {
    expect(healthy.outcome).toBeUndefined();
    expect(healthy.held).toEqual([]);
    expect(asked.map(([call]) => call).join()).toMatch(/cuMemAlloc.*cuMemHostRegister|cuOccupancy/);
  });

  it.each(casesOf(asked, ([call]) => /^cu(MemAllocFromPoolAsync|MemcpyHtoDAsync)$/.test(call)))(
    "when %s fails, after %i uses and up to %i",
    async (call, from, to) => {
      for (let use = from + 1; use <= to; use++) {
        const { outcome, held } = await open(of, plan, [{ call, use, code: 400 }]);
        expect(outcome instanceof CudaError || outcome instanceof ModuleLoadError, `${call}, use ${use}: ${String(outcome)}`).toBe(true);
        expect(held).toEqual([]);
      }
    },
  );
});
