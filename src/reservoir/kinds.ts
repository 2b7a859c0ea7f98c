// How descriptions become models, kind by kind. The domain knows rate reservoirs; spiking ones make
// themselves known here, others by registered/kind.ts.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import type { FieldOwners } from "@spillway/core/field-owner.js";
import { loadWasm } from "@spillway/numerics";
import type { SpikingReservoirOptions } from "../spikes/liquid/schema.js";
import { type CompositeOptions, isComposite } from "./composite/config.js";
import type { AnyModel, CompositeModel } from "./composite/model.js";
import { createTable } from "./computer-options.js";
import type { ReservoirOptions } from "./config.js";
import { checkKind, checkRates, checkSupported } from "./engine/supports.js";
import type { Engine, EngineOptions, EnginePlan, EngineSession } from "./engine.js";
import type { ReservoirModel } from "./model.js";
import type { OwnMatrices, ReservoirMatrices } from "./options.js";
import { kindTable } from "./registered/kind.js";
import { isRegistered, registeredModel, resolveRegistered } from "./registered/model.js";
import type { RegisteredReservoirOptions } from "./registered/options.js";
import { type AnyShape, expectedShape, type SpikingShape } from "./shape.js";
import type { SpikingModel } from "./spiking-model.js";

/** A description of one reservoir. Without a `kind` it is a rate reservoir. */
export type PlainReservoirOptions = ReservoirOptions | SpikingReservoirOptions;

/**
 * Any description: of one reservoir, of a registered kind or not, or of several that are composed.
 */
export type AnyReservoirOptions = PlainReservoirOptions | RegisteredReservoirOptions | CompositeOptions;

/** The full description of a model, which makes the same model again. */
export const describedBy = ({ config }: AnyModel): AnyReservoirOptions => config as AnyReservoirOptions;

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

/** What the two arguments of `create(description, options)` know. */
export async function fieldOwners(config: object | undefined): Promise<FieldOwners> {
  const { reservoirTable } = await import("./config-table.js");
  const described = config ?? {};
  return {
    "the second argument, beside the description": createTable,
    "the description, the first argument": isRegistered(described) ? kindTable(described.kind) : reservoirTable,
  };
}

/** A checked model of a description of any kind. @throws ArgumentError, EngineCapacityError */
export function modelOf(options: PlainReservoirOptions, engine: Engine, matrices?: OwnMatrices): Promise<ReservoirModel | SpikingModel>;
export function modelOf(options: AnyReservoirOptions, engine: Engine, matrices?: OwnMatrices): Promise<AnyModel>;
export async function modelOf(options: AnyReservoirOptions, engine: Engine, matrices?: OwnMatrices): Promise<AnyModel> {
  // Draws are WebAssembly, whatever the engine.
  await loadWasm();
  if (isComposite(options)) {
    if (matrices && !isList(matrices))
      throw new ArgumentError("matrices", matrices, "a list for a composed reservoir, with the matrices of each part; {} draws them");
    return compositeOf(options, engine, matrices);
  }
  if (matrices && isList(matrices)) throw new ArgumentError("matrices", matrices, "an object; a list is for a composed reservoir");
  if (isSpiking(options)) {
    if (!loadSpiking)
      throw new SpillwayError("unavailable", 'spiking reservoirs are not known here; import "spillway" itself, not only a part of it');
    if (matrices)
      throw new ArgumentError("matrices", matrices, "nothing for a spiking reservoir; see withSynapticWeights for your own weights");
    return (await loadSpiking()).build(options, engine);
  }
  if (isRegistered(options)) {
    if (matrices) throw new ArgumentError("matrices", matrices, "nothing for a reservoir of a registered kind, which has its own");
    const config = resolveRegistered(options);
    checkKind(engine, config);
    return registeredModel(config);
  }
  const [{ resolveConfig }, { buildModelBy }, { refuseOversized }] = await Promise.all([
    import("./config-schema.js"),
    import("./weights.js"),
    import("./oversized.js"),
  ]);
  const config = resolveConfig(options);
  checkRates(engine, config);
  if (!matrices?.weights) refuseOversized(config, engine);
  return buildModelBy(config, engine, matrices);
}

function isList(matrices: OwnMatrices): matrices is readonly ReservoirMatrices[] {
  return Array.isArray(matrices);
}

async function compositeOf(
  options: CompositeOptions,
  engine: Engine,
  matrices: readonly ReservoirMatrices[] | undefined,
): Promise<CompositeModel> {
  const [{ resolveComposite }, { compose, partConfigs }] = await Promise.all([
    import("./composite/schema.js"),
    import("./composite/model.js"),
  ]);
  const config = resolveComposite(options);
  const parts: ReservoirModel[] = [];
  const described = partConfigs(config);
  if (matrices && matrices.length !== described.length)
    throw ArgumentError.shape(
      `matrices has ${matrices.length} entries and the reservoir ${described.length} ${config.layers ? "layers" : "groups"}; give one each, {} for one that is drawn`,
      { field: "matrices" },
    );
  for (const [p, part] of described.entries()) {
    try {
      parts.push((await modelOf(part, engine, matrices?.[p])) as ReservoirModel);
    } catch (error) {
      throw matrices && error instanceof ArgumentError ? error.under(`${config.layers ? "layers" : "groups"}[${p}]`) : error;
    }
  }
  return compose(config, parts);
}

/**
 * Loads a model of any kind. @throws ArgumentError for an activation function that the engine does
 * not run; EngineUnavailableError, EngineCapacityError
 */
export async function openModel(engine: Engine, model: AnyModel, options: EngineOptions): Promise<EngineSession> {
  checkSupported(engine, model);
  if (model.kind !== "composite") return engine.open(model, options);
  const { openComposite } = await import("./composite/session.js");
  return openComposite(engine, model, options);
}

/** How an engine would run a model of any kind. @throws as `Engine.plan` */
export async function planModel(engine: Engine, model: AnyModel, options: EngineOptions): Promise<EnginePlan> {
  if (model.kind === "registered") checkSupported(engine, model);
  if (model.kind !== "composite") return engine.plan(model, options);
  const { planComposite } = await import("./composite/session.js");
  return planComposite(engine, model, options);
}

/**
 * The sizes that "auto" chooses an engine by; undefined if an engine is named. @throws
 * ArgumentError
 */
export function shapeFor(engine: string | undefined, options: PlainReservoirOptions): Promise<AnyShape | undefined>;
export function shapeFor(engine: string | undefined, options: AnyReservoirOptions): Promise<AnyShape | readonly AnyShape[] | undefined>;
export async function shapeFor(
  engine: string | undefined,
  options: AnyReservoirOptions,
): Promise<AnyShape | readonly AnyShape[] | undefined> {
  if (engine !== undefined && engine !== "auto") return undefined;
  if (isSpiking(options)) return (await loadSpiking?.())?.shape(options);
  if (isRegistered(options)) return undefined;
  if (isComposite(options)) {
    const [{ resolveComposite }, { partConfigs }] = await Promise.all([import("./composite/schema.js"), import("./composite/model.js")]);
    return partConfigs(resolveComposite(options)).map(expectedShape);
  }
  const { resolveConfig } = await import("./config-schema.js");
  return expectedShape(resolveConfig(options));
}
