// The constants of a reservoir in C: which fields its struct has, and what stands in them.
import { type FloatArray, isSparse } from "../../numerics/index.js";
import type { ReservoirModel } from "../../reservoir/index.js";
import { unit } from "../../reservoir/integer/step.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import { inIntegers, type Needs, type WeightStorage } from "./functions.js";
import { type ArrayType, constant, constantArray } from "./text.js";

/** Constant arrays; two of the same values are one. */
export class Constants {
  readonly #names = new Map<string, string>();
  readonly #texts: string[] = [];

  get text(): string {
    return this.#texts.join("\n");
  }

  /** A number in binary64. */
  number(value: number): string {
    return constant(value, "float64");
  }

  /** The name of an array; 0, the null pointer, if it has no elements. */
  add(type: ArrayType, name: string, values: ArrayLike<number | bigint> | undefined): string {
    const body = values && constantArray(type, "@", values);
    if (body === undefined) return "0";
    const there = this.#names.get(body);
    if (there !== undefined) return there;
    this.#names.set(body, name);
    this.#texts.push(body.replace("@", name));
    return name;
  }
}

/** The smallest type that holds the columns of every sparse W. */
export function columnType(models: readonly ReservoirModel[]): ArrayType {
  const most = Math.max(...models.map(({ size }) => size));
  return most <= 256 ? "uint8_t" : most <= 65536 ? "uint16_t" : "uint32_t";
}

/** How the weights of several reservoirs are kept. */
export function storageOf(models: readonly ReservoirModel[]): Pick<Needs, "storage" | "dense" | "sparse"> {
  return {
    storage: storedAs(models),
    dense: models.some(({ weights }) => !isSparse(weights)),
    sparse: models.some(({ weights }) => isSparse(weights)),
  };
}

function storedAs(models: readonly ReservoirModel[]): WeightStorage {
  const every = (precision: string) => models.every(({ config }) => config.weightPrecision === precision);
  if (models[0]!.config.arithmetic === "integer") return every("int8") ? "int8_t" : "int16_t";
  return every("bfloat16") ? "bfloat16" : "real";
}

/** States as a program has them. */
export function statesAs(model: ReservoirModel, values: FloatArray): readonly [ArrayType, ArrayLike<number>] {
  return model.config.arithmetic === "integer" ? ["int16_t", Array.from(values, (value) => value * unit)] : [model.precision, values];
}

/** The fields of a struct that a reservoir has; they come first. */
export function reservoirFields(needs: Needs, columns: ArrayType): readonly string[] {
  const integers = inIntegers(needs);
  const driving = integers ? "int16_t" : "real";
  return [
    "int size, activation;",
    "const weight *weights;",
    ...(needs.sparse ? ["const uint32_t *row_offsets;", `const ${columns} *columns;`] : []),
    ...(needs.inputs ? [`const ${driving} *input_weights;`] : []),
    ...(needs.feedback ? [`const ${driving} *feedback_weights;`] : []),
    ...(integers ? ["const uint8_t *exponents;", "const int32_t *bias;", "const uint16_t *leak;"] : ["const real *bias, *leak;"]),
    "const neuron *initial_state;",
  ];
}

/** What stands in them. */
export function reservoirValues(
  model: ReservoirModel,
  needs: Needs,
  { name, activation, columns }: { readonly name: string; readonly activation: number; readonly columns: ArrayType },
  constants: Constants,
): readonly (readonly (string | number)[])[] {
  const { precision, size, weights, inputWeights, feedbackWeights, bias, leakRate } = model;
  const add = (type: ArrayType, what: string, values: ArrayLike<number> | undefined) => constants.add(type, `${what}_${name}`, values);
  const rows = inIntegers(needs) ? integerRows(model) : undefined;
  const values = isSparse(weights) ? weights.values : weights.data;
  const stored = rows
    ? add(needs.storage as "int8_t" | "int16_t", "weights", rows.weights)
    : needs.storage === "bfloat16"
      ? add("uint16_t", "weights", upperHalves(values))
      : add(precision, "weights", values);
  const driving = rows ? "int16_t" : precision;
  const [stateType, initialState] = statesAs(model, model.initialState);
  return [
    [size, activation],
    [stored],
    ...(needs.sparse
      ? [isSparse(weights) ? [add("uint32_t", "row_offsets", weights.rowOffsets), add(columns, "columns", weights.columns)] : [0, 0]]
      : []),
    ...(needs.inputs ? [[add(driving, "input_weights", rows?.inputWeights ?? inputWeights.data)]] : []),
    ...(needs.feedback ? [[add(driving, "feedback_weights", rows?.feedbackWeights ?? feedbackWeights?.data)]] : []),
    rows
      ? [add("uint8_t", "exponents", rows.exponents), add("int32_t", "bias", rows.bias), add("uint16_t", "leak", rows.leakRate)]
      : [add(precision, "bias", bias), add(precision, "leak", leakRate)],
    [add(stateType, "initial_state", initialState)],
  ];
}

/** The upper 16 bits of numbers of 8 significant bits. */
function upperHalves(values: ArrayLike<number>): Uint16Array {
  const words = new Uint32Array(Float32Array.from(values).buffer);
  return Uint16Array.from(words, (word) => word >>> 16);
}
