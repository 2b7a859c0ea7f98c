import { Matrix, type SparseMatrix } from "../../../packages/numerics/src/index.js";

/** W of which no value is to be read. */
export function unreadable<M extends Matrix | SparseMatrix>(weights: M): M {
  const refuse = () => {
    throw new Error("W was read");
  };
  const names = "rowOffsets" in weights ? ["rowOffsets", "columns", "values"] : ["data"];
  const { rows, cols } = weights;
  const matrix = names.length === 1 ? Object.create(Matrix.prototype) : {};
  const fields = Object.fromEntries(names.map((name) => [name, { get: refuse }]));
  return Object.defineProperties(matrix, { rows: { value: rows }, cols: { value: cols }, ...fields }) as M;
}
