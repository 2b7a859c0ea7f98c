// A forecaster of one reservoir in integers as a program: no number in it is floating-point.
// docs/numerics.md, rule 18.
import { ArgumentError } from "@spillway/core/errors.js";
import { isSparse } from "@spillway/numerics";
import { inputSteps, inputUnit, unit } from "../../reservoir/integer/step.js";
import { tanhTable } from "../../reservoir/integer/tanh.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import type { ForecasterParts, MemberFile } from "../forecaster/file.js";
import { readoutExponent } from "../integer-readout.js";
import { columnsOf, type Standardisation, sameStandardisation } from "../standardisation.js";
import { Constants, type Field, nowhere, type Program } from "./constants.js";
import type { ExportedParts } from "./parts.js";
import type { ProgramNote } from "./program.js";
import { checkMembers, type RateMember } from "./refuse.js";
import { columnType } from "./reservoir.js";
import { type ArrayType, headerText, lines } from "./text.js";

const refuse = (what: string, field: string) => ArgumentError.because(`the model ${what}, which C in integers does not hold`, { field });

/**
 * Whether a forecaster can be written without a real number: one member in integers, whose readout
 * sees the state alone, of a series as it is.
 */
export function isWhollyInteger({ members, combination }: ExportedParts): boolean {
  if (combination) return false;
  const [{ model, readout, preprocessing, lags }, ...others] = members as [MemberFile];
  if (model.kind !== undefined || model.config.arithmetic !== "integer" || others.length > 0) return false;
  const { features, outputSize } = readout;
  if (lags > 0 || preprocessing.known > 0 || preprocessing.transforms.steps.length > 0) return false;
  if (features.input || features.squares || features.state !== "plain") return false;
  const feedsInputs = model.outputSize === 0 && model.inputSize >= outputSize;
  return !feedsInputs || sameStandardisation(columnsOf(preprocessing.inputScale, 0, outputSize), preprocessing.targetScale);
}

/** What the program depends on. */
type Plan = ReturnType<typeof planOf>;

function planOf(parts: ForecasterParts) {
  const member = checkMembers(parts)[0]!;
  const { readout, preprocessing } = member;
  const { model } = member.parts[0]!;
  const feedback = model.outputSize > 0;
  const outputs = readout.outputSize;
  const closes = feedback || model.inputSize >= outputs;
  const held = closes && parts.settings.hold && preprocessing.held !== undefined;
  const rows = integerRows(model);
  const [leak] = rows.leakRate;
  return {
    ...{ member, model, rows, outputs, feedback, held },
    /** Columns that come from outside in a closed loop; undefined if there is none. */
    outside: closes ? model.inputSize - (feedback ? 0 : outputs) : undefined,
    answers: answersOf(member, held),
    /** Bits of the fraction of the scales' means. */
    fraction: fractionOf([preprocessing.inputScale, preprocessing.targetScale]),
    /** The leak rate of all neurons, if it is one. */
    leak: rows.leakRate.every((value) => value === leak) ? leak : undefined,
    hasBias: model.bias.some((value) => value !== 0),
    isInitial: model.initialState.some((value) => value !== 0),
  };
}

/** @throws ArgumentError for what C in integers does not hold */
export function cIntegers(parts: ForecasterParts, { name, version }: ProgramNote): Program {
  const plan = planOf(parts);
  const { model, outputs, feedback, held, outside, answers, leak, hasBias, isInitial } = plan;
  const title = `Written by Spillway ${version}: a forecaster of ${outputs} output${outputs === 1 ? "" : "s"}, in integers.`;
  return {
    ...{ kind: "integers", title, header: headerOf(name, plan, title), ...arraysOf(plan), declarations: [] },
    numbers: {
      ...{ SIZE: model.size, INPUTS: model.inputSize, OUTPUTS: outputs, LEAK: leak ?? 0, OUTSIDE: outside ?? 0 },
      ...{ VALUE_SHIFT: answers.fraction - valueBits, FED_SHIFT: answers.fraction - inputBits },
      ...{ FEEDBACK: Number(feedback), HOLDS: Number(held), CLOSES: Number(outside !== undefined), BIAS: Number(hasBias) },
      ...{ FINER: Number(isFiner(answers)), SPARSE: Number(isSparse(model.weights)), INITIAL: Number(isInitial) },
    },
    flags: new Set(),
    files: [null, "integers.c"],
  };
}

const isFiner = ({ finer }: Answers): boolean => finer.some((bits) => bits > 0);

/** The arrays of a program, and the fields that point to them. */
function arraysOf({ member, model, rows, feedback, held, answers, fraction, leak, hasBias, isInitial }: Plan) {
  const constants = new Constants();
  const pointers: Record<string, Field> = {};
  const add = (type: ArrayType, array: string, values: ArrayLike<number | bigint> | undefined) => {
    const to = constants.add(type, array, values);
    pointers[array] = to === undefined ? nowhere : { to };
  };
  const { weights } = model;
  const { preprocessing, state } = member;
  const steps = 2 ** fraction;
  const addScale = (of: "input" | "target", mean: ArrayLike<number>, factors: readonly number[]) => {
    const shifted = factors.map(factorOf);
    add(
      "int32_t",
      `${of}_means`,
      Array.from(mean, (each) => Math.round(each * steps)),
    );
    add(
      "int32_t",
      `${of}_factors`,
      Array.from(shifted, ({ multiplier }) => multiplier),
    );
    add(
      "uint8_t",
      `${of}_shifts`,
      Array.from(shifted, ({ shift }) => shift),
    );
  };
  const { inputScale, targetScale } = preprocessing;
  const inputFactors = Array.from(inputScale.deviation, (each) => inputUnit / (each * steps));
  const targetFactors = Array.from(targetScale.deviation, (each) => (each * steps) / 2 ** valueBits);
  if (model.inputSize > 0) addScale("input", inputScale.mean, inputFactors);
  addScale("target", targetScale.mean, targetFactors);
  add("int16_t", "tanh_table", tanhTable);
  add(model.config.weightPrecision === "int8" ? "int8_t" : "int16_t", "weights", rows.weights);
  add("uint8_t", "exponents", rows.exponents);
  if (hasBias) add("int32_t", "bias", rows.bias);
  if (!leak) add("uint16_t", "leak", rows.leakRate);
  if (isSparse(weights)) {
    add(weights.values.length < 65536 ? "uint16_t" : "uint32_t", "row_offsets", weights.rowOffsets);
    add(columnType([{ model, isAbove: false }]), "columns", weights.columns);
  }
  if (model.inputSize > 0) add("int16_t", "input_weights", rows.inputWeights);
  if (feedback) add("int16_t", "feedback_weights", rows.feedbackWeights);
  add("int32_t", "readout", answers.weights);
  add("int64_t", "intercept", answers.intercept);
  if (isFiner(answers)) add("uint8_t", "finer", answers.finer);
  if (held) {
    add("int64_t", "lower", answers.lower);
    add("int64_t", "upper", answers.upper);
  }
  const whole = (values: ArrayLike<number>) => Array.from(values, (value) => value * unit);
  add("int16_t", "trained_state", whole(state.reservoir.values));
  if (isInitial) add("int16_t", "initial_state", whole(model.initialState));
  if (feedback) add("int16_t", "trained_fed", Array.from(state.reservoir.output, inputSteps));
  return { constants, pointers };
}

/** Inputs and outputs that are fed back are steps of 2^-12. */
const inputBits = 12;

/** Outputs go through steps of 2^-16 of a deviation. */
const valueBits = 16;

/** The readout in whole numbers. */
interface Answers {
  readonly weights: readonly number[];
  /** In steps of 2^-(e + 15), e being the output's own. */
  readonly intercept: readonly number[];
  /** Bits that each output's sums lack of `fraction`. */
  readonly finer: readonly number[];
  /** Outputs are whole numbers of 2^-fraction. */
  readonly fraction: number;
  readonly lower: readonly bigint[];
  readonly upper: readonly bigint[];
}

function answersOf({ readout, preprocessing }: RateMember, isHeld: boolean): Answers {
  const outputs = Array.from({ length: readout.outputSize }, (_, o) => {
    const row = Array.from(readout.weights.row(o));
    const e = readoutExponent(row, readout.intercept[o]!);
    const weights = row.map((value) => value * 2 ** e);
    const intercept = readout.intercept[o]! * 2 ** (e + 15);
    if (![...weights, intercept].every(Number.isInteger)) throw refuse("has a readout that is not rounded to 24 bits", "readout");
    const bounds = isHeld
      ? [preprocessing.held!.lower[o]!, preprocessing.held!.upper[o]!].map((value) => inFloat(value, preprocessing.targetScale, o))
      : [];
    const most = weights.reduce((sum, value) => sum + Math.abs(value) * 2 ** 15, Math.abs(intercept)) / 2 ** (e + 15);
    return { weights, intercept, bits: e + 15, bounds, most };
  });
  const fraction = Math.max(...outputs.flatMap(({ bits, bounds }) => [bits, ...bounds.map(fractionBits)]));
  for (const { most, bounds } of outputs)
    if (Math.max(most, ...bounds.map(Math.abs)) * 2 ** fraction >= 2 ** 62)
      throw refuse(
        "has outputs of too different sizes for 64 bits, or holds them in a range too near to 0 (hold: false leaves them free)",
        "hold",
      );
  return {
    weights: outputs.flatMap(({ weights }) => weights),
    intercept: outputs.map(({ intercept }) => intercept),
    finer: outputs.map(({ bits }) => fraction - bits),
    fraction,
    lower: outputs.map(({ bounds }) => exactSteps(bounds[0] ?? 0, fraction)),
    upper: outputs.map(({ bounds }) => exactSteps(bounds[1] ?? 0, fraction)),
  };
}

/** A bound in scores, as a held output has it. */
const inFloat = (value: number, { mean, deviation }: Standardisation, o: number): number => Math.fround((value - mean[o]!) / deviation[o]!);

/** How many bits a number has behind the point. */
function fractionBits(value: number): number {
  let bits = 0;
  while (!Number.isInteger(value * 2 ** bits)) bits++;
  return bits;
}

/** value 2^exponent of a binary32 number for which that is whole. */
const exactSteps = (value: number, exponent: number): bigint => {
  const bits = fractionBits(value);
  return BigInt(value * 2 ** bits) << BigInt(exponent - bits);
};

/** The bits behind the point that values in the units of the data have in 32 bits. */
function fractionOf(scales: readonly Standardisation[]): number {
  let most = 0;
  for (const { mean, deviation } of scales)
    for (let c = 0; c < mean.length; c++) most = Math.max(most, Math.abs(mean[c]!) + 16 * deviation[c]!);
  let fraction = 30;
  while (most * 2 ** fraction > 2 ** 30) fraction--;
  return fraction;
}

/** A factor as M 2^-S with M of 30 bits. */
function factorOf(value: number): { readonly multiplier: number; readonly shift: number } {
  let shift = 0;
  while (value * 2 ** shift < 2 ** 29 && shift < 62) shift++;
  if (shift < 1 || shift > 61)
    throw refuse("has a deviation of its data that is too small beside its mean, or beside another's", "standardise");
  return { multiplier: Math.round(value * 2 ** shift), shift };
}

/** NAME.h */
function headerOf(name: string, { model, outputs, feedback, outside, fraction, answers }: Plan, title: string): string {
  const upper = name.toUpperCase();
  const inBrackets = (bits: number) => (bits < 0 ? `(${bits})` : bits);
  const { size, inputSize } = model;
  const input = lines(inputSize > 0, "const int16_t *input, ");
  const takes = (outside ?? 0) > 0 ? "const int16_t *input, " : "";
  const declared = [
    `/* Goes to the position of the trained model, after the last row that it took. */
void ${name}_begin(${name}_state *state);`,
    `/* Goes to the initial state, before any row. */
void ${name}_reset(${name}_state *state);`,
    `/* Takes a row and gives the prediction that it leads to${lines(feedback, ", which is fed back")}. \`output\` may be null${lines(feedback, ": then nothing new is fed back")}. */
void ${name}_predict(${name}_state *state, ${input}int64_t *output);`,
    ...(feedback
      ? [
          `/* Takes a row, and in place of the model's own outputs the true ones as scores of 2^-12. */
void ${name}_teach(${name}_state *state, ${input}const int16_t *target);`,
        ]
      : []),
    ...(outside === undefined
      ? []
      : [
          `/* Closed loop: the outputs of the next \`steps\` steps, row by row, each fed back${lines(outside > 0, `; \`input\` has ${outside} scores a step`)}. */
void ${name}_forecast(${name}_state *state, int steps, ${takes}int64_t *output);`,
        ]),
    ...(inputSize > 0
      ? [
          `/* A row as scores, from values in steps of 2^-${upper}_FRACTION of the data's units. */
void ${name}_scores(const int32_t *values, int16_t *input);`,
        ]
      : []),
    `/* Outputs as values in steps of 2^-${upper}_FRACTION of the data's units. */
void ${name}_values(const int64_t *output, int32_t *values);`,
  ];
  const comment = `${title}
   Rows are scores in steps of 2^-12, (value - mean) / deviation, -8 to 8. Outputs are scores in
   steps of 2^-${upper}_OUTPUT_FRACTION. No call allocates, and no number is floating-point.`;
  const body = `/* Bits behind the point of values in the units of the data, and of outputs. */
#define ${upper}_FRACTION ${inBrackets(fraction)}
#define ${upper}_OUTPUT_FRACTION ${inBrackets(answers.fraction)}

typedef struct {
  int16_t x[${size}];
  int16_t next[${size}];
${lines(feedback, `  int16_t fed[${outputs}];\n`)}} ${name}_state;

${declared.join("\n\n")}
`;
  return headerText(name, { comment, integers: true, body });
}
