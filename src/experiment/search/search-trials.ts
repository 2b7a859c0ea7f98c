// A trial of a search: a setting, with every value of its sweeps and all its seeds. It knows
// nothing of studies.
import { SpillwayError } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import type { SearchSpace } from "@spillway/search";
import type { EngineChoiceOptions } from "../tasks/trial.js";
import {
  isLowerBetter,
  type SeedJob,
  SettingEvaluator,
  type SettingParts,
  type SettingScores,
  type SettingWork,
} from "./search-objective.js";
import type { SearchPlan } from "./search-plan.js";

/** What a trial is evaluated with, the same for all of a search. It can be sent to a thread. */
export interface TrialSetup extends Omit<SettingParts, "run"> {
  /** Values that every trial tries, by paths. */
  readonly sweeps: Readonly<Record<string, readonly number[]>>;
  readonly run: EngineChoiceOptions;
}

/** What the trials of a plan are evaluated with. */
export function setupOf({ source, path, objective, statistic, space }: SearchPlan, run: EngineChoiceOptions): TrialSetup {
  return { source, path, objective, statistic, sweeps: space.sweeps, run };
}

/** What is asked of one trial. */
export interface TrialTask {
  readonly params: Readonly<Record<string, unknown>>;
  readonly seeds: readonly Seed[];
  /** Training rows; left out, all. */
  readonly rows?: number | undefined;
}

/** What a trial gave, at the best values of its sweeps. */
export interface TrialScores extends SettingScores {
  readonly sweep: Readonly<Record<string, number>>;
}

/** What a trial comes to; an Error for one that failed, undefined for one that was stopped. */
export type TrialOutcomeScores = TrialScores | Error | undefined;

/** Where trials are evaluated: in this thread, in several, or on a device. */
export interface TrialRunner {
  /** How many are evaluated beside each other. */
  readonly count: number;
  evaluate(task: TrialTask): Promise<TrialOutcomeScores>;
  /** All of them together, if that is faster than beside each other. */
  evaluateAll?(tasks: readonly TrialTask[]): Promise<readonly TrialOutcomeScores[]>;
  dispose(): Promise<void>;
}

/** The jobs of a trial, with all combinations of its swept values, and the score of all. */
export interface TrialWork {
  readonly jobs: readonly SeedJob[];
  combine(scores: readonly (readonly number[])[]): TrialScores;
}

/** Evaluates trials in this thread, one after the other. */
export class TrialEvaluator implements TrialRunner {
  readonly count = 1;
  readonly #setup: TrialSetup;
  readonly #signal: AbortSignal;
  readonly #settings: SettingEvaluator;

  constructor(setup: TrialSetup, signal: AbortSignal) {
    this.#setup = setup;
    this.#signal = signal;
    this.#settings = new SettingEvaluator({ ...setup, run: { ...setup.run, signal } });
  }

  /** The value of a setting over seeds. */
  setting(values: Readonly<Record<string, unknown>>, seeds: readonly Seed[]): Promise<SettingScores> {
    return this.#settings.evaluate(values, seeds);
  }

  evaluate(task: TrialTask): Promise<TrialOutcomeScores> {
    return this.orError(async () => {
      const { jobs, combine } = await this.work(task);
      const scores: (readonly number[])[] = [];
      for (const job of jobs) scores.push(await this.score(job));
      return combine(scores);
    });
  }

  /** What there is to do for a trial. @throws what its description gets wrong */
  async work({ params, seeds, rows }: TrialTask): Promise<TrialWork> {
    const settings = this.#settings;
    const { "readout.lambda": lambdas, ...others } = this.#setup.sweeps;
    const parts: { readonly work: SettingWork; readonly sweeps: readonly Record<string, number>[] }[] = [];
    for (const combination of combinationsOf(others)) {
      const setting = (sweep: Record<string, number>) => ({ values: { ...params, ...sweep }, seeds, trainRows: rows });
      const sweeps = lambdas ? lambdas.map((lambda) => ({ ...combination, "readout.lambda": lambda })) : [combination];
      const along = lambdas && settings.lambdaPathWork(setting(combination), lambdas);
      if (along) parts.push({ work: await along, sweeps });
      else for (const sweep of sweeps) parts.push({ work: await settings.work(setting(sweep)), sweeps: [sweep] });
    }
    const sign = isLowerBetter(this.#setup.objective.score) ? 1 : -1;
    const combine = (scores: readonly (readonly number[])[]) => {
      let best: TrialScores | undefined;
      let at = 0;
      for (const { work, sweeps } of parts) {
        const found = work.combine(scores.slice(at, at + work.jobs.length));
        at += work.jobs.length;
        for (const [k, sweep] of sweeps.entries())
          if (best === undefined || sign * found[k]!.value < sign * best.value) best = { ...found[k]!, sweep };
      }
      return best!;
    };
    return { jobs: parts.flatMap(({ work }) => work.jobs), combine };
  }

  /**
   * @throws what neither end of the space gets past before anything is trained: a file that is not
   * there, a column that it does not have, more rows at a stage than there are
   */
  async checkWork({ space, seeds, halving }: Pick<SearchPlan, "space" | "seeds" | "halving">): Promise<void> {
    for (const rows of halving?.of === "rows" ? [halving.steps[0], halving.steps.at(-1)] : [undefined]) {
      const low = await this.workAt(space, "low", seeds.slice(0, 1), rows);
      if (!(low instanceof SpillwayError)) continue;
      const high = await this.workAt(space, "high", seeds.slice(0, 1), rows);
      if (high instanceof SpillwayError && high.message === low.message) throw low;
    }
  }

  /** What there is to do at one end of all parameters. */
  workAt(space: SearchSpace, end: "low" | "high", seeds: readonly Seed[], rows?: number): Promise<TrialWork | SpillwayError | undefined> {
    const params = space.toParameters(space.fill((index) => space.parameters[index]![end]));
    return this.orError(() => this.work({ params, seeds, rows }));
  }

  /** The scores of a job by each of its trainers. */
  score(job: SeedJob): Promise<readonly number[]> {
    return this.#settings.score(job);
  }

  /** What work gives; the error of a trial that failed, and undefined if it was stopped. */
  async orError<Result>(work: () => Promise<Result>): Promise<Result | SpillwayError | undefined> {
    try {
      return await work();
    } catch (error) {
      if (this.#signal.aborted) return undefined;
      if (error instanceof SpillwayError) return error;
      throw error;
    }
  }

  /** Does nothing: it holds nothing. */
  async dispose(): Promise<void> {}
}

/** Every combination of the values of sweeps; one empty one without any. */
function combinationsOf(sweeps: Readonly<Record<string, readonly number[]>>): Record<string, number>[] {
  return Object.entries(sweeps).reduce<Record<string, number>[]>(
    (all, [name, values]) => all.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value }))),
    [{}],
  );
}
