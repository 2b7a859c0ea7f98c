// The positions of the neurons of a liquid: the points of a grid, in an order drawn from the seed.
import { checkHas } from "@spillway/core/checks.js";
import { type PhiloxKey, RandomStream } from "@spillway/numerics";
import { liquidStreams } from "../streams.js";

/** Points along x, y and z. */
export type GridSides = readonly [number, number, number];

/** The smallest box near a cube that has a point for each of `size` neurons. */
export function gridSides(size: number): GridSides {
  let x = 1;
  while (x * x * x < size) x++;
  let y = x;
  while (y > 1 && x * (y - 1) * x >= size) y--;
  return [x, y, Math.ceil(size / (x * y))];
}

/**
 * The grid point of each neuron: point p is at x = p mod X, y = floor(p / X) mod Y, z = floor(p /
 * (X Y)). Which neuron gets which of the first N points is drawn by exchanges from the last point
 * down (Fisher-Yates): inhibitory neurons, which come last, are then everywhere.
 */
export function gridPoints(size: number, key: PhiloxKey): Uint32Array {
  return shuffledPoints(size, new RandomStream(key, liquidStreams.grid));
}

/** The same from a stream of draws. */
export function shuffledPoints(size: number, draws: RandomStream): Uint32Array {
  const points = Uint32Array.from({ length: size }, (_, p) => p);
  for (let p = size - 1; p > 0; p--) {
    const other = draws.integer(0, p, p + 1);
    const point = points[p]!;
    points[p] = points[other]!;
    points[other] = point;
  }
  return points;
}

/** Coordinates of a grid point. */
export function coordinates(point: number, sides: GridSides): [number, number, number] {
  const [x, y] = checkHas("sides", sides, "a list of three sides", "map");
  return [point % x, Math.floor(point / x) % y, Math.floor(point / (x * y))];
}
