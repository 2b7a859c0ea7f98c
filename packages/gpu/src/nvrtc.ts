// CUDA C++ to PTX or machine code at run time, with results kept on disk. It needs no device.
import { checked, either, type InputOf, optional, resolve, text } from "@spillway/core/options.js";
import { CompileCache, cacheKey, defaultCacheFolder } from "./compile-cache.js";
import { type CompileOptions, type CompileRequest, chooseArchitecture, compileRequest } from "./compile-options.js";
import { CompileError } from "./errors.js";
import { includeCandidates } from "./includes.js";
import { type CompileOutcome, type CompilerLibrary, loadNvrtcLibrary } from "./nvrtc-library.js";

/** A compiled source. */
export interface Compiled {
  /** PTX text or machine code, for `Context.load`. */
  readonly image: Uint8Array;
  readonly output: "ptx" | "cubin";
  /** The PTX: the image as text, or what machine code was made from. */
  readonly ptx: string | undefined;
  /** The symbols of the name expressions. */
  readonly loweredNames: Readonly<Record<string, string>>;
  /** What the compiler said: warnings, as there was no error. */
  readonly log: string;
  readonly options: readonly string[];
  /**
   * Whether it came from the cache, was compiled and kept there, or was compiled and not kept:
   * because it could not be written ("unwritable"), or because the files that the compiler read are
   * not known for certain ("uncertain", docs/cuda.md).
   */
  readonly cache: "hit" | "stored" | "off" | "unwritable" | "uncertain";
}

export const nvrtcTable = {
  /**
   * The library's path; default SPILLWAY_NVRTC_LIBRARY, or the first that loads of the usual
   * paths.
   */
  library: optional(text(), "The library's path; left out, SPILLWAY_NVRTC_LIBRARY or the first that loads of the usual paths."),
  /**
   * The cache's folder, or false for none; default SPILLWAY_CACHE, or the platform's folder for
   * caches.
   */
  cache: optional(
    either(
      "the path of a folder, or false",
      text(),
      checked<false>("false", (value) => value === false, { const: false }),
    ),
    "The cache's folder, or false for none; left out, SPILLWAY_CACHE or the platform's folder for caches.",
  ),
};

/** How NVRTC is loaded. */
export interface NvrtcOptions extends InputOf<typeof nvrtcTable> {}

interface Prepared {
  readonly request: CompileRequest;
  /** Whether the cache is to be used. */
  readonly cached: boolean;
  readonly key: string | undefined;
}

/** A compiler with a cache. */
export class Nvrtc {
  readonly library: string;
  readonly version: readonly [major: number, minor: number];
  /** Compute capabilities that it compiles for, such as 75 for 7.5, ascending. */
  readonly architectures: readonly number[];
  readonly #compiler: CompilerLibrary;
  readonly #cache: CompileCache | undefined;

  /** A loaded compiler and the folder of its cache; `loadNvrtc` finds both. */
  constructor(compiler: CompilerLibrary, cache: string | false) {
    this.#compiler = compiler;
    this.#cache = cache === false ? undefined : new CompileCache(cache);
    this.library = compiler.library;
    this.version = compiler.version;
    this.architectures = compiler.architectures;
  }

  #prepare(source: string, options: CompileOptions): Prepared {
    const compiler = `NVRTC ${this.version.join(".")}`;
    const request = compileRequest(source, options, chooseArchitecture(options.architecture, this.architectures, compiler));
    const cached = this.#cache !== undefined && options.cache !== false;
    return { request, cached, key: cached ? this.#key(request) : undefined };
  }

  /** Undefined if a kept result could be of other files. */
  #key(request: CompileRequest): string | undefined {
    const candidates = includeCandidates(request);
    return candidates && cacheKey(request, this.#compiler.build, candidates);
  }

  #kept({ request, key }: Prepared): Compiled | undefined {
    const outcome = key === undefined ? undefined : this.#cache?.read(key);
    return outcome && this.#compiled(request, outcome, "hit");
  }

  #finish({ request, cached, key }: Prepared, outcome: CompileOutcome): Compiled {
    if (outcome.status !== "NVRTC_SUCCESS") throw new CompileError(request.name, outcome.status, request.options, outcome.log);
    if (!cached) return this.#compiled(request, outcome, "off");
    // A file may have changed while NVRTC read it.
    if (key === undefined || this.#key(request) !== key) return this.#compiled(request, outcome, "uncertain");
    return this.#compiled(request, outcome, this.#cache!.write(key, outcome) === undefined ? "stored" : "unwritable");
  }

  #compiled(request: CompileRequest, outcome: CompileOutcome, cache: Compiled["cache"]): Compiled {
    const { image, loweredNames, log } = outcome;
    const ptx = request.output === "ptx" ? new TextDecoder().decode(image) : outcome.ptx;
    return { image, output: request.output, ptx, loweredNames, log, options: request.options, cache };
  }

  /**
   * Compiles, or takes the result from the cache. @throws CompileError with the log; ArgumentError
   * for options.
   */
  compile(source: string, options: CompileOptions = {}): Compiled {
    const prepared = this.#prepare(source, options);
    return this.#kept(prepared) ?? this.#finish(prepared, this.#compiler.compile(prepared.request));
  }

  /** As `compile`, on another thread: the event loop goes on. */
  async compileAsync(source: string, options: CompileOptions = {}): Promise<Compiled> {
    const prepared = this.#prepare(source, options);
    return this.#kept(prepared) ?? this.#finish(prepared, await this.#compiler.compileAsync(prepared.request));
  }
}

/** Loads NVRTC. @throws LibraryError naming every path that was tried. */
export function loadNvrtc(options: NvrtcOptions = {}): Nvrtc {
  const { library, cache = defaultCacheFolder() } = resolve(nvrtcTable, options, "loadNvrtc");
  return new Nvrtc(loadNvrtcLibrary(library), cache);
}
