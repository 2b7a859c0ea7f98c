// The steps of a state-affine system as WebAssembly: what assembly/state-affine.ts is told of a
// model.
import type { FloatArray, Matrix } from "../../numerics/index.js";
import { matrixPanels, packColumns, packPanels } from "../../numerics/wasm/layout.js";
import type { RegisteredModel } from "../registered/model.js";
import type { KindWasm, KindWasmArgument } from "../registered/wasm.js";
import type { StateAffineConfig } from "./options.js";

/** Each function's two bits. */
const codes = { u: 0, "u^2": 1, "sqrt(u(1-u))": 2 } as const;

/** Functions of WebAssembly with the steps of a model. */
export function stateAffineWasm({ config, precision, matrices }: RegisteredModel<StateAffineConfig>): KindWasm {
  const { inputSize, functions, range } = config;
  const transition = matrices["transition"] as Matrix;
  const output = matrices["output"] as Matrix | undefined;
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const low = round(range[0]);
  const size = transition.cols;
  return {
    setup: "stateAffineModel",
    run: precision === "float32" ? "stateAffine32" : "stateAffine64",
    arguments: [
      ...[size, output ? matrices["outputOffset"]!.rows : 0, inputSize, functions.length],
      functions.reduce((bits, name, k) => bits | (codes[name] << (2 * k)), 0),
      ...[low, round(round(range[1]) - low)],
      ...blocks(transition, matrices["transitionOffset"] as Matrix),
      ...(output ? blocks(output, matrices["outputOffset"] as Matrix) : [0, 0, 0, 0]),
      // x in 32 parts, products, what they add up to, and gains.
      { length: 32 * Math.ceil(size / 32) },
      { length: Math.max(transition.rows, output?.rows ?? 0) + 32 },
      { length: Math.max(size, matrices["outputOffset"]?.rows ?? 0) + 4 },
      { length: inputSize * functions.length },
    ],
  };
}

/** Panels of blocks of rows, how many there are, bytes to their second stream, and the offsets. */
function blocks(matrix: Matrix, offsets: Matrix): KindWasmArgument[] {
  const elementBytes = matrix.data.BYTES_PER_ELEMENT;
  const layout = matrixPanels(matrix, elementBytes);
  const lanes = 16 / elementBytes;
  const padded = Math.ceil(offsets.rows / lanes) * lanes;
  return [
    { length: layout.length, fill: (out: FloatArray) => packPanels(matrix, layout, out) },
    layout.panels,
    layout.streams === 2 ? (layout.length * elementBytes) / 2 : 0,
    { length: padded * offsets.cols, fill: (out: FloatArray) => packColumns(offsets, padded, out) },
  ];
}
