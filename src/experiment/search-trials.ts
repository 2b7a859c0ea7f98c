// A trial of a search: a setting, with every value of its ladders and all its seeds. It knows
// nothing of studies.
import { SpillwayError } from "../core/errors.js";
import type { Seed } from "../numerics/index.js";
import { isLowerBetter, type SearchObjective, type SeedStatistic, SettingEvaluator, type SettingScores } from "./search-objective.js";
import type { EngineChoiceOptions } from "./trial.js";

/** What a trial is evaluated with, the same for all of a search. It can be sent to a thread. */
export interface TrialSetup {
  /** The experiment as it was written, without its search. */
  readonly source: unknown;
  readonly path: string | undefined;
  readonly objective: SearchObjective;
  readonly statistic: SeedStatistic;
  /** Values that every trial tries, by paths. */
  readonly ladders: Readonly<Record<string, readonly number[]>>;
  readonly run: EngineChoiceOptions;
}

/** What is asked of one trial. */
export interface TrialTask {
  readonly params: Readonly<Record<string, unknown>>;
  readonly seeds: readonly Seed[];
  /** Training rows; left out, all. */
  readonly rows?: number | undefined;
}

/** What a trial gave, at the best values of its ladders. */
export interface TrialScores extends SettingScores {
  readonly ladder: Readonly<Record<string, number>>;
}

/** Where trials are evaluated: in this thread, or in several. */
export interface TrialPlaces {
  /** How many are evaluated beside each other. */
  readonly count: number;
  /** @returns an Error for a trial that failed; undefined for one that was stopped */
  evaluate(task: TrialTask): Promise<TrialScores | Error | undefined>;
  dispose(): Promise<void>;
}

/** Evaluates trials in this thread, one after the other. */
export class TrialEvaluator implements TrialPlaces {
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

  async evaluate({ params, seeds, rows }: TrialTask): Promise<TrialScores | Error | undefined> {
    const sign = isLowerBetter(this.#setup.objective.score) ? 1 : -1;
    let best: TrialScores | undefined;
    try {
      const { "readout.lambda": lambdas, ...others } = this.#setup.ladders;
      for (const rung of rungsOfLadders(others)) {
        const along = lambdas && (await this.#settings.evaluateLambdas({ ...params, ...rung }, lambdas, seeds, rows));
        const rungs = lambdas ? lambdas.map((lambda) => ({ ...rung, "readout.lambda": lambda })) : [rung];
        for (const [k, ladder] of rungs.entries()) {
          const found = along?.[k] ?? (await this.#settings.evaluate({ ...params, ...ladder }, seeds, rows));
          if (best === undefined || sign * found.value < sign * best.value) best = { ...found, ladder };
        }
      }
      return best;
    } catch (error) {
      if (this.#signal.aborted) return undefined;
      if (error instanceof SpillwayError) return error;
      throw error;
    }
  }

  /** Does nothing: it holds nothing. */
  async dispose(): Promise<void> {}
}

/** Every combination of the values of ladders; one empty one without any. */
function rungsOfLadders(ladders: Readonly<Record<string, readonly number[]>>): Record<string, number>[] {
  return Object.entries(ladders).reduce<Record<string, number>[]>(
    (all, [name, values]) => all.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value }))),
    [{}],
  );
}
