// `spillway plan FILE`: how an engine would run the reservoir of an experiment. The weights
// are drawn, without a radius; nothing is run.
import "../../index.js";
import { loadDriven } from "../../experiment/data/inputs.js";
import type { EngineOptions } from "../../reservoir/engine.js";
import { checkPlanOptions } from "../../reservoir/engines.js";
import { chooseEngine, formatBytes, modelOf } from "../../reservoir/index.js";
import { isSpiking, planModel, shapeFor } from "../../reservoir/kinds.js";
import { isRegistered } from "../../reservoir/registered/model.js";
import { formatTable } from "../table.js";

export interface PlanCommandOptions {
  readonly engine?: string | undefined;
  /** A plan by name; default "auto". */
  readonly plan?: string | undefined;
  /** Where kernels come from; default "auto". */
  readonly kernelSource?: string | undefined;
  readonly set?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
}

/** The text (or JSON) of the plan. */
export async function describePlan(path: string, { kernelSource, set, json, ...given }: PlanCommandOptions): Promise<string> {
  const { experiment, reservoir } = await loadDriven(path, set);
  const { engine: name = experiment.engine, plan: planName = experiment.plan } = given;
  const { engine, reason } = await chooseEngine(name, await shapeFor(name, reservoir));
  const options: EngineOptions = { plan: planName, kernelSource: kernelSource as EngineOptions["kernelSource"] };
  checkPlanOptions(engine, options);
  // A plan goes by the shape of W. Its radius would take longer than all else.
  const unscaled = isSpiking(reservoir) || isRegistered(reservoir) ? reservoir : { ...reservoir, spectralRadius: null };
  const model = await modelOf(unscaled, engine);
  const plan = await planModel(engine, model, options);
  if (json) return JSON.stringify({ experiment: experiment.name, engine: engine.name, reason, plan }, undefined, 2);
  const rows = Object.entries(plan.details).map(([field, value]) => [
    `  ${field}`,
    typeof value === "number" ? value.toLocaleString("en") : String(value),
  ]);
  return [
    `${experiment.name}: ${model.size} neurons on ${engine.name} (${reason})`,
    plan.summary,
    "",
    formatTable(["  plan", ""], [...rows, ["  bytes", `${plan.bytes.toLocaleString("en")} (${formatBytes(plan.bytes)})`]]),
  ].join("\n");
}
