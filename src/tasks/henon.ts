// The Hénon map.

import { number, option, resolve, type TableOf } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { checkLength, discardOption, vectorOption } from "./options.js";
import { finishedSeries, type SeriesTask } from "./task.js";

/** Parameters and start of the Hénon map. */
export interface HenonOptions {
  /** Default 1.4. */
  readonly a?: number | undefined;
  /** Default 0.3. */
  readonly b?: number | undefined;
  /** x and y of the first iterate. */
  readonly initialState?: readonly number[] | undefined;
  /** Iterates left out at the start. */
  readonly discard?: number | undefined;
}

const table = {
  a: option(number(), 1.4, "a of the map"),
  b: option(number(), 0.3, "b of the map"),
  initialState: vectorOption([0, 0], "x and y of the first iterate"),
  discard: discardOption,
} satisfies TableOf<HenonOptions>;

/**
 * The Hénon map (M. Hénon 1976, "A two-dimensional mapping with a strange attractor", Comm. Math.
 * Phys. 50):
 *
 *     x' = 1 - a x^2 + y,  y' = b x.
 *
 * Defaults: a 1.4, b 0.3, initialState [0, 0], discard 0.
 * @returns length x 2.
 * @throws ArgumentError on options it does not take, and when the map diverges.
 */
export function henon(length: number, options: HenonOptions = {}): Matrix<Float64Array> {
  const { a, b, initialState, discard } = resolve(table, options, "henon");
  checkLength("henon", length);
  const out = new Float64Array(2 * length);
  let [x, y] = initialState as readonly [number, number];
  for (let row = -discard; row < length; row++) {
    if (row >= 0) out.set([x, y], 2 * row);
    const next = 1 - a * (x * x) + y;
    y = b * x;
    x = next;
  }
  return finishedSeries("henon", 2, out);
}

export const henonTask: SeriesTask = {
  kind: "series",
  name: "henon",
  description: "Hénon 1976: a chaotic map of the plane",
  options: table,
  generate: henon,
  lyapunovExponents: [
    { value: 0.4192, parameters: { a: 1.4, b: 0.3 }, source: "J. C. Sprott 2003, Chaos and Time-Series Analysis, appendix A" },
  ],
};
