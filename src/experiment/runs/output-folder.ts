// The folder a run writes into: made beside its target under a temporary name, and renamed when
// the run is over. A command that is killed at any moment leaves the old or the new folder, and
// what the next command needs to rename it.
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, utimes } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { removeAbandonedFiles } from "@spillway/io/atomic.js";
import { kindOfPath, writeError } from "@spillway/io/files.js";
import { ensureFolder, FileError } from "@spillway/io";
import { abandonedIn, type TemporaryKind, temporaryName } from "@spillway/io/temporary-names.js";

/**
 * The files a run writes. Others in its folder are the user's, and are kept when a run is replaced.
 */
const runFiles = [
  "result.json",
  "model.safetensors",
  "forecasts.csv",
  "history.csv",
  "templates.safetensors",
  "incidents.csv",
  "spikes.npz",
  "weights.npz",
  "states.npy",
  "lengths.npy",
  "report.html",
] as const;

/** The name of a file that a run writes. */
export type RunFile = (typeof runFiles)[number];

const ownFiles: ReadonlySet<string> = new Set(runFiles);

/**
 * Milliseconds between two signs of life: commands on other machines take an untouched folder for
 * abandoned after a day.
 */
const beat = 3600 * 1000;

/** A run's folder in the making. */
export class OutputFolder {
  /** Where the run writes while it runs. */
  readonly working: string;
  /** Its path, as it was given. */
  readonly target: string;
  /** Where its folder is in the end: what the path names, if it is a link. */
  readonly #resolved: string;
  readonly #beat: NodeJS.Timeout;

  private constructor(working: string, target: string, resolved: string) {
    this.working = working;
    this.target = target;
    this.#resolved = resolved;
    this.#beat = setInterval(() => void utimes(working, new Date(), new Date()).catch(() => undefined), beat).unref();
  }

  /**
   * Makes the folder, and finishes what killed commands left beside it. If `target` is a link to a
   * folder, the run is there in the end, and the link stays.
   * @throws FileError if no folder can be made there, or if `target` is a folder of something else,
   * which a run must not replace.
   */
  static async create(target: string): Promise<OutputFolder> {
    await ensureFolder(dirname(resolve(target)));
    const resolved = await linked(target);
    await mendOutputs(dirname(resolved));
    const present = await namesIn(resolved);
    if (present && present.length > 0 && !present.includes("result.json")) {
      throw new FileError(
        target,
        "this folder is there already and holds no run (no result.json); choose another name, or another folder with --out",
        "notWritable",
      );
    }
    const working = beside(resolved, "partial");
    try {
      await mkdir(working);
    } catch (error) {
      throw writeError(target, error, "the folder cannot be made");
    }
    return new OutputFolder(working, target, resolved);
  }

  /** The path of a file while the run runs. */
  path(name: RunFile): string {
    return join(this.working, name);
  }

  /** An error about a file of the run, by the name that the file would have had in the target. */
  named(error: unknown): unknown {
    if (!(error instanceof FileError) || dirname(error.path) !== this.working) return error;
    return new FileError(join(this.target, basename(error.path)), error.reason, error.problem, error);
  }

  /**
   * Renames the folder to its target. A run that was there is replaced; files beside it that no run
   * writes are carried over. Returns whether one was replaced.
   * @throws FileError
   */
  async commit(): Promise<boolean> {
    return this.#moveTo(this.#resolved);
  }

  /**
   * Renames the folder of an unfinished run to its target, or, if a finished one is there, beside
   * it. Returns where it is.
   */
  async keepInterrupted(): Promise<string> {
    const target = await interruptedTarget(this.#resolved);
    await this.#moveTo(target);
    return target;
  }

  /** Removes what was written. Never throws. */
  async discard(): Promise<void> {
    clearInterval(this.#beat);
    await rm(this.working, { recursive: true, force: true }).catch(() => undefined);
  }

  async #moveTo(target: string): Promise<boolean> {
    clearInterval(this.#beat);
    try {
      return await moveFolder(this.working, resolve(target));
    } catch (error) {
      throw writeError(target, error, "the finished run cannot be renamed to its target (the next command tries again)");
    }
  }
}

/**
 * Finishes what commands that were killed left in a folder of runs. A run with its result.json,
 * which is written last, is renamed to its target; of several seeds that is there after the first, and
 * makes it an interrupted run. Anything else is removed, and the user's files are given back.
 * Returns where runs were put. Never throws.
 */
export async function mendOutputs(parent: string): Promise<string[]> {
  const targets: string[] = [];
  const left = await abandonedIn(parent);
  for (const { path, base, kind } of left) {
    if (kind !== "partial") continue;
    const target = await targetOf(path, join(parent, base)).catch(() => undefined);
    await removeAbandonedFiles(path);
    if (target === undefined) await rm(path, { recursive: true, force: true }).catch(() => undefined);
    else
      await moveFolder(path, target).then(
        () => targets.push(target),
        () => undefined,
      );
  }
  for (const { path, base, kind } of left) if (kind === "replaced") await carryOver(path, join(parent, base)).catch(() => undefined);
  return targets;
}

/** Where a run belongs that was killed. @throws Error if it has no result */
async function targetOf(working: string, target: string): Promise<string> {
  const { interrupted } = JSON.parse(await readFile(join(working, "result.json"), "utf8")) as { readonly interrupted: boolean };
  return interrupted ? interruptedTarget(target) : target;
}

/**
 * Renames a whole folder to its target. What was there is renamed before; several commands may do
 * this at once. Returns whether that was a run.
 */
async function moveFolder(finished: string, target: string): Promise<boolean> {
  let wasRun = false;
  for (;;) {
    const present = await namesIn(target);
    const old = beside(target, "replaced");
    if (present) {
      if (!(await renamed(target, old, ["ENOENT"]))) continue;
      wasRun ||= present.includes("result.json");
    }
    const isThere = await renamed(finished, target, ["ENOTEMPTY", "EEXIST"]);
    if (present) await carryOver(old, target);
    if (isThere) return wasRun;
  }
}

/**
 * Moves the user's files from a replaced folder to the one that replaced it, and removes it; with none
 * there, puts it back.
 */
async function carryOver(old: string, target: string): Promise<void> {
  if (!(await namesIn(target)) && (await renamed(old, target, ["ENOTEMPTY", "EEXIST"]))) return;
  for (const name of await readdir(old)) if (!ownFiles.has(name)) await rename(join(old, name), await freePath(target, name));
  await rm(old, { recursive: true, force: true });
}

/** The path for a file that is carried over: a newer one of the same name stays. */
async function freePath(folder: string, name: string): Promise<string> {
  const present = new Set(await readdir(folder));
  let free = name;
  for (let k = 1; present.has(free); k++) free = `${name}.${k}`;
  return join(folder, free);
}

/** Renames; false if that fails with one of these codes. */
async function renamed(from: string, to: string, codes: readonly string[]): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && codes.includes(String(error.code))) return false;
    throw error;
  }
}

/** What a link names, or the path itself. @throws FileError if that is not there */
async function linked(path: string): Promise<string> {
  if (!(await lstat(path).catch(() => undefined))?.isSymbolicLink()) return resolve(path);
  return realpath(path).catch((error: unknown) => {
    throw new FileError(path, "that is a link to what is not there; make the folder that it names, or remove the link", "missing", error);
  });
}

/** A path beside another, of a name that no other process has. */
function beside(target: string, kind: TemporaryKind): string {
  const full = resolve(target);
  return join(dirname(full), temporaryName(basename(full), kind));
}

async function interruptedTarget(target: string): Promise<string> {
  return (await namesIn(target)) ? `${target}.interrupted` : target;
}

/**
 * What a folder holds, or undefined if there is none. @throws FileError if a file stands at the
 * path.
 */
async function namesIn(path: string): Promise<readonly string[] | undefined> {
  const kind = await kindOfPath(path);
  if (!kind) return undefined;
  if (kind !== "folder") throw new FileError(path, "a file of that name is there already; a folder cannot replace it", "notWritable");
  return readdir(path).catch(() => []);
}
