// Reading whole files, making folders, and turning the system's error codes into sentences.

import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { nearNames } from "@spillway/core/near-names.js";
import { FileError, type FileFormat, type FileProblem, FormatError } from "./errors.js";
import { nodeFs, nodePath } from "./node.js";

/** @throws FileError naming the path, with near names from its folder if there are any. */
export async function readBytes(path: string): Promise<Uint8Array> {
  return withOpenFile(path, (file, stat) => {
    // What /proc holds are files that say they have no bytes.
    const hasSize = stat.isFile() && stat.size > 0;
    return readAll(path, file, hasSize ? stat.size : 0, hasSize ? Number.POSITIVE_INFINITY : mostPiped);
  });
}

/** Gives an open file to `use`. @throws FileError if it is a folder or cannot be read @internal */
export async function withOpenFile<Value>(
  path: string,
  use: (file: import("node:fs/promises").FileHandle, stat: import("node:fs").Stats) => Promise<Value>,
): Promise<Value> {
  const { open } = nodeFs(path).promises;
  try {
    const file = await open(path, "r");
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) throw Object.assign(new Error("EISDIR"), { code: "EISDIR" });
      return await use(file, stat);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof SpillwayError ? error : await readError(path, error);
  }
}

/** The most bytes that are read of what has no size: a pipe or a device may never end. */
const mostPiped = 2 ** 30;

/** Reads in pieces: one system read stops at 2 GiB, and a pipe has no size. */
async function readAll(path: string, file: import("node:fs/promises").FileHandle, size: number, most: number): Promise<Uint8Array> {
  let bytes = new Uint8Array(size > 0 ? size : 65536);
  let length = 0;
  for (;;) {
    if (length > most) {
      const reason = `more than ${most} bytes come from it, and it does not say how many; write them to a file first`;
      throw new FileError(path, `the file cannot be read: ${reason}`, "other");
    }
    if (length === bytes.length) {
      const probe = new Uint8Array(65536);
      const { bytesRead } = await file.read(probe, 0, probe.length, null);
      if (bytesRead === 0) break;
      const larger = new Uint8Array(Math.max(length + bytesRead, length * 2));
      larger.set(bytes);
      larger.set(probe.subarray(0, bytesRead), length);
      bytes = larger;
      length += bytesRead;
      continue;
    }
    const { bytesRead } = await file.read(bytes, length, Math.min(bytes.length - length, 2 ** 30), null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

/**
 * Reads a text file. UTF-8 unless said otherwise; a byte order mark is dropped, and one of UTF-16
 * is followed.
 * @throws FileError, and FormatError if the bytes are not text of that encoding.
 */
export async function readText(path: string, format: FileFormat = "text", encoding?: string): Promise<string> {
  return decodeText(await readBytes(path), path, format, encoding);
}

/** The text of bytes; see {@link readText}. */
export function decodeText(bytes: Uint8Array, source: string, format: FileFormat = "text", encoding?: string): string {
  const mark = bytes.length >= 2 ? bytes[0]! * 256 + bytes[1]! : 0;
  const label = encoding ?? (mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8");
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(label, { fatal: true });
  } catch {
    throw ArgumentError.because(
      `encoding is "${label}"; it takes a name that TextDecoder knows, such as "utf-8", "utf-16le" or "windows-1252"`,
      { field: "encoding" },
    );
  }
  try {
    return decoder.decode(bytes);
  } catch (error) {
    const advice = encoding === undefined ? `; save it as UTF-8, or name its encoding (for example "windows-1252")` : "";
    throw new FormatError(format, source, `the file is not ${label} text${advice}`, {}, error);
  }
}

/**
 * The files in a folder and those beneath it, as sorted paths from it with "/". @throws FileError.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const { readdir } = nodeFs(folder).promises;
  const { join } = nodePath(folder);
  const found: string[] = [];
  const visit = async (beneath: string): Promise<void> => {
    for (const entry of await readdir(join(folder, beneath), { withFileTypes: true })) {
      const path = beneath === "" ? entry.name : `${beneath}/${entry.name}`;
      if (entry.isDirectory()) await visit(path);
      else found.push(path);
    }
  };
  try {
    await visit("");
  } catch (error) {
    throw await readError(folder, error);
  }
  return found.sort();
}

/** What a path names; undefined if there is nothing, or it cannot be asked for. @internal */
export async function kindOfPath(path: string): Promise<"file" | "folder" | "other" | undefined> {
  const found = await nodeFs(path)
    .promises.stat(path)
    .catch(() => undefined);
  return found && (found.isFile() ? "file" : found.isDirectory() ? "folder" : "other");
}

/** Makes a folder and those above it, if they are not there yet. @throws FileError. */
export async function ensureFolder(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST")
      throw new FileError(path, "a file of that name is there already; a folder cannot replace it", "notWritable", error);
    throw writeError(path, error, "the folder cannot be made");
  }
}

/**
 * mkdir with `recursive` never returns if the system says that a folder above is missing though
 * it is there, as /proc does.
 */
async function makeFolder(path: string): Promise<void> {
  const { mkdir } = nodeFs(path).promises;
  const full = nodePath(path).resolve(path);
  const above = nodePath(path).dirname(full);
  try {
    return await mkdir(full);
  } catch (error) {
    if ((await kindOfPath(full)) === "folder") return;
    if (codeOf(error) !== "ENOENT" || above === full) throw error;
  }
  if ((await kindOfPath(above)) !== "folder") await makeFolder(above);
  try {
    await mkdir(full);
  } catch (error) {
    if ((await kindOfPath(full)) === "folder") return;
    if (codeOf(error) !== "ENOENT") throw error;
    throw new FileError(path, `the folder cannot be made: the system takes no folder in ${above}; choose another`, "notWritable", error);
  }
}

/** What helps if the system opens no more files. */
export const tooManyFiles = "too many files are open at once; close some, or raise the limit (ulimit -n)";

/** What the system says of a failed write, by its code: the kind of trouble, and the words for it. */
const writeTroubles: Readonly<Record<string, readonly [FileProblem, (folder: string) => string]>> = {
  ENOENT: ["missing", (folder) => `the folder ${folder} does not exist; make it first or choose another`],
  EACCES: ["notWritable", (folder) => `no permission to write in ${folder}; choose a folder of your own`],
  EPERM: ["notWritable", (folder) => `no permission to write in ${folder}; choose a folder of your own`],
  EROFS: ["notWritable", (folder) => `${folder} is on a read-only file system; choose another folder`],
  ENOSPC: ["full", () => "the disk is full; free some space or choose another disk"],
  EDQUOT: ["full", () => "your disk quota is used up; free some space or choose another disk"],
  EFBIG: ["full", () => "it is larger than the file system takes"],
  EISDIR: ["folder", () => "that is a folder; give the name of a file in it"],
  ENOTDIR: ["missing", () => "a part of its path is a file, not a folder"],
  ENAMETOOLONG: ["notWritable", () => "the name is longer than the file system takes"],
  EMFILE: ["other", () => tooManyFiles],
  ENFILE: ["other", () => tooManyFiles],
};

/** The words for a failed write. `what` says what was being done. */
export function writeError(path: string, error: unknown, what = "the file cannot be written"): FileError {
  if (error instanceof FileError) return error;
  const [problem, words] = writeTroubles[codeOf(error)] ?? ["other", () => messageOf(error)];
  return new FileError(path, `${what}: ${words(nodePath(path).dirname(nodePath(path).resolve(path)))}`, problem, error);
}

/** The words for a failed read. */
export async function readError(path: string, error: unknown): Promise<FileError> {
  if (error instanceof FileError) return error;
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return new FileError(path, await missing(path), "missing", error);
  if (code === "EACCES" || code === "EPERM") return new FileError(path, "there is no permission to read this file", "notReadable", error);
  if (code === "EISDIR") return new FileError(path, "that is a folder; give the name of a file in it", "folder", error);
  const words = code === "EMFILE" || code === "ENFILE" ? tooManyFiles : messageOf(error);
  return new FileError(path, `the file cannot be read: ${words}`, "other", error);
}

/**
 * Names the first part of the path that is not there, and what its folder holds under a similar
 * name.
 */
async function missing(path: string): Promise<string> {
  const { promises } = nodeFs(path);
  const { dirname, basename, resolve } = nodePath(path);
  let absent = resolve(path);
  for (;;) {
    const folder = dirname(absent);
    const isFile = absent === resolve(path);
    let names: string[];
    try {
      names = await promises.readdir(folder);
    } catch (error) {
      if (folder === absent || codeOf(error) === "EACCES") return "no such file";
      if (codeOf(error) === "ENOTDIR") return `no such file: ${folder} is a file, not a folder`;
      absent = folder;
      continue;
    }
    const near = nearNames(basename(absent), names);
    const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
    return isFile ? `no such file in ${folder}${question}` : `no such file: the folder ${absent} does not exist${question}`;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
