// Results of trials that another process took over meanwhile: which trial they belong to, and
// whether the two evaluations agree.
import { type DifferentTrial, resultOf, type TrialResult } from "./merge.js";
import type { StudyOperation } from "./storage.js";
import { isOver, type StoredStudy, type StoredTrial } from "./study-log.js";

/**
 * The trial that a result for one finishes: itself, or if it was taken over the one that waits in
 * its stead. Undefined if it is over, or another process has it in work.
 */
export function targetOf(study: StoredStudy, trial: StoredTrial): StoredTrial | undefined {
  if (!isOver(trial.state)) return trial;
  const retry = retryOf(study, trial);
  return retry?.state === "waiting" ? retry : undefined;
}

/** How a result that came too late differs from what its trial came to meanwhile. */
export function differenceOf(
  study: StoredStudy,
  trial: StoredTrial,
  operations: readonly StudyOperation[],
  from: string,
): DifferentTrial | undefined {
  const retry = retryOf(study, trial);
  const late = resultIn(operations);
  if (retry?.state !== "complete" || late.state !== "complete" || resultOf(retry) === resultOf(late)) return undefined;
  return { number: retry.number, kept: retry.value, other: late.value, from };
}

/** The last trial that stands for one that failed. */
function retryOf({ trials }: StoredStudy, { number, state, systemAttributes }: StoredTrial): StoredTrial | undefined {
  if (state !== "failed") return undefined;
  const first = systemAttributes.get("failed_trial") ?? number;
  return trials.slice(number + 1).findLast((trial) => trial.systemAttributes.get("failed_trial") === first);
}

/** What the operations that finish a trial say of it. */
function resultIn(operations: readonly StudyOperation[]): TrialResult {
  const result: { -readonly [Key in keyof TrialResult]: TrialResult[Key] } = {
    state: "running",
    value: undefined,
    attributes: new Map(),
    intermediate: new Map(),
  };
  for (const operation of operations) {
    if (operation.type === "state") [result.state, result.value] = [operation.state, operation.value];
    else if (operation.type === "intermediate") result.intermediate.set(operation.step, operation.value);
    else if (operation.type === "trialAttribute") result.attributes.set(operation.name, operation.value);
  }
  return result;
}
