// The lock beside a journal that Optuna's processes take too: one name, a symbolic link or a file
// that only one can make. It knows nothing of what it guards.
import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { SpillwayError } from "@spillway/core/errors.js";
import { visible } from "@spillway/core/text.js";
import { journalFiles as files } from "./files.js";
import { isOwnerGone, linkTarget, noteOfTarget, ownerNote } from "./lock-owner.js";

/** How a lock is made. Both exclude one another. */
export type LockKind = "link" | "exclusive";

/** Milliseconds between two looks at a lock that is held. */
const longestWait = 50;

/** Takes turns with every process that has the journal open. */
export class JournalLock {
  readonly #journal: string;
  readonly #path: string;
  readonly #kind: LockKind;
  readonly #graceMs: number;

  /** @param journal an absolute path: a relative link in another folder would lead nowhere */
  constructor(journal: string, kind: LockKind, graceMs: number) {
    this.#journal = journal;
    this.#path = `${journal}.lock`;
    this.#kind = kind;
    this.#graceMs = graceMs;
  }

  /**
   * Does work while nobody else may write. The work can ask whether that still holds: while a
   * process is stopped, another may break its lock. A lock is broken if its owner was a process of
   * this machine that has ended, or if neither it nor the journal changed for the time of grace, by
   * this process's own clock.
   * @throws SpillwayError if the folder takes no lock
   */
  async hold<T>(work: (isHeld: () => Promise<boolean>) => Promise<T>): Promise<T> {
    const mine = await this.#take();
    try {
      return await work(async () => (await this.#ofLock())?.ino === mine);
    } finally {
      await this.#release(mine);
    }
  }

  async #take(): Promise<bigint> {
    let wait = 1;
    let lastState: string | undefined;
    let since = 0;
    for (;;) {
      const mine = await this.#make();
      if (mine !== undefined) return mine;
      const state = await this.#state();
      if (state !== lastState) [lastState, since] = [state, performance.now()];
      else if (state !== undefined && (performance.now() - since > this.#graceMs || (await this.#isAbandoned()))) {
        if ((await this.#state()) === state) await this.#rename();
        lastState = undefined;
      }
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 1.5, longestWait);
    }
  }

  /** The inode of a lock that was made now; undefined if there is one. */
  async #make(): Promise<bigint | undefined> {
    try {
      if (this.#kind === "link") await files.symlink(linkTarget(this.#journal), this.#path);
      else {
        const file = await files.open(this.#path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY);
        if (ownerNote !== undefined) await file.write(Buffer.from(ownerNote)).catch(() => undefined);
        await file.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
      throw new SpillwayError(
        "file",
        `${visible(this.#path)} cannot be made, without which nothing is written: ${(error as Error).message}`,
        {
          cause: error,
        },
      );
    }
    return (await this.#ofLock())?.ino;
  }

  #ofLock(): Promise<BigIntStats | undefined> {
    return files.lstat(this.#path).catch(() => undefined);
  }

  /** What does not change while a lock is abandoned; undefined if there is none. */
  async #state(): Promise<string | undefined> {
    const lock = await this.#ofLock();
    const journal = await files.stat(this.#journal).catch(() => undefined);
    return lock && `${lock.ino}:${lock.mtimeNs}:${journal?.mtimeNs}:${journal?.size}`;
  }

  /** Whether the process that made the lock is known to have ended. */
  async #isAbandoned(): Promise<boolean> {
    const lock = await this.#ofLock();
    if (!lock) return false;
    const note = lock.isSymbolicLink() ? files.readlink(this.#path).then(noteOfTarget) : files.readNote(this.#path);
    return isOwnerGone(await note.catch(() => undefined));
  }

  /** Takes the lock away, unless it was broken and is another's by now. */
  async #release(mine: bigint): Promise<void> {
    if ((await this.#ofLock())?.ino === mine) await this.#rename();
  }

  /** Of several that take it away at once, one does. */
  async #rename(): Promise<void> {
    const away = `${this.#path}${randomUUID()}.rename`;
    try {
      await files.rename(this.#path, away);
      await files.unlink(away);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
