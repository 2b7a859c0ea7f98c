// Meets the n-th operation on files of a journal with a failure: for tests of what a storage keeps.
import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

/**
 * What happens to an operation: it fails with EIO before or after it is done, its bytes are written
 * by half, it never ends as if its process were killed, or it waits until it is told to go on as if
 * its process were stopped.
 */
export type Fault = "failsBefore" | "failsAfter" | "half" | "dies" | "stops";

const ofFolder = ["symlink", "rename", "unlink", "lstat", "stat", "open"] as const;
const ofHandle = ["stat", "read", "write", "truncate", "sync"] as const;

// biome-ignore lint/suspicious/noExplicitAny: whatever an operation takes.
type Operation = (this: unknown, ...args: any[]) => Promise<unknown>;

export interface FaultPlan {
  /** The operations that were called, by name. */
  readonly seen: string[];
  /** Called when the operation was reached. */
  readonly reached: Promise<void>;
  /** Lets what was stopped go on. */
  readonly goOn: () => void;
  readonly restore: () => Promise<void>;
}

/**
 * From now on, until `restore`. Only operations of the caller that begin before `reached` are
 * counted.
 */
export async function faultAt(n: number, fault: Fault): Promise<FaultPlan> {
  const seen: string[] = [];
  let goOn = (): void => undefined;
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let arrive = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const meet = async (name: string, self: unknown, operation: Operation, args: unknown[]): Promise<unknown> => {
    if (seen.length >= n) return operation.apply(self, args);
    seen.push(name);
    if (seen.length < n) return operation.apply(self, args);
    arrive();
    if (fault === "stops") await going;
    if (fault === "failsAfter") await operation.apply(self, args);
    if (fault === "half" && name === "write")
      await operation.call(self, (args[0] as Uint8Array).subarray(0, (args[0] as Uint8Array).length >> 1));
    if (fault === "stops") return operation.apply(self, args);
    if (fault === "dies" || fault === "half") return new Promise(() => undefined);
    throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: "EIO" });
  };
  const probe = await promises.open(process.execPath, "r");
  const prototype = Object.getPrototypeOf(probe) as Record<string, Operation>;
  await probe.close();
  const table = promises as unknown as Record<string, Operation>;
  const undo: (() => void)[] = [];
  const opened = new Set<FileHandle>();
  const watch = (where: Record<string, Operation>, name: string) => {
    const original = where[name]!;
    where[name] = async function (this: unknown, ...args: unknown[]) {
      const result = await meet(name, this, original, args);
      if (name === "open") opened.add(result as FileHandle);
      return result;
    };
    undo.push(() => {
      where[name] = original;
    });
  };
  for (const name of ofFolder) watch(table, name);
  for (const name of ofHandle) watch(prototype, name);
  syncBuiltinESMExports();
  const restore = async () => {
    for (const each of undo) each();
    syncBuiltinESMExports();
    // Those of a writer that is not there any more; the others are closed.
    for (const handle of opened) if (handle.fd >= 0) await handle.close();
  };
  return { seen, reached, goOn, restore };
}
