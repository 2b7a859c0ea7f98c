// Files that appear whole or not at all: written under a temporary name beside the target, synced,
// then renamed.
import { writeError } from "./files.js";
import { nodeFs, nodePath } from "./node.js";
import { abandonedIn, temporaryName } from "./temporary-names.js";

type FileHandle = import("node:fs/promises").FileHandle;

/**
 * Folders that were cleaned: looking through a large one at every file would take longer than
 * writing it.
 */
const cleaned = new Set<string>();

/**
 * A file in the making. Nothing stands at `path` until `commit`, and a file that stood there stays
 * as it was until then. A device or a pipe (/dev/stdout) cannot be renamed onto, and is written to
 * as it comes.
 */
export class AtomicFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #target: string;
  readonly #temporary: string | undefined;
  #open = true;

  private constructor(path: string, handle: FileHandle, target: string, temporary: string | undefined) {
    this.path = path;
    this.#handle = handle;
    this.#target = target;
    this.#temporary = temporary;
  }

  /**
   * @param link what becomes of a symbolic link at the path: the file that it names is written, or
   * the link itself is replaced
   * @throws FileError if the folder is missing or not writable, or a folder stands at the path.
   */
  static async create(path: string, link: "follow" | "replace" = "follow"): Promise<AtomicFile> {
    const { promises } = nodeFs(path);
    const { dirname, basename, join } = nodePath(path);
    try {
      const isReplaced = link === "replace" && (await promises.lstat(path).catch(() => undefined))?.isSymbolicLink();
      const target = isReplaced ? path : await promises.realpath(path).catch(() => path);
      const existing = isReplaced ? undefined : await promises.stat(target).catch(() => undefined);
      if (existing?.isDirectory()) throw Object.assign(new Error("EISDIR"), { code: "EISDIR" });
      if (existing && !existing.isFile()) return new AtomicFile(path, await promises.open(target, "w"), target, undefined);
      // A rename asks only the folder, but a file that its owner made read-only must stay. Opening
      // it asks without changing it.
      if (existing) await (await promises.open(target, "r+")).close();
      const folder = dirname(target);
      const temporary = join(folder, temporaryName(basename(target).slice(0, 40), "tmp"));
      const handle = await promises.open(temporary, "wx");
      if (existing) await handle.chmod(existing.mode & 0o777).catch(() => undefined);
      await removeAbandonedFiles(folder);
      return new AtomicFile(path, handle, target, temporary);
    } catch (error) {
      throw writeError(path, error);
    }
  }

  /**
   * Appends bytes, or writes them at a position. On failure the temporary file is removed. @throws
   * FileError.
   */
  async write(bytes: Uint8Array, position: number | null = null): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        const length = Math.min(bytes.length - done, 2 ** 30);
        const { bytesWritten } = await this.#handle.write(bytes, done, length, position === null ? null : position + done);
        done += bytesWritten;
      }
    } catch (error) {
      await this.abort();
      throw writeError(this.path, error);
    }
  }

  /**
   * Syncs, closes, and renames the file to its name. @throws FileError; then nothing has changed at
   * `path`.
   */
  async commit(): Promise<void> {
    const { promises } = nodeFs(this.path);
    try {
      if (this.#temporary === undefined) {
        this.#open = false;
        await this.#handle.close();
        return;
      }
      await this.#handle.sync();
      this.#open = false;
      await this.#handle.close();
      await promises.rename(this.#temporary, this.#target);
    } catch (error) {
      await this.abort();
      throw writeError(this.path, error);
    }
    await this.#syncFolder();
  }

  /** Closes and removes the temporary file. Never throws. */
  async abort(): Promise<void> {
    if (this.#open) {
      this.#open = false;
      await this.#handle.close().catch(() => undefined);
    }
    if (this.#temporary !== undefined)
      await nodeFs(this.path)
        .promises.unlink(this.#temporary)
        .catch(() => undefined);
  }

  /** Makes the rename itself durable; not every system lets a folder be opened. */
  async #syncFolder(): Promise<void> {
    const folder = await nodeFs(this.path)
      .promises.open(nodePath(this.path).dirname(this.#target), "r")
      .catch(() => undefined);
    await folder?.sync().catch(() => undefined);
    await folder?.close().catch(() => undefined);
  }
}

/**
 * Removes the temporary files that killed processes left in a folder; once for each folder. Never
 * throws.
 */
export async function removeAbandonedFiles(folder: string): Promise<void> {
  const resolved = nodePath(folder).resolve(folder);
  if (cleaned.has(resolved)) return;
  cleaned.add(resolved);
  const { unlink } = nodeFs(folder).promises;
  for (const { path, kind } of await abandonedIn(folder)) if (kind === "tmp") await unlink(path).catch(() => undefined);
}

/**
 * Writes a whole file, or leaves everything as it was: temporary name in the same folder, fsync,
 * rename. Text is UTF-8.
 * @throws FileError naming the path and, in words, a missing folder, a missing permission or a full
 * disk.
 */
export async function writeFileAtomic(path: string, data: Uint8Array | string, link?: "follow" | "replace"): Promise<void> {
  const file = await AtomicFile.create(path, link);
  await file.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
  await file.commit();
}

/**
 * Writes a file of a name that this package chose into a folder, and returns its path: a link of
 * that name is replaced, and what it names stays as it is. @throws as {@link writeFileAtomic}
 */
export async function writeInto(folder: string, name: string, data: Uint8Array | string): Promise<string> {
  const path = nodePath(folder).join(folder, name);
  await writeFileAtomic(path, data, "replace");
  return path;
}
