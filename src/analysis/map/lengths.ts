// How long the measures of a map are: less than by themselves, since there are many points.

/** Steps and rows of the measures of a map that an engine may take of many reservoirs at once. */
export interface MapLengths {
  readonly exponent: { readonly washout: number; readonly length: number };
  /** The most delays, the fewest training rows, and the rows held out. */
  readonly memory: { readonly mostDelays: number; readonly length: number; readonly heldOut: number };
  /** Steps of a stream. */
  readonly rank: number;
  readonly echo: { readonly length: number; readonly initialStates: number };
  /** Degrees with their longest delay, and rows. */
  readonly capacity: { readonly degrees: readonly (readonly [degree: number, longestDelay: number])[]; readonly length: number };
  readonly dynamics: { readonly washout: number; readonly length: number };
}

/** Those of `qualityMap`. */
export const mapLengths: MapLengths = {
  exponent: { washout: 200, length: 1000 },
  memory: { mostDelays: 100, length: 1500, heldOut: 1000 },
  rank: 50,
  echo: { length: 1000, initialStates: 3 },
  capacity: {
    degrees: [
      [1, 50],
      [2, 20],
      [3, 10],
    ],
    length: 5000,
  },
  dynamics: { washout: 200, length: 2000 },
};

/** The options of `memoryCapacity` for N neurons. */
export function memoryLengths({ memory: { mostDelays, length, heldOut } }: MapLengths, size: number) {
  const maxDelay = Math.min(mostDelays, 2 * size);
  return { maxDelay, length: Math.max(length, 4 * (size + 1)), heldOut, washout: maxDelay + 100 };
}
