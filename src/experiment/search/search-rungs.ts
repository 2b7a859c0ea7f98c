// Rungs of a search: what a trial is evaluated with at each, and which trials go on.
import type { Seed } from "@spillway/numerics";
import { type AskedTrial, type Attributes, type StudyTrial, survivors, type TrialOutcome } from "@spillway/search";
import { isLowerBetter } from "./search-objective.js";
import type { SearchPlan } from "./search-plan.js";
import type { TrialOutcomeScores, TrialScores, TrialTask } from "./search-trials.js";

/** A trial's outcome; undefined if it was stopped before it had one. */
export type Outcome = TrialOutcome | undefined;

/** A trial on its way: the rung that it is to be evaluated at, and its values so far by step. */
export interface Climber {
  readonly trial: AskedTrial;
  readonly rung: number;
  readonly intermediate: Readonly<Record<number, number>>;
}

/** What trials came to at each rung, those of earlier commands included. */
export class RungLadder {
  readonly #plan: SearchPlan;
  readonly #sign: 1 | -1;
  readonly #steps: readonly number[];
  /** Losses by rung. */
  readonly #losses: readonly number[][];

  constructor(plan: SearchPlan, trials: readonly StudyTrial[]) {
    this.#plan = plan;
    this.#sign = isLowerBetter(plan.objective.score) ? 1 : -1;
    this.#steps = plan.rungs?.steps ?? [0];
    this.#losses = this.#steps.map((step) => trials.flatMap(({ intermediate }) => intermediate[step] ?? []).map((x) => this.#sign * x));
  }

  /** What a trial is evaluated with at a rung. */
  resource(rung: number): Omit<TrialTask, "params"> {
    const { rungs } = this.#plan;
    const seeds: readonly Seed[] = rungs?.of === "seeds" ? this.#plan.seeds.slice(0, this.#steps[rung]) : this.#plan.seeds;
    return { seeds, rows: rungs?.of === "rows" ? this.#steps[rung] : undefined };
  }

  /**
   * Takes what trials came to at their rungs. At each but the last those go on that are among the
   * best share of all that have reached it; the others are over, as are all if one was stopped.
   */
  climb(
    climbers: readonly Climber[],
    found: readonly TrialOutcomeScores[],
  ): { readonly over: readonly { readonly trial: AskedTrial; readonly outcome: Outcome }[]; readonly goingOn: readonly Climber[] } {
    const { rungs } = this.#plan;
    const isStopped = found.includes(undefined);
    const places = climbers.map(({ rung }, i) => {
      const each = found[i];
      if (each === undefined || each instanceof Error) return -1;
      return this.#losses[rung]!.push(this.#sign * each.value) - 1;
    });
    const best = this.#losses.map((losses) => new Set(rungs && !isStopped ? survivors(losses, rungs.keep) : []));
    const over: { trial: AskedTrial; outcome: Outcome }[] = [];
    const goingOn: Climber[] = [];
    for (const [i, { trial, rung, intermediate: before }] of climbers.entries()) {
      const each = found[i];
      if (each === undefined || each instanceof Error) {
        over.push({ trial, outcome: each });
        continue;
      }
      const isLast = rung === this.#steps.length - 1;
      const intermediate = rungs ? { ...before, [this.#steps[rung]!]: each.value } : before;
      const canGoOn = !isLast && best[rung]!.has(places[i]!) && !Number.isNaN(each.value);
      if (canGoOn) goingOn.push({ trial, rung: rung + 1, intermediate });
      // A rung that was stopped on its way says nothing of who goes on.
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

function attributesOf({ seeds, diverged, ladder }: TrialScores): Attributes {
  return {
    "spillway:seeds": seeds,
    ...(diverged > 0 && { "spillway:diverged": diverged }),
    ...(Object.keys(ladder).length > 0 && { "spillway:ladder": ladder }),
  };
}
