// Which process of a machine a worker of a study is, so that others there see at once that it is
// gone. Linux alone says it; elsewhere, and between machines, a worker is gone when it is silent.
import { readFileSync, readlinkSync } from "node:fs";
import type { Json } from "./storage.js";

/** A process among those that see each other: of one start of a machine, and of one container. */
export interface ProcessMark {
  readonly host: string;
  readonly pid: number;
  /** When it started, in ticks of its machine; numbers of processes come again. */
  readonly started: number;
}

/** This process; undefined if the system does not say. */
export function ownMark(): ProcessMark | undefined {
  try {
    const host = `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
    const started = startOf(process.pid);
    return started === undefined ? undefined : { host, pid: process.pid, started };
  } catch {
    return undefined;
  }
}

/** Whether a worker that said this of itself ran beside this process, and does not any more. */
export function isGone(said: Json, own: ProcessMark): boolean {
  if (typeof said !== "object" || said === null) return false;
  const { host, pid, started } = said as { readonly [Name in keyof ProcessMark]?: Json };
  if (host !== own.host || typeof started !== "number" || !Number.isSafeInteger(pid) || (pid as number) < 1) return false;
  try {
    process.kill(pid as number, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return true;
  }
  try {
    return startOf(pid as number) !== started;
  } catch {
    // A process of another user, which /proc may hide.
    return false;
  }
}

/** Field 22 of proc(5)'s stat, behind the name in parentheses; undefined of one that has ended. */
function startOf(pid: number): number | undefined {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : Number(fields[19]);
}
