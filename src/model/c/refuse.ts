// What an exported program does not hold, said before anything is written.
import { ArgumentError } from "../../core/errors.js";
import { isSparse } from "../../numerics/index.js";
import type { AnyModel, ReservoirModel } from "../../reservoir/index.js";
import type { ForecasterParts, MemberFile } from "../forecaster/file.js";
import { activationsInC } from "./step.js";
import { unheldStep } from "./transforms.js";

/** A rate reservoir of a member: the whole of it, or a layer or group. */
export interface Part {
  readonly model: ReservoirModel;
  /** The channels of the inputs that a group sees; left out, all. */
  readonly channels?: readonly number[] | undefined;
  /** Whether it sees the layer below in place of the inputs. */
  readonly isAbove: boolean;
}

/** A member of rate reservoirs, which a program holds. */
export interface RateMember extends MemberFile {
  readonly parts: readonly Part[];
}

/** Weights of W that a source file holds at most, of all members: some 256 MB of text. */
const mostWeights = 2 ** 24;

/** Why a model is not exported. */
export const unheld = (what: string, field = "model") =>
  ArgumentError.because(`the model ${what}, which an exported program does not hold`, { field });

/** The members, if a program holds them all. @throws ArgumentError */
export function checkMembers({ settings, members }: ForecasterParts): readonly RateMember[] {
  if (settings.hybrid) throw unheld("calls a model of yours");
  const checked = members.map((member) => ({ ...member, parts: partsOf(member.model) }));
  checkAlike(checked.flatMap(({ parts }) => parts));
  const own = unheldStep(members.flatMap(({ road }) => road.transforms.steps));
  if (own !== undefined) throw unheld(`transforms its series by ${own}, a function of yours`, "transforms");
  return checked;
}

/** @throws ArgumentError for reservoirs of more than one type of number */
export function checkAlike(parts: readonly Part[]): void {
  const kinds = new Set(parts.map(({ model: { precision, config } }) => (config.arithmetic === "integer" ? "integers" : precision)));
  if (kinds.size > 1) throw unheld(`has reservoirs in ${[...kinds].join(" and ")} beside one another`, "arithmetic");
}

/** @throws ArgumentError for more weights than a source file holds */
export function checkWeights(parts: readonly Part[]): void {
  const weights = parts.reduce((sum, { model }) => sum + weightsOf(model), 0);
  if (weights > mostWeights)
    throw ArgumentError.because(`the reservoirs have ${weights} weights; a source file of C holds at most ${mostWeights}`, {
      field: "model",
    });
}

/** The rate reservoirs of a model that a program holds. @throws ArgumentError */
export function partsOf(model: AnyModel): readonly Part[] {
  if (model.kind === "spiking") throw unheld("has a spiking reservoir");
  if (model.kind === "registered") throw unheld(`has a reservoir of the kind "${model.config.kind}"`);
  if (model.kind === undefined) return [{ model: checked(model), isAbove: false }];
  const { groups } = model.config;
  return model.parts.map((part, p) => ({ model: checked(part), channels: groups?.[p]?.inputs, isAbove: groups === undefined && p > 0 }));
}

function checked(model: ReservoirModel): ReservoirModel {
  if (!activationsInC.includes(model.activation))
    throw unheld(`has the activation "${model.activation}" of yours; ${activationsInC.join(", ")} are held`, "activation");
  return model;
}

function weightsOf({ weights }: ReservoirModel): number {
  return isSparse(weights) ? weights.values.length : weights.data.length;
}
