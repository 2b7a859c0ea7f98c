// NVRTC as a C library: the functions that are called (nvrtc.h of CUDA 13.0), and one compilation by
// them.
import { SpillwayError } from "@spillway/core/errors.js";
import { type Signatures, signatures } from "./c-functions.js";
import type { CompileRequest } from "./compile-options.js";
import { ForeignLibrary, firstLine } from "./ffi.js";
import { loadFirst, nvrtcBuiltins, nvrtcCandidates, thisSystem } from "./library-search.js";
import { LibraryCallError, StatusLibrary } from "./status-library.js";

const calls = signatures({
  nvrtcVersion: "nvrtcVersion(out major, out minor)",
  nvrtcGetNumSupportedArchs: "nvrtcGetNumSupportedArchs(out numArchs)",
  nvrtcGetSupportedArchs: "nvrtcGetSupportedArchs(out supportedArchs)",
  nvrtcCreateProgram: "nvrtcCreateProgram(out prog, pointer src, text name, i32 numHeaders, pointer headers, pointer includeNames)",
  nvrtcDestroyProgram: "nvrtcDestroyProgram(out prog)",
  nvrtcAddNameExpression: "nvrtcAddNameExpression(handle prog, text name_expression)",
  nvrtcCompileProgram: "nvrtcCompileProgram(handle prog, i32 numOptions, pointer options)",
  nvrtcGetLoweredName: "nvrtcGetLoweredName(handle prog, text name_expression, out lowered_name)",
  nvrtcGetProgramLogSize: "nvrtcGetProgramLogSize(handle prog, out logSizeRet)",
  nvrtcGetProgramLog: "nvrtcGetProgramLog(handle prog, out log)",
  nvrtcGetPTXSize: "nvrtcGetPTXSize(handle prog, out ptxSizeRet)",
  nvrtcGetPTX: "nvrtcGetPTX(handle prog, out ptx)",
  nvrtcGetCUBINSize: "nvrtcGetCUBINSize(handle prog, out cubinSizeRet)",
  nvrtcGetCUBIN: "nvrtcGetCUBIN(handle prog, out cubin)",
});

/** nvrtcResult, nvrtc.h, from 1 on. */
const errorNames = [
  ...["OUT_OF_MEMORY", "PROGRAM_CREATION_FAILURE", "INVALID_INPUT", "INVALID_PROGRAM", "INVALID_OPTION", "COMPILATION"],
  ...["BUILTIN_OPERATION_FAILURE", "NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "NO_LOWERED_NAMES_BEFORE_COMPILATION"],
  ...["NAME_EXPRESSION_NOT_VALID", "INTERNAL_ERROR", "TIME_FILE_WRITE_FAILED"],
];

const statusName = (code: number) => (code === 0 ? "NVRTC_SUCCESS" : `NVRTC_ERROR_${errorNames[code - 1] ?? code}`);

/** What a compilation gave. */
export interface CompileOutcome {
  /** NVRTC's status by name; NVRTC_SUCCESS if it compiled. */
  readonly status: string;
  readonly log: string;
  /** PTX text or machine code; empty if it did not compile. */
  readonly image: Uint8Array;
  /** The PTX that machine code was made from. */
  readonly ptx: string | undefined;
  readonly loweredNames: Readonly<Record<string, string>>;
}

/** A compiler of CUDA C++ that is loaded: NVRTC, or a stand-in for it. */
export interface CompilerLibrary {
  /** The path it was loaded from. */
  readonly library: string;
  readonly version: readonly [major: number, minor: number];
  /** Its version with the patch level, which PTX names: two builds may compile differently. */
  readonly build: string;
  /** Compute capabilities that it compiles for, such as 75 for 7.5, ascending. */
  readonly architectures: readonly number[];
  /**
   * Compiles on this thread, which waits. A program that does not compile is an outcome with a log,
   * not an error.
   */
  compile(request: CompileRequest): CompileOutcome;
  /**
   * On another thread; on this one if koffi was set up by others before, with stacks for other
   * threads on which deeply nested source would crash.
   */
  compileAsync(request: CompileRequest): Promise<CompileOutcome>;
}

const terminated = (text: string): Buffer => Buffer.from(`${text}\0`, "utf8");

/** Strings as C's `const char *const *`, and the memory that must live while it is used. */
interface StringTable {
  readonly pointers: BigUint64Array;
  readonly memory: readonly Buffer[];
}

interface Program {
  readonly handle: bigint;
  readonly options: StringTable;
  /** Refused before compilation: an invalid name expression, say. */
  readonly refused: number;
}

class NvrtcLibrary extends StatusLibrary<typeof calls> implements CompilerLibrary {
  readonly version: readonly [number, number];
  readonly architectures: readonly number[];
  #build: string | undefined;

  constructor(path: string) {
    super(path, calls, (code, call) => new LibraryCallError(code, statusName(code), call, path));
    const major = new Int32Array(1);
    const minor = new Int32Array(1);
    this.call("nvrtcVersion", major, minor);
    this.version = [major[0]!, minor[0]!];
    const count = new Int32Array(1);
    this.call("nvrtcGetNumSupportedArchs", count);
    const list = new Int32Array(count[0]!);
    this.call("nvrtcGetSupportedArchs", list);
    this.architectures = [...list].sort((a, b) => a - b);
  }

  get library(): string {
    return this.path;
  }

  get build(): string {
    if (this.#build === undefined) {
      const options = [`--gpu-architecture=compute_${this.architectures[0]}`];
      const nothing = { source: "", name: "build", options, headers: {}, nameExpressions: [], output: "ptx" } as const;
      const lines = new TextDecoder().decode(this.compile(nothing).image).match(/(?<=^\/\/ ).*(?:Build ID|release).*/gm) ?? [];
      this.#build = [this.library, ...this.version, ...lines].join(" ");
    }
    return this.#build;
  }

  #table(texts: readonly string[]): StringTable {
    const memory = texts.map(terminated);
    // An empty table still needs an address; NVRTC reads none of it.
    const pointers = new BigUint64Array(Math.max(1, texts.length));
    for (const [index, text] of memory.entries()) pointers[index] = this.addressOf(text);
    return { pointers, memory };
  }

  #create({ source, name, options, headers, nameExpressions }: CompileRequest): Program {
    const handle = new BigUint64Array(1);
    const names = this.#table(Object.keys(headers));
    const contents = this.#table(Object.values(headers));
    this.call("nvrtcCreateProgram", handle, terminated(source), name, names.memory.length, contents.pointers, names.pointers);
    let refused = 0;
    for (const expression of nameExpressions) refused ||= this.status("nvrtcAddNameExpression", handle[0]!, expression);
    return { handle: handle[0]!, options: this.#table(options), refused };
  }

  #bytes(program: Program, what: "PTX" | "CUBIN" | "ProgramLog"): Uint8Array {
    const size = new BigUint64Array(1);
    if (this.status(`nvrtcGet${what}Size`, program.handle, size) !== 0) return new Uint8Array(0);
    const bytes = new Uint8Array(Number(size[0]));
    return bytes.length > 0 && this.status(`nvrtcGet${what}`, program.handle, bytes) === 0 ? bytes : new Uint8Array(0);
  }

  #text(program: Program, what: "PTX" | "ProgramLog"): string {
    return new TextDecoder().decode(this.#bytes(program, what).subarray(0, -1));
  }

  #finish(program: Program, request: CompileRequest, code: number): CompileOutcome {
    const log = this.#text(program, "ProgramLog").trim();
    if (code !== 0) return { status: statusName(code), log, image: new Uint8Array(0), ptx: undefined, loweredNames: {} };
    const loweredNames: Record<string, string> = {};
    for (const expression of request.nameExpressions) {
      const lowered = new BigUint64Array(1);
      this.call("nvrtcGetLoweredName", program.handle, expression, lowered);
      loweredNames[expression] = this.textAt(lowered[0]!);
    }
    const ptx = this.#text(program, "PTX");
    const image = request.output === "ptx" ? new TextEncoder().encode(ptx) : this.#bytes(program, "CUBIN");
    return { status: statusName(0), log, image, ptx: request.output === "cubin" && ptx !== "" ? ptx : undefined, loweredNames };
  }

  #destroy(program: Program): void {
    this.status("nvrtcDestroyProgram", BigUint64Array.of(program.handle));
  }

  compile(request: CompileRequest): CompileOutcome {
    const program = this.#create(request);
    try {
      const { memory, pointers } = program.options;
      const code = program.refused || this.status("nvrtcCompileProgram", program.handle, memory.length, pointers);
      return this.#finish(program, request, code);
    } finally {
      this.#destroy(program);
    }
  }

  async compileAsync(request: CompileRequest): Promise<CompileOutcome> {
    if (!this.deepAsyncStacks) return this.compile(request);
    const program = this.#create(request);
    try {
      const { memory, pointers } = program.options;
      const code = program.refused || (await this.callAsync("nvrtcCompileProgram", program.handle, memory.length, pointers));
      return this.#finish(program, request, code);
    } finally {
      this.#destroy(program);
    }
  }
}

/** Builtins that were loaded: they must stay. */
const builtins = new Map<string, ForeignLibrary<Signatures>>();

/**
 * Loads NVRTC: `library` if given, else the one that SPILLWAY_NVRTC_LIBRARY names, else the
 * first that loads of the usual paths.
 *
 * @throws LibraryError naming every path that was tried.
 */
export function loadNvrtcLibrary(library?: string): CompilerLibrary {
  const system = thisSystem();
  const advice =
    'NVRTC comes with the CUDA toolkit. Name its library by the option `library` or the variable SPILLWAY_NVRTC_LIBRARY; the package\'s own kernels need none with kernelSource: "ptx", the default.';
  return loadFirst(
    "NVRTC (libnvrtc)",
    nvrtcCandidates(system, library),
    (path) => {
      const beside = nvrtcBuiltins(system, path);
      if (beside !== undefined && !builtins.has(beside)) {
        try {
          builtins.set(beside, new ForeignLibrary(beside, {}));
        } catch (error) {
          throw new SpillwayError("unavailable", `its builtins ${beside} did not load: ${firstLine(error)}`);
        }
      }
      return new NvrtcLibrary(path);
    },
    advice,
  );
}
