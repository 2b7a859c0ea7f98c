// The exports of assembly/, as TypeScript sees them. Addresses are byte offsets. One interface per
// file of assembly/.

/** Everything the WebAssembly module exports. */
export interface WasmExports
  extends PortableExports,
    DrawingExports,
    LinearAlgebraExports,
    SpectrumExports,
    ReservoirExports,
    StatisticsExports,
    NetworkExports,
    IntegerExports {}

/** assembly/portable.ts. The hashes are those of docs/numerics.md, rule 4. */
export interface PortableExports {
  tanhArray32(source: number, target: number, count: number): void;
  tanhArray64(source: number, target: number, count: number): void;
  /** Over the binary32 bit patterns `from` to `to` (excluded), going on from `hash`. */
  tanhHash32(from: number, to: number, hash: number): number;
  /**
   * Over the samples `from` to `to` (excluded) of the fixed binary64 sample, going on from `hash`.
   */
  tanhHash64(from: number, to: number, hash: number): number;
}

/** assembly/drawing.ts. Kinds: 0 U, 1 2U - 1, 2 bernoulli, 3 normal; a flag is 0 or 1. */
export interface DrawingExports {
  drawFrom(key0: number, key1: number, stream: number, purpose: number): void;
  drawRows(kind: number, firstRow: number, rows: number, offsets: number, out: number): void;
  drawFullRows(kind: number, firstRow: number, rows: number, count: number, out: number): void;
  drawPositions(
    firstRow: number,
    rows: number,
    logMiss: number,
    candidates: number,
    base: number,
    skipped: number,
    offsets: number,
    out: number,
    end: number,
  ): number;
  sumRows(source: number, rows: number, cols: number, sums: number, squares: number): void;
  scaleRows(
    source: number,
    firstRow: number,
    rows: number,
    cols: number,
    skipped: number,
    factor: number,
    bytes: number,
    out: number,
  ): void;
  packRows32(source: number, cols: number, count: number, starts: number, out: number): void;
  packRows64(source: number, cols: number, count: number, starts: number, out: number): void;
}

/**
 * assembly/linear-algebra.ts. Panels are 6 columns wide; `stride` is the rows that a panel holds.
 */
export interface LinearAlgebraExports {
  packColumns32: PackColumns;
  packColumns64: PackColumns;
  fillColumn(value: number, rows: number, panels: number, stride: number, row0: number, column: number): void;
  /** Pairs of columns whose later one lies in panels `from` to `to` (excluded). */
  gramAddRows(panels: number, stride: number, rows: number, panelCount: number, from: number, to: number, sums: number): void;
  gramFinishBlock(sums: number, totals: number, count: number): void;
  productAddRows(left: number, leftPanels: number, right: number, rightPanels: number, stride: number, rows: number, sums: number): void;
  /** 0, or i + 1 if pivot i is not above 0. */
  choleskyFactor(matrix: number, n: number, work: number): number;
  solveLower(matrix: number, n: number, panel: number): void;
  solveLowerTransposed(matrix: number, n: number, panel: number): void;
  solveUpper(matrix: number, rowBytes: number, n: number, panel: number): void;
  qrAddRows(
    panels: number,
    stride: number,
    rows: number,
    first: number,
    features: number,
    panelCount: number,
    r: number,
    work: number,
  ): void;
  bidiagonalize(
    matrix: number,
    n: number,
    extra: number,
    rowBytes: number,
    diagonal: number,
    superdiagonal: number,
    rightFactors: number,
    work: number,
  ): void;
  applyRightReflections(
    matrix: number,
    n: number,
    matrixRowBytes: number,
    rightFactors: number,
    rows: number,
    count: number,
    rowBytes: number,
  ): void;
  evaluateRows(rows: number, count: number, width: number, weights: number, outputs: number, intercept: number, out: number): void;
  addWeightedRows(rows: number, count: number, width: number, factors: number, outputs: number, out: number): void;
  /** Returns x . (P x). */
  multiplySymmetric(matrix: number, n: number, width: number, x: number, out: number): number;
  downdateSymmetric(matrix: number, n: number, width: number, q: number, factor: number): void;
}

type PackColumns = (
  source: number,
  columns: number,
  rows: number,
  square: number,
  panels: number,
  stride: number,
  row0: number,
  column0: number,
) => void;

/** assembly/fused.ts: kernels of the same name that fuse, for products that are exact. */
export type FusedExports = Pick<LinearAlgebraExports, "gramAddRows">;

/**
 * assembly/spectrum. Matrices are row-major with `ld` numbers from row to row; see each kernel for
 * what `ld` takes.
 */
export interface SpectrumExports {
  /**
   * 0, or the number of eigenvalues that were not found. Real parts go to `work`, imaginary ones to
   * `work` + 8 ld.
   */
  denseEigenvalues(n: number, matrix: number, ld: number, work: number): number;
  /** The exponent of the power of two that takes the eigenvalues back to those of the matrix. */
  balanceAndScale(n: number, matrix: number, ld: number): number;
  reduceToHessenberg(n: number, matrix: number, ld: number, q: number, work: number): void;
  /** 0, or the number of eigenvalues that were not found. */
  francisQr(n: number, matrix: number, ld: number, q: number, re: number, im: number): number;
  krylovMultiplySparse(rows: number, offsets: number, columns: number, values: number, x: number, y: number): void;
  krylovMultiplyDense(rows: number, ld: number, matrix: number, x: number, y: number): void;
  krylovSquaredNorm(ld: number, x: number): number;
  krylovScale(ld: number, x: number, y: number, factor: number): void;
  krylovProject(count: number, ld: number, basis: number, w: number, h: number): void;
  krylovChangeBasis(count: number, keep: number, ld: number, basis: number, q: number, qld: number, work: number): void;
}

/** assembly/statistics.ts. */
export interface StatisticsExports {
  statistics32(states: number, rows: number, size: number, levels: number, count: number, out: number, packed: number): void;
  statistics64(states: number, rows: number, size: number, levels: number, count: number, out: number, packed: number): void;
}

/**
 * assembly/reservoir.ts. The globals that describe a reservoir are set by name, see
 * engine/cpu/stepper.ts.
 */
export interface ReservoirExports {
  readonly noiseStep: { value: number | bigint };
  readonly noiseSequence: { value: number | bigint };
  run32(steps: number, firstPart: number, lastPart: number, firstRow: number, lastRow: number): number;
  run64(steps: number, firstPart: number, lastPart: number, firstRow: number, lastRow: number): number;
  /** Call it after writing to the state; `precision` is 32 or 64. */
  stateWritten(precision: number): void;
}

/** assembly/network.ts. */
export interface NetworkExports {
  /**
   * Steps of parts `firstPart` to `lastPart` of a network of populations; `table` is what
   * engine/cpu/network-memory.ts writes for its team. Steps done, or -1 less the step that is not
   * finite.
   */
  runNetwork32(steps: number, table: number, firstPart: number, lastPart: number): number;
  runNetwork64(steps: number, table: number, firstPart: number, lastPart: number): number;
}

/** assembly/integer.ts. `table` is the address of what engine/cpu/integer-memory.ts writes. */
export interface IntegerExports {
  runInteger(table: number, steps: number): void;
}
