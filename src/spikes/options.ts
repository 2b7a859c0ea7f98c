// Kinds of values that the options of spikes have in common.
import { type Kind, number, whole } from "../core/options.js";

/** A number of a unit above 0. */
export const positive = (unit: string): Kind<number> => number({ above: 0, unit });

/** A number of a unit, 0 included. */
export const notNegative = (unit: string): Kind<number> => number({ atLeast: 0, takes: `a number of ${unit}, at least 0` });

/** How many of something, at least one. */
export const count: Kind<number> = whole({ atLeast: 1 });

/** The neurons of a pattern: their numbers have 32 bits. */
export const neurons: Kind<number> = whole({ atLeast: 1, atMost: 0xffffffff });

/** A share of all. */
export const share: Kind<number> = number({ atLeast: 0, atMost: 1 });
