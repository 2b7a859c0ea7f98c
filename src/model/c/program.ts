// A forecaster as one C source and its header: its constants, the functions of a step, and the
// calls that a program makes.
import type { CalendarFeature } from "../../series/calendar.js";
import type { ForecasterParts } from "../forecaster/file.js";
import { inScores } from "../forecaster/road.js";
import { sightOf } from "../forecaster/seen.js";
import { columnsOf, inScoresOf, type Standardisation, sameStandardisation, standardised } from "../standardisation.js";
import { calendarFunction } from "./calendar.js";
import { callsOf, headerOf, type Shape } from "./calls.js";
import { activationFunctions, answerFunction, arithmetic, inIntegers, type Needs, numberTypes, stepFunctions } from "./functions.js";
import { checkMembers, checkWeights, type RateMember } from "./refuse.js";
import { Constants, columnType, reservoirFields, reservoirValues, statesAs, storageOf } from "./reservoir.js";
import type { ArrayType } from "./text.js";
import { pastAfter, seenAfter, transformFunctions } from "./transforms.js";

/** What the program is called, and what the parts do not say. */
export interface ProgramNote {
  readonly name: string;
  readonly version: string;
  /** What of the calendar is an input. */
  readonly calendar: readonly CalendarFeature[];
}

/** @throws ArgumentError for what C does not hold */
export function cProgram(parts: ForecasterParts, { name, version, calendar }: ProgramNote): { source: string; header: string } {
  const members = checkMembers(parts);
  checkWeights(members.map(({ model }) => model));
  const shape = { ...shapeOf(name, members, parts), calendar };
  const { precision } = members[0]!.model;
  const needs = needsOf(members);
  const activations = [...new Set(members.map(({ model }) => model.activation))];
  const constants = new Constants();
  const columns = columnType(members.map(({ model }) => model));
  const rows = members.map((member, m) =>
    initialiser(member, m, shape, needs, { activation: activations.indexOf(member.model.activation), columns }, constants),
  );
  const lost = shape.transforms?.lost ?? 0;
  const step = stepFunctions(needs, constants);
  const transforms = shape.transforms ? transformFunctions(shape.transforms, constants) : "";
  const time = calendar.length > 0 ? calendarFunction(name, calendar, constants) : "";
  const title = `Written by Spillway ${version}: a forecaster of ${shape.outputs} output${shape.outputs === 1 ? "" : "s"}.`;
  const source = [
    `/* ${title} */\n#include <float.h>\n#include <stddef.h>\n#include <stdint.h>\n#include "${name}.h"\n`,
    arithmetic,
    numberTypes(precision, needs),
    `enum { MEMBERS = ${members.length}, INPUTS = ${shape.inputs}, OUTPUTS = ${shape.outputs} };\n`,
    memberStruct(needs, columns, lost > 0),
    ...(inIntegers(needs) ? [] : [activationFunctions(activations, precision)]),
    constants.text,
    step,
    answerFunction(needs),
    ...(shape.transforms ? [transforms] : []),
    ...(calendar.length > 0 ? [time] : []),
    `static const member members[MEMBERS] = {\n${rows.join("\n")}\n};\n`,
    callsOf(shape, parts.groups),
  ];
  return { source: source.join("\n"), header: headerOf(shape, title) };
}

/** What of a program its members say. */
export function shapeOf(name: string, members: readonly RateMember[], { settings }: ForecasterParts): Omit<Shape, "calendar"> {
  const [{ model, readout, road }] = members as [RateMember];
  const outputs = readout.outputSize;
  return {
    name,
    precision: model.precision,
    inputs: model.inputSize,
    outputs,
    known: road.known,
    feedback: model.outputSize > 0,
    closes: model.outputSize > 0 || model.inputSize >= outputs,
    sizes: members.map((member) => member.model.size),
    lags: members.map(({ lags }) => lags),
    seenRows: Math.min(...members.map(({ state }) => state.recent.rows)),
    held: settings.hold && members.every((member) => member.road.held !== undefined),
    transforms: road.transforms.steps.length > 0 ? { ...road.transforms, outputs } : undefined,
    integers: model.config.arithmetic === "integer",
    sees: members.some(({ readout: { features } }) => features.input),
  };
}

function needsOf(members: readonly RateMember[]): Needs {
  const [{ model, readout }] = members as [RateMember];
  return {
    ...storageOf(members.map((member) => member.model)),
    feedback: model.outputSize > 0,
    inputs: model.inputSize > 0,
    squareHalf: readout.features.state === "squareHalf",
    squares: readout.features.squares,
    sees: readout.features.input,
  };
}

function memberStruct(needs: Needs, columns: ArrayType, hasPast: boolean): string {
  const fields = [
    ...reservoirFields(needs, columns),
    "int features, seen, lags;",
    "const double *readout, *intercept, *loop_readout, *loop_intercept;",
    ...(needs.inputs ? ["const double *input_mean, *input_deviation;"] : []),
    "const double *target_mean, *target_deviation, *loop_mean, *loop_deviation, *lower, *upper;",
    "/* Where the model stands. */",
    ...(hasPast ? ["const double *past;"] : []),
    "const neuron *state;",
    `const real ${needs.inputs ? "*input, " : ""}*fed, *recent;`,
  ];
  return `typedef struct {\n${fields.map((field) => `  ${field}`).join("\n")}\n} member;\n`;
}

/** What a closed loop takes: its scale, its readout, its range, and the last rows of the series. */
export function loopOf(member: RateMember, { feedback, inputs, outputs }: Pick<Shape, "feedback" | "inputs" | "outputs">) {
  const { road, readout } = member;
  const loopScale = feedback || inputs < outputs ? road.targetScale : columnsOf(road.inputScale, 0, outputs);
  return {
    loopScale,
    loop: sameStandardisation(loopScale, road.targetScale) ? readout : inScoresOf(readout, road.targetScale, loopScale),
    held: road.held && inScores(road.held, loopScale),
    recent: lastScores(member, loopScale, feedback),
  };
}

function initialiser(
  member: RateMember,
  m: number,
  { feedback, outputs, inputs, precision }: Shape,
  needs: Needs,
  { activation, columns }: { readonly activation: number; readonly columns: ArrayType },
  constants: Constants,
): string {
  const { model, readout, road, lags, state } = member;
  const sight = sightOf(inputs, outputs, lags, undefined);
  const { loopScale, loop, held, recent } = loopOf(member, { feedback, inputs, outputs });
  const named = (type: ArrayType, name: string, values: ArrayLike<number> | undefined) => constants.add(type, `${name}_${m}`, values);
  const real = (name: string, values: ArrayLike<number> | undefined) => named(precision, name, values);
  const double = (name: string, values: ArrayLike<number> | undefined) => named("float64", name, values);
  const scale = (name: string, { mean, deviation }: Standardisation) => [
    double(`${name}_mean`, mean),
    double(`${name}_deviation`, deviation),
  ];
  const [stateType, standing] = statesAs(model, state.reservoir.values);
  const fields = [
    ...reservoirValues(model, needs, { name: String(m), activation, columns }, constants),
    [readout.weights.cols, readout.weights.cols - model.size * (readout.features.squares ? 2 : 1), lags],
    [double("readout", readout.weights.data), double("intercept", readout.intercept)],
    [double("loop_readout", loop.weights.data), double("loop_intercept", loop.intercept)],
    ...(needs.inputs ? [scale("input", road.inputScale)] : []),
    [...scale("target", road.targetScale), ...scale("loop", loopScale), double("lower", held?.lower), double("upper", held?.upper)],
    [
      ...(road.transforms.lost > 0 ? [double("past", pastAfter(state.recent, road.transforms))] : []),
      named(stateType, "state", standing),
      ...(needs.inputs ? [real("input", state.reservoir.input)] : []),
      real("fed", feedback ? state.reservoir.output : recent.subarray(0, sight || road.known > 0 ? outputs : 0)),
      real("recent", lags > 0 ? recent : undefined),
    ],
  ];
  return `  { ${fields.map((each) => each.join(", ")).join(",\n    ")} },`;
}

/**
 * The last rows of the series in z-scores, newest first; rows that were not seen are 0. One row at
 * least.
 */
function lastScores({ lags, state, road }: RateMember, scale: Standardisation, feedback: boolean): Float64Array {
  const recent = seenAfter(state.recent, road.transforms);
  const cols = scale.mean.length;
  const out = new Float64Array(Math.max(1, lags) * cols);
  if (feedback) return out;
  const scores = standardised(scale, recent);
  for (let lag = 0; lag < Math.min(Math.max(1, lags), scores.rows); lag++) out.set(scores.row(scores.rows - 1 - lag), lag * cols);
  return out;
}
