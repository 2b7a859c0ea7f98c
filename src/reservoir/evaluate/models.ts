// Models of many descriptions at once, if a device measures the radii of many in less time.
import { denseOnDevice } from "@spillway/numerics/spectrum/radius.js";
import { loadWasm } from "@spillway/numerics/wasm/index.js";
import { resolveConfig } from "../config-schema.js";
import { checkRates } from "../engine/supports.js";
import type { Engine } from "../engine.js";
import { isSpiking, type PlainReservoirOptions } from "../kinds.js";
import type { ReservoirModel } from "../model.js";
import { refuseOversized } from "../oversized.js";
import type { SpikingModel } from "../spiking-model.js";
import { isDrawnInPlace } from "../weight-draws.js";
import { BaseDrawing, type Draw } from "./base-drawing.js";
import { hasDeviceParts } from "./draw-threads.js";
import { partsOf } from "./evaluate.js";

/** Those of descriptions that suit it, by their indices; the others are to be made one by one. */
export async function modelsTogether(
  described: readonly (PlainReservoirOptions | ReservoirModel | SpikingModel)[],
  engine: Engine,
): Promise<ReadonlyMap<number, ReservoirModel>> {
  const models = new Map<number, ReservoirModel>();
  const { device } = engine;
  if (!device || described.length < device.leastRadii) return models;
  await loadWasm();
  const draws: (Draw & { readonly index: number })[] = [];
  for (const [index, options] of described.entries()) {
    if ("outputSize" in options || isSpiking(options) || options.size < denseOnDevice.leastRows) continue;
    const config = resolveConfig(options);
    if (!hasDeviceParts(config) || isDrawnInPlace(config, device)) continue;
    checkRates(engine, config);
    refuseOversized(config, engine);
    draws.push({ key: `${index}`, config, index });
  }
  if (draws.length < device.leastRadii) return models;
  const drawing = new BaseDrawing(draws, engine, { done: () => 0, total: draws.length });
  try {
    for (const range of partsOf(draws.length, draws.length, draws[0]!.config))
      for (const [b, { model }] of (await drawing.draw(range)).entries()) models.set(draws[range.from + b]!.index, model);
  } finally {
    await drawing.dispose();
  }
  return models;
}
