// NVRTC as a C library: the functions that are called, each under its prototype (nvrtc.h of CUDA
// 13.0), and one compilation by them.
import { SpillwayError } from "@spillway/core/errors.js";
import type { CompileRequest } from "./compile-options.js";
import { type CallSignature, signature } from "./driver-calls.js";
import { ForeignLibrary, firstLine } from "./ffi.js";
import { loadFirst, nvrtcBuiltins, nvrtcCandidates, thisSystem } from "./library-search.js";
import { LibraryCallError, StatusLibrary } from "./status-library.js";

const calls = {
  // nvrtcResult nvrtcVersion(int *major, int *minor)
  nvrtcVersion: signature("nvrtcVersion", "out", "out"),
  // nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs)
  nvrtcGetNumSupportedArchs: signature("nvrtcGetNumSupportedArchs", "out"),
  // nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs)
  nvrtcGetSupportedArchs: signature("nvrtcGetSupportedArchs", "out"),
  // nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name, int
  // numHeaders, const char *const *headers,
  //                                const char *const *includeNames)
  nvrtcCreateProgram: signature("nvrtcCreateProgram", "out", "pointer", "text", "i32", "pointer", "pointer"),
  // nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
  nvrtcDestroyProgram: signature("nvrtcDestroyProgram", "out"),
  // nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression)
  nvrtcAddNameExpression: signature("nvrtcAddNameExpression", "handle", "text"),
  // nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)
  nvrtcCompileProgram: signature("nvrtcCompileProgram", "handle", "i32", "pointer"),
  // nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression, const
  // char **lowered_name)
  nvrtcGetLoweredName: signature("nvrtcGetLoweredName", "handle", "text", "out"),
  // nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)
  nvrtcGetProgramLogSize: signature("nvrtcGetProgramLogSize", "handle", "out"),
  // nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)
  nvrtcGetProgramLog: signature("nvrtcGetProgramLog", "handle", "out"),
  // nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)
  nvrtcGetPTXSize: signature("nvrtcGetPTXSize", "handle", "out"),
  // nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
  nvrtcGetPTX: signature("nvrtcGetPTX", "handle", "out"),
  // nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)
  nvrtcGetCUBINSize: signature("nvrtcGetCUBINSize", "handle", "out"),
  // nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
  nvrtcGetCUBIN: signature("nvrtcGetCUBIN", "handle", "out"),
} satisfies Record<string, CallSignature>;

type NvrtcCall = keyof typeof calls;

/** nvrtcResult, nvrtc.h. */
const statusNames = [
  "NVRTC_SUCCESS",
  "NVRTC_ERROR_OUT_OF_MEMORY",
  "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
  "NVRTC_ERROR_INVALID_INPUT",
  "NVRTC_ERROR_INVALID_PROGRAM",
  "NVRTC_ERROR_INVALID_OPTION",
  "NVRTC_ERROR_COMPILATION",
  "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
  "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
  "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
  "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
  "NVRTC_ERROR_INTERNAL_ERROR",
  "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
];

const statusName = (code: number) => statusNames[code] ?? `NVRTC_ERROR_${code}`;

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

class NvrtcLibrary implements CompilerLibrary {
  readonly library: string;
  readonly version: readonly [number, number];
  readonly architectures: readonly number[];
  readonly #calls: StatusLibrary<typeof calls>;
  #build: string | undefined;

  constructor(path: string) {
    this.library = path;
    this.#calls = new StatusLibrary(path, calls, (code, call) => new LibraryCallError(code, statusName(code), call, path));
    const major = new Int32Array(1);
    const minor = new Int32Array(1);
    this.#calls.call("nvrtcVersion", major, minor);
    this.version = [major[0]!, minor[0]!];
    const count = new Int32Array(1);
    this.#calls.call("nvrtcGetNumSupportedArchs", count);
    const list = new Int32Array(count[0]!);
    this.#calls.call("nvrtcGetSupportedArchs", list);
    this.architectures = [...list].sort((a, b) => a - b);
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
    for (const [index, text] of memory.entries()) pointers[index] = this.#calls.foreign.addressOf(text);
    return { pointers, memory };
  }

  #create({ source, name, options, headers, nameExpressions }: CompileRequest): Program {
    const handle = new BigUint64Array(1);
    const names = this.#table(Object.keys(headers));
    const contents = this.#table(Object.values(headers));
    this.#calls.call("nvrtcCreateProgram", handle, terminated(source), name, names.memory.length, contents.pointers, names.pointers);
    let refused = 0;
    for (const expression of nameExpressions) refused ||= this.#calls.status("nvrtcAddNameExpression", handle[0]!, expression);
    return { handle: handle[0]!, options: this.#table(options), refused };
  }

  #bytes(program: Program, sizeCall: "nvrtcGetPTXSize" | "nvrtcGetCUBINSize" | "nvrtcGetProgramLogSize", call: NvrtcCall): Uint8Array {
    const size = new BigUint64Array(1);
    if (this.#calls.status(sizeCall, program.handle, size) !== 0 || size[0] === 0n) return new Uint8Array(0);
    const bytes = new Uint8Array(Number(size[0]));
    return this.#calls.status(call as "nvrtcGetPTX", program.handle, bytes) === 0 ? bytes : new Uint8Array(0);
  }

  #text(bytes: Uint8Array): string {
    return new TextDecoder().decode(bytes.subarray(0, Math.max(0, bytes.length - 1)));
  }

  #finish(program: Program, request: CompileRequest, code: number): CompileOutcome {
    const log = this.#text(this.#bytes(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")).trim();
    if (code !== 0) return { status: statusName(code), log, image: new Uint8Array(0), ptx: undefined, loweredNames: {} };
    const loweredNames: Record<string, string> = {};
    for (const expression of request.nameExpressions) {
      const lowered = new BigUint64Array(1);
      this.#calls.call("nvrtcGetLoweredName", program.handle, expression, lowered);
      loweredNames[expression] = this.#calls.foreign.textAt(lowered[0]!);
    }
    const ptx = this.#text(this.#bytes(program, "nvrtcGetPTXSize", "nvrtcGetPTX"));
    const image = request.output === "ptx" ? new TextEncoder().encode(ptx) : this.#bytes(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN");
    return { status: statusName(0), log, image, ptx: request.output === "cubin" && ptx !== "" ? ptx : undefined, loweredNames };
  }

  #destroy(program: Program): void {
    this.#calls.status("nvrtcDestroyProgram", BigUint64Array.of(program.handle));
  }

  compile(request: CompileRequest): CompileOutcome {
    const program = this.#create(request);
    try {
      const { memory, pointers } = program.options;
      const code = program.refused || this.#calls.status("nvrtcCompileProgram", program.handle, memory.length, pointers);
      return this.#finish(program, request, code);
    } finally {
      this.#destroy(program);
    }
  }

  async compileAsync(request: CompileRequest): Promise<CompileOutcome> {
    if (!this.#calls.foreign.deepAsyncStacks) return this.compile(request);
    const program = this.#create(request);
    try {
      const { memory, pointers } = program.options;
      const code = program.refused || (await this.#calls.statusAsync("nvrtcCompileProgram", program.handle, memory.length, pointers));
      return this.#finish(program, request, code);
    } finally {
      this.#destroy(program);
    }
  }
}

/** Builtins that were loaded: they must stay. */
const builtins = new Map<string, ForeignLibrary>();

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
          builtins.set(beside, new ForeignLibrary(beside));
        } catch (error) {
          throw new SpillwayError("unavailable", `its builtins ${beside} did not load: ${firstLine(error)}`);
        }
      }
      return new NvrtcLibrary(path);
    },
    advice,
  );
}
