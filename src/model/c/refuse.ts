// What an exported program does not hold, said before anything is written.
import { ArgumentError } from "@spillway/core/errors.js";
import type { AnyModel, ReservoirModel } from "../../reservoir/index.js";
import { AnomalyDetector } from "../anomaly/detector.js";
import { Classifier } from "../classifier/classifier.js";
import type { ForecasterParts, MemberFile } from "../forecaster/file.js";
import { Forecaster } from "../forecaster/forecaster.js";
import { unheldStep } from "./transforms.js";

/** The activations that the runtime has, by their numbers there. */
export const activationsInC: readonly string[] = ["tanh", "identity", "relu", "sigmoid"];

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

/** What can be exported as C or WebAssembly. */
export type ExportedModel = Forecaster | Classifier | AnomalyDetector;

/** @throws ArgumentError for what is no forecaster, no classifier and no detector */
export function checkKind(model: unknown): void {
  if ((model instanceof Forecaster && model.kind === "forecaster") || model instanceof Classifier || model instanceof AnomalyDetector)
    return;
  throw ArgumentError.because(
    "model is of another kind; an export takes a Forecaster, an AnomalyDetector or a Classifier, such as the `classifier` of a pipeline",
    { field: "model" },
  );
}

/** Why a model is not exported. @param held what is, of that kind */
export const unheld = (what: string, field = "model", held = "") =>
  ArgumentError.because(`the model ${what}, which an exported program does not hold${held && `; it holds ${held}`}`, { field });

/** @throws ArgumentError for a forecaster of several series by their keys */
export function checkOneSeries({ keys }: Forecaster): void {
  if (keys.length > 0) throw unheld("combines members for each of several series", "sequences", "one series");
}

/** The members, if a program holds them all. @throws ArgumentError */
export function checkMembers({ settings, members }: ForecasterParts): readonly RateMember[] {
  if (settings.hybrid) throw unheld("calls a model of yours");
  const checked = members.map((member) => ({ ...member, parts: partsOf(member.model) }));
  checkAlike(checked.flatMap(({ parts }) => parts));
  const own = unheldStep(members.flatMap(({ preprocessing }) => preprocessing.transforms.steps));
  if (own !== undefined) throw unheld(`transforms its series by ${own}, a function of yours`, "transforms");
  return checked;
}

/** @throws ArgumentError for reservoirs of more than one type of number */
export function checkAlike(parts: readonly Part[]): void {
  const kinds = new Set(parts.map(({ model: { precision, config } }) => (config.arithmetic === "integer" ? "integers" : precision)));
  if (kinds.size > 1) throw unheld(`has reservoirs in ${[...kinds].join(" and ")} beside one another`, "arithmetic");
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
    throw unheld(`has the activation "${model.activation}" of yours`, "activation", activationsInC.join(", "));
  return model;
}
