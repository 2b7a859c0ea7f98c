// Meets the n-th operation on files of a journal with a failure: for tests of what a storage keeps.
import { constants } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { JournalHandle, journalFiles } from "../../../packages/search/src/journal/files.js";

/**
 * What happens to an operation: it fails with EIO before or after it is done, its bytes are written
 * by half, it never ends as if its process were killed, or it waits until it is told to go on as if
 * its process were stopped. "short" is no fault: a write takes half of its bytes, and says so;
 * "none" takes no byte of them.
 */
export type Fault = "failsBefore" | "failsAfter" | "half" | "dies" | "stops" | "short" | "none";

const ofFolder = ["symlink", "rename", "unlink", "lstat", "stat", "open"] as const;
const ofHandle = ["stat", "read", "write", "truncate", "sync"] as const;

// biome-ignore lint/suspicious/noExplicitAny: whatever an operation takes.
type Operation = (this: unknown, ...args: any[]) => Promise<unknown>;

export interface FaultPlan {
  /** The operations that were called, by name. */
  readonly calls: string[];
  /** Called when the operation was reached. */
  readonly reached: Promise<void>;
  /** Lets what was stopped go on. */
  readonly goOn: () => void;
  readonly restore: () => Promise<void>;
}

/**
 * From now on, until `restore`. Only operations of the caller that begin before `reached` are
 * counted.
 * @param where the n-th operation, or the first of a name
 */
export async function faultAt(where: number | (typeof ofHandle)[number], fault: Fault): Promise<FaultPlan> {
  const calls: string[] = [];
  let goOn = (): void => undefined;
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let arrive = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let isOver = false;
  const meet = async (name: string, self: unknown, operation: Operation, args: unknown[]): Promise<unknown> => {
    if (isOver) return operation.apply(self, args);
    calls.push(name);
    isOver = typeof where === "number" ? calls.length >= where : name === where;
    if (!isOver) return operation.apply(self, args);
    arrive();
    if (fault === "stops") await going;
    if (name === "write" && (fault === "short" || fault === "none")) {
      const bytes = args[0] as Uint8Array;
      return operation.call(self, bytes.subarray(0, fault === "short" ? bytes.length >> 1 : 0));
    }
    if (fault === "failsAfter") await operation.apply(self, args);
    if (fault === "half" && name === "write")
      await operation.call(self, (args[0] as Uint8Array).subarray(0, (args[0] as Uint8Array).length >> 1));
    if (fault === "stops") return operation.apply(self, args);
    if (fault === "dies" || fault === "half") return new Promise(() => undefined);
    throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: "EIO" });
  };
  const prototype = JournalHandle.prototype as unknown as Record<string, Operation>;
  const table = journalFiles as unknown as Record<string, Operation>;
  const undo: (() => void)[] = [];
  const opened = new Set<JournalHandle>();
  const { close } = JournalHandle.prototype;
  JournalHandle.prototype.close = async function (this: JournalHandle) {
    opened.delete(this);
    await close.call(this);
  };
  undo.push(() => {
    JournalHandle.prototype.close = close;
  });
  const watch = (table: Record<string, Operation>, name: string) => {
    const original = table[name]!;
    table[name] = async function (this: unknown, ...args: unknown[]) {
      const result = await meet(name, this, original, args);
      if (name === "open") opened.add(result as JournalHandle);
      return result;
    };
    undo.push(() => {
      table[name] = original;
    });
  };
  for (const name of ofFolder) watch(table, name);
  for (const name of ofHandle) watch(prototype, name);
  const restore = async () => {
    for (const each of undo) each();
    // Those of a writer that is not there any more; the others are closed.
    for (const handle of opened) await handle.close();
  };
  return { calls, reached, goOn, restore };
}

/**
 * From now on, until the function that it gives is called, files that are opened to append are
 * written in two pieces, at the end that they had when they were opened: as a network's file system
 * may do that keeps what it knows of a file until it is opened again.
 */
export async function staleAppends(): Promise<() => void> {
  const original = journalFiles.open;
  journalFiles.open = async (path, flags, mode) => {
    const appends = (flags & constants.O_APPEND) !== 0;
    if (!appends) return original(path, flags, mode);
    const file = await openFile(path, constants.O_RDWR | constants.O_CREAT, mode);
    let at = (await file.stat()).size;
    const { write, truncate } = { write: file.write.bind(file), truncate: file.truncate.bind(file) };
    file.truncate = async (size = 0) => {
      await truncate(size);
      at = size;
    };
    file.write = (async (bytes: Buffer) => {
      const half = bytes.length >> 1;
      await write(bytes, 0, half, at);
      await new Promise((later) => setImmediate(later));
      await write(bytes, half, bytes.length - half, at + half);
      return { bytesWritten: bytes.length, buffer: bytes };
    }) as typeof file.write;
    return file as unknown as JournalHandle;
  };
  return () => {
    journalFiles.open = original;
  };
}
