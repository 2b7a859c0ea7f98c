// What was read and translated, kept for all devices of the process as long as one of them has it:
// several devices and sessions load the same module again and again.
import { getOrMake } from "@spillway/core/maps.js";
import type { TranslatedKernel } from "./compile/function.js";
import { parsePtx } from "./parser.js";
import type { PtxModule } from "./types.js";

const mostTranslations = 256;

const modules = new Map<string, WeakRef<PtxModule>>();
const kernels = new WeakMap<PtxModule, Map<string, TranslatedKernel>>();
const collected = new FinalizationRegistry<string>((ptx) => {
  if (modules.get(ptx)?.deref() === undefined) modules.delete(ptx);
});

/** The module of a text, which nobody changes. Throws as `parsePtx`. */
export function moduleOf(ptx: string): PtxModule {
  const known = modules.get(ptx)?.deref();
  if (known !== undefined) return known;
  const module = parsePtx(ptx);
  modules.set(ptx, new WeakRef(module));
  collected.register(module, ptx);
  return module;
}

/** A kernel of a module as `key` says, translated if it was not before. */
export function translationOf(module: PtxModule, key: string, translate: () => TranslatedKernel): TranslatedKernel {
  const own = getOrMake(kernels, module, () => new Map<string, TranslatedKernel>());
  const kernel = getOrMake(own, key, translate);
  // Keys name where a module's variables lie, and each load puts them elsewhere.
  if (own.size > mostTranslations) own.delete(own.keys().next().value!);
  return kernel;
}
