// Successive halving in a search: what a trial is evaluated with at each, and which trials go on.
import type { Seed } from "@spillway/numerics";
import { type AskedTrial, type Attributes, type StudyTrial, survivors, type TrialOutcome } from "@spillway/search";
import { isLowerBetter } from "./search-objective.js";
import type { SearchPlan } from "./search-plan.js";
import type { TrialOutcomeScores, TrialScores, TrialTask } from "./search-trials.js";

/** A trial's outcome; undefined if it was stopped before it had one. */
export type Outcome = TrialOutcome | undefined;

/** A trial on its way: the stage that it is to be evaluated at, and its values so far by step. */
export interface StagedTrial {
  readonly trial: AskedTrial;
  readonly stage: number;
  readonly intermediate: Readonly<Record<number, number>>;
}

/** What trials came to at each stage, those of earlier commands included. */
export class HalvingStages {
  readonly #plan: SearchPlan;
  readonly #sign: 1 | -1;
  readonly #steps: readonly number[];
  /** Losses by stage. */
  readonly #losses: readonly number[][];

  constructor(plan: SearchPlan, trials: readonly StudyTrial[]) {
    this.#plan = plan;
    this.#sign = isLowerBetter(plan.objective.score) ? 1 : -1;
    this.#steps = plan.halving?.steps ?? [0];
    this.#losses = this.#steps.map((step) => trials.flatMap(({ intermediate }) => intermediate[step] ?? []).map((x) => this.#sign * x));
  }

  /** What a trial is evaluated with at a stage. */
  resource(stage: number): Omit<TrialTask, "params"> {
    const { halving } = this.#plan;
    const seeds: readonly Seed[] = halving?.of === "seeds" ? this.#plan.seeds.slice(0, this.#steps[stage]) : this.#plan.seeds;
    return { seeds, rows: halving?.of === "rows" ? this.#steps[stage] : undefined };
  }

  /**
   * Takes what trials came to at their stages. At each but the last those go on that are among the
   * best share of all that have reached it; the others are over, as are all if one was stopped.
   */
  advance(
    staged: readonly StagedTrial[],
    found: readonly TrialOutcomeScores[],
  ): { readonly over: readonly { readonly trial: AskedTrial; readonly outcome: Outcome }[]; readonly goingOn: readonly StagedTrial[] } {
    const { halving } = this.#plan;
    const isStopped = found.includes(undefined);
    const indices = staged.map(({ stage }, i) => {
      const each = found[i];
      if (each === undefined || each instanceof Error) return -1;
      return this.#losses[stage]!.push(this.#sign * each.value) - 1;
    });
    const best = this.#losses.map((losses) => new Set(halving && !isStopped ? survivors(losses, halving.keep) : []));
    const over: { trial: AskedTrial; outcome: Outcome }[] = [];
    const goingOn: StagedTrial[] = [];
    for (const [i, { trial, stage, intermediate: before }] of staged.entries()) {
      const each = found[i];
      if (each === undefined || each instanceof Error) {
        over.push({ trial, outcome: each });
        continue;
      }
      const isLast = stage === this.#steps.length - 1;
      const intermediate = halving ? { ...before, [this.#steps[stage]!]: each.value } : before;
      const canGoOn = !isLast && best[stage]!.has(indices[i]!) && !Number.isNaN(each.value);
      if (canGoOn) goingOn.push({ trial, stage: stage + 1, intermediate });
      // A stage that was stopped on its way does not count.
      else if (isStopped && !isLast) over.push({ trial, outcome: undefined });
      else over.push({ trial, outcome: { value: each.value, pruned: !isLast, intermediate, attributes: attributesOf(each) } });
    }
    return { over, goingOn };
  }
}

/** What a trial came to that is evaluated once. */
export function outcomeOf(found: TrialOutcomeScores): Outcome {
  if (found === undefined || found instanceof Error) return found;
  return { value: found.value, attributes: attributesOf(found) };
}

function attributesOf({ seeds, diverged, sweep }: TrialScores): Attributes {
  return {
    "spillway:seeds": seeds,
    ...(diverged > 0 && { "spillway:diverged": diverged }),
    ...(Object.keys(sweep).length > 0 && { "spillway:sweep": sweep }),
  };
}
