// What goes with the `model` of an experiment, and what it would ignore silently.
import { ArgumentError } from "@spillway/core/errors.js";
import { type MemberName, memberNames } from "../../model/forecaster/options.js";
import { isComposite } from "../../reservoir/composite/config.js";
import { isSpiking } from "../../reservoir/index.js";
import { isRegistered } from "../../reservoir/registered/model.js";
import type { OpenExperiment } from "./description.js";
import { historyOf, modelTypeOf, type NvarDescription } from "./model-options.js";

/**
 * What a model in place of a reservoir has no use for, by where it stands; before defaults are
 * filled in.
 */
const unusedByNvar = ["reservoir", "liquid", "readout"] as const;

/** @throws ArgumentError for fields that a model without a reservoir does not read */
export function checkModelSource(type: unknown, task: unknown, source: Readonly<Record<string, unknown>>): void {
  if ((type === "nvar" || type === "field") && typeof task === "string" && task !== "forecast")
    throw new ArgumentError("model.type", type, `"forecaster" for ${task}; ${type} is for tasks of type "forecast"`);
  if (type === "field" && source["liquid"] !== undefined)
    throw new ArgumentError("liquid", source["liquid"], "nothing for model field, whose reservoirs are rate reservoirs");
  if (type !== "nvar") return;
  const field = unusedByNvar.find((each) => source[each] !== undefined);
  if (field === undefined) return;
  const advice = field === "readout" ? "; its penalty is model.lambda" : ", which has none";
  throw new ArgumentError(field, source[field], `nothing for model nvar${advice}`);
}

/** Whether a task combines members by their names; "loop" by itself combines nothing. */
export function isCombined<Task extends object>(task: Task): task is Task & { readonly members: readonly MemberName[] } {
  return "members" in task && Array.isArray(task.members) && task.members.some((name) => name !== "loop");
}

/** Fields that describe a loop alone. */
const loopFields = ["model", "reservoir", "liquid", "readout", "transforms", "washout"] as const;

/**
 * The members of a forecast whose file names none: all that `Forecaster.fit` combines by default.
 * Undefined for a loop alone: if the file describes one, or asks for what only one has.
 */
export function defaultMembers(source: Readonly<Record<string, unknown>>): readonly MemberName[] | undefined {
  const { task, data, outputs } = source as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  if (task?.["type"] !== "forecast" || loopFields.some((field) => source[field] !== undefined)) return undefined;
  const isSplit = data?.["gaps"] === "split";
  const hasStates = (outputs?.["states"] ?? "none") !== "none";
  const isLoop = task["members"] !== undefined || task["lags"] !== undefined || task["adaptive"] === true;
  return isLoop || isSplit || hasStates ? undefined : memberNames;
}

/** @throws ArgumentError for what a combination has no use for */
function checkCombined({ task, transforms, outputs, readout, reservoir, washout }: Omit<OpenExperiment, "seeds" | "metrics">): void {
  const nothing = (field: string, value: unknown) =>
    new ArgumentError(
      field,
      value,
      "nothing for a combination of members, as it is of a loop alone; leave it out, or take members: [loop]",
    );
  const option = Object.entries(readout).find(([name, value]) => value !== undefined && (name !== "type" || value !== "ridge"));
  if (option) throw nothing(`readout.${option[0]}`, option[1]);
  if ("lags" in task && task.lags !== undefined) throw nothing("task.lags", task.lags);
  const other = transforms.find((each) => each !== "standardise");
  if (other !== undefined) throw nothing("transforms", other);
  if (washout !== "auto" && washout > 0) throw nothing("washout", washout);
  if (outputs.states !== "none") throw nothing("outputs.states", outputs.states);
  if (isSpiking(reservoir) || isRegistered(reservoir) || isComposite(reservoir)) throw nothing("reservoir", reservoir);
}

/** @throws ArgumentError for what does not go with the model, or would be ignored silently */
export function checkModel(experiment: Omit<OpenExperiment, "seeds" | "metrics">): void {
  const type = modelTypeOf(experiment);
  if (experiment.task.type === "forecast") {
    const { members, weights } = experiment.task;
    if (Array.isArray(members) && type !== "forecaster")
      throw new ArgumentError("task.members", members, `a number of reservoirs for model ${type}`);
    const { adaptive, independent } = experiment.task;
    if (adaptive && independent)
      throw new ArgumentError("task.adaptive", true, "false with task.independent, whose starts follow no other");
    if (adaptive && isCombined(experiment.task))
      throw new ArgumentError("task.adaptive", true, "false with task.members, whose bands are of errors of all steps together");
    if (isCombined(experiment.task)) checkCombined(experiment);
    else if (weights !== undefined) throw new ArgumentError("task.weights", weights, "nothing unless task.members names several members");
  }
  const { task, transforms, outputs, reservoir, readout } = experiment;
  if (type === "forecaster" || task.type !== "forecast") return;
  const nothing = (field: string, value: unknown, why: string) => new ArgumentError(field, value, `nothing for model ${type}${why}`);
  for (const field of ["lags", "season"] as const)
    if (task[field] !== undefined)
      throw nothing(`task.${field}`, task[field], type === "nvar" ? "; model.delays says how far it sees" : "");
  if (type === "nvar" && task.members !== undefined) throw nothing("task.members", task.members, ", which has one");
  if (outputs.states !== "none") throw new ArgumentError("outputs.states", outputs.states, `"none" for model ${type}`);
  if (type === "nvar") {
    const other = transforms.find((each) => each !== "standardise");
    if (other !== undefined) throw new ArgumentError("transforms", other, "only standardise for model nvar");
    return;
  }
  if (isSpiking(reservoir) || isRegistered(reservoir) || isComposite(reservoir))
    throw new ArgumentError("reservoir", reservoir, "one rate reservoir, that of a group, for model field");
  if ((readout.type ?? "ridge") !== "ridge") throw new ArgumentError("readout.type", readout.type, '"ridge" for model field');
}

/**
 * The rows that an NVAR model's delays reach over, which train nothing; `washout` may be as many or
 * more. @throws ArgumentError
 */
export function nvarWashout(model: NvarDescription, washout: number | "auto", train: number): number {
  const reach = historyOf(model) - 1;
  if (reach >= train - 1)
    throw new ArgumentError(
      "model.delays",
      model.delays,
      `fewer, or more rows: with stride ${model.stride} they reach over ${reach + 1} rows, and ${train} train`,
    );
  if (washout === "auto") return reach;
  if (washout < reach)
    throw new ArgumentError("washout", washout, `"auto", or at least ${reach}, the rows that the delays of model nvar reach over`);
  return washout;
}
