// How a search gets from one trial to the next: so many at once, halved stage by stage; or one
// trial as soon as the oldest in work ends. Either way the order of results depends on nothing that
// takes time, so that a search over threads gives the same trials each time.
import type { AskedTrial, Study } from "@spillway/search";
import { HalvingStages, type Outcome, outcomeOf, type StagedTrial } from "./search-halving.js";
import type { ResultKeeper } from "./search-keeper.js";
import type { SearchPlan } from "./search-plan.js";
import type { TrialOutcomeScores, TrialRunner, TrialTask } from "./search-trials.js";

/** What the search still wants, and who takes what trials come to. */
export interface Demand {
  readonly keeper: ResultKeeper;
  /**
   * How many more trials may be asked for beside those in work; 0 or less if the search is over.
   */
  readonly wanted: (inWork: number) => number;
  /** Called after trials were reported. */
  readonly onTold: () => void;
}

/**
 * `width` trials at once, which report together. At a stage a trial continues if it is among the best
 * share of all that have reached it so far, by asynchronous halving that stops the others (Li et
 * al. 2018, arXiv 1810.05934); a new trial replaces each that stops.
 */
export async function runBatches(plan: SearchPlan, study: Study, runner: TrialRunner, width: number, demand: Demand): Promise<void> {
  const stages = new HalvingStages(plan, study.trials);
  let goingOn: readonly StagedTrial[] = [];
  for (;;) {
    const wanted = Math.min(width - goingOn.length, demand.wanted(goingOn.length));
    const fresh = wanted > 0 ? await study.ask(wanted) : [];
    const all = [...goingOn, ...fresh.map((trial): StagedTrial => ({ trial, stage: 0, intermediate: {} }))];
    if (all.length === 0) return;
    const tasks = all.map(({ trial, stage }) => ({ params: trial.params, ...stages.resource(stage) }));
    const found = await evaluateAll(runner, tasks);
    const { over, goingOn: further } = stages.advance(all, found);
    const ended = over.map(({ trial }) => trial);
    const outcomes = over.map(({ outcome }) => outcome);
    await tellOutcomes(study, demand.keeper, ended, outcomes);
    goingOn = further;
    demand.onTold();
  }
}

function evaluateAll(runner: TrialRunner, tasks: readonly TrialTask[]): Promise<readonly TrialOutcomeScores[]> {
  return runner.evaluateAll?.(tasks) ?? Promise.all(tasks.map((task) => runner.evaluate(task)));
}

/**
 * `width` trials in work. They are reported in the order of their numbers, and each that is lets
 * one be asked for. Those that are done when the search ends are reported as well.
 */
export async function runStream(plan: SearchPlan, study: Study, runner: TrialRunner, width: number, demand: Demand): Promise<void> {
  const work: { readonly trial: AskedTrial; readonly outcome: Promise<Outcome> }[] = [];
  try {
    for (;;) {
      const wanted = Math.min(width - work.length, demand.wanted(work.length));
      if (wanted > 0)
        for (const trial of await study.ask(wanted)) {
          const outcome = runner.evaluate({ params: trial.params, seeds: plan.seeds }).then(async (found) => {
            const came = outcomeOf(found);
            if (came !== undefined) await demand.keeper.add(trial, came);
            return came;
          });
          outcome.catch(() => undefined);
          work.push({ trial, outcome });
        }
      const first = work[0];
      if (!first) return;
      const outcome = await first.outcome;
      if (outcome === undefined) break;
      await tellOutcomes(study, demand.keeper, [first.trial], [outcome]);
      work.shift();
      demand.onTold();
    }
    const outcomes = await Promise.all(work.map(({ outcome }) => outcome));
    const trials = work.map(({ trial }) => trial);
    await tellOutcomes(study, demand.keeper, trials, outcomes);
    work.length = 0;
    demand.onTold();
  } finally {
    if (work.length > 0) await runner.dispose();
  }
}

/** Tells what came to an end, and gives back the rest. */
async function tellOutcomes(
  study: Study,
  keeper: ResultKeeper,
  trials: readonly AskedTrial[],
  outcomes: readonly Outcome[],
): Promise<void> {
  const finished = trials.flatMap((trial, i) => (outcomes[i] === undefined ? [] : [[trial, outcomes[i]] as const]));
  if (finished.length > 0) await keeper.tell(finished);
  const stopped = trials.filter((_, i) => outcomes[i] === undefined);
  if (stopped.length > 0) await study.giveBack(stopped);
}
