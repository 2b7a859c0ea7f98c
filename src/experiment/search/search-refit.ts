// The end of a search: its best setting with seeds that no trial had, on the rows that chose it and
// on the test part.
import { isNumeric } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import type { StudyTrial } from "@spillway/search";
import type { ExperimentInput } from "../description/description.js";
import { withFields } from "../description/overrides.js";
import { resolveDataPath } from "../description/paths.js";
import type { ExperimentResult } from "../runs/result.js";
import type { SearchPlan } from "./search-plan.js";

/** A trial with a good value whose setting failed with a fresh seed. */
export interface PassedOver {
  readonly trial: number;
  readonly reason: string;
}

/** A setting of a trial, and what it gave with fresh seeds. */
export interface Refit {
  readonly trial: StudyTrial;
  readonly values: Readonly<Record<string, unknown>>;
  /** The experiment of the setting, without a search. */
  readonly experiment: ExperimentInput;
  readonly freshSeeds: number | undefined;
  readonly result: ExperimentResult | undefined;
  readonly passedOver: readonly PassedOver[];
}

/**
 * Trials that are tried before a search gives up on training one of them again: a sampler gathers
 * its best at the edge of what can be solved.
 */
const most = 100;

/**
 * The best setting that bears seeds no trial had. One that cannot be trained with one of them
 * stands at the edge of what can be solved: it is passed over, and the next best is taken. If none
 * can be, the best is named and not trained.
 * @param train what a setting gives with the fresh seeds; left out, nothing is trained
 * @returns undefined if no trial is complete
 */
export async function refitBest(
  plan: SearchPlan,
  trials: readonly StudyTrial[],
  isLower: boolean,
  train?: (values: Readonly<Record<string, unknown>>, seeds: readonly Seed[], best: ExperimentInput) => Promise<[number, ExperimentResult]>,
): Promise<Refit | undefined> {
  const seeds = freshSeeds(plan.seeds, plan.refitSeeds);
  const ranked = trials
    .filter(({ state, value }) => state === "complete" && value !== undefined)
    .sort((a, b) => (isLower ? a.value! - b.value! : b.value! - a.value!));
  const settings = ranked.slice(0, most).map((trial) => {
    const values = { ...trial.params, ...(trial.attributes["spillway:sweep"] as object | undefined) };
    return { trial, values, experiment: bestExperiment(plan, values, seeds), freshSeeds: undefined, result: undefined };
  });
  const passedOver: PassedOver[] = [];
  for (const setting of train ? settings : []) {
    try {
      const [again, result] = await train!(setting.values, seeds, setting.experiment);
      return { ...setting, freshSeeds: again, result, passedOver };
    } catch (error) {
      if (!isNumeric(error)) throw error;
      passedOver.push({ trial: setting.trial.number, reason: error.message });
    }
  }
  return settings[0] && { ...settings[0], passedOver };
}

/** Seeds that no trial had: the whole numbers behind them. */
function freshSeeds(seeds: readonly Seed[], count: number): Seed[] {
  const used = new Set(seeds.map(String));
  const fresh: Seed[] = [];
  for (let k = seeds.length; fresh.length < count; k++) if (!used.has(String(k))) fresh.push(k);
  return fresh;
}

/** The experiment of a setting; its paths are made absolute, since it stands in another folder. */
function bestExperiment(
  { source, experiment, path }: SearchPlan,
  values: Readonly<Record<string, unknown>>,
  seeds: readonly Seed[],
): ExperimentInput {
  const { seed: _, seeds: __, ...set } = withFields(source, values) as ExperimentInput & Record<string, unknown>;
  const data: Record<string, unknown> = { ...set.data };
  for (const field of ["file", "test", "sounds", "cases", "spikes"])
    if (typeof data[field] === "string") data[field] = resolveDataPath(data[field], path);
  return { ...set, name: `${experiment.name}-best`, data: data as never, seeds };
}
