// Compiled kernels on disk, by a key of everything that a compilation depends on. Files appear
// whole, so two processes may write the same one at once. A damaged file is a miss.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { CompileRequest } from "./compile-options.js";
import type { IncludeCandidate } from "./includes.js";
import type { CompileOutcome } from "./nvrtc-library.js";

const format = 2;

/**
 * The folder that is used unless another is named: SPILLWAY_CACHE, or the platform's own for
 * caches.
 */
export function defaultCacheFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
  home: string = homedir(),
): string {
  const named = environment["SPILLWAY_CACHE"];
  if (named) return join(named, "nvrtc");
  const base =
    platform === "win32"
      ? (environment["LOCALAPPDATA"] ?? join(home, "AppData", "Local"))
      : (environment["XDG_CACHE_HOME"] ?? join(home, ".cache"));
  return join(base, "spillway", "nvrtc");
}

/**
 * The key of a compilation: SHA-256 of all that its result depends on. `build` is the compiler's
 * version in full, `candidates` are the files that it may read.
 */
export function cacheKey(request: CompileRequest, build: string, candidates: readonly IncludeCandidate[]): string {
  const { source, name, options, headers, nameExpressions, output } = request;
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  // Line numbers and __FILE__ of files on disk name the working folder.
  const namesFolder = options.some((option) => /line-?info|^-G|device-debug/.test(option)) || candidates.some(([, text]) => text !== null);
  const everything = [format, build, source, name, options, sorted, nameExpressions, output, candidates, namesFolder && process.cwd()];
  return createHash("sha256").update(JSON.stringify(everything)).digest("hex");
}

interface Header {
  readonly format: number;
  readonly key: string;
  readonly log: string;
  readonly loweredNames: Readonly<Record<string, string>>;
  readonly imageBytes: number;
  readonly ptxBytes: number;
  /** SHA-256 of the bytes after the header. */
  readonly sha256: string;
}

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Compiled kernels in a folder. */
export class CompileCache {
  readonly folder: string;

  /** `folder` is made when the first kernel is kept; `defaultCacheFolder` names the usual one. */
  constructor(folder: string) {
    this.folder = folder;
  }

  #path(key: string): string {
    return join(this.folder, key.slice(0, 2), `${key}.kernel`);
  }

  /** What was compiled under a key, or undefined if nothing was or the file is not whole. */
  read(key: string): CompileOutcome | undefined {
    try {
      const bytes = readFileSync(this.#path(key));
      const end = bytes.indexOf(10);
      const header = JSON.parse(bytes.toString("utf8", 0, end)) as Header;
      const payload = bytes.subarray(end + 1);
      if (header.format !== format || header.key !== key || payload.length !== header.imageBytes + header.ptxBytes) return undefined;
      if (hash(payload) !== header.sha256) return undefined;
      const ptx = header.ptxBytes === 0 ? undefined : payload.toString("utf8", header.imageBytes);
      const image = new Uint8Array(payload.subarray(0, header.imageBytes));
      return { status: "NVRTC_SUCCESS", log: header.log, loweredNames: header.loweredNames, image, ptx };
    } catch {
      return undefined;
    }
  }

  /**
   * Keeps a result. What went wrong is returned, not thrown: a cache that cannot be written is no
   * reason not to compute.
   */
  write(key: string, { log, loweredNames, image, ptx }: CompileOutcome): Error | undefined {
    const text = Buffer.from(ptx ?? "", "utf8");
    const payload = Buffer.concat([image, text]);
    const header: Header = { format, key, log, loweredNames, imageBytes: image.length, ptxBytes: text.length, sha256: hash(payload) };
    const path = this.#path(key);
    const temporary = `${path}.${process.pid}.${randomUUID()}.tmp`;
    try {
      mkdirSync(join(this.folder, key.slice(0, 2)), { recursive: true });
      writeFileSync(temporary, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]), { flag: "wx" });
      renameSync(temporary, path);
      removeAbandoned(join(this.folder, key.slice(0, 2)));
      return undefined;
    } catch (error) {
      try {
        rmSync(temporary, { force: true });
      } catch {
        // What could not be written need not be removed.
      }
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

/**
 * Removes what processes that were killed while they wrote have left: a kernel is written within
 * seconds.
 */
function removeAbandoned(folder: string): void {
  const hourAgo = Date.now() - 3600 * 1000;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.endsWith(".tmp") && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? hourAgo) < hourAgo) rmSync(path, { force: true });
  }
}
