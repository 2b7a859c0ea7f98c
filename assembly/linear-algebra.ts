// Linear algebra in binary64 f64x2: what the readouts are trained with. One file of linear-algebra/
// for each subject.
export { packColumns32, packColumns64, fillColumn } from "./linear-algebra/panels";
export { gramAddRows, gramFinishBlock, productAddRows } from "./linear-algebra/gram";
export { choleskyFactor, solveLower, solveLowerTransposed, solveUpper } from "./linear-algebra/cholesky";
export { qrAddRows } from "./linear-algebra/qr";
export { bidiagonalize, applyRightReflections } from "./linear-algebra/bidiagonal";
export { evaluateRows, addWeightedRows, multiplySymmetric, downdateSymmetric } from "./linear-algebra/rows";
