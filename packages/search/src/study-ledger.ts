// The operations of one study: what is written stands behind what was read, and each call takes its
// turn. What operations mean is defined elsewhere.
import { SpillwayError } from "@spillway/core/errors.js";
import type { StudyOperation, StudyStorage } from "./storage.js";
import type { StoredStudy, StudyLog } from "./study-log.js";

/** What a process reads of a study, and writes to it under a name of its own. */
export class StudyLedger {
  readonly storage: StudyStorage;
  readonly study: StoredStudy;
  /** What this process is called in what it writes. */
  readonly worker: string;
  readonly #log: StudyLog;
  /** The end of the last call: calls take their turns, since each reads and then writes. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(storage: StudyStorage, log: StudyLog, study: StoredStudy, worker: string) {
    this.storage = storage;
    this.study = study;
    this.worker = worker;
    this.#log = log;
  }

  /** Operations that were read. */
  get length(): number {
    return this.#log.length;
  }

  /** Reads what others have written since. @throws SpillwayError if the study was deleted */
  async read(): Promise<void> {
    this.#log.apply(await this.storage.read(this.#log.length));
    const { name } = this.study;
    if (this.#log.studies.get(name) !== this.study)
      throw new SpillwayError(
        "lifecycle",
        `the study ${JSON.stringify(name)} was deleted from ${this.storage.name} by another process; open it again to begin anew`,
      );
  }

  /** Makes a call when those before it have ended. */
  inTurn<Result>(call: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(call);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Appends in any case, and reads what is there. */
  async write(operations: readonly StudyOperation[]): Promise<void> {
    await this.read();
    await this.storage.append(operations);
    await this.read();
  }

  /**
   * Appends what is to be done as the study stands, if no process wrote since. It is done once, even
   * if the answer to an append was lost and it is tried again.
   */
  async writeOnce(operations: () => readonly StudyOperation[]): Promise<readonly StudyOperation[]> {
    for (;;) {
      await this.read();
      const wanted = operations();
      if (wanted.length > 0 && !(await this.storage.append(wanted, this.#log.length))) continue;
      if (wanted.length > 0) await this.read();
      return wanted;
    }
  }
}
