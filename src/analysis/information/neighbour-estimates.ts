// The sums behind the estimators by nearest neighbours: counts in the spaces of some columns, and
// means of the digamma function over them. What the columns are is not known here.
import { ArgumentError } from "../../core/errors.js";
import type { Engine, NeighbourCounts, NeighbourSpace, WorkOptions } from "../../reservoir/engine.js";
import type { Columns } from "./columns.js";
import { countsOfColumn, KdTree } from "./kd-tree.js";

/** I(X; Y | Z) in nats, and the n terms whose mean it is, made when they are asked for. */
export interface NeighbourEstimate {
  readonly nats: number;
  local(): Float64Array;
}

/** Counts rows nearer than the radius of each; made once for columns that stay. */
type Counter = (radii: Float64Array) => Uint32Array;

function counterOf(columns: Columns, n: number, window: number): Counter {
  const [only] = columns;
  // All others are near if nothing is known of them.
  if (!only) return () => new Uint32Array(n).fill(n - 1);
  if (columns.length === 1) {
    const sorted = only.slice().sort();
    return (radii) => countsOfColumn(only, sorted, radii, window);
  }
  const tree = new KdTree(columns);
  return (radii) => tree.counts(radii, window);
}

/**
 * psi(1), psi(2), ..., psi(n): psi(c + 1) = psi(c) + 1 / c from psi(1) = -gamma, rounded one after
 * the other. Element c is psi(c); element 0 is not used.
 */
function digammas(n: number): Float64Array {
  const out = new Float64Array(n + 1);
  out[1] = -0.5772156649015329;
  for (let c = 1; c < n; c++) out[c + 1] = out[c]! + 1 / c;
  return out;
}

/** The sum of psi(count + shift): how often each count comes, times its psi, in rising order. */
function digammaSum(counts: Uint32Array, psi: Float64Array, shift: number): number {
  const times = new Uint32Array(counts.length + 1);
  for (const count of counts) times[count] = times[count]! + 1;
  let sum = 0;
  for (let c = 0; c < times.length; c++) if (times[c]! > 0) sum += times[c]! * psi[c + shift]!;
  return sum;
}

/** What makes an estimate of the counts for one x. */
type Estimator = (counts: NeighbourCounts) => NeighbourEstimate;

/**
 * I(X; Y | Z) = psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)>: counts of rows strictly
 * nearer than the k-th neighbour in (x, y, z). Without Z, n_z + 1 is n: algorithm 1 of Kraskov et
 * al. With `each`, algorithm 2: I(X; Y) = psi(k) - 1 / k + psi(n) - <psi(n_x) + psi(n_y)>.
 * @throws ArgumentError if there are too few rows for k and the window
 */
export function estimator(space: NeighbourSpace): Estimator {
  const { k, each } = space;
  const n = checkedRows(space);
  const psi = digammas(n);
  if (each) {
    const front = psi[k]! - 1 / k + psi[n]!;
    return ({ inXZ, inYZ }) => {
      const sums = digammaSum(inXZ, psi, 0) + digammaSum(inYZ, psi, 0);
      return { nats: front - sums / n, local: () => Float64Array.from(inXZ, (count, i) => front - psi[count]! - psi[inYZ[i]!]!) };
    };
  }
  return ({ inZ, inXZ, inYZ }) => {
    const sums = digammaSum(inZ, psi, 1) - digammaSum(inXZ, psi, 1) - digammaSum(inYZ, psi, 1);
    const local = () => Float64Array.from(inZ, (count, i) => psi[k]! + psi[count + 1]! - psi[inXZ[i]! + 1]! - psi[inYZ[i]! + 1]!);
    return { nats: psi[k]! + sums / n, local };
  };
}

/** The counts of a space for one x after the other, by k-d trees. */
export function countsOnHost({ y, z, k, window, each }: NeighbourSpace): (x: Columns) => NeighbourCounts {
  const n = y[0]!.length;
  const countZ = counterOf(z, n, window);
  const countYZ = counterOf([...y, ...z], n, window);
  return (x) => {
    const countXZ = counterOf([...x, ...z], n, window);
    const tree = new KdTree([...y, ...x, ...z]);
    if (each) {
      const nearest = new Uint32Array(n * k);
      tree.scales(k, window, nearest);
      const [radiiX, radiiY] = [justAbove(reach(x, nearest, k)), justAbove(reach(y, nearest, k))];
      return { inZ: countZ(radiiX), inXZ: countXZ(radiiX), inYZ: countYZ(radiiY) };
    }
    const scales = tree.scales(k, window);
    return { inZ: countZ(scales), inXZ: countXZ(scales), inYZ: countYZ(scales) };
  };
}

/**
 * The counts of one x after the other, on an engine if it has a way, else by k-d trees. With the
 * same bits.
 */
export function countsOn(
  engine: Engine | undefined,
  space: NeighbourSpace,
  xs: Iterable<Columns>,
  work: Pick<WorkOptions, "signal">,
): AsyncIterable<NeighbourCounts> | Iterable<NeighbourCounts> {
  return engine?.neighbourCounts?.(space, xs, work) ?? countsInTurn(space, xs);
}

function* countsInTurn(space: NeighbourSpace, xs: Iterable<Columns>): Generator<NeighbourCounts> {
  const counts = countsOnHost(space);
  for (const x of xs) yield counts(x);
}

function checkedRows({ y, k, window }: NeighbourSpace): number {
  const n = y[0]!.length;
  // The row in the middle has the fewest neighbours.
  const neighbours = n - Math.min(n, 2 * window + 1);
  if (neighbours < k) {
    const left =
      window === 0 ? `fewer than the ${n} points there are` : `at most the ${neighbours} neighbours that ${n} points leave a point`;
    throw new ArgumentError("neighbours", k, left);
  }
  return n;
}

/** The largest distance of each row's k neighbours in some columns alone. */
function reach(columns: Columns, nearest: Uint32Array, k: number): Float64Array {
  return Float64Array.from({ length: nearest.length / k }, (_, row) => {
    let largest = 0;
    for (const column of columns) {
      for (let i = row * k; i < (row + 1) * k; i++) largest = Math.max(largest, Math.abs(column[nearest[i]!]! - column[row]!));
    }
    return largest;
  });
}

/** The next binary64 number above each, from 0 up: what is nearer than it is at most the number. */
function justAbove(values: Float64Array): Float64Array {
  const out = values.slice();
  const bits = new BigUint64Array(out.buffer);
  for (let i = 0; i < bits.length; i++) bits[i] = bits[i]! + 1n;
  return out;
}
