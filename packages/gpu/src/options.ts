// The options that what a context makes has in common, and kinds of values that only this module has.
import { checked, choice, flag, type InputOf, type Kind, option, optional, type TableOf, text, whole } from "@spillway/core/options.js";
import { type Dtype, dtypes } from "./dtypes.js";

/** An object whose class checks the rest. */
export const anObject = <Value extends object>(takes: string): Kind<Value> =>
  checked(takes, (value) => typeof value === "object" && value !== null);

export const labelTable = {
  /** Default: its kind and a number. */
  label: optional(text(), "What messages call it."),
};

/** What messages call something that is made on a device. */
export interface LabelOptions extends InputOf<typeof labelTable> {}

export const streamTable = {
  ...labelTable,
  /** From `priorities.least` to `priorities.greatest`, which is the lower number; default 0. */
  priority: option(whole({}), 0, "A lower number goes first."),
};

/** How a stream is made. */
export interface StreamOptions extends LabelOptions, InputOf<typeof streamTable> {}

export const eventTable = {
  ...labelTable,
  /** Whether it tells a time; without, it is cheaper. Default true. */
  timing: option(flag, true, "Whether it tells a time."),
};

/** How an event is made. */
export interface EventOptions extends LabelOptions, InputOf<typeof eventTable> {}

/** How an array is uploaded. */
export interface UploadOptions<T extends Dtype = Dtype> extends LabelOptions {
  /** Default the array's own type. */
  readonly dtype?: T;
}

export const uploadTable = {
  ...labelTable,
  dtype: optional(choice(...dtypes), "The type of the elements; left out, the array's."),
} satisfies TableOf<UploadOptions>;
