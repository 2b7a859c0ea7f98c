// The steps of phase oscillators as WebAssembly: what assembly/oscillators.ts is told of a model.
import { type FloatArray, isSparse, type Matrix, type SparseMatrix } from "../numerics/index.js";
import { matrixPanels, packColumns, packPanels, packSlices, sliceLayout } from "../numerics/wasm/layout.js";
import type { KindMemory, KindWasm, KindWasmArgument, RegisteredModel } from "../reservoir/index.js";
import type { OscillatorConfig } from "./options.js";
import { sinesWithin } from "./sines.js";
import { OscillatorStep } from "./step.js";

const couplings = { dense: 0, sparse: 1, meanField: 2 } as const;

/** W for its products: kind of coupling, panels or slices, values, offsets, columns and rows. */
type Packed = readonly [kind: number, parts: number, ...memory: KindWasmArgument[]];

/** Functions of WebAssembly with the steps of a model. */
export function oscillatorWasm(model: RegisteredModel<OscillatorConfig>): KindWasm {
  const { config, precision, noiseKey, matrices } = model;
  const { size, inputSize, steps, harmonics, order, pull, input } = config;
  const { h, halfStep, meanGain, noiseScale, drive, fieldY, omega } = new OscillatorStep(model);
  const elementBytes = precision === "float32" ? 4 : 8;
  // Whole panels of rows, which are whole vectors.
  const { panelRows, panels } = matrixPanels({ rows: size, cols: size }, elementBytes, 2);
  const padded = panelRows * panels;
  const column = (values: FloatArray): KindMemory => ({ length: padded, fill: (out) => out.set(values) });
  const inputWeights = matrices["inputWeights"] as Matrix;
  const { weights } = matrices;
  return {
    setup: "oscillatorModel",
    run: precision === "float32" ? "oscillators32" : "oscillators64",
    arguments: [
      ...[size, padded * elementBytes, inputSize],
      ...(!weights ? [couplings.meanField, 0, 0, 0, 0, 0] : isSparse(weights) ? sliced(weights, elementBytes, padded) : panelled(weights)),
      ...[column(omega), column(drive), column(fieldY)],
      { length: inputSize * padded, fill: (out: FloatArray) => packColumns(inputWeights, padded, out) },
      ...[Number(input === "field"), pull, h, halfStep, meanGain, noiseScale, ...noiseKey, steps, harmonics, Number(order)],
      // Ten vectors with room behind them, 32 sums, and pairs in 32 parts.
      { length: 10 * (padded + 4) + 64 + 64 * Math.ceil(size / 32) },
    ],
    ...(input === "phase" && { takes: sinesWithin(inputWeights, drive) }),
  };
}

function panelled(weights: Matrix): Packed {
  const layout = matrixPanels(weights, weights.data.BYTES_PER_ELEMENT, 2);
  const values: KindMemory = { length: layout.length, fill: (out) => packPanels(weights, layout, out) };
  return [couplings.dense, layout.panels, values, 0, 0, 0];
}

function sliced(weights: SparseMatrix, elementBytes: number, padded: number): Packed {
  const layout = sliceLayout(weights, elementBytes, padded);
  const { slices, sliceRows, offsets, rows } = layout;
  const columns = new Uint32Array(offsets[slices]! * sliceRows);
  const values: KindMemory = { length: columns.length, fill: (out) => packSlices(weights, layout, out, columns) };
  return [couplings.sparse, slices, values, offsets, columns, rows];
}
