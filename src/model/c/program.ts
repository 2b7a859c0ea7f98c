// A forecaster as one C source and its header: its constants, the functions of a step, and the
// calls that a program makes.
import type { CalendarFeature } from "../../series/calendar.js";
import type { ForecasterParts } from "../forecaster/file.js";
import { inScores } from "../forecaster/road.js";
import { sightOf } from "../forecaster/seen.js";
import { columnsOf, inScoresOf, type Standardisation, sameStandardisation, standardised } from "../standardisation.js";
import { calendarFunction } from "./calendar.js";
import { callsOf } from "./calls.js";
import { Constants, type CProgram } from "./constants.js";
import { arithmetic } from "./functions.js";
import { headerOf } from "./header.js";
import { checkMembers, type RateMember } from "./refuse.js";
import { memberFields, Reservoirs, reservoirNeeds, statesAs } from "./reservoir.js";
import type { Shape } from "./shape.js";
import { answerFunction, type Needs, numberTypes, stepFunctions } from "./step.js";
import type { ArrayType } from "./text.js";
import { type CTransforms, mostLost, pastAfter, seenAfter, transformFunctions } from "./transforms.js";

/** What the program is called, and what the parts do not say. */
export interface ProgramNote {
  readonly name: string;
  readonly version: string;
  /** What of the calendar is an input. */
  readonly calendar: readonly CalendarFeature[];
}

/** A forecaster, and what its calls depend on. */
export interface ForecasterProgram extends CProgram {
  readonly shape: Shape;
}

/** @throws ArgumentError for what C does not hold */
export function cProgram(parts: ForecasterParts, { name, version, calendar }: ProgramNote): ForecasterProgram {
  const members = checkMembers(parts);
  const all = members.flatMap((member) => member.parts);
  const needs = needsOf(members);
  const constants = new Constants();
  const shape = { ...shapeOf(name, members, parts), calendar, needs };
  const { precision, transforms, outputs } = shape;
  const reservoirs = new Reservoirs(all, needs, constants);
  const rows = members.map((member, m) => initialiser(member, m, shape, reservoirs, constants));
  const step = stepFunctions(needs, precision, constants);
  const activations = reservoirs.activations(precision);
  const changes = transforms ? transformFunctions(transforms, constants, activations.includes("tanh_of_double")) : "";
  const lastRows = {
    last: shape.fills > 0 ? constants.add("float64", "last_row", parts.last.inputs) : "0",
    last_fed: shape.fillsFed > 0 ? constants.add("float64", "last_fed", parts.last.targets) : "0",
  };
  const time = calendar.length > 0 ? calendarFunction(name, calendar, constants) : "";
  const title = `Written by Spillway ${version}: a forecaster of ${outputs} output${outputs === 1 ? "" : "s"}.`;
  const declarations = [
    `/* ${title} */\n#include <float.h>\n#include <stddef.h>\n#include <stdint.h>\n#include "${name}.h"\n`,
    arithmetic,
    numberTypes(precision, needs),
    `enum { MEMBERS = ${members.length}, INPUTS = ${shape.inputs}, OUTPUTS = ${outputs} };\n`,
    reservoirs.types,
    memberStruct(shape),
    activations,
  ];
  const functions = [
    step,
    answerFunction(needs),
    changes,
    time,
    reservoirs.constants,
    `static const member members[MEMBERS] = {\n${rows.join("\n")}\n};\n`,
    callsOf(shape, parts.groups, lastRows),
  ];
  return { header: headerOf(shape, title), declarations, constants, functions, shape };
}

/** What of a program its members say. */
export function shapeOf(name: string, members: readonly RateMember[], { settings }: ForecasterParts): Omit<Shape, "calendar" | "needs"> {
  const [{ model, readout, road, parts }] = members as [RateMember];
  const outputs = readout.outputSize;
  const { missing = "error" } = settings;
  const feedback = model.outputSize > 0;
  const ofRow = road.known === 0 ? model.inputSize : feedback ? 0 : outputs;
  return {
    name,
    precision: model.precision,
    inputs: model.inputSize,
    outputs,
    known: road.known,
    masks: missing === "mask" ? outputs : 0,
    fills: missing === "error" ? 0 : ofRow,
    fillsFed: missing !== "error" && feedback ? outputs : 0,
    feedback,
    closes: feedback || model.inputSize >= outputs,
    widths: members.map((member) => member.parts.reduce((sum, part) => sum + part.model.size, 0)),
    largest: Math.max(...members.flatMap((member) => member.parts.map((part) => part.model.size))),
    lags: members.map(({ lags }) => lags),
    seenRows: seenRowsOf(members),
    held: settings.hold && members.every((member) => member.road.held !== undefined),
    transforms: transformsOf(members),
    integers: parts[0]!.model.config.arithmetic === "integer",
    sees: members.some(({ readout: { features } }) => features.input),
  };
}

/** Rows that were seen, as far as they matter: a member keeps no more of them than it needs. */
function seenRowsOf(members: readonly RateMember[]): number {
  const lacks = members.filter(
    ({ state, lags, road }) => state.recent.rows < Math.max(lags, road.known > 0 ? 1 : 0) + road.transforms.lost,
  );
  return Math.min(...lacks.map(({ state }) => state.recent.rows));
}

function transformsOf(members: readonly RateMember[]): CTransforms | undefined {
  const lists = new Map(members.map(({ road }) => [JSON.stringify(road.transforms), road.transforms]));
  if ([...lists.values()].every(({ steps }) => steps.length === 0)) return undefined;
  return { lists: [...lists.values()], outputs: members[0]!.readout.outputSize };
}

function needsOf(members: readonly RateMember[]): Needs {
  const [{ readout }] = members as [RateMember];
  return {
    ...reservoirNeeds(members.map(({ parts }) => parts)),
    squareHalf: readout.features.state === "squareHalf",
    squares: readout.features.squares,
    sees: readout.features.input,
  };
}

function memberStruct({ needs, transforms }: Shape): string {
  const several = transforms !== undefined && transforms.lists.length > 1;
  const fields = [
    ...memberFields,
    "int features, seen, lags;",
    "const double *readout, *intercept, *loop_readout, *loop_intercept;",
    ...(needs.inputs ? ["const double *input_mean, *input_deviation;"] : []),
    "const double *target_mean, *target_deviation, *loop_mean, *loop_deviation, *lower, *upper;",
    ...(several ? ["/* Which transforms it takes, and the rows that their differences lose. */", "int list, lost;"] : []),
    "/* Where the model stands. */",
    ...(transforms && mostLost(transforms) > 0 ? ["const double *past;"] : []),
    "const neuron *state;",
    `const real ${needs.inputs ? "*input, " : ""}*fed, *recent;`,
    ...(needs.noise ? ["uint32_t step;"] : []),
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

function initialiser(member: RateMember, m: number, shape: Shape, reservoirs: Reservoirs, constants: Constants): string {
  const { feedback, outputs, inputs, precision, needs, transforms } = shape;
  const { model, readout, road, lags, state, parts } = member;
  const sight = sightOf(inputs, outputs, lags, undefined);
  const { loopScale, loop, held, recent } = loopOf(member, shape);
  const named = (type: ArrayType, name: string, values: ArrayLike<number> | undefined) => constants.add(type, `${name}_${m}`, values);
  const real = (name: string, values: ArrayLike<number> | undefined) => named(precision, name, values);
  const double = (name: string, values: ArrayLike<number> | undefined) => named("float64", name, values);
  const scale = (name: string, { mean, deviation }: Standardisation) => [
    double(`${name}_mean`, mean),
    double(`${name}_deviation`, deviation),
  ];
  const [stateType, standing] = statesAs(parts[0]!.model, standingOf(member));
  const list = transforms?.lists.findIndex((each) => JSON.stringify(each) === JSON.stringify(road.transforms));
  const fields = [
    ...reservoirs.add(parts, model.size, String(m)),
    [readout.weights.cols, readout.weights.cols - model.size * (readout.features.squares ? 2 : 1), lags],
    [double("readout", readout.weights.data), double("intercept", readout.intercept)],
    [double("loop_readout", loop.weights.data), double("loop_intercept", loop.intercept)],
    ...(needs.inputs ? [scale("input", road.inputScale)] : []),
    [...scale("target", road.targetScale), ...scale("loop", loopScale), double("lower", held?.lower), double("upper", held?.upper)],
    ...(transforms && transforms.lists.length > 1 ? [[list, road.transforms.lost]] : []),
    [
      ...(transforms && mostLost(transforms) > 0 ? [double("past", pastAfter(state.recent, road.transforms, mostLost(transforms)))] : []),
      named(stateType, "state", standing),
      ...(needs.inputs ? [real("input", state.reservoir.input)] : []),
      real("fed", feedback ? state.reservoir.output : recent.subarray(0, sight || road.known > 0 ? outputs : 0)),
      real("recent", lags > 0 ? recent : undefined),
      ...(needs.noise ? [`${state.reservoir.step}u`] : []),
    ],
  ];
  return `  { ${fields.map((each) => each.join(", ")).join(",\n    ")} },`;
}

/** The states of a member's reservoirs where it stands, side by side. */
export function standingOf({ state }: RateMember): Float64Array {
  return Float64Array.from([...(state.reservoir.below ?? []), ...state.reservoir.values]);
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
