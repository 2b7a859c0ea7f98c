// Shipped kernels, loaded once a context: only the entries that are asked for, since the driver
// compiles what is loaded.
import { getOrMake } from "@spillway/core/maps.js";
import type { Context } from "./context.js";
import type { Kernel } from "./kernel.js";
import type { Module } from "./module.js";
import type { Parameter } from "./parameters.js";

/**
 * "nvrtc" compiles kernels from their shipped source; left out, they are what the context takes.
 */
export type CompiledSource = "nvrtc" | undefined;

/** A kernel whose arguments are checked when it is launched, not by TypeScript. */
export type AnyKernel = Kernel<readonly Parameter[]>;

const modulesOf = new WeakMap<Context, Map<string, Module>>();
const kernelsOf = new WeakMap<Module, Map<string, AnyKernel>>();

/** The module of some entries of a shipped file. It lives as long as the context. */
export function loadEntries(context: Context, file: string, entries: readonly string[], source?: CompiledSource): Module {
  const modules = getOrMake(modulesOf, context, () => new Map<string, Module>());
  const key = `${file}: ${entries.join(", ")}${source ? ` by ${source}` : ""}`;
  const options = source ? { entries, kernelSource: source } : { entries };
  return getOrMake(modules, key, () => context.load(context.shippedPtx(file, options), { label: key }));
}

/** An entry of a shipped file, loaded alone, with its parameters. */
export function shippedKernel(
  context: Context,
  file: string,
  name: string,
  parameters: readonly Parameter[],
  source?: CompiledSource,
): AnyKernel {
  const module = loadEntries(context, file, [name], source);
  const kernels = getOrMake(kernelsOf, module, () => new Map<string, AnyKernel>());
  return getOrMake(kernels, JSON.stringify(parameters), () => module.kernel<readonly Parameter[]>(name, parameters));
}
