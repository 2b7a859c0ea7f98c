// Names for files and folders in the making. They name their process: what a killed process left
// can be distinguished from what another still writes.
import { nodeFs, nodePath } from "./node.js";

/**
 * `tmp` is a file; `partial` a folder that is being written; `replaced` one that another
 * replaced.
 */
export type TemporaryKind = "tmp" | "partial" | "replaced";

/** What a process that is gone left behind. */
export interface Abandoned {
  readonly path: string;
  /** The name that it was to have, or had. */
  readonly base: string;
  readonly kind: TemporaryKind;
}

const pattern = /^\.(.+)\.spillway-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.(tmp|partial|replaced)$/s;

/** From another machine or container, only files untouched for a day count as abandoned. */
const patience = 24 * 3600 * 1000;

let knownMachine: string | undefined;

/** A hidden name beside `base` that no other process has, on this machine or another. */
export function temporaryName(base: string, kind: TemporaryKind): string {
  const random = globalThis.crypto.randomUUID().slice(-12);
  return `.${base}.spillway-${machine()}-${process.pid}-${random}.${kind}`;
}

/**
 * What was left in a folder by processes of this machine that are gone, and of others for a day.
 * Never throws.
 */
export async function abandonedIn(folder: string): Promise<Abandoned[]> {
  const { promises } = nodeFs(folder);
  const { join } = nodePath(folder);
  const found: Abandoned[] = [];
  for (const name of await promises.readdir(folder).catch(() => [])) {
    const match = pattern.exec(name);
    if (!match) continue;
    const [, base = "", owner, pid, kind] = match;
    const path = join(folder, name);
    const isAbandoned = owner === machine() ? !isRunning(Number(pid)) : await isOld(path, folder);
    if (isAbandoned) found.push({ path, base, kind: kind as TemporaryKind });
  }
  return found;
}

/**
 * By the clock of the file system: the folder was touched when something in it was made or renamed.
 */
async function isOld(path: string, folder: string): Promise<boolean> {
  const { stat } = nodeFs(path).promises;
  try {
    return (await stat(folder)).mtimeMs - (await stat(path)).mtimeMs > patience;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Where process numbers mean the same: this boot of this machine, and this container. */
function machine(): string {
  if (knownMachine === undefined) {
    const { readFileSync, readlinkSync } = nodeFs("");
    const { createHash } = process.getBuiltinModule("node:crypto");
    const parts = [process.getBuiltinModule("node:os").hostname()];
    if (process.platform === "linux") {
      try {
        parts.push(readFileSync("/proc/sys/kernel/random/boot_id", "utf8"), readlinkSync("/proc/self/ns/pid"));
      } catch {
        // Then nothing tells this container from another of the same name.
        parts.push(globalThis.crypto.randomUUID());
      }
    }
    knownMachine = createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 8);
  }
  return knownMachine;
}
