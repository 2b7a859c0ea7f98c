// The reservoirs of a program: their tables, and what of the runtime they need.
import { isSparse } from "@spillway/numerics";
import type { ReservoirModel } from "../../reservoir/index.js";
import { unit } from "../../reservoir/integer/step.js";
import { tanhTable } from "../../reservoir/integer/tanh.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import { type Constants, type Field, nowhere } from "./constants.js";
import { activationsInC, type Part } from "./refuse.js";
import { type ArrayType, typeName } from "./text.js";

/** The smallest type that holds the columns of every sparse W. */
export function columnType(parts: readonly Part[]): ArrayType {
  const most = Math.max(...parts.map(({ model }) => model.size));
  return most <= 256 ? "uint8_t" : most <= 65536 ? "uint16_t" : "uint32_t";
}

/** How W is kept: in the model's precision, in the upper half of a binary32, or in whole steps. */
type WeightType = "real" | "uint16_t" | "int16_t" | "int8_t";

function weightType(models: readonly ReservoirModel[]): WeightType {
  const every = (precision: string) => models.every(({ config }) => config.weightPrecision === precision);
  if (isInteger(models[0]!)) return every("int8") ? "int8_t" : "int16_t";
  return every("bfloat16") ? "uint16_t" : "real";
}

const isInteger = ({ config }: ReservoirModel): boolean => config.arithmetic === "integer";

/** States as a program has them. */
export function statesAs(model: ReservoirModel, values: ArrayLike<number>): readonly [ArrayType, ArrayLike<number>] {
  return isInteger(model) ? ["int16_t", Array.from(values, (value) => value * unit)] : [model.precision, values];
}

/** The reservoirs of a program, side by side in one table. */
export class Reservoirs {
  readonly #constants: Constants;
  readonly #models: readonly ReservoirModel[];
  readonly #columns: ArrayType;
  readonly #weights: WeightType;
  readonly #rows: Field[][] = [];
  readonly #isComposite: boolean;

  constructor(members: readonly (readonly Part[])[], constants: Constants) {
    const parts = members.flat();
    this.#constants = constants;
    this.#models = parts.map(({ model }) => model);
    this.#columns = columnType(parts);
    this.#weights = parts.length > 0 ? weightType(this.#models) : "real";
    this.#isComposite = members.some((own) => own.length > 1 || own[0]!.channels !== undefined);
    if (parts.length > 0) constants.tables.push({ name: "reservoirs", type: "reservoir", rows: this.#rows });
  }

  /** What of the runtime the reservoirs need. */
  get flags(): readonly string[] {
    const models = this.#models;
    if (models.length === 0) return ["DOUBLE"];
    const [{ precision }] = models as [ReservoirModel];
    const integer = isInteger(models[0]!);
    const activations = integer ? [] : models.map(({ activation }) => String(activation));
    const hasTanh = activations.includes("tanh") || activations.includes("sigmoid");
    const isDouble = precision === "float64";
    const held: Readonly<Record<string, boolean>> = {
      INTEGER: integer,
      DOUBLE: isDouble,
      BFLOAT16: this.#weights === "uint16_t",
      DENSE: models.some(({ weights }) => !isSparse(weights)),
      SPARSE: models.some(({ weights }) => isSparse(weights)),
      COMPOSITE: this.#isComposite,
      FEEDBACK: models.some(({ outputSize }) => outputSize > 0),
      NOISE: models.some(({ noiseLevel }) => noiseLevel !== 0),
      CELL: models.some(({ cell }) => cell !== undefined),
      ORTHOGONAL: models.some(({ cell }) => cell?.orthogonal !== undefined),
      TANH_SINGLE: hasTanh && !isDouble,
      TANH_DOUBLE: hasTanh && isDouble,
      ...Object.fromEntries(activationsInC.map((name) => [name.toUpperCase(), activations.includes(name)])),
    };
    return Object.keys(held).filter((name) => held[name]);
  }

  /** The most inputs of any reservoir; one at least. */
  get mostInputs(): number {
    return Math.max(1, ...this.#models.map(({ inputSize }) => inputSize));
  }

  /** Declarations of the C form. */
  get declarations(): readonly string[] {
    if (this.#models.length === 0) return [];
    return [
      `typedef ${this.#weights} weight;`,
      `typedef ${typeName(this.#columns)} column;`,
      `#define WEIGHT_OF(w) ${this.#weights === "uint16_t" ? "weight_of(w)" : "(w)"}`,
    ];
  }

  /** Files of the runtime that step them. */
  get files(): readonly string[] {
    const flags = this.flags;
    if (this.#models.length === 0) return ["numbers.c"];
    return [
      ...["numbers.c", "sums.c", ...(flags.includes("DENSE") ? ["dense.c"] : []), ...(flags.includes("SPARSE") ? ["sparse.c"] : [])],
      ...["row.c", "extras.c", "step.c"],
    ];
  }

  /** tanh of integers; nowhere without one. */
  get tanhTable(): Field {
    return this.#models[0] && isInteger(this.#models[0]) ? this.#constants.to("int16_t", "tanh_table", tanhTable) : nowhere;
  }

  /** The first fields of a member: its reservoirs, the neurons of all and of those that are read, the initial state. */
  add(parts: readonly Part[], size: number, name: string): readonly Field[] {
    const row = this.#rows.length;
    for (const [p, part] of parts.entries()) this.#rows.push(this.#fields(part, parts.length > 1 ? `${name}_${p}` : name));
    const width = parts.reduce((sum, { model }) => sum + model.size, 0);
    const initial = parts.flatMap(({ model }) => [...model.initialState]);
    const [type, values] = statesAs(parts[0]!.model, initial);
    return [{ to: "reservoirs", row }, parts.length, width, size, this.#constants.to(type, `initial_state_${name}`, unlessZero(values))];
  }

  #fields({ model, channels, isAbove }: Part, name: string): Field[] {
    const { precision, size, inputSize, weights, inputWeights, feedbackWeights, bias, leakRate, cell, noiseLevel, noiseKey } = model;
    const to = (type: ArrayType, what: string, values: ArrayLike<number> | undefined) =>
      this.#constants.to(type, `${what}_${name}`, values);
    const rows = isInteger(model) ? integerRows(model) : undefined;
    const values = isSparse(weights) ? weights.values : weights.data;
    const isHalf = this.#weights === "uint16_t";
    const stored = rows
      ? to(this.#weights as "int8_t" | "int16_t", "weights", rows.weights)
      : to(isHalf ? "uint16_t" : precision, "weights", isHalf ? upperHalves(values) : values);
    const [offsets, columns] = isSparse(weights)
      ? [to("uint32_t", "row_offsets", weights.rowOffsets), to(this.#columns, "columns", weights.columns)]
      : [nowhere, nowhere];
    const width = isSparse(weights) ? 1 + ["uint8_t", "uint16_t", "uint32_t"].indexOf(this.#columns) : 0;
    const driving = rows ? "int16_t" : precision;
    const isUniform = leakRate.every((rate) => rate === leakRate[0]);
    const leakOf = (rates: ArrayLike<number>) => (isUniform ? [rates[0]!] : rates);
    const kind = width + (isHalf || this.#weights === "int8_t" ? 4 : 0);
    const key = noiseLevel === 0 ? [] : Array.from(noiseKey, (word) => word >>> 0);
    return [
      ...[size, activationsInC.indexOf(String(model.activation)), inputSize, Number(!isUniform), kind],
      ...[Number(isAbove), to("uint32_t", "channels", channels), stored, offsets, columns],
      to(driving, "input_weights", rows?.inputWeights ?? inputWeights.data),
      to(driving, "feedback_weights", rows ? rows.feedbackWeights : feedbackWeights?.data),
      ...(rows
        ? [to("uint8_t", "exponents", rows.exponents), to("int32_t", "bias", rows.bias), to("uint16_t", "leak", leakOf(rows.leakRate))]
        : [
            ...[to(precision, "bias", unlessZero(bias)), to(precision, "leak", leakOf(leakRate)), to(precision, "keep", cell?.keep)],
            to(precision, "orthogonal", cell?.orthogonal?.data),
          ]),
      ...[to("float64", "noise", noiseLevel === 0 ? [] : [noiseLevel]), to("uint32_t", "noise_key", key)],
    ];
  }
}

/** Nothing in the place of zeros. */
const unlessZero = (values: ArrayLike<number>): ArrayLike<number> =>
  Array.from(values).every((value) => Object.is(value, 0)) ? [] : values;

/** The upper 16 bits of numbers of 8 significant bits. */
function upperHalves(values: ArrayLike<number>): Uint16Array {
  const words = new Uint32Array(Float32Array.from(values).buffer);
  return Uint16Array.from(words, (word) => word >>> 16);
}
