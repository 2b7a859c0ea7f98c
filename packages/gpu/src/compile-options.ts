// What a compilation is asked for, and the compiler's options that follow from it.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  choice,
  either,
  flag,
  type InputOf,
  list,
  number,
  option,
  optional,
  record,
  resolve,
  text,
  whole,
} from "@spillway/core/options.js";

const macro = either("a text, a finite number, true or false", text(), number(), flag);
const texts = list(text(), "a list of texts");

export const compileTable = {
  /** The source's name in messages; default "kernel.cu". */
  name: option(text(), "kernel.cu", "The source's name in messages."),
  /**
   * "sm_90" for machine code, "compute_75" for PTX; default the device's, or 75 if no device is
   * meant.
   */
  architecture: optional(text(), "Such as sm_90 for machine code, compute_75 for PTX; left out, the device's."),
  /** Default "cubin" for an architecture sm_, "ptx" for compute_. */
  output: optional(choice("ptx", "cubin"), "Left out, cubin for an architecture sm_, ptx for compute_."),
  /** The C++ standard; default "c++17". */
  std: option(text(), "c++17", "The C++ standard."),
  /** Faster and less exact arithmetic (--use_fast_math); default false. */
  fastMath: option(flag, false, "Faster and less exact arithmetic."),
  /** Whether a * b + c may be fused; default the compiler's, true. */
  fuseMultiplyAdd: optional(flag, "Whether a * b + c may be fused; left out, the compiler's choice, true."),
  /** Line numbers for profilers and checkers; default false. */
  lineInfo: option(flag, false, "Line numbers for profilers and checkers."),
  /** Registers that a thread may have at most; left out, as many as the compiler likes. */
  maxRegisters: optional(whole({ atLeast: 1 }), "Registers that a thread may have at most."),
  /** Macros by name. */
  defines: option(record(macro, "an object of macros by name"), {}, "Macros."),
  /** Headers by the name that they are included by. */
  headers: option(record(text(), "an object of texts by name"), {}, "Headers by the name that they are included by."),
  /** Folders that `#include` looks in. Files that it may find there are part of the cache's key. */
  includePaths: option(texts, [], "Folders that #include looks in."),
  /** Names such as "gemv<float>", which `Module.kernel` and `Module.global` then take. */
  nameExpressions: option(texts, [], "Names such as gemv<float>."),
  /** Further options, as NVRTC takes them. */
  options: option(texts, [], "Further options, as NVRTC takes them."),
  /** Whether the disk cache is read and written; default true. */
  cache: option(flag, true, "Whether the disk cache is read and written."),
};

/** How CUDA C++ is compiled. */
export interface CompileOptions extends InputOf<typeof compileTable> {}

/** A compilation, complete. */
export interface CompileRequest {
  readonly source: string;
  readonly name: string;
  readonly options: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly nameExpressions: readonly string[];
  readonly output: "ptx" | "cubin";
}

/**
 * The architecture to compile for, of those that the compiler has: the device's own, or else PTX
 * for the newest before it, which the driver finishes.
 *
 * @throws ArgumentError if the compiler has none that old.
 */
export function chooseArchitecture(wanted: string | undefined, available: readonly number[], compiler: string): string {
  const match = /^sm_(\d+)$/.exec(wanted ?? `compute_${Math.min(...available)}`);
  if (!match) return wanted ?? `compute_${Math.min(...available)}`;
  const number = Number(match[1]);
  if (available.includes(number)) return `sm_${number}`;
  const before = available.filter((each) => each < number);
  if (before.length === 0)
    throw ArgumentError.because(
      `${compiler} compiles for compute capability ${(Math.min(...available) / 10).toFixed(1)} and later; this device has ${(number / 10).toFixed(1)}: use an older NVRTC, or PTX made beforehand`,
      { field: "architecture", value: wanted },
    );
  return `compute_${Math.max(...before)}`;
}

const macroName = /^[A-Za-z_]\w*$/;

/** The request that options stand for. @throws ArgumentError if one makes no sense. */
export function compileRequest(source: string, options: CompileOptions, architecture: string): CompileRequest {
  const asked = resolve(compileTable, options, "compile");
  const { name, headers, nameExpressions, output = architecture.startsWith("sm_") ? "cubin" : "ptx" } = asked;
  if (output === "cubin" && !architecture.startsWith("sm_"))
    throw ArgumentError.because(`machine code needs an architecture such as "sm_90"; got ${JSON.stringify(architecture)}`, {
      field: "architecture",
      value: architecture,
    });
  const out = [`--gpu-architecture=${architecture}`, `--std=${asked.std}`];
  if (asked.fastMath) out.push("--use_fast_math");
  if (asked.fuseMultiplyAdd !== undefined) out.push(`--fmad=${asked.fuseMultiplyAdd}`);
  if (asked.lineInfo) out.push("--generate-line-info");
  if (asked.maxRegisters !== undefined) out.push(`--maxrregcount=${asked.maxRegisters}`);
  for (const [macroIs, value] of Object.entries(asked.defines)) {
    if (!macroName.test(macroIs))
      throw ArgumentError.because(`a macro's name is letters, digits and underscores; got ${JSON.stringify(macroIs)}`, {
        field: "defines",
      });
    out.push(`--define-macro=${macroIs}=${typeof value === "boolean" ? Number(value) : value}`);
  }
  for (const path of asked.includePaths) out.push(`--include-path=${path}`);
  out.push(...asked.options);
  return { source, name, options: out, headers, nameExpressions, output };
}
