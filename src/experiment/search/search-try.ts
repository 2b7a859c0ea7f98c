// The first trial of a search, or on a device the first batch, evaluated and written nowhere: what
// it gives, and what the search will take.
import { availableParallelism } from "node:os";
import { Study, type TrialParameters } from "@spillway/search";
import type { EngineChoiceOptions } from "../tasks/trial.js";
import { DeviceTrials, deviceBatch } from "./search-device.js";
import type { SearchPlan } from "./search-plan.js";
import { setupOf, TrialEvaluator, type TrialOutcomeScores } from "./search-trials.js";

/** What the first trial of a search gave. */
export interface TriedTrial {
  readonly params: TrialParameters;
  /** Its scores, or why it failed; undefined if it was stopped. */
  readonly outcome: TrialOutcomeScores;
  /** Trials that were evaluated at once, 1 but on a device, and what all of them took. */
  readonly together: number;
  readonly seconds: number;
  /** Memory of the process behind it. */
  readonly bytes: number;
  /** What so many trials take on this machine: none waits, and none is stopped at a stage. */
  secondsFor(trials: number, workers: number): number;
}

/**
 * Evaluates the first trial of a search, and the rest of its batch if a device does so at once.
 * @throws what the search is refused for, and what the evaluation throws for a defect
 */
export async function tryTrial(
  plan: SearchPlan,
  run: EngineChoiceOptions,
  signal: AbortSignal,
  { trials: wanted = plan.budget.trials, workers = 1 }: { readonly trials?: number | undefined; readonly workers?: number } = {},
): Promise<TriedTrial> {
  const { space, sampler, seeds } = plan;
  const budget = wanted ?? Number.POSITIVE_INFINITY;
  const setup = setupOf(plan, run);
  const evaluator = new TrialEvaluator(setup, signal);
  await evaluator.checkWork(plan);
  const device = workers > 1 ? undefined : await DeviceTrials.of(plan, setup, evaluator, budget, signal);
  const study = await Study.open({ space, sampler });
  const asked = await study.ask(device ? Math.min(plan.batch ?? deviceBatch(budget), plan.points) : 1);
  const tasks = asked.map(({ params }) => ({ params, seeds }));
  const begun = performance.now();
  const [outcome] = await (device ? device.evaluateAll(tasks) : Promise.all([evaluator.evaluate(tasks[0]!)]));
  const seconds = (performance.now() - begun) / 1000;
  const together = tasks.length;
  return {
    ...{ params: asked[0]!.params, outcome, together, seconds },
    bytes: process.memoryUsage().rss,
    secondsFor: (trials, threads) => Math.ceil(trials / together) * (seconds / Math.min(threads, availableParallelism())),
  };
}
