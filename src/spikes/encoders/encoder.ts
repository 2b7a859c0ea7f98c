// What an encoder is to those who choose one by name: experiments, pipelines, programs.
import type { Part } from "@spillway/core/registry.js";
import type { Matrix } from "@spillway/numerics";
import type { SpikePattern } from "../pattern/pattern.js";

/** Turns a series or a sound into spikes, or into rows that drive a reservoir as they are. */
export interface Encoder extends Part {
  /**
   * "unit": it takes values from 0 to 1, onto which experiments and pipelines map the extremes of
   * the training cases. "any": it takes any finite numbers.
   */
  readonly range: "unit" | "any";
  /**
   * `values` are T x C; `options` are checked by the table and filled in. With an option `seed`,
   * case b of several has the seed "SEED/b". With an option `sampleRate`, that of a recording is
   * filled in.
   * @returns a pattern of spikes, or rows T x I
   */
  encode(values: Matrix, options: object): SpikePattern | Matrix;
}
