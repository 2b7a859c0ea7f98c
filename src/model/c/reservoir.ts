// The reservoirs of a program: their tables, and what of the runtime they need.
import { isSparse } from "@spillway/numerics";
import type { ReservoirModel } from "../../reservoir/index.js";
import { unit } from "../../reservoir/integer/step.js";
import { tanhTable } from "../../reservoir/integer/tanh.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import { type Constants, type Field, namesOf, nowhere } from "./constants.js";
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

/** What of the runtime some reservoirs need. */
function flagsOf(models: readonly ReservoirModel[], weights: WeightType, isComposite: boolean): string[] {
  if (models.length === 0) return ["DOUBLE"];
  const [{ precision }] = models as [ReservoirModel];
  const integer = isInteger(models[0]!);
  const activations = integer ? [] : models.map(({ activation }) => String(activation));
  const hasTanh = activations.includes("tanh") || activations.includes("sigmoid");
  const isDouble = precision === "float64";
  return namesOf({
    INTEGER: integer,
    DOUBLE: isDouble,
    BFLOAT16: weights === "uint16_t",
    DENSE: models.some((model) => !isSparse(model.weights)),
    SPARSE: models.some((model) => isSparse(model.weights)),
    COMPOSITE: isComposite,
    FEEDBACK: models.some(({ outputSize }) => outputSize > 0),
    NOISE: models.some(({ noiseLevel }) => noiseLevel !== 0),
    CELL: models.some(({ cell }) => cell !== undefined),
    ORTHOGONAL: models.some(({ cell }) => cell?.orthogonal !== undefined),
    TANH_SINGLE: hasTanh && !isDouble,
    TANH_DOUBLE: hasTanh && isDouble,
    ...Object.fromEntries(activationsInC.map((name) => [name.toUpperCase(), activations.includes(name)])),
  });
}

/** How the reservoirs of a program keep W. */
interface Storage {
  readonly weights: WeightType;
  readonly columns: ArrayType;
}

export type Reservoirs = ReturnType<typeof reservoirsOf>;

/** The reservoirs of a program, side by side in one table, and what of the runtime they need. */
export function reservoirsOf(members: readonly (readonly Part[])[], constants: Constants) {
  const parts = members.flat();
  const models = parts.map(({ model }) => model);
  const rows: Field[][] = [];
  if (models.length > 0) constants.tables.push({ name: "reservoirs", type: "reservoir", rows });
  const storage: Storage = { columns: columnType(parts), weights: models.length > 0 ? weightType(models) : "real" };
  const { weights, columns } = storage;
  const flags = flagsOf(
    models,
    weights,
    members.some((own) => own.length > 1 || own[0]!.channels !== undefined),
  );
  const matrices = [...(flags.includes("DENSE") ? ["dense.c"] : []), ...(flags.includes("SPARSE") ? ["sparse.c"] : [])];
  return {
    flags,
    /** The most inputs of any reservoir; one at least. */
    mostInputs: Math.max(1, ...models.map(({ inputSize }) => inputSize)),
    /** Declarations of the C form. */
    declarations:
      models.length === 0
        ? []
        : [
            `typedef ${weights} weight;`,
            `typedef ${typeName(columns)} column;`,
            `#define WEIGHT_OF(w) ${weights === "uint16_t" ? "weight_of(w)" : "(w)"}`,
          ],
    /** Files of the runtime that step them. */
    files: models.length === 0 ? ["numbers.c"] : ["numbers.c", "sums.c", ...matrices, "row.c", "extras.c", "step.c"],
    /** tanh of integers; nowhere without one. */
    tanhTable: (): Field => (models[0] && isInteger(models[0]) ? constants.to("int16_t", "tanh_table", tanhTable) : nowhere),
    /** The first fields of a member: its reservoirs, the neurons of all and of those that are read, the initial state. */
    add(own: readonly Part[], size: number, name: string): readonly Field[] {
      const row = rows.length;
      for (const [p, part] of own.entries()) rows.push(fieldsOf(part, own.length > 1 ? `${name}_${p}` : name, storage, constants));
      const width = own.reduce((sum, { model }) => sum + model.size, 0);
      const initial = own.flatMap(({ model }) => [...model.initialState]);
      const [type, values] = statesAs(own[0]!.model, initial);
      return [{ to: "reservoirs", row }, own.length, width, size, constants.to(type, `initial_state_${name}`, unlessZero(values))];
    },
  };
}

/** The fields of a reservoir's row. */
function fieldsOf({ model, channels, isAbove }: Part, name: string, storage: Storage, constants: Constants): Field[] {
  const { precision, size, inputSize, weights, inputWeights, feedbackWeights, bias, leakRate, cell, noiseLevel, noiseKey } = model;
  const to = (type: ArrayType, what: string, values: ArrayLike<number> | undefined) => constants.to(type, `${what}_${name}`, values);
  const rows = isInteger(model) ? integerRows(model) : undefined;
  const values = isSparse(weights) ? weights.values : weights.data;
  const isHalf = storage.weights === "uint16_t";
  const stored = rows
    ? to(storage.weights as "int8_t" | "int16_t", "weights", rows.weights)
    : to(isHalf ? "uint16_t" : precision, "weights", isHalf ? upperHalves(values) : values);
  const [offsets, columns] = isSparse(weights)
    ? [to("uint32_t", "row_offsets", weights.rowOffsets), to(storage.columns, "columns", weights.columns)]
    : [nowhere, nowhere];
  const width = isSparse(weights) ? 1 + ["uint8_t", "uint16_t", "uint32_t"].indexOf(storage.columns) : 0;
  const driving = rows ? "int16_t" : precision;
  const isUniform = leakRate.every((rate) => rate === leakRate[0]);
  const leakOf = (rates: ArrayLike<number>) => (isUniform ? [rates[0]!] : rates);
  const kind = width + (isHalf || storage.weights === "int8_t" ? 4 : 0);
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

/** No array for zeros. */
const unlessZero = (values: ArrayLike<number>): ArrayLike<number> =>
  Array.from(values).every((value) => Object.is(value, 0)) ? [] : values;

/** The upper 16 bits of numbers of 8 significant bits. */
function upperHalves(values: ArrayLike<number>): Uint16Array {
  const words = new Uint32Array(Float32Array.from(values).buffer);
  return Uint16Array.from(words, (word) => word >>> 16);
}
