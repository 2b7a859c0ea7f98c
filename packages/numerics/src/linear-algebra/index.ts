// Linear algebra in binary64 and one fixed order: Gram matrices, factorisations, solves.
export { Bidiagonal, type ShiftedProblem } from "./bidiagonal.js";
export { BlockProduct } from "./block-product.js";
export { CholeskyFactor, cholesky, lostPivot, NotPositiveDefiniteError } from "./cholesky.js";
export { type DenseBlas, shiftedTriangle } from "./dense-blas.js";
export { DoubleDoubleFactor, type DoubleDoubleReflections } from "./double-double-factor.js";
export { type GramBlocks, type GramSum, gramBlockRows, mirrorLowerTriangle, PortableGram } from "./gram.js";
export { InverseCovariance } from "./inverse-covariance.js";
export { solveSquare } from "./lu.js";
export { MemoryLimitError } from "./memory.js";
export type { ColumnSource } from "./panels.js";
export { evaluateRows, ResidentRows } from "./row-products.js";
export { symmetricEigen } from "./symmetric-eigen.js";
export { SystemBlas, SystemBlasError, writeRows } from "./system-blas.js";
export { TriangularFactor } from "./triangular.js";
