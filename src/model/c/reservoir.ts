// The constants of a reservoir in C: which fields its struct has, and what stands in them.
import { isSparse, type Precision } from "../../numerics/index.js";
import type { Activation, ReservoirModel } from "../../reservoir/index.js";
import { unit } from "../../reservoir/integer/step.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import type { Constants } from "./constants.js";
import type { Part } from "./refuse.js";
import { activationFunctions, inIntegers, type Needs, type WeightStorage } from "./step.js";
import type { ArrayType } from "./text.js";

/** The smallest type that holds the columns of every sparse W. */
export function columnType(parts: readonly Part[]): ArrayType {
  const most = Math.max(...parts.map(({ model }) => model.size));
  return most <= 256 ? "uint8_t" : most <= 65536 ? "uint16_t" : "uint32_t";
}

/** What a program needs for the reservoirs of its members. */
export function reservoirNeeds(members: readonly (readonly Part[])[]): Omit<Needs, "squareHalf" | "squares" | "sees"> {
  const parts = members.flat();
  const models = parts.map(({ model }) => model);
  return {
    storage: storedAs(models),
    dense: models.some(({ weights }) => !isSparse(weights)),
    sparse: models.some(({ weights }) => isSparse(weights)),
    keeps: models.some(({ cell }) => cell !== undefined),
    orthogonal: models.some(({ cell }) => cell?.orthogonal !== undefined),
    noise: models.some(({ noiseLevel }) => noiseLevel !== 0),
    composite: members.some((own) => own.length > 1 || own[0]!.channels !== undefined),
    feedback: models.some(({ outputSize }) => outputSize > 0),
    inputs: models.some(({ inputSize }) => inputSize > 0),
  };
}

function storedAs(models: readonly ReservoirModel[]): WeightStorage {
  const every = (precision: string) => models.every(({ config }) => config.weightPrecision === precision);
  if (models[0]!.config.arithmetic === "integer") return every("int8") ? "int8_t" : "int16_t";
  return every("bfloat16") ? "bfloat16" : "real";
}

/** States as a program has them. */
export function statesAs(model: ReservoirModel, values: ArrayLike<number>): readonly [ArrayType, ArrayLike<number>] {
  return model.config.arithmetic === "integer" ? ["int16_t", Array.from(values, (value) => value * unit)] : [model.precision, values];
}

/** The values of a member's reservoirs before the first step, side by side. */
export const initialOf = (parts: readonly Part[]): number[] => parts.flatMap(({ model }) => [...model.initialState]);

/**
 * The fields that a member of a program has first: its reservoirs, and the neurons of all and of
 * those that are read.
 */
export const memberFields = ["const reservoir *parts;", "int count, width, size;", "const neuron *initial_state;"] as const;

/**
 * The reservoirs of a program: their struct, their constants, and what each member says of its own.
 */
export class Reservoirs {
  readonly #needs: Needs;
  readonly #constants: Constants;
  readonly #activations: readonly Activation[];
  readonly #columns: ArrayType;
  readonly #seen: number;
  readonly #rows: string[] = [];

  constructor(parts: readonly Part[], needs: Needs, constants: Constants) {
    this.#needs = needs;
    this.#constants = constants;
    this.#activations = [...new Set(parts.map(({ model }) => model.activation))];
    this.#columns = columnType(parts);
    this.#seen = Math.max(1, ...parts.map(({ model }) => model.inputSize));
  }

  /** The struct, and the activation functions. */
  get types(): string {
    const { composite, feedback, inputs, keeps, noise, orthogonal, sparse } = this.#needs;
    const integers = inIntegers(this.#needs);
    const driving = integers ? "int16_t" : "real";
    const fields = [
      "int size, activation;",
      ...(composite ? ["int inputs, above;", "const uint32_t *channels;"] : []),
      "const weight *weights;",
      ...(sparse ? ["const uint32_t *row_offsets;", `const ${this.#columns} *columns;`] : []),
      ...(inputs ? [`const ${driving} *input_weights;`] : []),
      ...(feedback ? [`const ${driving} *feedback_weights;`] : []),
      ...(integers ? ["const uint8_t *exponents;", "const int32_t *bias;", "const uint16_t *leak;"] : ["const real *bias, *leak;"]),
      ...(keeps ? [`const real *keep${orthogonal ? ", *orthogonal" : ""};`] : []),
      ...(noise ? ["double noise;", "uint32_t noise_key[2];"] : []),
    ];
    const most = composite && integers ? `enum { MOST_SEEN = ${this.#seen} };\n` : "";
    return `${most}typedef struct {\n${fields.map((field) => `  ${field}`).join("\n")}\n} reservoir;\n`;
  }

  /** f(z); none in integers. */
  activations(precision: Precision): string {
    return inIntegers(this.#needs) ? "" : activationFunctions(this.#activations, precision);
  }

  /** All of them, once every member is added. */
  get constants(): string {
    return `static const reservoir reservoirs[${this.#rows.length}] = {\n${this.#rows.join("\n")}\n};\n`;
  }

  /** What stands in the first fields of a member. */
  add(parts: readonly Part[], size: number, name: string): readonly (readonly (string | number)[])[] {
    const from = this.#rows.length;
    for (const [p, part] of parts.entries())
      this.#rows.push(
        `  { ${this.#values(part, parts.length > 1 ? `${name}_${p}` : name)
          .map((each) => each.join(", "))
          .join(",\n    ")} },`,
      );
    const width = parts.reduce((sum, { model }) => sum + model.size, 0);
    const [type, initial] = statesAs(parts[0]!.model, initialOf(parts));
    return [[`reservoirs + ${from}`, parts.length, width, size], [this.#constants.add(type, `initial_state_${name}`, initial)]];
  }

  #values({ model, channels, isAbove }: Part, name: string): readonly (readonly (string | number)[])[] {
    const needs = this.#needs;
    const { precision, size, weights, inputWeights, feedbackWeights, bias, leakRate, cell, noiseLevel, noiseKey } = model;
    const add = (type: ArrayType, what: string, values: ArrayLike<number> | undefined) =>
      this.#constants.add(type, `${what}_${name}`, values);
    const rows = inIntegers(needs) ? integerRows(model) : undefined;
    const values = isSparse(weights) ? weights.values : weights.data;
    const stored = rows
      ? add(needs.storage as "int8_t" | "int16_t", "weights", rows.weights)
      : needs.storage === "bfloat16"
        ? add("uint16_t", "weights", upperHalves(values))
        : add(precision, "weights", values);
    const driving = rows ? "int16_t" : precision;
    const ofSparse = () =>
      isSparse(weights) ? [add("uint32_t", "row_offsets", weights.rowOffsets), add(this.#columns, "columns", weights.columns)] : [0, 0];
    return [
      [size, this.#activations.indexOf(model.activation)],
      ...(needs.composite ? [[model.inputSize, Number(isAbove), add("uint32_t", "channels", channels)]] : []),
      [stored],
      ...(needs.sparse ? [ofSparse()] : []),
      ...(needs.inputs ? [[add(driving, "input_weights", rows?.inputWeights ?? inputWeights.data)]] : []),
      ...(needs.feedback ? [[add(driving, "feedback_weights", rows?.feedbackWeights ?? feedbackWeights?.data)]] : []),
      rows
        ? [add("uint8_t", "exponents", rows.exponents), add("int32_t", "bias", rows.bias), add("uint16_t", "leak", rows.leakRate)]
        : [add(precision, "bias", bias), add(precision, "leak", leakRate)],
      ...(needs.keeps
        ? [[add(precision, "keep", cell?.keep), ...(needs.orthogonal ? [add(precision, "orthogonal", cell?.orthogonal?.data)] : [])]]
        : []),
      ...(needs.noise ? [[this.#constants.number(noiseLevel), `{ ${Array.from(noiseKey, (word) => `${word >>> 0}u`).join(", ")} }`]] : []),
    ];
  }
}

/** The upper 16 bits of numbers of 8 significant bits. */
function upperHalves(values: ArrayLike<number>): Uint16Array {
  const words = new Uint32Array(Float32Array.from(values).buffer);
  return Uint16Array.from(words, (word) => word >>> 16);
}
