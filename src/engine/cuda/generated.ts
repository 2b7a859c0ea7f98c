// Kernels that are generated for a model's sizes, loaded once a context. They live as long as it.
import { getOrMake } from "@spillway/core/maps.js";
import type { Context, Module, Parameter } from "@spillway/gpu";
import { type GeneratedKernel, generateKernel, type KernelType } from "@spillway/ptx/kernels/index.js";
import type { AnyKernel } from "./kernels.js";

/** A kernel that can be launched, and what its generator says of it. */
export interface LoadedKernel {
  readonly kernel: AnyKernel;
  readonly generated: GeneratedKernel;
}

const loaded = new WeakMap<Context, Map<string, LoadedKernel & { readonly module: Module }>>();

/** The kernel of a type for this device, its parameters in the words of `Module.kernel`. */
export function generatedKernel(context: Context, type: KernelType, parameters: readonly Parameter[]): LoadedKernel {
  const kernels = getOrMake(loaded, context, () => new Map<string, LoadedKernel & { readonly module: Module }>());
  return getOrMake(kernels, JSON.stringify([type, parameters]), () => {
    const generated = generateKernel(type);
    const module = context.load(generated.ptx, { label: generated.name });
    return { module, generated, kernel: module.kernel(generated.name, parameters) };
  });
}
