// How a search gets from one trial to the next: whole batches, halved at rungs; or one trial as
// soon as the oldest in work is told. Either way what is told when depends on nothing that takes
// time, so that a search over threads gives the same trials each time.
import type { AskedTrial, Attributes, Study, TrialOutcome } from "../search/index.js";
import { survivors } from "../search/index.js";
import { isLowerBetter } from "./search-objective.js";
import type { SearchPlan } from "./search-plan.js";
import type { TrialPlaces, TrialScores } from "./search-trials.js";

/** What the search still wants. */
export interface Demand {
  /**
   * How many more trials may be asked for beside those in work; 0 or less if the search is over.
   */
  readonly wanted: (inWork: number) => number;
  /** Called after trials were told. */
  readonly onTold: () => void;
}

/** A trial's outcome; undefined if it was stopped before it had one. */
type Outcome = TrialOutcome | undefined;

/** Trials in batches: all are told at once. */
export async function runBatches(plan: SearchPlan, study: Study, places: TrialPlaces, batch: number, demand: Demand): Promise<void> {
  for (;;) {
    const wanted = Math.min(batch, demand.wanted(0));
    if (wanted < 1) return;
    const trials = await study.ask(wanted);
    await settle(study, trials, await outcomesOf(plan, places, trials));
    demand.onTold();
  }
}

/**
 * `width` trials in work. They are told in the order of their numbers, and each that is told lets
 * one be asked for. Those that are done when the search ends are told as well.
 */
export async function runStream(plan: SearchPlan, study: Study, places: TrialPlaces, width: number, demand: Demand): Promise<void> {
  const work: { readonly trial: AskedTrial; readonly outcome: Promise<Outcome> }[] = [];
  try {
    for (;;) {
      const wanted = Math.min(width - work.length, demand.wanted(work.length));
      if (wanted > 0)
        for (const trial of await study.ask(wanted)) {
          const outcome = outcomesOf(plan, places, [trial]).then(([only]) => only);
          outcome.catch(() => undefined);
          work.push({ trial, outcome });
        }
      const first = work[0];
      if (!first) return;
      const outcome = await first.outcome;
      if (outcome === undefined) break;
      await settle(study, [first.trial], [outcome]);
      work.shift();
      demand.onTold();
    }
    const outcomes = await Promise.all(work.map(({ outcome }) => outcome));
    const trials = work.map(({ trial }) => trial);
    await settle(study, trials, outcomes);
    work.length = 0;
    demand.onTold();
  } finally {
    if (work.length > 0) await places.dispose();
  }
}

/** Tells what came to an end, and gives back the rest. */
async function settle(study: Study, trials: readonly AskedTrial[], outcomes: readonly Outcome[]): Promise<void> {
  const told = trials.flatMap((trial, i) => (outcomes[i] === undefined ? [] : [[trial, outcomes[i]] as const]));
  if (told.length > 0) await study.tell(told);
  const stopped = trials.filter((_, i) => outcomes[i] === undefined);
  if (stopped.length > 0) await study.giveBack(stopped);
}

/** The outcomes of trials, fewer of which go on at each rung. */
async function outcomesOf(plan: SearchPlan, places: TrialPlaces, trials: readonly AskedTrial[]): Promise<Outcome[]> {
  const { rungs, seeds, objective } = plan;
  const sign = isLowerBetter(objective.score) ? 1 : -1;
  const steps = rungs?.steps ?? [0];
  const outcomes: Outcome[] = trials.map(() => undefined);
  const intermediate = trials.map((): Record<number, number> => ({}));
  let alive = trials.map((_, i) => i);
  for (const [r, step] of steps.entries()) {
    const isLast = r === steps.length - 1;
    const some = rungs?.of === "seeds" ? seeds.slice(0, step) : seeds;
    const rows = rungs?.of === "rows" ? step : undefined;
    const found = await Promise.all(alive.map((i) => places.evaluate({ params: trials[i]!.params, seeds: some, rows })));
    const losses = found.map((each) => (each === undefined || each instanceof Error ? Number.NaN : sign * each.value));
    for (const [k, i] of alive.entries()) {
      const each = found[k];
      if (each === undefined || each instanceof Error) {
        outcomes[i] = each;
        continue;
      }
      if (rungs) intermediate[i]![step] = each.value;
      outcomes[i] = { value: each.value, pruned: !isLast, intermediate: intermediate[i]!, attributes: attributesOf(each) };
    }
    if (isLast) break;
    // A rung that was stopped on its way says nothing of who goes on.
    if (found.includes(undefined)) {
      for (const i of alive) outcomes[i] = undefined;
      break;
    }
    const kept = new Set(survivors(losses, rungs!.keep).filter((k) => !Number.isNaN(losses[k]!)));
    alive = alive.filter((_, k) => kept.has(k));
  }
  return outcomes;
}

function attributesOf({ seeds, diverged, ladder }: TrialScores): Attributes {
  return {
    "spillway:seeds": seeds,
    ...(diverged > 0 && { "spillway:diverged": diverged }),
    ...(Object.keys(ladder).length > 0 && { "spillway:ladder": ladder }),
  };
}
