// One trial of a search, evaluated and written nowhere: what it gives, and what the search will
// take.
import { availableParallelism } from "node:os";
import { Study, type TrialParameters } from "../search/index.js";
import type { SearchPlan } from "./search-plan.js";
import { TrialEvaluator, type TrialScores } from "./search-trials.js";
import type { EngineChoiceOptions } from "./trial.js";

/** What the first trial of a search gave. */
export interface TriedTrial {
  readonly params: TrialParameters;
  /** Its scores, or why it failed; undefined if it was stopped. */
  readonly outcome: TrialScores | Error | undefined;
  readonly seconds: number;
  /** Memory of the process behind it. */
  readonly bytes: number;
  /** What so many trials take on this machine: none waits, and none is stopped at a rung. */
  secondsFor(trials: number, workers: number): number;
}

/** Evaluates the first trial of a search. @throws what the evaluation throws for a defect */
export async function tryTrial(plan: SearchPlan, run: EngineChoiceOptions, signal: AbortSignal): Promise<TriedTrial> {
  const { source, path, objective, statistic, space, sampler, seeds } = plan;
  const study = await Study.open({ space, sampler });
  const [trial] = await study.ask();
  const evaluator = new TrialEvaluator({ source, path, objective, statistic, ladders: space.ladders, run }, signal);
  const { params } = trial!;
  const begun = performance.now();
  const outcome = await evaluator.evaluate({ params, seeds });
  const seconds = (performance.now() - begun) / 1000;
  return {
    ...{ params, outcome, seconds },
    bytes: process.memoryUsage().rss,
    secondsFor: (trials, workers) => (trials * seconds) / Math.min(workers, availableParallelism()),
  };
}
