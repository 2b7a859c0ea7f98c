// How descriptions become models, kind by kind. The domain knows rate reservoirs; other kinds make
// themselves known here.
import { ArgumentError, SpillwayError } from "../core/errors.js";
import { checkActivation } from "./activations.js";
import type { ReservoirOptions } from "./config.js";
import type { Engine } from "./engine.js";
import { type AnyShape, expectedShape, type SpikingShape } from "./shape.js";
import type { SpikingReservoirOptions } from "./spiking-config.js";
import type { EngineModel, SpikingModel } from "./spiking-model.js";
import { isDrawnInPlace } from "./weight-draws.js";
import type { ReservoirMatrices } from "./weights.js";

/** Any description of a reservoir. Without a `kind` it is a rate reservoir. */
export type AnyReservoirOptions = ReservoirOptions | SpikingReservoirOptions;

/** Makes models of spiking reservoirs. */
export interface SpikingKind {
  /**
   * Checks a description and draws its network. @throws ArgumentError, EngineCapacityError if it
   * cannot fit the engine
   */
  build(options: SpikingReservoirOptions, engine?: Engine): SpikingModel;
  /** The sizes that a description will have. @throws ArgumentError */
  shape(options: SpikingReservoirOptions): SpikingShape;
}

let loadSpiking: (() => Promise<SpikingKind>) | undefined;

/** Makes spiking reservoirs known. Nothing is loaded until one is described. */
export function registerSpikingKind(load: () => Promise<SpikingKind>): void {
  loadSpiking = load;
}

/** Whether a description is one of a spiking reservoir. */
export function isSpiking(options: object): options is SpikingReservoirOptions {
  return typeof options === "object" && options !== null && "kind" in options && options.kind === "spiking";
}

/** A checked model of a description of any kind. @throws ArgumentError, EngineCapacityError */
export async function modelOf(options: AnyReservoirOptions, engine: Engine, matrices?: ReservoirMatrices): Promise<EngineModel> {
  if (isSpiking(options)) {
    if (!loadSpiking)
      throw new SpillwayError("unavailable", 'spiking reservoirs are not known here; import "spillway" itself, not only a part of it');
    if (matrices)
      throw new ArgumentError("matrices", matrices, "nothing for a spiking reservoir; see withSynapticWeights for your own weights");
    return (await loadSpiking()).build(options, engine);
  }
  const [{ resolveConfig }, { buildDrawnModel, buildModel, drawWeightsBy, refuseOversized }] = await Promise.all([
    import("./config-schema.js"),
    import("./weights.js"),
  ]);
  const config = resolveConfig(options);
  checkActivation(engine, config.activation);
  if (!matrices?.weights) refuseOversized(config, engine);
  if (matrices) return buildModel(config, matrices);
  if (engine.drawRowSums && isDrawnInPlace(config)) return buildDrawnModel(config, engine);
  return buildModel(config, {}, await drawWeightsBy(config, engine));
}

/**
 * The sizes that "auto" chooses an engine by; undefined if an engine is named. @throws
 * ArgumentError
 */
export async function shapeFor(engine: string | undefined, options: AnyReservoirOptions): Promise<AnyShape | undefined> {
  if (engine !== undefined && engine !== "auto") return undefined;
  if (isSpiking(options)) return (await loadSpiking?.())?.shape(options);
  const { resolveConfig } = await import("./config-schema.js");
  return expectedShape(resolveConfig(options));
}
