// The weights of cells, made from their descriptions (cell-options.ts).
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, type FloatArray, inPrecision, isSparse, Matrix, RandomStream, type SparseMatrix, seedKeys } from "@spillway/numerics";
import type { ReservoirConfig } from "./config.js";
import type { ReservoirModel } from "./model.js";
import { orthogonalMatrix } from "./topologies/orthogonal.js";
import { sparseFromRows } from "./topologies/random-rows.js";

/** The stream that O is drawn from; those of the other weights are 0 to 5. */
const stream = 6;

/** The leak rates and the cell of a model; O is drawn if it is not given. */
export function cellWeights(config: ReservoirConfig, own?: Matrix): Pick<ReservoirModel, "leakRate" | "cell"> {
  const { cell, size, precision, seed } = config;
  if (!cell) throw new ArgumentError("cell", cell, "a cell");
  const constant = (value: number) => allocate(precision, size).fill(value) as FloatArray;
  if (cell.type === "euler") return { leakRate: constant(cell.step), cell: { keep: constant(1) } };
  const leakRate = constant(cell.type === "es2n" ? cell.proximity : cell.gain);
  const keep = cell.type === "es2n" ? (leakRate.map((b) => 1 - b) as FloatArray) : constant(cell.keep);
  const drawn = () => inPrecision(orthogonalMatrix(size, new RandomStream(seedKeys(seed).weights, stream)), precision);
  return { leakRate, cell: { keep, orthogonal: own ?? drawn() } };
}

/** k of a model, N values: 1 - a for the leaky cell. */
export function keepOf({ cell, leakRate }: ReservoirModel): FloatArray {
  return cell?.keep ?? (leakRate.map((a) => 1 - a) as FloatArray);
}

/** factor (W - W^T) - damping I, in binary64; sparse if W is. */
export function antisymmetric(weights: Matrix | SparseMatrix, factor: number, damping: number): Matrix | SparseMatrix {
  const size = weights.rows;
  if (!isSparse(weights)) {
    const out = Matrix.zeros(size, size);
    const { data } = weights;
    for (let r = 0; r < size; r++)
      for (let c = 0; c < size; c++)
        out.data[r * size + c] = r === c ? -damping : factor * data[r * size + c]! - factor * data[c * size + r]!;
    return out;
  }
  const rows = Array.from({ length: size }, (_, r) => new Map<number, number>(damping === 0 ? [] : [[r, -damping]]));
  const add = (r: number, c: number, value: number) => rows[r]!.set(c, (rows[r]!.get(c) ?? 0) + value);
  for (let r = 0; r < size; r++) {
    for (let p = weights.rowOffsets[r]!; p < weights.rowOffsets[r + 1]!; p++) {
      const c = weights.columns[p]!;
      if (r === c) continue;
      add(r, c, factor * weights.values[p]!);
      add(c, r, -(factor * weights.values[p]!));
    }
  }
  const columns = rows.map((row) => [...row.keys()].sort((a, b) => a - b));
  return sparseFromRows(
    size,
    size,
    (r) => columns[r]!,
    (r, _, c) => rows[r]!.get(c)!,
  );
}
