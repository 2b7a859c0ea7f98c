// Random sparse rows by geometric skipping: the cost grows with the nonzeros, and each row has its
// own draws.
import { type FloatArray, portableLog, type RandomStream, type SparseMatrix } from "@spillway/numerics";

/** Where random weights come from: U(-1, 1), N(0, 1), or -1 and 1 with equal chance. */
export type WeightDistribution = "uniform" | "normal" | "bernoulli";

/** One random value: uniform 2U - 1, standard normal, or -1 and 1 with equal chance. */
export function drawValue(stream: RandomStream, distribution: WeightDistribution, row: number, index: number): number {
  if (distribution === "normal") return stream.normal(row, index);
  const u = stream.uniform(row, index);
  return distribution === "uniform" ? 2 * u - 1 : u < 0.5 ? -1 : 1;
}

/**
 * The positions below `candidates` that row `row` takes, each with chance `density`, in rising
 * order (docs/numerics.md, rule 7).
 */
export function drawPositions(positions: RandomStream, row: number, density: number, candidates: number): number[] {
  if (density >= 1) return Array.from({ length: candidates }, (_, i) => i);
  const taken: number[] = [];
  if (density <= 0) return taken;
  const logMiss = portableLog(1 - density);
  for (let i = 0, position = -1; ; i++) {
    position += 1 + Math.floor(portableLog(1 - positions.uniform(row, i)) / logMiss);
    if (position >= candidates) return taken;
    taken.push(position);
  }
}

/**
 * CSR from a rule for the columns of each row (rising) and one for the value of the m-th entry of a
 * row.
 */
export function sparseFromRows(
  rows: number,
  cols: number,
  columnsOf: (row: number) => ArrayLike<number>,
  value: (row: number, m: number, column: number) => number,
): SparseMatrix<Float64Array> {
  const rowOffsets = new Uint32Array(rows + 1);
  let columns = new Uint32Array(Math.max(16, rows * 8));
  let values = new Float64Array(columns.length);
  let count = 0;
  for (let r = 0; r < rows; r++) {
    const row = columnsOf(r);
    if (count + row.length > columns.length) {
      const length = Math.ceil((count + row.length) * Math.min(2, 1.1 * (rows / (r + 1))));
      columns = grow(columns, new Uint32Array(length));
      values = grow(values, new Float64Array(length));
    }
    for (let m = 0; m < row.length; m++, count++) {
      columns[count] = row[m]!;
      values[count] = value(r, m, row[m]!);
    }
    rowOffsets[r + 1] = count;
  }
  return { rows, cols, rowOffsets, columns: columns.slice(0, count), values: values.slice(0, count) };
}

function grow<Data extends Uint32Array | Float64Array>(from: Data, to: Data): Data {
  to.set(from);
  return to;
}

/**
 * A dense rows x cols block whose rows each take random positions: input weights, biases, feedback
 * weights.
 */
export function drawDense(
  rows: number,
  cols: number,
  density: number,
  distribution: WeightDistribution,
  values: RandomStream,
  positions: RandomStream,
  scaling: (column: number) => number,
  out: FloatArray,
): void {
  for (let r = 0; r < rows; r++) {
    drawPositions(positions, r, density, cols).forEach((column, m) => {
      out[r * cols + column] = drawValue(values, distribution, r, m) * scaling(column);
    });
  }
}
