// Where CUDA's libraries are looked for on Linux, WSL and Windows, and the error that lists every
// path that was tried. A path is only a
// candidate: whether a library is there is known when it loads.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SpillwayError } from "@spillway/core/errors.js";

/** One path and why nothing came of it. */
export interface TriedPath {
  readonly path: string;
  readonly reason: string;
}

/** No library of the name could be loaded. */
export class LibraryError extends SpillwayError {
  override readonly name = "LibraryError";
  /** Every path that was tried, in order. */
  readonly tried: readonly TriedPath[];

  constructor(what: string, tried: readonly TriedPath[], advice = "") {
    const paths = new Map<string, string[]>();
    for (const { path, reason } of tried) paths.set(reason, [...(paths.get(reason) ?? []), path]);
    const list = [...paths].map(([reason, of]) => `\n  ${of.join(", ")}: ${reason}`).join("");
    super(
      "unavailable",
      `${what} could not be loaded; tried${list || " nothing: no path is known for this platform"}${advice && `\n${advice}`}`,
    );
    this.tried = tried;
  }
}

/** What the search depends on; given in tests, read from the machine otherwise. */
export interface SearchedSystem {
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly wsl: boolean;
  /** The names in a folder; empty if there is none. */
  list(folder: string): readonly string[];
}

/** Whether this is Linux under Windows, where the driver's library is in /usr/lib/wsl/lib. */
export function isWsl(): boolean {
  if (process.platform !== "linux") return false;
  try {
    return /microsoft/i.test(readFileSync("/proc/version", "utf8"));
  } catch {
    return false;
  }
}

/** This machine. */
export function thisSystem(): SearchedSystem {
  return {
    platform: process.platform,
    environment: process.env,
    wsl: isWsl(),
    list: (folder) => (existsSync(folder) ? readdirSync(folder) : []),
  };
}

/**
 * The paths at which the CUDA driver's library may be. A chosen path (the option's, or
 * SPILLWAY_CUDA_LIBRARY) is the only one.
 */
export function driverCandidates(system: SearchedSystem, chosen?: string): readonly string[] {
  const named = chosen ?? system.environment["SPILLWAY_CUDA_LIBRARY"];
  if (named) return [named];
  if (system.platform === "win32") return ["nvcuda.dll", join(system.environment["SystemRoot"] ?? "C:\\Windows", "System32", "nvcuda.dll")];
  if (system.platform !== "linux") return [];
  const wsl = "/usr/lib/wsl/lib/libcuda.so.1";
  const folders = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
  ];
  const rest = ["libcuda.so.1", "libcuda.so", ...folders.map((folder) => `${folder}/libcuda.so.1`)];
  return system.wsl ? [wsl, ...rest] : [...rest, wsl];
}

/** Newest first: libnvrtc.so.13 before libnvrtc.so.12. */
function newestFirst(names: readonly string[]): string[] {
  return [...names].sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
}

/** The folders of CUDA's toolkits that hold libraries, newest toolkit first. */
function toolkitFolders(system: SearchedSystem): readonly string[] {
  const homes = [system.environment["CUDA_PATH"], system.environment["CUDA_HOME"]].filter((home) => home !== undefined && home !== "");
  if (system.platform === "win32") {
    const folders = homes.flatMap((home) => [join(home!, "bin", "x64"), join(home!, "bin")]);
    for (const folder of (system.environment["PATH"] ?? "").split(";")) if (/cuda/i.test(folder)) folders.push(folder);
    return folders;
  }
  if (system.platform !== "linux") return [];
  const toolkits = newestFirst(system.list("/usr/local").filter((name) => /^cuda(-[\d.]+)?$/.test(name))).map(
    (name) => `/usr/local/${name}`,
  );
  const folders = [...homes, ...toolkits].flatMap((home) => [`${home}/lib64`, `${home}/targets/x86_64-linux/lib`, `${home}/lib`]);
  return [...folders, "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
}

/**
 * Gives the paths at which a library may be: the one that is chosen or that `variable` names alone,
 * else those in the toolkits' folders and, on Linux, its bare names.
 */
function candidatesOf(variable: string, windows: RegExp, linux: RegExp, bare: readonly string[]) {
  return (system: SearchedSystem, chosen?: string): readonly string[] => {
    const named = chosen ?? system.environment[variable];
    if (named) return [named];
    const pattern = system.platform === "win32" ? windows : linux;
    const inFolders = toolkitFolders(system).flatMap((folder) =>
      newestFirst(system.list(folder).filter((name) => pattern.test(name))).map((name) => join(folder, name)),
    );
    return system.platform === "linux" ? [...new Set([...inFolders, ...bare])] : inFolders;
  };
}

export const nvrtcCandidates = candidatesOf("SPILLWAY_NVRTC_LIBRARY", /^nvrtc64_(?!.*alt).*\.dll$/i, /^libnvrtc\.so(\.\d+)?$/, [
  "libnvrtc.so",
  "libnvrtc.so.13",
  "libnvrtc.so.12",
  "libnvrtc.so.11.2",
]);
export const cublasCandidates = candidatesOf("SPILLWAY_CUBLAS_LIBRARY", /^cublas64_\d+\.dll$/i, /^libcublas\.so(\.\d+)?$/, [
  "libcublas.so",
  "libcublas.so.13",
  "libcublas.so.12",
  "libcublas.so.11",
]);
export const cusolverCandidates = candidatesOf("SPILLWAY_CUSOLVER_LIBRARY", /^cusolver64_\d+\.dll$/i, /^libcusolver\.so(\.\d+)?$/, [
  "libcusolver.so",
  "libcusolver.so.12",
  "libcusolver.so.11",
]);
/** NCCL is for Linux only. */
export const ncclCandidates = candidatesOf("SPILLWAY_NCCL_LIBRARY", /^nccl.*\.dll$/i, /^libnccl\.so(\.\d+)?$/, [
  "libnccl.so.2",
  "libnccl.so",
]);

/**
 * The builtins library beside an NVRTC library. libnvrtc has no search path of its own and cannot
 * find the builtins beside it, so they are loaded first, by full path. Undefined if
 * the path is a bare name: then the system's search finds both.
 */
export function nvrtcBuiltins(system: SearchedSystem, library: string): string | undefined {
  const folder = dirname(library);
  if (folder === "." && !library.startsWith(".")) return undefined;
  const pattern = system.platform === "win32" ? /^nvrtc-builtins64_.*\.dll$/i : /^libnvrtc-builtins\.so(\.[\d.]+)?$/;
  const version = /(?:\.so\.|nvrtc64_)(\d+)/.exec(library)?.[1];
  const names = newestFirst(system.list(folder).filter((name) => pattern.test(name)));
  const matching =
    version === undefined ? undefined : names.find((name) => name.includes(`.so.${version}`) || name.includes(`64_${version.slice(0, 2)}`));
  const found = matching ?? names[0];
  return found === undefined ? undefined : join(folder, found);
}

/**
 * Loads the first candidate that loads. @throws LibraryError that lists every path and what the
 * loader said.
 */
export function loadFirst<Library>(what: string, candidates: readonly string[], load: (path: string) => Library, advice?: string): Library {
  const tried: TriedPath[] = [];
  for (const path of candidates) {
    try {
      return load(path);
    } catch (error) {
      if (error instanceof LibraryError) throw error;
      tried.push({ path, reason: (error instanceof Error ? error.message : String(error)).split("\n")[0]! });
    }
  }
  throw new LibraryError(what, tried, advice);
}
