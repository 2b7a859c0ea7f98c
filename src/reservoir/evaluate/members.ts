// Reservoirs that share what one seed draws, as engines take many of them at once
// (engine/evaluation.ts): what is drawn, what a member says, and the engine that many suit.
import { getOrMake } from "@spillway/core/maps.js";
import { isOwnActivation } from "../activations.js";
import type { ReservoirConfig } from "../config.js";
import { EngineUnavailableError } from "../engine/errors.js";
import type { SweepBase, SweepMember } from "../engine/evaluation.js";
import { checkRates } from "../engine/supports.js";
import { chooseEngine, type EngineChoice } from "../engines.js";
import { type DrawnWeights, weightFactor } from "../recurrent-weights.js";
import { expectedShape } from "../shape.js";
import { buildModel, drawInputs, leakRateOf } from "../weights.js";

/** Everything that one seed draws. */
export interface Base extends SweepBase {
  readonly drawn: DrawnWeights;
}

/** The base of a description whose W is drawn. */
export function baseOf(config: ReservoirConfig, drawn: DrawnWeights): Base {
  return { drawn, draws: drawn.matrix, model: buildModel(config, {}, drawn), ...drawInputs(config) };
}

/** Leak rates of a seed: of one description one list, which an engine then has once. */
export function leakRatesOf(
  seed: ReservoirConfig["seed"],
): (leakRate: ReservoirConfig["leakRate"], size: number) => SweepMember["leakRate"] {
  const lists = new Map<ReservoirConfig["leakRate"], readonly number[]>();
  return (leakRate, size) => {
    if (typeof leakRate === "number" || !("from" in leakRate)) return leakRate;
    return getOrMake(lists, leakRate, () => Array.from({ length: size }, leakRateOf({ leakRate, seed })));
  };
}

/** One member of a base; of its description the seed is the base's. */
export function memberOf(
  { drawn, model }: Base,
  base: number,
  config: Pick<ReservoirConfig, "spectralRadius" | "inputScaling" | "bias" | "noiseLevel">,
  leakRate: SweepMember["leakRate"],
  lambda: number,
): SweepMember {
  const { spectralRadius, inputScaling, bias } = config;
  const factor = weightFactor(model.config, drawn, spectralRadius);
  const noiseLevel = model.precision === "float32" ? Math.fround(config.noiseLevel) : config.noiseLevel;
  return { base, factor, inputScaling, bias, leakRate, noiseLevel, lambda };
}

/**
 * A device that makes all members at once is worth opening from about this many reservoir-steps
 * times neurons on, a second of one core.
 */
const worthADevice = 2e8;

/** "auto" chooses for one reservoir; many of them suit a device better. */
export async function engineFor(name: string | undefined, template: ReservoirConfig, steps: number): Promise<EngineChoice> {
  const { size, activation } = template;
  const chosen = await chooseEngine(name, expectedShape(template));
  checkRates(chosen.engine, { activation });
  if ((name !== undefined && name !== "auto") || chosen.engine.device || isOwnActivation(activation) || steps * size < worthADevice)
    return chosen;
  try {
    const { engine } = await chooseEngine("cuda");
    return { engine, reason: `auto: ${(await engine.probe()).reason}; ${steps.toLocaleString("en")} reservoir-steps run together there` };
  } catch (error) {
    if (error instanceof EngineUnavailableError) return chosen;
    throw error;
  }
}
