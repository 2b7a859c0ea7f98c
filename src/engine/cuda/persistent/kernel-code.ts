// Where the code of a persistent kernel comes from: shipped as PTX, or compiled here by NVRTC from
// the same source for one model. Its arguments depend on its shape.

import { getOrMake } from "@spillway/core/maps.js";
import { CompileError, type Context, LibraryError, type Module, ModuleLoadError, shippedSource } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import type { EngineOptions } from "../../../reservoir/engine.js";
import { type AnyKernel, type RealParameter, realKernel, typedParameters } from "../kernels.js";

/** Where a kernel's code comes from. */
export type KernelSource = Exclude<EngineOptions["kernelSource"], "auto" | undefined>;

/** A kernel's parameters by name, in the order of the launch's arguments. */
export type NamedParameters = Readonly<Record<string, RealParameter>>;

/** The code of one kernel, and of the same with the loop closed. */
export interface KernelCode {
  readonly source: KernelSource;
  /** The kernel's name, and beside it that of its closed form if there is one. */
  readonly entry: string;
  readonly closedEntry: string | undefined;
  load(context: Context, parameters: NamedParameters): Promise<AnyKernel>;
  /** Of code that has a closed form. It is made when a loop is first closed. */
  loadClosed(context: Context, parameters: NamedParameters): AnyKernel;
}

/** Code that comes with the package. */
export function shippedCode(file: string, entry: string, precision: Precision, closed: boolean): KernelCode {
  const load = (context: Context, name: string, parameters: NamedParameters) =>
    realKernel(context, file, name, precision, Object.values(parameters));
  return {
    ...{ source: "shipped", entry, closedEntry: closed ? `${entry}_closed` : undefined },
    load: async (context, parameters) => load(context, entry, parameters),
    loadClosed: (context, parameters) => load(context, `${entry}_closed`, parameters),
  };
}

/** A shipped source and what it is compiled with. */
export interface CompiledForm {
  /** "reservoir_grid" of reservoir_grid.cu. */
  readonly file: string;
  /** What the names of its macros begin with: "GRID". */
  readonly prefix: string;
  readonly entry: string;
  readonly precision: Precision;
  readonly fast: boolean;
  /** Whether its blocks are on several devices (kernels/across.cuh). */
  readonly sharded?: boolean;
  /** Macros of the shape, without the prefix. */
  readonly shape: Readonly<Record<string, number | boolean | string>>;
  /** What is known of the arguments, as conditions of C++. */
  readonly given: readonly string[];
}

const made = new WeakMap<Context, Map<string, Module>>();

const modulesOf = (context: Context) => getOrMake(made, context, () => new Map<string, Module>());

/** Code that NVRTC makes. Modules live as long as their context. */
export function compiledCode(form: CompiledForm): KernelCode {
  const { file, prefix, entry, precision, fast, sharded, shape, given } = form;
  const request = (name: string, value: string) => {
    const { source, headers, options } = shippedSource(file);
    const sizes = Object.fromEntries(Object.entries(shape).map(([macro, size]) => [`${prefix}_${macro}`, size]));
    const defines = {
      ...{ [`${prefix}_${name}`]: value, [`${prefix}_REAL`]: precision === "float32" ? "float" : "double", ...sizes },
      ...(given.length > 0 ? { GIVEN: given.join("&&") } : {}),
      ...(fast ? { FAST_ARITHMETIC: true } : {}),
      ...(sharded ? { SHARDED: true } : {}),
    };
    return { source, options: { name: `${file}.cu`, headers, options, defines } };
  };
  const keyed = (value: string) => `${value} ${JSON.stringify(form)}`;
  const kernel = (module: Module, value: string, parameters: NamedParameters) =>
    module.kernel(value, typedParameters(precision, Object.values(parameters)));
  const closedEntry = `${entry}_closed`;
  return {
    ...{ source: "nvrtc", entry, closedEntry },
    async load(context, parameters) {
      const modules = modulesOf(context);
      const { source, options } = request("NAME", entry);
      const module = modules.get(keyed(entry)) ?? (await context.compileAsync(source, options));
      modules.set(keyed(entry), module);
      return kernel(module, entry, parameters);
    },
    loadClosed(context, parameters) {
      const modules = modulesOf(context);
      const { source, options } = request("CLOSED_NAME", closedEntry);
      const module = modules.get(keyed(closedEntry)) ?? context.compile(source, options);
      modules.set(keyed(closedEntry), module);
      return kernel(module, closedEntry, parameters);
    },
  };
}

const missing = new WeakMap<Context, string>();

/** Why there is no NVRTC; undefined if there is one. It is looked for once. */
export function whyNoCompiler(context: Context): string | undefined {
  let reason = missing.get(context);
  if (reason === undefined) {
    reason = "";
    try {
      context.compiler;
    } catch (error) {
      if (!(error instanceof LibraryError)) throw error;
      reason = `no NVRTC loads from any of ${error.tried.length} paths`;
    }
    missing.set(context, reason);
  }
  return reason || undefined;
}

const warned = new WeakSet<Context>();

/**
 * Whether an error comes from making a kernel, and another source may serve. Warns once a context.
 */
export function noteFailure(context: Context, { source, entry }: KernelCode, error: unknown): boolean {
  if (source === "shipped" || !(error instanceof CompileError || error instanceof ModuleLoadError || error instanceof LibraryError))
    return false;
  if (!warned.has(context)) {
    warned.add(context);
    process.emitWarning(`${entry} is taken from elsewhere than ${source}: ${error.message}`, "SpillwayKernelWarning");
  }
  return true;
}
