// The folder a run writes into: made beside its place under another name, and put there when the run is over.
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { writeError } from "../../io/files.js";
import { ensureFolder, FileError } from "../../io/index.js";

/** The files a run writes. Others in its folder are the user's, and are kept when a run is replaced. */
const ownFiles = new Set(["result.json", "model.safetensors", "states.npy", "lengths.npy", "report.html"]);

/** A run's folder in the making. */
export class OutputFolder {
  /** Where the run writes while it runs. */
  readonly working: string;
  /** Where its folder stands in the end. */
  readonly target: string;

  private constructor(working: string, target: string) {
    this.working = working;
    this.target = target;
  }

  /**
   * Makes `target`.partial-PID.
   * @throws FileError where no folder can be made there, or where `target` is a folder of something else, which a run must not replace.
   */
  static async create(target: string): Promise<OutputFolder> {
    await ensureFolder(dirname(resolve(target)));
    const standing = await namesIn(target);
    if (standing && standing.length > 0 && !standing.includes("result.json")) {
      throw new FileError(
        target,
        "this folder is there already and holds no run (no result.json); choose another name, or another folder with --out",
        "notWritable",
      );
    }
    const working = `${resolve(target)}.partial-${process.pid}`;
    await rm(working, { recursive: true, force: true });
    try {
      await mkdir(working);
    } catch (error) {
      throw writeError(working, error, "the folder cannot be made");
    }
    return new OutputFolder(working, target);
  }

  /** The path of a file while the run runs. */
  path(name: string): string {
    return join(this.working, name);
  }

  /**
   * Puts the folder in its place. A run that stood there is replaced; files beside it that no run writes are carried over. Returns whether one was replaced.
   * @throws FileError
   */
  async commit(): Promise<boolean> {
    return this.#moveTo(this.target);
  }

  /** Puts the folder of an unfinished run in its place, or, where a finished one stands there, beside it. Returns where it is. */
  async keepInterrupted(): Promise<string> {
    const place = (await namesIn(this.target)) ? `${this.target}.interrupted` : this.target;
    await this.#moveTo(place);
    return place;
  }

  /** Removes what was written. Never throws. */
  async discard(): Promise<void> {
    await rm(this.working, { recursive: true, force: true }).catch(() => undefined);
  }

  async #moveTo(place: string): Promise<boolean> {
    try {
      const standing = await namesIn(place);
      if (!standing) {
        await rename(this.working, place);
        return false;
      }
      const old = `${resolve(place)}.replaced-${process.pid}`;
      await rename(place, old);
      await rename(this.working, place);
      for (const name of standing) if (!ownFiles.has(name)) await rename(join(old, name), join(place, name));
      await rm(old, { recursive: true, force: true });
      return standing.includes("result.json");
    } catch (error) {
      throw writeError(place, error, `the finished run cannot be put in its place (it is in ${basename(this.working)})`);
    }
  }
}

/** What a folder holds, or undefined where there is none. @throws FileError where a file stands at the path. */
async function namesIn(path: string): Promise<readonly string[] | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isDirectory())
    throw new FileError(path, "a file of that name is there already; a folder cannot take its place", "notWritable");
  return readdir(path);
}
