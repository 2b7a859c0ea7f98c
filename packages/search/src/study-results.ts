// Results on their way into a study: which trial each ends, and what came too late.
import { ArgumentError } from "@spillway/core/errors.js";
import { differenceOf, targetOf } from "./late-results.js";
import { apartOf, type DifferentTrial } from "./merge.js";
import type { StudyOperation } from "./storage.js";
import type { StudyLedger } from "./study-ledger.js";
import type { StoredTrial } from "./study-log.js";
import { type AskedTrial, finishing, type TrialOutcome, type TrialOutcomes } from "./study-trials.js";

/** Writes outcomes, and remembers those that no trial takes any more. */
export class TrialResults {
  readonly #ledger: StudyLedger;
  /** How many came after their trial was over. */
  dropped = 0;
  /** Those of them that differ in a bit from what the trial came to. */
  readonly different: DifferentTrial[] = [];

  constructor(ledger: StudyLedger) {
    this.#ledger = ledger;
  }

  /** Ends trials. One append. @throws ArgumentError, then nothing is written */
  async tell(outcomes: TrialOutcomes): Promise<void> {
    const at = Date.now();
    const reported = this.#reported(outcomes, at);
    await this.#ledger.inTurn(async () => {
      for (;;) {
        await this.#ledger.read();
        const targets = reported.map(({ trial }) => targetOf(this.#ledger.study, trial));
        const operations = reported.flatMap(({ trial, finish }, i): StudyOperation[] => {
          const target = targets[i];
          if (!target || target === trial) return target ? finish(target) : [];
          return [{ by: this.#ledger.worker, type: "state", trial: target.id, state: "running", at }, ...finish(target)];
        });
        // Who finishes another trial than the own has to be the first that takes it.
        const isOther = reported.some(({ trial }, i) => targets[i] && targets[i] !== trial);
        if (operations.length > 0 && !(await this.#ledger.storage.append(operations, isOther ? this.#ledger.length : undefined))) continue;
        for (const [i, { trial, finish }] of reported.entries()) if (!targets[i]) this.#drop(trial, finish(trial));
        return this.#ledger.read();
      }
    });
  }

  /** Operations of a study of its own with these outcomes. @throws ArgumentError */
  apart(outcomes: TrialOutcomes): StudyOperation[] {
    return apartOf(this.#ledger.study, this.#reported(outcomes, Date.now()), this.#ledger.worker);
  }

  /** The trials of outcomes, and what ends each with its outcome. @throws ArgumentError */
  #reported(outcomes: TrialOutcomes, at: number) {
    if (!Array.isArray(outcomes)) throw new ArgumentError("outcomes", outcomes, "a list of [trial, outcome]", { of: "tell" });
    return outcomes.map((pair, i) => {
      const [which, outcome] = Array.isArray(pair) ? pair : [pair, undefined];
      const number = typeof which === "number" ? which : (which as AskedTrial | undefined)?.number;
      const trial = this.#ledger.study.trials[number as number];
      if (!trial) throw new ArgumentError(`outcomes[${i}][0]`, which, "a trial that was asked for, or its number", { of: "tell" });
      const finish = (each: StoredTrial) => finishing(each, outcome as TrialOutcome, at, this.#ledger.worker, `outcomes[${i}][1]`);
      finish(trial);
      return { trial, finish };
    });
  }

  #drop(trial: StoredTrial, operations: readonly StudyOperation[]): void {
    this.dropped++;
    const different = differenceOf(this.#ledger.study, trial, operations, this.#ledger.worker);
    if (different) this.different.push(different);
  }
}
