// The exports of assembly/, as TypeScript sees them. Addresses are byte offsets. One interface per file of assembly/.

/** Everything the WebAssembly module exports. */
export interface WasmExports extends PortableExports, LinearAlgebraExports, SpectrumExports, ReservoirExports {}

/** assembly/portable.ts */
export type PortableExports = {};

/** assembly/linear-algebra.ts */
export type LinearAlgebraExports = {};

/** assembly/spectrum.ts */
export type SpectrumExports = {};

/** assembly/reservoir.ts */
export type ReservoirExports = {};
