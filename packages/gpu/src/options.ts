// The options that what a context makes has in common, and kinds of values that only this room has.
import { checked, choice, flag, type Kind, option, optional, type TableOf, text, whole } from "@spillway/core/options.js";
import { type Dtype, dtypes } from "./dtypes.js";

/** An object whose class checks the rest. */
export const anObject = <Value extends object>(takes: string): Kind<Value> =>
  checked(takes, (value) => typeof value === "object" && value !== null);

/** What messages call something that is made on a device. */
export interface LabelOptions {
  /** Default: its kind and a number. */
  readonly label?: string;
}

export const labelTable = {
  label: optional(text(), "What messages call it."),
} satisfies TableOf<LabelOptions>;

/** How a stream is made. */
export interface StreamOptions extends LabelOptions {
  /** From `priorities.least` to `priorities.greatest`, which is the lower number; default 0. */
  readonly priority?: number;
}

export const streamTable = {
  ...labelTable,
  priority: option(whole({}), 0, "A lower number goes first."),
} satisfies TableOf<StreamOptions>;

/** How an event is made. */
export interface EventOptions extends LabelOptions {
  /** Whether it tells a time; without, it is cheaper. Default true. */
  readonly timing?: boolean;
}

export const eventTable = {
  ...labelTable,
  timing: option(flag, true, "Whether it tells a time."),
} satisfies TableOf<EventOptions>;

/** How an array is uploaded. */
export interface UploadOptions<T extends Dtype = Dtype> extends LabelOptions {
  /** Default the array's own type. */
  readonly dtype?: T;
}

export const uploadTable = {
  ...labelTable,
  dtype: optional(choice(...dtypes), "The type of the elements; left out, the array's."),
} satisfies TableOf<UploadOptions>;
