// Weights that are drawn, packed and measured on a device, when the driver fails.
import { describe } from "vitest";
import type { Context } from "../../packages/gpu/src/index.js";
import { seedKeys } from "../../packages/numerics/src/index.js";
import { choices } from "../../src/engine/cuda/plan.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import { drawnSpectralRadius, spectralRadiusOnDevice } from "../../src/engine/cuda/spectrum/index.js";
import { drawRowSums, drawSparse } from "../../src/engine/cuda/streamed/drawn.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { undrawnMatrix, undrawnSparse, unscaledDraws } from "../../src/reservoir/weight-draws.js";
import { model } from "./contract.js";
import { givesBack } from "./gives-back.js";

const krylov = { method: "krylov" } as const;

const drawsOf = (size: number, connectionProbability: number) => {
  const config = resolveConfig({ size, connectionProbability, seed: 3 });
  return unscaledDraws(config, seedKeys(config.seed));
};

/** Opens the streamed plan of a model and closes it. */
async function opened(context: Context, of: ReservoirModel): Promise<void> {
  const target = { engine: "here", device: context.info, memory: 2 ** 24 };
  const loop = await choices(shapeOf(of), target, { plan: "streamed" })[0]!.loop.open(context, of, {});
  loop!.dispose();
}

const plain = (options: ReservoirOptions): ReservoirModel => model({ spectralRadius: null, ...options });
const dense = plain({ size: 20, storage: "dense" });
const sparse = plain({ size: 20, storage: "sparse" });
const bytes = plain({ size: 20, storage: "dense", arithmetic: "fast", weightPrecision: "int8" });
const drawn = { ...bytes, weights: undrawnMatrix(20), draws: drawsOf(20, 1) };
const slices = { ...sparse, weights: undrawnSparse(20), draws: { ...drawsOf(20, 0.1), nonzeros: 38 } };

const works: Record<string, (context: Context) => Promise<unknown>> = {
  "the radius of dense rows": (context) => spectralRadiusOnDevice(context, dense.weights, krylov),
  "the radius of sparse rows": (context) =>
    spectralRadiusOnDevice(context, plain({ size: 20, connectionProbability: 0.4 }).weights, krylov),
  "the radius of dense rows that are drawn": (context) =>
    drawnSpectralRadius(context, { draws: drawsOf(20, 1), rounding: "float32" }, krylov),
  "the radius of sparse rows that are drawn": (context) =>
    drawnSpectralRadius(context, { draws: drawsOf(20, 0.4), rounding: "none" }, krylov),
  "sums of rows that are drawn": (context) => drawRowSums(context, drawsOf(20, 0.4)),
  "a sparse W for the host": (context) => drawSparse(context, drawsOf(20, 0.4)),
  "rows of eight bits from the host": (context) => opened(context, bytes),
  "rows of eight bits that are drawn": (context) => opened(context, drawn),
  "slices that are drawn": (context) => opened(context, slices),
};

describe.each(Object.entries(works))("%s", (_name, work) => givesBack(work));
