// What every sampler takes.
import { type InputOf, option, seed } from "@spillway/core/options.js";

export const samplerTable = {
  /** Decides every draw; default "spillway". */
  seed: option(seed, "spillway", "Decides every draw."),
};

/** Options of every sampler. */
export interface SamplerOptions extends InputOf<typeof samplerTable> {}
