// The operations on files that a journal makes. All but syncing are made in the calling thread: on a
// local disk each takes microseconds there, and several times that if another thread is asked.
import * as fs from "node:fs";
import { promisify } from "node:util";
import { RecordError } from "./record-error.js";

const sync = promisify(fs.fsync);

/** A regular file that is open. */
export class JournalHandle {
  readonly #descriptor: number;

  /** @throws RecordError for a device, a pipe or a socket, which keep nothing */
  constructor(path: string, flags: number, mode?: number) {
    // A pipe without a writer would hold up an open that waits for one.
    this.#descriptor = fs.openSync(path, flags | (fs.constants.O_NONBLOCK ?? 0), mode);
    const stat = fs.fstatSync(this.#descriptor);
    if (stat.isFile() || stat.isDirectory()) return;
    fs.closeSync(this.#descriptor);
    const kind = stat.isFIFO() ? "a pipe" : stat.isSocket() ? "a socket" : "a device";
    throw new RecordError(`it is ${kind}, which keeps nothing; a journal takes a regular file`);
  }

  async stat(): Promise<fs.Stats> {
    return fs.fstatSync(this.#descriptor);
  }

  /** @returns how many bytes came to the piece from `at` on */
  async read(piece: Uint8Array, at: number, length: number, position: number): Promise<{ readonly bytesRead: number }> {
    return { bytesRead: fs.readSync(this.#descriptor, piece, at, length, position) };
  }

  async write(bytes: Uint8Array): Promise<{ readonly bytesWritten: number }> {
    return { bytesWritten: fs.writeSync(this.#descriptor, bytes) };
  }

  async truncate(size: number): Promise<void> {
    fs.ftruncateSync(this.#descriptor, size);
  }

  /** Resolves when the disk has what was written. */
  async sync(): Promise<void> {
    await sync(this.#descriptor);
  }

  async close(): Promise<void> {
    fs.closeSync(this.#descriptor);
  }
}

/** Operations by path. They fail as promises do, so whoever calls need not know where they run. */
export const journalFiles = {
  async open(path: string, flags: number, mode?: number): Promise<JournalHandle> {
    return new JournalHandle(path, flags, mode);
  },
  async stat(path: string): Promise<fs.BigIntStats> {
    return fs.statSync(path, { bigint: true });
  },
  /** Of a link itself. */
  async lstat(path: string): Promise<fs.BigIntStats> {
    return fs.lstatSync(path, { bigint: true });
  },
  async readlink(path: string): Promise<string> {
    return fs.readlinkSync(path);
  },
  /** The text of a small file. */
  async readNote(path: string): Promise<string> {
    return fs.readFileSync(path, "latin1");
  },
  async symlink(target: string, path: string): Promise<void> {
    fs.symlinkSync(target, path);
  },
  async rename(from: string, to: string): Promise<void> {
    fs.renameSync(from, to);
  },
  async unlink(path: string): Promise<void> {
    fs.unlinkSync(path);
  },
};
