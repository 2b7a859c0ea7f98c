// What a study derives from its trials, kept in step with the log: what the sampler sees, which
// trials wait, how many there are of each kind, and the best.
import type { SamplerView, SeenTrial } from "./sampler.js";
import type { SearchSpace } from "./space.js";
import type { StoredTrial } from "./study-log.js";
import { paramsOf } from "./study-trials.js";

/** The system attribute of trials of CMA-ES. */
export const generationAttribute = "spillway:generation";

/** The system attribute, Optuna's, of trials whose parameters are given. */
export const fixedAttribute = "fixed_params";

/** How many trials a study has of each kind. */
export interface TrialCounts {
  /** All. */
  readonly asked: number;
  readonly waiting: number;
  readonly running: number;
  readonly complete: number;
  readonly pruned: number;
  readonly failed: number;
  /** Those that stand for another one that failed, since it was given back or its process died. */
  readonly retried: number;
}

/** What is known of the trials of one study, by number. */
export class StudyView {
  /** What a sampler sees of each trial, by number. */
  readonly trials: SeenTrial[] = [];
  /** The numbers of trials that wait, in order. */
  readonly waiting = new Set<number>();
  /** Trials whose parameters nobody suggested. */
  #given = 0;
  readonly #space: SearchSpace;
  readonly #sign: 1 | -1;
  readonly counts = { asked: 0, waiting: 0, running: 0, complete: 0, pruned: 0, failed: 0, retried: 0 };
  /** The complete trial with the smallest loss, the first if tied. */
  best: SeenTrial | undefined;

  constructor(space: SearchSpace, isMaximised: boolean) {
    this.#space = space;
    this.#sign = isMaximised ? -1 : 1;
  }

  /** What a sampler sees. */
  get forSampler(): SamplerView {
    return { space: this.#space, trials: this.trials, given: this.#given };
  }

  /** Takes a trial that is new or has changed. */
  take(trial: StoredTrial): void {
    const { number, state } = trial;
    const before = this.trials[number];
    if (before) this.counts[before.state]--;
    else {
      this.counts.asked++;
      if (trial.systemAttributes.has("failed_trial")) this.counts.retried++;
      if (trial.systemAttributes.has(fixedAttribute)) this.#given++;
    }
    this.counts[state]++;
    const now = forSampler(trial, this.#space, this.#sign);
    this.trials[number] = now;
    if (state === "waiting") this.waiting.add(number);
    else this.waiting.delete(number);
    if (state === "complete" && isBetter(now, this.best)) this.best = now;
  }
}

function isBetter({ loss, number }: SeenTrial, best: SeenTrial | undefined): boolean {
  if (Number.isNaN(loss)) return false;
  return best === undefined || loss < best.loss || (loss === best.loss && number < best.number);
}

function forSampler(trial: StoredTrial, space: SearchSpace, sign: 1 | -1): SeenTrial {
  const step = trial.lastStep;
  const generation = trial.systemAttributes.get(generationAttribute);
  return {
    number: trial.number,
    state: trial.state,
    values: space.toInternal(paramsOf(trial)),
    loss: trial.value === undefined ? Number.NaN : sign * trial.value,
    last: step === undefined ? undefined : { step, loss: sign * trial.intermediate.get(step)! },
    generation: typeof generation === "number" ? generation : undefined,
  };
}
