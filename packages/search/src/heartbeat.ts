// Workers of a study that are gone, and what becomes of the trials that they left. A worker tells
// that it is there by counting up an attribute of the study; clocks of machines are never compared.
// One of the same machine whose process is no more need not be waited for.
import { isGone, ownMark, type ProcessMark } from "./process-mark.js";
import { type Attributes, type Json, type StudyOperation, settingAttributes, type TrialTemplate } from "./storage.js";
import type { StoredStudy, StoredTrial } from "./study-log.js";
import { contentOf, paramsOf } from "./study-trials.js";

/** Before the name of a worker, in attributes of a study. */
export const workerAttribute = "spillway:worker:";
const attemptAttribute = "spillway:attempt";
/** How often a trial is run until it is given up. */
const mostAttempts = 3;
const ownProcess: ProcessMark | undefined = ownMark();

/** What a worker says of itself: that it is there, by a number that grows, and where. */
export function beatOf(study: StoredStudy, by: string, count: number): StudyOperation {
  const said = { seq: count, ...(ownProcess as Attributes | undefined) };
  return settingAttributes(by, { study: study.id }, { [workerAttribute + by]: said })[0]!;
}

/**
 * Watches the workers of a study: by this process's own clock, and those of the same machine by their
 * processes.
 */
export class WorkerWatch {
  readonly #reports = new Map<string, { readonly said: string; readonly since: number }>();
  readonly #own: string;

  constructor(own: string) {
    this.#own = own;
  }

  /** The workers that said nothing new for so many milliseconds, or whose processes are no more. */
  stale(study: StoredStudy, graceMs: number, now: number): ReadonlySet<string> {
    const out = new Set<string>();
    for (const [name, value] of study.attributes) {
      const worker = name.startsWith(workerAttribute) ? name.slice(workerAttribute.length) : this.#own;
      if (worker === this.#own) continue;
      const said = JSON.stringify(value);
      const last = this.#reports.get(worker);
      if (last?.said !== said) this.#reports.set(worker, { said, since: now });
      else if (now - last.since >= graceMs) out.add(worker);
      if (ownProcess && isGone(value, ownProcess)) out.add(worker);
    }
    return out;
  }
}

/** What takes over the running trials of workers that are gone: each fails, and waits anew. */
export function takeovers(study: StoredStudy, gone: ReadonlySet<string>, by: string, at: number): StudyOperation[] {
  const left = study.trials.filter(({ state, by: owner }) => state === "running" && gone.has(owner));
  return left.flatMap((trial) => anew(study, trial, 1, by, at));
}

/** What gives back a trial: it fails, and waits anew. It counts as no attempt. */
export function givingBack(study: StoredStudy, trial: StoredTrial, by: string, at: number): StudyOperation[] {
  return anew(study, trial, 0, by, at);
}

/** Ends a trial as failed, and makes it wait again unless it has had so many attempts. */
function anew(study: StoredStudy, trial: StoredTrial, attempts: 0 | 1, by: string, at: number): StudyOperation[] {
  const failed: StudyOperation = { by, type: "state", trial: trial.id, state: "failed", at };
  const attempt = numberOf(trial.systemAttributes.get(attemptAttribute), 1) + attempts;
  if (attempts > 0 && attempt > mostAttempts) return [failed];
  return [failed, { by, type: "createTrial", study: study.id, template: again(trial, attempt) }];
}

/** A trial once more, in the form that Optuna's own retries have. */
function again(trial: StoredTrial, attempt: number): TrialTemplate {
  const { number, systemAttributes } = trial;
  const history = systemAttributes.get("retry_history");
  const recorded: Attributes = {
    failed_trial: numberOf(systemAttributes.get("failed_trial"), number),
    retry_history: [...(Array.isArray(history) ? (history as readonly Json[]) : []), number],
    fixed_params: paramsOf(trial),
    [attemptAttribute]: attempt,
  };
  return { state: "waiting", ...contentOf(trial, recorded) };
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
