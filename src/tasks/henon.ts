// The Hénon map.

import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import { checkLength, discardOption, vectorOption } from "./options.js";
import { finishedSeries, type SeriesTask, seriesTask, sprott } from "./task.js";

const table = {
  /** Default 1.4. */
  a: option(number(), 1.4, "a of the map"),
  /** Default 0.3. */
  b: option(number(), 0.3, "b of the map"),
  /** x and y of the first iterate. */
  initialState: vectorOption([0, 0], "x and y of the first iterate"),
  /** Iterates left out at the start. */
  discard: discardOption,
};

/** Parameters and start of the Hénon map. */
export interface HenonOptions extends InputOf<typeof table> {}

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

export const henonTask: SeriesTask = seriesTask("henon", "Hénon 1976: a chaotic map of the plane", table, henon, [
  { value: 0.4192, parameters: { a: 1.4, b: 0.3 }, source: sprott },
]);
