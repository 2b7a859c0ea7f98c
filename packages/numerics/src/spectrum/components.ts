// Strongly connected components of a matrix read as a graph (row r has an edge to column c where
// w[r][c] is not 0). The spectrum of the matrix is the union of the components' spectra. No
// arithmetic on the weights lives here.
import { isSparse, type Matrix, type SparseMatrix } from "../matrix.js";

/** Called with a nonzero's row, column and value. */
export type EntryVisitor = (row: number, column: number, value: number) => void;

/** An irreducible diagonal block of a square matrix, in its own numbering. */
export interface Component {
  /** The number of its rows, at least 1. */
  readonly size: number;
  /** Calls `visit` for every nonzero of the block, row by row, columns rising. */
  forEach(visit: EntryVisitor): void;
}

const none = 0xffffffff;

/**
 * The components of a square matrix. Tarjan 1972, "Depth-first search and linear graph algorithms",
 * with the recursion unrolled.
 */
export function stronglyConnectedComponents(matrix: Matrix | SparseMatrix): Component[] {
  const n = matrix.rows;
  const { values, columns, start } = entriesOf(matrix);
  const discovered = new Uint32Array(n);
  const low = new Uint32Array(n);
  const owner = new Uint32Array(n).fill(none);
  const nextEntry = new Float64Array(n);
  const path = new Uint32Array(n);
  const stack = new Uint32Array(n);
  const groups: Uint32Array[] = [];
  let time = 0;
  let depth = 0;
  let stacked = 0;

  const enter = (r: number): void => {
    path[depth++] = r;
    stack[stacked++] = r;
    time++;
    discovered[r] = time;
    low[r] = time;
    nextEntry[r] = start(r);
  };

  for (let root = 0; root < n; root++) {
    if (discovered[root] !== 0) continue;
    enter(root);
    while (depth > 0) {
      const r = path[depth - 1]!;
      const from = start(r);
      const end = start(r + 1);
      let p = nextEntry[r]!;
      let child = none;
      let lowest = low[r]!;
      for (; p < end && child === none; p++) {
        if (values[p] === 0) continue;
        const c = columns ? columns[p]! : p - from;
        const entered = discovered[c]!;
        if (entered === 0) child = c;
        else if (entered < lowest && owner[c] === none) lowest = entered;
      }
      low[r] = lowest;
      nextEntry[r] = p;
      if (child !== none) {
        enter(child);
        continue;
      }
      depth--;
      if (depth > 0) {
        const parent = path[depth - 1]!;
        low[parent] = Math.min(low[parent]!, lowest);
      }
      if (lowest !== discovered[r]) continue;
      const top = stacked;
      do owner[stack[--stacked]!] = groups.length;
      while (stack[stacked] !== r);
      groups.push(stack.slice(stacked, top).sort());
    }
  }

  if (groups.length === 1) return [wholeMatrix(matrix)];
  const positionOf = new Uint32Array(n);
  for (const rows of groups) for (let i = 0; i < rows.length; i++) positionOf[rows[i]!] = i;
  return groups.map((rows, number) => ({
    size: rows.length,
    forEach(visit) {
      for (let i = 0; i < rows.length; i++) {
        const r = rows[i]!;
        const from = start(r);
        for (let p = from, end = start(r + 1); p < end; p++) {
          const value = values[p]!;
          if (value === 0) continue;
          const c = columns ? columns[p]! : p - from;
          if (owner[c] === number) visit(i, positionOf[c]!, value);
        }
      }
    },
  }));
}

/** The whole of a square matrix as one block, whether irreducible or not. */
export function wholeMatrix(matrix: Matrix | SparseMatrix): Component {
  const { values, columns, start } = entriesOf(matrix);
  return {
    size: matrix.rows,
    forEach(visit) {
      for (let r = 0; r < matrix.rows; r++) {
        const from = start(r);
        for (let p = from, end = start(r + 1); p < end; p++) if (values[p] !== 0) visit(r, columns ? columns[p]! : p - from, values[p]!);
      }
    },
  };
}

/**
 * Dense and CSR storage under one name: the entries of row r are at `start(r)` to `start(r + 1)`.
 */
function entriesOf(matrix: Matrix | SparseMatrix): {
  values: ArrayLike<number>;
  columns: Uint32Array | undefined;
  start: (row: number) => number;
} {
  if (isSparse(matrix)) {
    const { rowOffsets } = matrix;
    return { values: matrix.values, columns: matrix.columns, start: (row) => rowOffsets[row]! };
  }
  const { cols } = matrix;
  return { values: matrix.data, columns: undefined, start: (row) => row * cols };
}
