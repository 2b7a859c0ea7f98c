// A forecaster of one reservoir in integers as one C source and its header: no number in it is
// floating-point. docs/numerics.md, rule 18. Such steps beside real numbers stand in
// integer-step.ts.
import { ArgumentError } from "../../core/errors.js";
import { isSparse } from "../../numerics/index.js";
import type { ReservoirModel } from "../../reservoir/index.js";
import { inputSteps, inputUnit, unit } from "../../reservoir/integer/step.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import type { ForecasterParts, MemberFile } from "../forecaster/file.js";
import { readoutExponent } from "../integer-readout.js";
import { columnsOf, type Standardisation, sameStandardisation } from "../standardisation.js";
import { Constants, type CProgram } from "./constants.js";
import { shiftFunction, tanhFunction } from "./integer-step.js";
import type { ProgramNote } from "./program.js";
import { checkMembers, type Part, type RateMember } from "./refuse.js";
import { columnType } from "./reservoir.js";
import type { ArrayType } from "./text.js";

const lines = (isThere: boolean, text: string): string => (isThere ? text : "");

const refuse = (what: string, field: string) => ArgumentError.because(`the model ${what}, which C in integers does not hold`, { field });

/**
 * Whether a forecaster can be written without a real number: one member in integers, whose readout
 * sees the state alone, of a series as it is.
 */
export function isWhollyInteger({ members }: ForecasterParts): boolean {
  const [{ model, readout, road, lags }, ...others] = members as [MemberFile];
  if (model.kind !== undefined || model.config.arithmetic !== "integer" || others.length > 0) return false;
  const { features, outputSize } = readout;
  if (lags > 0 || road.known > 0 || road.transforms.steps.length > 0) return false;
  if (features.input || features.squares || features.state !== "plain") return false;
  const feedsInputs = model.outputSize === 0 && model.inputSize >= outputSize;
  return !feedsInputs || sameStandardisation(columnsOf(road.inputScale, 0, outputSize), road.targetScale);
}

/** What the program depends on. */
interface Plan {
  readonly name: string;
  readonly model: ReservoirModel;
  readonly outputs: number;
  readonly feedback: boolean;
  /** Columns that come from outside in a closed loop; undefined if there is none. */
  readonly outside: number | undefined;
  readonly held: boolean;
}

/** @throws ArgumentError for what C in integers does not hold */
export function cIntegers(parts: ForecasterParts, { name, version }: ProgramNote): CProgram {
  const members = checkMembers(parts);
  const member = members[0]!;
  const {
    readout,
    road,
    parts: [{ model }],
  } = member as { parts: [Part] } & RateMember;
  const feedback = model.outputSize > 0;
  const outputs = readout.outputSize;
  const closes = feedback || model.inputSize >= outputs;
  const outside = closes ? (feedback ? model.inputSize : model.inputSize - outputs) : undefined;
  const held = closes && parts.settings.hold && road.held !== undefined;
  const plan: Plan = { name, model, outputs, feedback, outside, held };
  const answers = answersOf(member, held);
  const fraction = fractionOf([road.inputScale, road.targetScale]);
  const title = `Written by Spillway ${version}: a forecaster of ${outputs} output${outputs === 1 ? "" : "s"}, in integers.`;
  const constants = new Constants();
  const functions = [
    shiftFunctions,
    lines(model.inputSize > 0, scoresFunction(name, road.inputScale, fraction, constants)),
    valuesFunction(name, road.targetScale, answers.fraction, fraction, constants),
    tanhFunction(constants),
    advanceFunction(plan, constants),
    answerFunction(answers, held, constants),
    callsOf(plan, member, answers.fraction, constants),
  ];
  const declarations = [
    `/* ${title} */\n#include <stddef.h>\n#include <stdint.h>\n#include "${name}.h"\n`,
    `enum { SIZE = ${model.size}, INPUTS = ${model.inputSize}, OUTPUTS = ${outputs} };\n`,
  ];
  return { header: headerOf(plan, title, fraction, answers.fraction), declarations, constants, functions };
}

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

function answersOf({ readout, road }: RateMember, isHeld: boolean): Answers {
  const outputs = Array.from({ length: readout.outputSize }, (_, o) => {
    const row = Array.from(readout.weights.row(o));
    const e = readoutExponent(row, readout.intercept[o]!);
    const weights = row.map((value) => value * 2 ** e);
    const intercept = readout.intercept[o]! * 2 ** (e + 15);
    if (![...weights, intercept].every(Number.isInteger)) throw refuse("has a readout that is not rounded to 24 bits", "readout");
    const bounds = isHeld ? [road.held!.lower[o]!, road.held!.upper[o]!].map((value) => inFloat(value, road.targetScale, o)) : [];
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

/** Constants of a scale, by the names that C has for them: means in steps, factors as M 2^-S. */
function scaleConstants(of: "input" | "target", mean: ArrayLike<number>, steps: number, factors: readonly number[], constants: Constants) {
  const shifted = factors.map(factorOf);
  const whole = Array.from(mean, (each) => Math.round(each * steps));
  const means = constants.add("int32_t", `${of}_means`, whole);
  const multipliers = constants.add(
    "int32_t",
    `${of}_factors`,
    shifted.map(({ multiplier }) => multiplier),
  );
  const shifts = constants.add(
    "uint8_t",
    `${of}_shifts`,
    shifted.map(({ shift }) => shift),
  );
  return { means, multipliers, shifts };
}

const shiftFunctions = `${shiftFunction}static int64_t wide_shifted(int64_t value, int by) { return value < 0 ? ~(~value >> by) : value >> by; }

/* value / 2^by to the nearest, halves up, held within \`most\`. */
static int64_t rounded_by(int64_t value, int by, int64_t most)
{
  const int64_t out = by > 0 ? wide_shifted(value + ((int64_t)1 << (by - 1)), by) : value * ((int64_t)1 << -by);
  return out > most ? most : out < -most ? -most : out;
}
`;

function scoresFunction(name: string, { mean, deviation }: Standardisation, fraction: number, constants: Constants): string {
  const steps = 2 ** fraction;
  const factors = Array.from(deviation, (each) => inputUnit / (each * steps));
  const { means, multipliers, shifts } = scaleConstants("input", mean, steps, factors, constants);
  return `void ${name}_scores(const int32_t *values, int16_t *input)
{
  int i;
  for (i = 0; i < INPUTS; i++)
    input[i] = (int16_t)rounded_by(((int64_t)values[i] - ${means}[i]) * ${multipliers}[i], ${shifts}[i], 32767);
}
`;
}

/** Inputs and outputs that are fed back are steps of 2^-12. */
const inputBits = 12;

/** Outputs go through steps of 2^-16 of a deviation. */
const valueBits = 16;

function valuesFunction(
  name: string,
  { mean, deviation }: Standardisation,
  outputFraction: number,
  fraction: number,
  constants: Constants,
): string {
  const steps = 2 ** fraction;
  const factors = Array.from(deviation, (each) => (each * steps) / 2 ** valueBits);
  const { means, multipliers, shifts } = scaleConstants("target", mean, steps, factors, constants);
  return `void ${name}_values(const int64_t *output, int32_t *values)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) {
    const int64_t scores = rounded_by(output[o], ${outputFraction - valueBits}, INT32_MAX);
    values[o] = (int32_t)rounded_by(${means}[o] + rounded_by(scores * ${multipliers}[o], ${shifts}[o], INT64_MAX / 2), 0, INT32_MAX);
  }
}
`;
}

function advanceFunction({ name, model, feedback }: Plan, constants: Constants): string {
  const { weights, inputSize } = model;
  const rows = integerRows(model);
  const byte = model.config.weightPrecision === "int8";
  const ownBias = model.bias.some((value) => value !== 0);
  const [leak] = rows.leakRate;
  const sameLeak = rows.leakRate.every((value) => value === leak);
  const small = isSparse(weights) && weights.values.length < 65536;
  const add = (type: ArrayType, what: string, values: ArrayLike<number>) => constants.add(type, what, values);
  const w = add(byte ? "int8_t" : "int16_t", "weights", rows.weights);
  const e = add("uint8_t", "exponents", rows.exponents);
  const bias = ownBias ? `${add("int32_t", "bias", rows.bias)}[r]` : `((1 << ${e}[r]) >> 1)`;
  const leakOf = sameLeak ? String(leak) : `(int32_t)${add("uint16_t", "leak", rows.leakRate)}[r]`;
  const offsets = isSparse(weights) ? add(small ? "uint16_t" : "uint32_t", "row_offsets", weights.rowOffsets) : "";
  const columns = isSparse(weights) ? add(columnType([{ model, isAbove: false }]), "columns", weights.columns) : "";
  const product = isSparse(weights)
    ? `    for (p = ${offsets}[r]; p < ${offsets}[r + 1]; p++) sum += (int32_t)${w}[p] * state->x[${columns}[p]];`
    : `    for (p = 0; p < SIZE; p++) sum += (int32_t)${w}[(uint32_t)r * SIZE + p] * state->x[p];`;
  const driven = (array: string, count: string, vector: string) =>
    `    for (i = 0; i < ${count}; i++) sum += (int32_t)${array}[r * ${count} + i] * ${vector}[i];\n`;
  const inputs = inputSize > 0 ? driven(add("int16_t", "input_weights", rows.inputWeights), "INPUTS", "u") : "";
  const fed = feedback ? driven(add("int16_t", "feedback_weights", rows.feedbackWeights), "OUTPUTS", "state->fed") : "";
  return `/* x' = x + a (tanh(b + W_in u + W x${lines(feedback, " + W_fb y")}) - x). No sum leaves 32 bits: weights were made so. */
static void advance(${name}_state *state${lines(inputSize > 0, ", const int16_t *u")})
{
  int r${lines(inputSize > 0 || feedback, ", i")};
  uint32_t p;
  for (r = 0; r < SIZE; r++) {
    const int32_t before = state->x[r];
    int32_t sum = 0;
${inputs}${fed}    sum = sum * 8 + ${bias};
${product}
    sum = tanh_of(shifted(sum, ${e}[r]));
    state->next[r] = (int16_t)(before + shifted(${leakOf} * (sum - before) + 16384, 15));
  }
  for (r = 0; r < SIZE; r++) state->x[r] = state->next[r];
}
`;
}

function answerFunction({ weights, intercept, finer, lower, upper }: Answers, isHeld: boolean, constants: Constants): string {
  const w = constants.add("int32_t", "readout", weights);
  const c = constants.add("int64_t", "intercept", intercept);
  const more = finer.some((bits) => bits > 0) ? ` * ((int64_t)1 << ${constants.add("uint8_t", "finer", finer)}[o])` : "";
  const [least, most] = !isHeld ? ["", ""] : [constants.add("int64_t", "lower", lower), constants.add("int64_t", "upper", upper)];
  const hold = !isHeld
    ? ""
    : `
/* Holds outputs in their range. */
static void hold(int64_t *output)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) {
    if (output[o] < ${least}[o]) output[o] = ${least}[o];
    if (output[o] > ${most}[o]) output[o] = ${most}[o];
  }
}
`;
  return `/* A sum as binary32 holds it: its first 24 bits, to nearest even. */
static int64_t in_24_bits(int64_t sum)
{
  uint64_t size = sum < 0 ? (uint64_t)-sum : (uint64_t)sum, rest, half;
  int by = 0;
  while (size >> by >> 24 != 0) by++;
  if (by == 0) return sum;
  half = (uint64_t)1 << (by - 1);
  rest = size & (half * 2 - 1);
  size = (size >> by) + (rest > half || (rest == half && (size >> by & 1) != 0));
  return sum < 0 ? -(int64_t)(size << by) : (int64_t)(size << by);
}

/* What the readout makes of the state. */
static void answer(const int16_t *x, int64_t *output)
{
  int o, k;
  for (o = 0; o < OUTPUTS; o++) {
    int64_t sum = ${c}[o];
    for (k = 0; k < SIZE; k++) sum += (int64_t)${w}[o * SIZE + k] * x[k];
    output[o] = in_24_bits(sum)${more};
  }
}
${hold}`;
}

function callsOf({ name, model, feedback, outside, held }: Plan, { state }: RateMember, fraction: number, constants: Constants): string {
  const { inputSize } = model;
  const steps = (values: ArrayLike<number>) => Array.from(values, (value) => value * unit);
  const loops = feedback || outside !== undefined;
  const fed = (values: string) => (feedback ? `\n  for (r = 0; r < OUTPUTS; r++) state->fed[r] = ${values};` : "");
  const begin = (call: string, from: string, values: string) => `void ${name}_${call}(${name}_state *state)
{
  int r;
  for (r = 0; r < SIZE; r++) state->x[r] = ${from};${fed(values)}
}
`;
  const started = constants.add("int16_t", "state_there", steps(state.reservoir.values));
  const initial = model.initialState.some((value) => value !== 0)
    ? `${constants.add("int16_t", "initial_state", steps(model.initialState))}[r]`
    : "0";
  const standing = feedback ? `${constants.add("int16_t", "fed_there", Array.from(state.reservoir.output, inputSteps))}[r]` : "0";
  const input = lines(inputSize > 0, "const int16_t *input, ");
  const step = `advance(state${lines(inputSize > 0, ", input")});`;
  const feed = `
/* Outputs as they are fed back: in steps of 2^-12. */
static void feed(const int64_t *output, int16_t *fed)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) fed[o] = (int16_t)rounded_by(output[o], ${fraction - inputBits}, 32767);
}
`;
  const predict = `void ${name}_predict(${name}_state *state, ${input}int64_t *output)
{
  ${step}
  if (output) ${feedback ? "{\n    answer(state->x, output);\n    feed(output, state->fed);\n  }" : "answer(state->x, output);"}
}
`;
  const teach = `void ${name}_teach(${name}_state *state, ${input}const int16_t *target)
{
  int o;
  ${step}
  for (o = 0; o < OUTPUTS; o++) state->fed[o] = target[o];
}
`;
  const body = feedback
    ? `    ${step}
    answer(state->x, output);${lines(held, "\n    hold(output);")}
    feed(output, state->fed);${lines(inputSize > 0, "\n    input += INPUTS;")}`
    : `    answer(state->x, output);${lines(held, "\n    hold(output);")}
    feed(output, u);${lines((outside ?? 0) > 0, "\n    for (i = OUTPUTS; i < INPUTS; i++) u[i] = *input++;")}
    advance(state, u);`;
  const takes = (outside ?? 0) > 0 ? "const int16_t *input, " : "";
  const forecast = `void ${name}_forecast(${name}_state *state, int steps, ${takes}int64_t *output)
{
  int t${lines(!feedback && (outside ?? 0) > 0, ", i")};
${lines(!feedback, "  int16_t u[INPUTS];\n")}  for (t = 0; t < steps; t++, output += OUTPUTS) {
${body}
  }
}
`;
  return [
    begin("begin", `${started}[r]`, standing),
    begin("reset", initial, "0"),
    lines(loops, feed),
    predict,
    lines(feedback, teach),
    lines(outside !== undefined, forecast),
  ]
    .filter((text) => text !== "")
    .join("\n");
}

/** NAME.h */
function headerOf({ name, model, outputs, feedback, outside }: Plan, title: string, fraction: number, outputFraction: number): string {
  const upper = name.toUpperCase();
  const { size, inputSize } = model;
  const input = lines(inputSize > 0, "const int16_t *input, ");
  const takes = (outside ?? 0) > 0 ? "const int16_t *input, " : "";
  const declared = [
    `/* Goes to where the trained model stands: behind the last row that it has seen. */
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
  return `/* ${title}
   Rows are scores in steps of 2^-12, (value - mean) / deviation, -8 to 8. Outputs are scores in
   steps of 2^-${upper}_OUTPUT_FRACTION. No call allocates, and no number is floating-point. */
#ifndef ${upper}_H
#define ${upper}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits behind the point of values in the units of the data, and of outputs. */
#define ${upper}_FRACTION ${fraction < 0 ? `(${fraction})` : fraction}
#define ${upper}_OUTPUT_FRACTION ${outputFraction < 0 ? `(${outputFraction})` : outputFraction}

typedef struct {
  int16_t x[${size}];
  int16_t next[${size}];
${lines(feedback, `  int16_t fed[${outputs}];\n`)}} ${name}_state;

${declared.join("\n\n")}

#ifdef __cplusplus
}
#endif

#endif
`;
}
