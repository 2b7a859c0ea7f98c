// Brings results of trials into the study. While its storage is away, they stand in a file of the
// run's folder, a journal that is merged in when the storage is back.
import { randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@spillway/io";
import { type AskedTrial, journalFile, mergeStudies, type Study, type StudyStorage, type TrialOutcome } from "@spillway/search";
import { encodeRecord } from "@spillway/search/journal/records.js";
import { StorageAwayError } from "@spillway/search/patience.js";
import { Turns } from "../../reservoir/work.js";

const ending = ".spool";

/** Results on their way into a study. */
export class ResultKeeper {
  readonly #study: Study;
  readonly #path: string | undefined;
  readonly #pending = new Map<number, TrialOutcome>();
  #isAway = false;
  #isWritten = false;
  readonly #turns = new Turns();

  /** @param folder that of the run; without one, nothing is written while the storage is away */
  constructor(study: Study, folder: string | undefined) {
    this.#study = study;
    this.#path = folder === undefined ? undefined : join(folder, `journal.log.${randomUUID().slice(0, 8)}${ending}`);
  }

  /** Takes what a trial came to that is reported later. */
  async add({ number }: AskedTrial, outcome: TrialOutcome): Promise<void> {
    this.#pending.set(number, outcome);
    if (this.#isAway) await this.#write();
  }

  /** Tells the study what trials came to. @throws StorageAwayError if its storage stays away */
  async tell(finished: readonly (readonly [AskedTrial, TrialOutcome])[]): Promise<void> {
    for (const [{ number }, outcome] of finished) this.#pending.set(number, outcome);
    await this.#study.tell(finished);
    for (const [{ number }] of finished) this.#pending.delete(number);
    if (this.#isWritten) await this.#write();
  }

  /** The storage is away, or is back. */
  async setAway(isAway: boolean): Promise<void> {
    this.#isAway = isAway;
    if (isAway) await this.#write();
  }

  /** The same error, with what becomes of the results that could not be reported. */
  explain(error: StorageAwayError): StorageAwayError {
    const count = this.#pending.size;
    const { message, storage, cause } = error;
    const results = count === 1 ? "the result of a trial" : `the results of ${count} trials`;
    const finished =
      count === 0
        ? "no result is lost"
        : !this.#isWritten
          ? `${results} could not be kept`
          : `${results} could not be kept there and are in ${this.#path}: the same command brings them in, or spillway runs ${storage} --merge ${this.#path} --study ${this.#study.name}`;
    return new StorageAwayError(storage, `${message}; ${finished}`, { spool: this.#isWritten ? this.#path : undefined, cause });
  }

  async #write(): Promise<void> {
    const path = this.#path;
    if (path === undefined) return;
    const write = async () => {
      if (this.#pending.size === 0) {
        this.#isWritten = false;
        return rm(path, { force: true });
      }
      const lines = this.#study.apart([...this.#pending]).map((operation) => `${encodeRecord(operation)}\n`);
      await writeFileAtomic(path, lines.join(""));
      this.#isWritten = true;
    };
    // A folder that takes nothing either is no reason to end: the results are here still.
    await this.#turns.take(write).catch(() => undefined);
  }
}

/** Merges what earlier commands left in a run's folder while the storage was away. */
export async function bringInSpools(folder: string, storage: StudyStorage, study: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(ending)).sort()) {
    const spool = join(folder, name);
    await mergeStudies(storage, [journalFile(spool)], study);
    await rm(spool, { force: true });
  }
}
