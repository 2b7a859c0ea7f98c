// What an exported program does not hold, said before anything is written.
import { ArgumentError } from "../../core/errors.js";
import { isSparse } from "../../numerics/index.js";
import type { AnyModel, ReservoirModel } from "../../reservoir/index.js";
import type { ForecasterParts, MemberFile } from "../forecaster/file.js";
import { activationsInC } from "./functions.js";
import { unheldStep } from "./transforms.js";

/** A member of a leaky rate reservoir, which C holds. */
export interface RateMember extends MemberFile {
  readonly model: ReservoirModel;
}

/** Weights of W that a source file holds at most, of all members: some 256 MB of text. */
const mostWeights = 2 ** 24;

/** Why a model is not exported. */
export const unheld = (what: string, field = "model") =>
  ArgumentError.because(`the model ${what}, which an exported program does not hold`, { field });

/** The members, if C holds them all. @throws ArgumentError */
export function checkMembers({ settings, members }: ForecasterParts): readonly RateMember[] {
  if (settings.hybrid) throw unheld("calls a model of yours");
  if (settings.missing === "mask") throw unheld("takes a mask of missing values", "missing");
  const checked = members.map(checkMember);
  checkTransforms(checked);
  return checked;
}

/** @throws ArgumentError for more weights than a source file holds */
export function checkWeights(models: readonly ReservoirModel[]): void {
  const weights = models.reduce((sum, model) => sum + weightsOf(model), 0);
  if (weights > mostWeights)
    throw ArgumentError.because(`the reservoirs have ${weights} weights; a source file of C holds at most ${mostWeights}`, {
      field: "model",
    });
}

function checkTransforms(members: readonly RateMember[]): void {
  const [{ model, road, state }] = members as [RateMember];
  const { steps } = road.transforms;
  if (steps.length === 0) return;
  const own = unheldStep(steps);
  if (own !== undefined) throw unheld(`transforms its series by ${own}`, "transforms");
  if (model.outputSize > 0) throw unheld("transforms its series and has feedback", "transforms");
  if (state.recent.cols === 0 || (road.known === 0 && model.inputSize !== state.recent.cols))
    throw unheld("transforms its series beside inputs and targets", "transforms");
  if (members.some((member) => JSON.stringify(member.road.transforms) !== JSON.stringify(road.transforms)))
    throw unheld("has members with other transforms", "transforms");
}

function checkMember({ model, ...rest }: MemberFile): RateMember {
  return { model: checkReservoir(model), ...rest };
}

/** A reservoir that C holds. @throws ArgumentError */
export function checkReservoir(model: AnyModel): ReservoirModel {
  if (model.kind === "spiking") throw unheld("has a spiking reservoir");
  if (model.kind === "composite") throw unheld("has a reservoir that is composed of layers or groups");
  if (model.kind === "registered") throw unheld(`has a reservoir of the kind "${model.config.kind}"`);
  if (model.cell) throw unheld("has a reservoir with a cell of its own", "cell");
  if (model.noiseLevel > 0) throw unheld(`has noise (noiseLevel ${model.config.noiseLevel}); set it to 0 and train again`, "noiseLevel");
  if (model.config.arithmetic === "fast") throw unheld("has fast arithmetic", "arithmetic");
  if (!activationsInC.includes(model.activation)) throw unheld(`has the activation "${model.activation}"`, "activation");
  return model;
}

function weightsOf({ weights }: ReservoirModel): number {
  return isSparse(weights) ? weights.values.length : weights.data.length;
}
