// What every sampler takes.
import { option, seed, type TableOf } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";

/** Options of every sampler. */
export interface SamplerOptions {
  /** Decides every draw; default "spillway". */
  readonly seed?: Seed | undefined;
}

/** The options of every sampler. */
export const samplerTable = {
  seed: option(seed, "spillway", "Decides every draw."),
} satisfies TableOf<SamplerOptions>;
