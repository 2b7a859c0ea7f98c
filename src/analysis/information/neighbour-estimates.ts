// The sums behind the estimators by nearest neighbours: counts in the spaces of some columns, and
// means of the digamma function over them. What the columns are is not known here.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Engine, NeighbourCounts, NeighbourSpace, WorkOptions } from "../../reservoir/engine.js";
import type { Columns } from "./columns.js";
import { countsOfColumn, KdTree } from "./kd-tree.js";
import { type EqualRows, Ties, toldApart } from "./ties.js";

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
  const times = new Uint32Array(psi.length);
  for (const count of counts) times[count] = times[count]! + 1;
  let sum = 0;
  for (let c = 0; c < times.length; c++) if (times[c]! > 0) sum += times[c]! * psi[c + shift]!;
  return sum;
}

/**
 * I(X; Y | Z) = psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)> for one x after the other:
 * counts of rows strictly nearer than the k-th neighbour in (x, y, z). Without Z, n_z + 1 is n:
 * algorithm 1 of Kraskov et al. With `each`, algorithm 2: I(X; Y) = psi(k) - 1 / k + psi(n) -
 * <psi(n_x) + psi(n_y)>. The term of a row that equals k others has the numbers of its equals in
 * place of k and of the counts. Counts are of columns whose equal values are told apart by noise.
 */
export class NeighbourEstimator {
  /** Its columns hold no value twice. */
  readonly #space: NeighbourSpace;
  readonly #psi: Float64Array;
  readonly #ties: Ties;
  readonly #apart: (x: Columns) => Columns;

  /** @throws ArgumentError if there are too few rows for k and the window */
  constructor(space: NeighbourSpace) {
    const apart = (columns: Columns, stream: number) => columns.map((column, c) => toldApart(column, 3 * c + stream));
    this.#space = { ...space, y: apart(space.y, 1), z: apart(space.z, 2) };
    this.#apart = (x) => apart(x, 0);
    this.#psi = digammas(checkedRows(space));
    this.#ties = new Ties(space);
  }

  /** Estimates by k-d trees. */
  here(): (x: Columns) => NeighbourEstimate {
    const counts = countsOnHost(this.#space);
    return (x) => this.#estimate(counts(this.#apart(x)), this.#ties.of(x));
  }

  /** Estimates on an engine if it has a way, else by k-d trees. With the same bits. */
  async *on(engine: Engine | undefined, xs: Iterable<Columns>, work: Pick<WorkOptions, "signal">): AsyncGenerator<NeighbourEstimate> {
    if (!engine?.device) {
      const estimate = this.here();
      for (const x of xs) yield estimate(x);
      return;
    }
    const waiting: (EqualRows | undefined)[] = [];
    const ties = this.#ties;
    const apart = this.#apart;
    function* taken(): Generator<Columns> {
      for (const x of xs) {
        waiting.push(ties.of(x));
        yield apart(x);
      }
    }
    for await (const counts of engine.device.neighbourCounts(this.#space, taken(), work)) yield this.#estimate(counts, waiting.shift());
  }

  #estimate({ inZ, inXZ, inYZ }: NeighbourCounts, equals: EqualRows | undefined): NeighbourEstimate {
    const { k, each } = this.#space;
    const psi = this.#psi;
    const n = inZ.length;
    // Counts of algorithm 2 go up to and with a distance.
    const shift = each ? 0 : 1;
    const ofK = each ? psi[k]! - 1 / k : psi[k]!;
    let front = ofK;
    if (equals) {
      const { rows } = equals;
      const own = (counts: Uint32Array, among: Uint32Array) => {
        const out = counts.slice();
        for (const row of rows) out[row] = among[row]! + 1 - shift;
        return out;
      };
      [inZ, inXZ, inYZ] = [each ? inZ : own(inZ, equals.inZ), own(inXZ, equals.inXZ), own(inYZ, equals.inYZ)];
      front =
        ((n - rows.length) * ofK +
          digammaSum(
            Uint32Array.from(rows, (row) => equals.inAll[row]!),
            psi,
            1,
          )) /
        n;
    }
    const term = (row: number) => (equals && equals.inAll[row]! >= k ? psi[equals.inAll[row]! + 1]! : ofK);
    if (each) {
      const sums = digammaSum(inXZ, psi, 0) + digammaSum(inYZ, psi, 0);
      const local = () => Float64Array.from(inXZ, (count, i) => term(i) + psi[n]! - psi[count]! - psi[inYZ[i]!]!);
      return { nats: front + psi[n]! - sums / n, local };
    }
    const sums = digammaSum(inZ, psi, 1) - digammaSum(inXZ, psi, 1) - digammaSum(inYZ, psi, 1);
    const local = () => Float64Array.from(inZ, (count, i) => term(i) + psi[count + 1]! - psi[inXZ[i]! + 1]! - psi[inYZ[i]! + 1]!);
    return { nats: front + sums / n, local };
  }
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
