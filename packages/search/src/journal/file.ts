// A study in a file: Optuna's journal, which its processes and ours read and write at once.

import { constants } from "node:fs";
import { resolve as absolute } from "node:path";
import { checkText } from "@spillway/core/checks.js";
import { SpillwayError } from "@spillway/core/errors.js";
import { choice, type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { FileError } from "@spillway/io/errors.js";
import { readError, writeError } from "@spillway/io/files.js";
import type { StudyOperation, StudyStorage } from "../storage.js";
import { journalFiles } from "./files.js";
import { endOfLines, type Position, readLines } from "./lines.js";
import { JournalLock } from "./lock.js";
import { RecordError } from "./record-error.js";
import { decodeRecord, encodeRecord } from "./records.js";

export const journalFileTable = {
  /**
   * How its lock is made: "link", a symbolic link, as Optuna's default does, or "exclusive", a
   * file, for systems without links. They exclude one another. Default "link", on Windows
   * "exclusive".
   */
  lock: option(choice("link", "exclusive"), process.platform === "win32" ? "exclusive" : "link", "How its lock is made."),
  /**
   * Seconds after which a lock is broken whose owner does nothing; default 30, as Optuna has it. One
   * of a process of the same machine that has ended is broken at once (Linux).
   */
  grace: option(number({ above: 0, unit: "seconds" }), 30, "Seconds after which a lock is broken whose owner does nothing."),
};

/** How a journal file is shared. */
export interface JournalFileOptions extends InputOf<typeof journalFileTable> {}

/**
 * A study's operations in a file, as Optuna's JournalFileBackend keeps them: one JSON object a
 * line. Any number of processes, in Python and here, may share the file, also over a network. An
 * append is locked, written in one piece and synced; a last line that a killed process left
 * unfinished is cut away by the next append. The file is made if it is not there.
 *
 * New trials alone are not synced: a machine that stops loses what it was about to evaluate, and
 * results are synced together with all that stands before them.
 *
 * Give Optuna an absolute path: its lock leads nowhere from a relative one with a folder.
 * @throws FileError from any call if the file cannot be used, or a line is no record
 */
export function journalFile(path: string, options: JournalFileOptions = {}): StudyStorage {
  checkText("path", path);
  const { lock, grace } = resolve(journalFileTable, options, "journalFile");
  const absolutePath = absolute(path);
  return new JournalFile(absolutePath, new JournalLock(absolutePath, lock, 1000 * grace));
}

class JournalFile implements StudyStorage {
  readonly name: string;
  readonly #lock: JournalLock;
  /** Positions up to which the file was read, rising: where a later read may begin. */
  #marks: Position[] = [{ line: 0, offset: 0 }];
  /** The last append, until it is read: it need not be read from the file. */
  #own: { readonly to: Position; readonly lines: readonly string[] } | undefined;
  /** Whether an append found lines that were not read. */
  #isBehind = false;
  /** The end of the last call. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(path: string, lock: JournalLock) {
    this.name = path;
    this.#lock = lock;
  }

  append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    const lines = operations.map(encodeRecord);
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1");
    const isSynced = !operations.every(isNewTrial);
    return this.#inTurn(async () => {
      for (;;) {
        const end = await this.#lock.hold((isHeld) => this.#append(bytes, isSynced, expected, isHeld));
        if (end === undefined) continue;
        const last = this.#marks.at(-1)!;
        this.#isBehind = end !== last.offset;
        this.#own = undefined;
        if (end === "others wrote") return false;
        if (!this.#isBehind) this.#own = { to: { line: last.line + lines.length, offset: end + bytes.length }, lines };
        return true;
      }
    });
  }

  read(from: number): Promise<readonly StudyOperation[]> {
    return this.#inTurn(() => this.#read(from));
  }

  async close(): Promise<void> {
    await this.#turn;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Where the bytes begin that were written; undefined if the lock was broken and none were. */
  async #append(
    bytes: Buffer,
    isSynced: boolean,
    expected: number | undefined,
    isHeld: () => Promise<boolean>,
  ): Promise<number | "others wrote" | undefined> {
    // Read as well as appended to: a torn last line has to be found.
    const file = await journalFiles
      .open(this.name, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o666)
      .catch((error: unknown) => {
        throw error instanceof RecordError ? new FileError(this.name, error.message, "content", error) : writeError(this.name, error);
      });
    try {
      const { size } = await file.stat();
      const last = this.#marks.at(-1)!;
      const end = size === last.offset ? size : ((await endOfLines(file, 0, size)) ?? 0);
      if (expected !== undefined && (end < last.offset || (await this.#count(end)) !== expected)) return "others wrote";
      if (!(await isHeld())) return undefined;
      if (end < size) await file.truncate(end);
      try {
        for (let done = 0; done < bytes.length; ) {
          // A write may end early without a fault; what is left follows if nobody came between.
          if (done > 0 && !(await isHeld())) throw new SpillwayError("file", "its lock was broken in the middle of a write");
          const { bytesWritten } = await file.write(bytes.subarray(done));
          if (bytesWritten === 0) throw new SpillwayError("file", `only ${done} of ${bytes.length} bytes could be written`);
          done += bytesWritten;
        }
        if (isSynced) await file.sync();
      } catch (error) {
        if (await isHeld()) await file.truncate(end);
        throw error;
      }
      return end;
    } catch (error) {
      throw error instanceof FileError ? error : writeError(this.name, error);
    } finally {
      await file.close();
    }
  }

  /** How many lines end at an offset that is not before the last mark. */
  async #count(end: number): Promise<number> {
    const last = this.#marks.at(-1)!;
    if (end === last.offset) return last.line;
    return (await readLines(this.name, last, () => undefined)).line;
  }

  async #read(from: number): Promise<readonly StudyOperation[]> {
    const own = this.#own;
    this.#own = undefined;
    const last = this.#marks.at(-1)!;
    if (!this.#isBehind && from === last.line) {
      const size = await this.#size();
      if (own && size === own.to.offset) {
        this.#mark(own.to);
        return own.lines.map((line, i) => this.#decoded(line, from + i));
      }
      if (!own && size === last.offset) return [];
    }
    const out: StudyOperation[] = [];
    const begin = this.#marks.findLast(({ line }) => line <= from)!;
    const end = await readLines(this.name, begin, (line, number) => {
      if (number >= from) out.push(this.#decoded(line, number));
    }).catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" && begin.line === 0) return begin;
      throw error instanceof RecordError ? new FileError(this.name, error.message, "content") : await readError(this.name, error);
    });
    this.#isBehind = false;
    this.#mark(end);
    return out;
  }

  async #size(): Promise<number | undefined> {
    const found = await journalFiles.stat(this.name).catch(() => undefined);
    return found?.isFile() ? Number(found.size) : undefined;
  }

  #mark(end: Position): void {
    if (end.line > this.#marks.at(-1)!.line) this.#marks = [this.#marks[0]!, ...this.#marks.slice(1).slice(-1000), end];
  }

  #decoded(line: string, number: number): StudyOperation {
    try {
      return decodeRecord(line);
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      const hint = error.message.startsWith("it is no JSON") ? `; spillway runs ${this.name} --repair takes such lines out` : "";
      throw new FileError(this.name, `line ${number + 1} is no record of a journal: ${error.message}${hint}`, "content");
    }
  }
}

function isNewTrial(operation: StudyOperation): boolean {
  return operation.type === "createTrial" && operation.template.state === "running";
}
