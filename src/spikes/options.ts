// Kinds of values that the options of spikes have in common.
import { ArgumentError } from "@spillway/core/errors.js";
import { either, type Kind, nothing, number, tuple, whole } from "@spillway/core/options.js";
import { isList } from "@spillway/numerics/matrix.js";

/** Any finite number. */
export const finite: Kind<number> = number();

/** A potential. */
export const millivolts: Kind<number> = number({ unit: "mV" });

/** A number of a unit above 0. */
export const positive = (unit: string): Kind<number> => number({ above: 0, unit });

/** A number of a unit, 0 included. */
export const notNegative = (unit: string): Kind<number> => number({ atLeast: 0, takes: `a number of ${unit}, at least 0` });

/** A finite number above 0, without a unit. */
export const positiveNumber: Kind<number> = number({ above: 0, takes: "a finite number above 0" });

/** A finite number of at least 0, without a unit. */
export const notNegativeNumber: Kind<number> = number({ atLeast: 0, takes: "a finite number of at least 0" });

/** How many of something, at least one. */
export const count: Kind<number> = whole({ atLeast: 1 });

/** The neurons of a pattern: their numbers have 32 bits. */
export const neurons: Kind<number> = whole({ atLeast: 1, atMost: 0xffffffff });

/** A share of all. */
export const share: Kind<number> = number({ atLeast: 0, atMost: 1 });

const gridTakes = "three whole numbers of at least 1, points along x, y and z, or null";
const side = whole({ atLeast: 1, takes: gridTakes });

/** Points of a grid along x, y and z; null takes the smallest box near a cube. */
export const grid: Kind<readonly [number, number, number] | null> = either(
  gridTakes,
  nothing,
  tuple<readonly [number, number, number]>(gridTakes, [side, side, side]),
);

/** A list of finite numbers, or a typed array. */
export const numbers = (takes: string): Kind<ArrayLike<number>> => ({
  takes,
  schema: { type: "array", items: { type: "number" } },
  read(value, field) {
    if (!isList(value)) throw new ArgumentError(field, value, takes);
    for (let i = 0; i < value.length; i++)
      if (!Number.isFinite(value[i])) throw new ArgumentError(`${field}[${i}]`, value[i], "a finite number");
    return value as ArrayLike<number>;
  },
});
