// The words of a member that its reservoir fills.
import { isSparse } from "../../numerics/index.js";
import type { ReservoirModel } from "../../reservoir/index.js";
import { tanhTable } from "../../reservoir/integer/tanh.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import { type Part, unheld } from "../c/refuse.js";
import { statesAs } from "../c/reservoir.js";
import { activationsInC } from "../c/step.js";
import { bytesOf, type ModelMemory, type memberWords, type Words, type WordType } from "./memory.js";

/** The one reservoir of a member that the module holds. @throws ArgumentError */
export function plainReservoir(parts: readonly Part[]): ReservoirModel {
  const [{ model }, ...others] = parts as [Part];
  if (others.length > 0) throw unheld("has a reservoir that is composed of layers or groups");
  if (model.cell) throw unheld("has a reservoir with a cell of its own", "cell");
  if (model.noiseLevel > 0) throw unheld("has noise", "noiseLevel");
  return model;
}

/** Bytes of a number and of a state. */
export function bytesOfNumbers({ precision, config }: ReservoirModel): { readonly real: number; readonly state: number } {
  const real = precision === "float32" ? 4 : 8;
  return { real, state: config.arithmetic === "integer" ? 2 : real };
}

/** States as bytes. */
export function stateBytes(model: ReservoirModel, values: ReservoirModel["initialState"]): Uint8Array {
  const [type, numbers] = statesAs(model, values);
  return bytesOf(type === "int16_t" ? "int16" : model.precision, numbers);
}

/** What a step takes. */
export function reservoirWords(model: ReservoirModel, memory: ModelMemory): Words<typeof memberWords> {
  const { size, weights, precision, activation, inputWeights, feedbackWeights, bias, leakRate } = model;
  const add = (type: WordType, values: ArrayLike<number> | undefined) => memory.array(type, values);
  const values = isSparse(weights) ? weights.values : weights.data;
  const common = {
    size,
    activation: activationsInC.indexOf(activation),
    // An empty W still has its offsets, which say that it is sparse.
    rowOffsets: isSparse(weights) ? add("int32", weights.rowOffsets) : 0,
    columns: isSparse(weights) ? add("int32", weights.columns) : 0,
    initial: memory.bytes(stateBytes(model, model.initialState)),
  };
  if (model.config.arithmetic !== "integer")
    return {
      ...common,
      weights: add(precision, values),
      inputWeights: add(precision, inputWeights.data),
      feedbackWeights: add(precision, feedbackWeights?.data),
      bias: add(precision, bias),
      leak: add(precision, leakRate),
    };
  const rows = integerRows(model);
  return {
    ...common,
    weights: add("int16", isSparse(weights) ? rows.weights : paddedRows(rows.weights, size)),
    inputWeights: add("int16", rows.inputWeights),
    feedbackWeights: add("int16", rows.feedbackWeights),
    bias: add("int32", rows.bias),
    leak: add("int32", rows.leakRate),
    exponents: add("int32", rows.exponents),
    tanhTable: add("int16", tanhTable),
  };
}

/** Rows that begin at a multiple of 8 numbers, which a vector holds. */
function paddedRows(rows: Int16Array, size: number): Int16Array {
  const width = Math.ceil(size / 8) * 8;
  const out = new Int16Array(width * size);
  for (let r = 0; r < size; r++) out.set(rows.subarray(r * size, (r + 1) * size), r * width);
  return out;
}
