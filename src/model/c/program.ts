// A forecaster as a program: its constants, and what of the runtime it needs.
import { type CalendarFeature, calendarColumns } from "../../series/calendar.js";
import { inScores } from "../forecaster/preprocessing.js";
import { readoutFeaturesOf } from "../forecaster/readout-features.js";
import { columnsOf, inScoresOf, type Standardisation, sameStandardisation, standardised } from "../standardisation.js";
import { calendarDeclaration, calendarRows } from "./calendar.js";
import { combinedTables } from "./combination.js";
import { Constants, type Field, namesOf, nowhere, type Program } from "./constants.js";
import { directParts, type ExportedParts } from "./parts.js";
import { checkAlike, checkMembers, type RateMember } from "./refuse.js";
import { type Reservoirs, reservoirsOf, statesAs } from "./reservoir.js";
import { givenOf, observes, outsideOf, pastOf, type Shape, shapeOf, stateFields } from "./shape.js";
import { type ArrayType, headerText, lines, typeName } from "./text.js";
import { mostLost, pastAfter, transformedRecent, transformFlags, transformRows } from "./transforms.js";

/** What the program is called, and what the parts do not say. */
export interface ProgramNote {
  readonly name: string;
  readonly version: string;
  /** What of the calendar is an input. */
  readonly calendar: readonly CalendarFeature[];
}

/** A forecaster, and what its calls depend on. */
export interface ForecasterProgram extends Program {
  readonly shape: Shape;
}

/** @throws ArgumentError for what C does not hold */
export function cProgram(parts: ExportedParts, { name, version, calendar }: ProgramNote): ForecasterProgram {
  const members = checkMembers(parts);
  const inOrder = [...members.map((member) => member.parts), ...directParts(parts)];
  checkAlike(inOrder.flat());
  const constants = new Constants();
  const reservoirs = reservoirsOf(inOrder, constants);
  const features = members[0]?.readout.features;
  const own = shapeOf(name, members, parts);
  const { outputs, inputs, known, transforms, lags } = own;
  const steps: (readonly Field[])[] = [];
  const firsts = transforms?.lists.map((list, k) => {
    const rows = transformRows(list, String(k), constants);
    steps.push(...rows);
    return steps.length - rows.length;
  });
  const rows = members.map((member, m) => fieldsOf(member, m, own, firsts, reservoirs, constants));
  if (steps.length > 0) constants.tables.push({ name: "transforms", type: "transform", rows: steps });
  if (rows.length > 0) constants.tables.push({ name: "members", type: "member", rows });
  const combined = combinedTables(parts, own, reservoirs, constants);
  const shape: Shape = { ...own, beside: combined.beside };
  const { rows: days, hasYears } = calendarRows(calendar, constants);
  if (days.length > 0) constants.tables.push({ name: "calendar_features", type: "feature", rows: days });
  const bounds = shape.closes && parts.bounds?.some((ends) => ends.some((end) => end !== null)) ? parts.bounds : undefined;
  const ends = (at: 0 | 1, none: number) => bounds?.map((each) => each[at] ?? none);
  const isObserving = observes(shape);
  const hasFed = shape.feedback || isObserving;
  const lost = transforms ? mostLost(transforms) : 0;
  const mostLags = Math.max(0, ...lags);
  const mostRows = Math.max(1, mostLags) + lost;
  const numbers = {
    ...{ MEMBERS: members.length, INPUTS: inputs, OUTPUTS: outputs, GROUPS: Math.max(-1, ...parts.groups) + 1, LAGS: mostLags },
    ...{ MOST_INPUTS: reservoirs.mostInputs, MOST_ROWS: mostRows },
    LEAST_ROWS: (isObserving ? Math.max(1, mostLags) : mostLags) + lost,
    ...{ TRAINED_ROWS: Math.min(mostRows, shape.recentRows), MOST_LOST: lost, PAST: pastOf(shape), LARGEST: shape.largest },
    ...{ FILLS: shape.fills, FILLS_FED: shape.fillsFed, FEEDBACK: Number(shape.feedback), FED: hasFed ? outputs : 0 },
    ...{ OBSERVES: Number(isObserving), DRIVEN: Number(!hasFed), HOLDS: Number(shape.held) },
    ...{ SQUARE_HALF: Number(features?.state === "squareHalf"), SQUARES: Number(features?.squares === true), KNOWN: known },
    ...{ MASKS: isObserving ? shape.masks : 0, CALENDAR_COLUMNS: calendarColumns(calendar), CALENDAR: calendar.length },
    OUTSIDE: shape.closes ? Math.max(0, outsideOf(shape)) : 0,
    BOUNDED: Number(bounds !== undefined),
    ...combined.numbers,
  };
  const has = namesOf({
    ...{ PREDICTS: !isObserving, TEACHES: shape.feedback, CLOSES: shape.closes, GIVEN: givenOf(shape) > 0 },
    ...{ SEVERAL: members.length > 1, INPUT_FEATURES: shape.hasInputFeatures, YEARS: hasYears, FORECASTER: true },
  });
  const flags = new Set([...reservoirs.flags, ...combined.flags, ...(transforms ? transformFlags(transforms) : []), ...has]);
  const title = `Written by Spillway ${version}: a forecaster of ${outputs} output${outputs === 1 ? "" : "s"}.`;
  const timed = days.length > 0;
  return {
    ...{ kind: "forecaster", title, header: headerOf(shape, calendar, title), constants, numbers, flags, shape },
    pointers: {
      members: rows.length > 0 ? { to: "members" } : nowhere,
      groups: constants.to("uint8_t", "groups", members.length > 1 ? parts.groups : []),
      last_row: constants.to("float64", "last_row", shape.fills > 0 ? parts.last.inputs : []),
      last_fed_row: constants.to("float64", "last_fed_row", shape.fillsFed > 0 ? parts.last.targets : []),
      lowest: constants.to("float64", "lowest", ends(0, -Number.MAX_VALUE)),
      highest: constants.to("float64", "highest", ends(1, Number.MAX_VALUE)),
      calendar_features: timed ? { to: "calendar_features" } : nowhere,
      tanh_table: reservoirs.tanhTable(),
      entries: parts.combination ? { to: "entries" } : nowhere,
      first_beside: combined.first,
    },
    declarations: reservoirs.declarations,
    files: filesOf(shape, reservoirs.files, timed, flags),
  };
}

/** Files of the runtime. @param ofReservoirs those that step them */
function filesOf({ transforms, beside }: Shape, ofReservoirs: readonly string[], timed: boolean, flags: ReadonlySet<string>) {
  const combined = (file: string) => (beside ? [file] : []);
  const sums = flags.has("LAW") && !ofReservoirs.includes("sums.c") ? ["sums.c"] : [];
  return [
    ...["arithmetic.c", "types.c", "forecaster-types.c", ...combined("combination-types.c"), ...(timed ? ["calendar-types.c"] : [])],
    ...[null, ...ofReservoirs, ...(transforms ? ["transforms.c"] : []), ...sums, ...combined("combination.c")],
    ...["forecaster.c", ...(timed ? ["calendar.c"] : [])],
  ];
}

/** What a closed loop takes: its scale, its readout, its range, and the last rows of the series. */
function loopOf(member: RateMember, { feedback, inputs, outputs }: Pick<Shape, "feedback" | "inputs" | "outputs">) {
  const { preprocessing, readout } = member;
  const loopScale = feedback || inputs < outputs ? preprocessing.targetScale : columnsOf(preprocessing.inputScale, 0, outputs);
  return {
    loopScale,
    loop: sameStandardisation(loopScale, preprocessing.targetScale) ? readout : inScoresOf(readout, preprocessing.targetScale, loopScale),
    held: preprocessing.held && inScores(preprocessing.held, loopScale),
    recent: lastScores(member, loopScale, feedback),
  };
}

/** What is in the table of a member. */
function fieldsOf(
  member: RateMember,
  m: number,
  shape: Shape,
  firsts: readonly number[] | undefined,
  reservoirs: Reservoirs,
  constants: Constants,
): readonly Field[] {
  const { feedback, outputs, inputs, precision, transforms } = shape;
  const { model, readout, preprocessing, lags, state, parts } = member;
  const readoutFeatures = readoutFeaturesOf(inputs, outputs, lags, undefined);
  const { loopScale, loop, held, recent } = loopOf(member, shape);
  const to = (type: ArrayType, name: string, values: ArrayLike<number> | undefined) => constants.to(type, `${name}_${m}`, values);
  const double = (name: string, values: ArrayLike<number> | undefined) => to("float64", name, values);
  const scale = (name: string, { mean, deviation }: Standardisation) => [
    double(`${name}_mean`, mean),
    double(`${name}_deviation`, deviation),
  ];
  const [stateType, trained] = statesAs(parts[0]!.model, trainedState(member));
  const list = transforms?.lists.findIndex((each) => JSON.stringify(each) === JSON.stringify(preprocessing.transforms)) ?? 0;
  const window =
    transforms && mostLost(transforms) > 0 ? pastAfter(state.recent, preprocessing.transforms, mostLost(transforms)) : undefined;
  const cols = readout.weights.cols;
  return [
    ...reservoirs.add(parts, model.size, String(m)),
    ...[cols, cols - model.size * (readout.features.squares ? 2 : 1), lags],
    ...[double("readout", readout.weights.data), double("intercept", readout.intercept)],
    ...[double("loop_readout", loop.weights.data), double("loop_intercept", loop.intercept)],
    ...(inputs > 0 ? scale("input", preprocessing.inputScale) : [nowhere, nowhere]),
    ...[
      ...scale("target", preprocessing.targetScale),
      ...scale("loop", loopScale),
      double("lower", held?.lower),
      double("upper", held?.upper),
    ],
    firsts && preprocessing.transforms.steps.length > 0 ? { to: "transforms", row: firsts[list]! } : nowhere,
    ...[preprocessing.transforms.steps.length, preprocessing.transforms.lost, double("past", window), to(stateType, "state", trained)],
    to(precision, "input", inputs > 0 ? state.reservoir.input : []),
    to(precision, "fed", feedback ? state.reservoir.output : recent.subarray(0, readoutFeatures || preprocessing.known > 0 ? outputs : 0)),
    ...[to(precision, "recent", lags > 0 ? recent : undefined), state.reservoir.step],
  ];
}

/** The states of a member's reservoirs at its position, side by side. */
function trainedState({ state }: RateMember): Float64Array {
  return Float64Array.from([...(state.reservoir.below ?? []), ...state.reservoir.values]);
}

/**
 * The last rows of the series in z-scores, newest first; rows that are missing are 0. One row at
 * least.
 */
function lastScores({ lags, state, preprocessing }: RateMember, scale: Standardisation, feedback: boolean): Float64Array {
  const recent = transformedRecent(state.recent, preprocessing.transforms);
  const cols = scale.mean.length;
  const out = new Float64Array(Math.max(1, lags) * cols);
  if (feedback) return out;
  const scores = standardised(scale, recent);
  for (let lag = 0; lag < Math.min(Math.max(1, lags), scores.rows); lag++) out.set(scores.row(scores.rows - 1 - lag), lag * cols);
  return out;
}

const isState = (field: string): boolean => field === "x" || field === "next";

/** NAME.h */
export function headerOf(shape: Shape, calendar: readonly CalendarFeature[], title: string): string {
  const { name, precision, inputs, outputs, integers, fills, noise } = shape;
  const given = givenOf(shape);
  const outside = outsideOf(shape);
  const takesOutside = shape.closes && outside > 0;
  const fields = stateFields(shape).map(
    ([field, length]) => `  ${integers && isState(field) ? "int16_t" : typeName(precision)} ${field}[${length}];`,
  );
  if (pastOf(shape) > 0) fields.push(`  double past[${pastOf(shape) * shape.widths.length}];`);
  if (shape.beside) fields.push(`  double beside[${shape.beside.numbers}];`);
  if (shape.fills > 0) fields.push(`  double last[${shape.fills}];`);
  if (shape.fillsFed > 0) fields.push(`  double last_fed[${shape.fillsFed}];`);
  if (noise) fields.push(`  uint32_t step[${shape.widths.length}];`);
  const columns = (count: number) => `${count} value${count === 1 ? "" : "s"}`;
  const lost = shape.transforms ? mostLost(shape.transforms) : 0;
  const predict = shape.feedback
    ? `/* Takes the inputs of a step (${columns(inputs)}) and gives the model's outputs (${columns(outputs)}), which are fed back. */
void ${name}_predict(${name}_state *state, ${lines(inputs > 0, "const double *input, ")}double *output);

/* Takes the inputs of a step, and in place of the model's own outputs the true ones${lines(
        lost > 0,
        `. Differences take
   ${lost} of them first, before which \`predict\` gives no number (NaN)`,
      )}. */
void ${name}_teach(${name}_state *state, ${lines(inputs > 0, "const double *input, ")}const double *target);
`
    : observes(shape)
      ? `/* Takes the next row of the series (${columns(outputs)})${lines(given > 0, ` and what was known of it (${columns(given)})`)}.${lines(
          fills > 0,
          `
   A missing value (NaN) is the last one before it. 0 if there is none since a reset: the row is not taken.`,
        )} */
${fills > 0 ? "int" : "void"} ${name}_observe(${name}_state *state, const double *row${lines(given > 0, ", const double *known")});
`
      : `/* Takes the next row of inputs (${columns(inputs)}) and gives the prediction that it leads to (${columns(outputs)}).
   \`output\` may be null: then the row is taken and nothing is predicted${lines(
     fills > 0,
     `. A missing value (NaN) is the last one
   before it; if there is none since a reset, the row is not taken, and \`output\` is no number (NaN)`,
   )}${lines(
     pastOf(shape) > 0,
     `. Differences take ${lost} rows first,
   to which \`output\` is no number (NaN)`,
   )}. */
void ${name}_predict(${name}_state *state, const double *input, double *output);
`;
  const forecast = `/* ${shape.beside ? "Forecasts: what the members agree on for" : "Closed loop: the outputs of"} the next \`steps\` steps (steps x ${outputs}, row by row)${lines(shape.beside === undefined, ", each fed back")}${lines(takesOutside, `;\n   \`outside\` has ${columns(outside)} a step`)}.
   Gives how many steps were done: fewer than asked if an output is not finite${lines(Math.max(...shape.lags) > 0 || observes(shape) || pastOf(shape) > 0, ", and 0 if too few\n   rows were taken since a reset")}. The state moves on: copy it before to go on from where it was. */
int ${name}_forecast(${name}_state *state, int steps, ${lines(takesOutside, "const double *outside, ")}double *output);
`;
  const body = `typedef struct {
${fields.join("\n")}
  int rows;
} ${name}_state;

/* Goes to the position of the trained model, after the last row that it took. */
void ${name}_begin(${name}_state *state);

${lines(
  shape.beside === undefined,
  `/* Goes to the initial state, before any row. */
void ${name}_reset(${name}_state *state);

`,
)}${predict}${lines(calendar.length > 0, `\n${calendarDeclaration(name, calendar)}`)}${lines(shape.closes, `\n${forecast}`)}`;
  const comment = `${title}
   Values are in the units of the data. No call allocates; a state is all that a model remembers.`;
  return headerText(name, { comment, integers: integers || noise || calendar.length > 0, body });
}
