// The exports of assembly/, as TypeScript sees them. Addresses are byte offsets. One interface per file of assembly/.

/** Everything the WebAssembly module exports. */
export interface WasmExports extends PortableExports, LinearAlgebraExports, SpectrumExports, ReservoirExports {}

/** assembly/portable.ts. The hashes are those of docs/numerics.md, rule 4. */
export interface PortableExports {
  tanhArray32(source: number, target: number, count: number): void;
  tanhArray64(source: number, target: number, count: number): void;
  /** Over the binary32 bit patterns `from` to `to` (excluded), going on from `hash`. */
  tanhHash32(from: number, to: number, hash: number): number;
  /** Over the samples `from` to `to` (excluded) of the fixed binary64 sample, going on from `hash`. */
  tanhHash64(from: number, to: number, hash: number): number;
}

/** assembly/linear-algebra.ts */
export type LinearAlgebraExports = {};

/** assembly/spectrum.ts */
export type SpectrumExports = {};

/** assembly/reservoir.ts. The globals that describe a reservoir are set by name, see engine/cpu/stepper.ts. */
export interface ReservoirExports {
  readonly noiseStep: WebAssembly.Global;
  readonly noiseSequence: WebAssembly.Global;
  run32(steps: number, firstPart: number, lastPart: number, firstRow: number, lastRow: number): number;
  run64(steps: number, firstPart: number, lastPart: number, firstRow: number, lastRow: number): number;
  /** Call it after writing to the state; `precision` is 32 or 64. */
  stateWritten(precision: number): void;
}
