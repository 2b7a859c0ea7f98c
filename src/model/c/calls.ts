// What a program calls of an exported forecaster: where it begins, a row of the series, a forecast.
import type { Precision } from "../../numerics/index.js";
import type { CalendarFeature } from "../../series/calendar.js";
import { calendarDeclaration } from "./calendar.js";
import { typeName } from "./text.js";
import { type CTransforms, pastLength } from "./transforms.js";

/** What the calls depend on. */
export interface Shape {
  readonly name: string;
  readonly precision: Precision;
  /** Inputs of the reservoir. */
  readonly inputs: number;
  readonly outputs: number;
  /** Columns that are known beforehand. */
  readonly known: number;
  readonly feedback: boolean;
  /** Whether a closed loop is possible. */
  readonly closes: boolean;
  /** What of the calendar is among the known columns, which it ends. */
  readonly calendar: readonly CalendarFeature[];
  /** Whether states are whole numbers. */
  readonly integers: boolean;
  /** Neurons of each member. */
  readonly sizes: readonly number[];
  /** Rows of the series that each member's readout sees. */
  readonly lags: readonly number[];
  /** Rows of the series that were seen where the model stands. */
  readonly seenRows: number;
  /** Whether outputs of a closed loop are held in a range. */
  readonly held: boolean;
  /** Whether a readout sees more than the state. */
  readonly sees: boolean;
  /** Undefined if the series is taken as it is. */
  readonly transforms?: CTransforms | undefined;
}

/** Columns that come from outside in a closed loop. */
const outsideOf = ({ feedback, inputs, outputs }: Shape): number => (feedback ? inputs : inputs - outputs);

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Whether it takes the series row by row, with what is known of each. */
const observes = ({ feedback, known }: Shape): boolean => known > 0 && !feedback;

const lines = (isThere: boolean, text: string): string => (isThere ? text : "");

/** The fields of the state that a model has, with their lengths. */
function stateFields(shape: Shape): readonly (readonly [string, number])[] {
  const { sizes, inputs, outputs, lags } = shape;
  const fields: [string, number][] = [
    ["x", total(sizes)],
    ["next", Math.max(...sizes)],
    ["u", sizes.length * inputs],
    ["fed", shape.feedback || observes(shape) ? sizes.length * outputs : 0],
    ["recent", total(lags) * outputs],
  ];
  return fields.filter(([, length]) => length > 0);
}

const isState = (field: string): boolean => field === "x" || field === "next";

/** Values of the windows of one member's transforms. */
const pastOf = ({ transforms }: Shape): number => (transforms ? pastLength(transforms) : 0);

/** NAME.h */
export function headerOf(shape: Shape, title: string): string {
  const { name, precision, inputs, outputs, known, integers, calendar } = shape;
  const guard = `${name.toUpperCase()}_H`;
  const outside = outsideOf(shape);
  const takesOutside = shape.closes && outside > 0;
  const fields = stateFields(shape).map(
    ([field, length]) => `  ${integers && isState(field) ? "int16_t" : typeName(precision)} ${field}[${length}];`,
  );
  if (pastOf(shape) > 0) fields.push(`  double past[${pastOf(shape) * shape.sizes.length}];`);
  const columns = (count: number) => `${count} value${count === 1 ? "" : "s"}`;
  const predict = shape.feedback
    ? `/* Takes the inputs of a step (${columns(inputs)}) and gives the model's outputs (${columns(outputs)}), which are fed back. */
void ${name}_predict(${name}_state *state, ${lines(inputs > 0, "const double *input, ")}double *output);

/* Takes the inputs of a step, and in place of the model's own outputs the true ones. */
void ${name}_teach(${name}_state *state, ${lines(inputs > 0, "const double *input, ")}const double *target);
`
    : observes(shape)
      ? `/* Takes the next row of the series (${columns(outputs)}) and what was known of it (${columns(known)}). */
void ${name}_observe(${name}_state *state, const double *row, const double *known);
`
      : `/* Takes the next row of inputs (${columns(inputs)}) and gives the prediction that it leads to (${columns(outputs)}).
   \`output\` may be null: then the row is taken and nothing is predicted${lines(
     pastOf(shape) > 0,
     `. Differences take ${shape.transforms?.lost} rows first,
   to which \`output\` is no number (NaN)`,
   )}. */
void ${name}_predict(${name}_state *state, const double *input, double *output);
`;
  const forecast = `/* Closed loop: the outputs of the next \`steps\` steps (steps x ${outputs}, row by row), each fed back${lines(takesOutside, `;\n   \`outside\` has ${columns(outside)} a step`)}.
   Gives how many steps were done: fewer than asked if an output is not finite${lines(Math.max(...shape.lags) > 0 || observes(shape) || pastOf(shape) > 0, ", and 0 if too few\n   rows were seen since a reset")}. The state moves on: copy it before to go on from where it was. */
int ${name}_forecast(${name}_state *state, int steps, ${lines(takesOutside, "const double *outside, ")}double *output);
`;
  return `/* ${title}
   Values are in the units of the data. No call allocates; a state is all that a model remembers. */
#ifndef ${guard}
#define ${guard}
${lines(integers || calendar.length > 0, "\n#include <stdint.h>\n")}
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
${fields.join("\n")}
  int rows;
} ${name}_state;

/* Goes to where the trained model stands: behind the last row that it has seen. */
void ${name}_begin(${name}_state *state);

/* Goes to the initial state, before any row. */
void ${name}_reset(${name}_state *state);

${predict}
${lines(calendar.length > 0, calendarDeclaration(name, calendar))}${lines(shape.closes, `${forecast}\n`)}#ifdef __cplusplus
}
#endif

#endif
`;
}

/** The functions that the header declares. */
export function callsOf(shape: Shape, groups: readonly number[]): string {
  const { name, inputs, lags, sizes } = shape;
  const fields = new Map(stateFields(shape));
  const hasLags = Math.max(...lags) > 0;
  const mostLags = Math.max(...lags);
  const lost = shape.transforms?.lost ?? 0;
  const past = pastOf(shape);
  const mostRows = Math.max(1, mostLags) + lost;
  const windows = past > 0 ? `state->past + k * ${past}` : "(double *)0";
  const undone = (moves: number) =>
    lines(
      shape.transforms !== undefined,
      `
      for (o = 0; o < OUTPUTS; o++) row[o] = made[o * MEMBERS + k];
      undo(${windows}, row, ${moves});
      for (o = 0; o < OUTPUTS; o++) made[o * MEMBERS + k] = row[o];`,
    );
  const forwarded = (from: string) =>
    `    for (o = 0; o < OUTPUTS; o++) row[o] = ${from}[o];
    forward(${windows}, row);
`;
  const memberHead = [
    "    const member *m = &members[k];",
    ...(inputs > 0 ? ["    real *u = state->u + k * INPUTS;"] : []),
    ...(fields.has("fed") ? ["    real *fed = state->fed + k * OUTPUTS;"] : []),
  ].join("\n");
  const moveOn = `x += m->size;${lines(hasLags, "\n    recent += m->lags * OUTPUTS;")}`;
  const cursors = `neuron *x = state->x;${lines(hasLags, "\n  real *recent = state->recent;")}`;
  const step = `advance(m, x, state->next${lines(inputs > 0, ", u")}${lines(shape.feedback, ", fed")});`;
  const seen = seenOf(shape);
  const say = (readout: string, intercept: string) =>
    `${seen}answer(m, m->${readout}, m->${intercept}, x${lines(shape.sees, ", seen")}, y);`;
  const push = lines(hasLags, "push(recent, m->lags, FROM);");
  const restore = (scale: string) =>
    `for (o = 0; o < OUTPUTS; o++) made[o * MEMBERS + k] = (double)y[o] * m->${scale}_deviation[o] + m->${scale}_mean[o];`;
  const scores = (from: string, to: string, first: string, count: string) =>
    `for (i = 0; i < ${count}; i++) ${to}[${first}i] = (real)((${from}[i] - m->input_mean[${first}i]) / m->input_deviation[${first}i]);`;
  const hold = lines(
    shape.held,
    `
      for (o = 0; o < OUTPUTS; o++) {
        double value = y[o];
        if (value < m->lower[o]) value = m->lower[o];
        if (value > m->upper[o]) value = m->upper[o];
        y[o] = (real)value;
      }`,
  );
  const starts = ["x", "u", "fed", "recent"].filter((field) => fields.has(field));
  const copies = (sources: Readonly<Record<string, string>>) =>
    starts
      .map((field) => `    for (i = 0; i < ${lengths[field]!}; i++) state->${field}[${offsets[field]!} + i] = ${sources[field] ?? "0"};`)
      .join("\n");
  const lengths: Record<string, string> = { x: "m->size", u: "INPUTS", fed: "OUTPUTS", recent: "m->lags * OUTPUTS" };
  const offsets: Record<string, string> = { x: "size", u: "k * INPUTS", fed: "k * OUTPUTS", recent: "window" };
  const beginning = (call: string, rows: string, sources: Readonly<Record<string, string>>) => `
void ${name}_${call}(${name}_state *state)
{
  int k, i, size = 0${lines(hasLags, ", window = 0")};
  for (k = 0; k < MEMBERS; k++) {
    const member *m = &members[k];
${copies(sources)}
${lines(past > 0, `    for (i = 0; i < ${past}; i++) state->past[k * ${past} + i] = ${sources["past"] ?? "0"};\n`)}    size += m->size;${lines(hasLags, "\n    window += m->lags * OUTPUTS;")}
  }
  for (i = 0; i < ${Math.max(...sizes)}; i++) state->next[i] = 0;
  state->rows = ${rows};
}
`;
  const inputRow = lines(inputs > 0, `    ${scores("input", "u", "", "INPUTS")}\n`);
  const one = (call: string, parameters: string, body: string) => `
void ${name}_${call}(${name}_state *state, ${parameters})
{
  ${cursors}
${body}}
`;
  const predict = one(
    "predict",
    `${lines(inputs > 0, "const double *input, ")}double *output`,
    `  double made[OUTPUTS * MEMBERS]${lines(shape.transforms !== undefined, ", row[OUTPUTS]")};
  real y[OUTPUTS];
  int k, o${lines(inputs > 0, ", i")};
  for (k = 0; k < MEMBERS; k++) {
${memberHead}
${shape.transforms ? forwarded("input") : ""}${lines(
  lost > 0,
  `    if (state->rows < ${lost}) {
      const double nothing = 0;
      for (o = 0; o < OUTPUTS; o++) made[o * MEMBERS + k] = nothing / nothing;
      ${moveOn.replaceAll("\n", "\n  ")}
      continue;
    }
`,
)}${shape.transforms ? inputRow.replaceAll("input[", "row[") : inputRow}    ${step}
${lines(hasLags, `    ${push.replace("FROM", "u")}\n`)}    if (output) {
      ${say("readout", "intercept")}
      ${restore("target")}${undone(0)}
${lines(shape.feedback, "      for (o = 0; o < OUTPUTS; o++) fed[o] = y[o];\n")}    }
    ${moveOn}
  }
  count_row(state);
  if (output) medians(made, output);
`,
  );
  const teach = one(
    "teach",
    `${lines(inputs > 0, "const double *input, ")}const double *target`,
    `  int k, o${lines(inputs > 0, ", i")};
  for (k = 0; k < MEMBERS; k++) {
${memberHead}
${inputRow}    ${step}
    for (o = 0; o < OUTPUTS; o++) fed[o] = (real)((target[o] - m->target_mean[o]) / m->target_deviation[o]);
    ${moveOn}
  }
  count_row(state);
`,
  );
  const pendingInputs = (outside: string) => `for (o = 0; o < OUTPUTS; o++) u[o] = fed[o];
    ${scores(outside, "u", "OUTPUTS + ", "INPUTS - OUTPUTS")}
    ${step}`;
  const observe = one(
    "observe",
    shape.transforms ? "const double *measured, const double *known" : "const double *row, const double *known",
    `  int k, o, i;${lines(shape.transforms !== undefined, "\n  double row[OUTPUTS];")}
  for (k = 0; k < MEMBERS; k++) {
${memberHead}
    if (state->rows > ${lost}) {
    ${pendingInputs("known").replaceAll("\n", "\n  ")}
    }
${shape.transforms ? forwarded("measured") : ""}    for (o = 0; o < OUTPUTS; o++) fed[o] = (real)((row[o] - m->input_mean[o]) / m->input_deviation[o]);
${lines(hasLags, `    ${lines(lost > 0, `if (state->rows >= ${lost}) `)}${push.replace("FROM", "fed")}\n`)}    ${moveOn}
  }
  count_row(state);
`,
  );
  const outside = outsideOf(shape);
  const loopBody = shape.feedback
    ? `${lines(inputs > 0, `${scores("outside", "u", "", "INPUTS")}\n      `)}${step}
      ${say("loop_readout", "loop_intercept")}${hold}
      for (o = 0; o < OUTPUTS; o++) fed[o] = y[o];`
    : observes(shape)
      ? `${pendingInputs("outside").replaceAll("\n", "\n  ")}
      ${say("loop_readout", "loop_intercept")}${hold}
      for (o = 0; o < OUTPUTS; o++) fed[o] = y[o];${lines(hasLags, `\n      ${push.replace("FROM", "y")}`)}`
      : `${say("loop_readout", "loop_intercept")}${hold}${lines(hasLags, `\n      ${push.replace("FROM", "y")}`)}
      for (o = 0; o < OUTPUTS; o++) u[o] = y[o];${lines(outside > 0, `\n      ${scores("outside", "u", "OUTPUTS + ", "INPUTS - OUTPUTS")}`)}
      ${step}`;
  const least = (observes(shape) ? Math.max(1, mostLags) : mostLags) + lost;
  const forecast = `
int ${name}_forecast(${name}_state *state, int steps, ${lines(outside > 0, "const double *outside, ")}double *output)
{
  double made[OUTPUTS * MEMBERS]${lines(shape.transforms !== undefined, ", row[OUTPUTS]")};
  real y[OUTPUTS];
  int t, k, o${lines(outside > 0, ", i")};
${lines(least > 0, `  if (state->rows < ${least}) return 0;\n`)}  for (t = 0; t < steps; t++) {
    ${cursors}
    for (k = 0; k < MEMBERS; k++) {
${memberHead.replaceAll("    ", "      ")}
      ${loopBody}
      ${restore("loop")}${undone(1)}
      for (o = 0; o < OUTPUTS; o++)
        if (!(y[o] - y[o] == 0)) return t;
      ${moveOn.replaceAll("\n", "\n  ")}
    }
    medians(made, output);
    output += OUTPUTS;
${lines(outside > 0, `    outside += ${outside};\n`)}  }
  return steps;
}
`;
  const standing = String(Math.min(mostRows, shape.seenRows));
  return [
    medians(groups),
    lines(hasLags, pushFunction),
    `static void count_row(${name}_state *state)
{
  if (state->rows < ${mostRows}) state->rows++;
}
`,
    beginning("begin", standing, { x: "m->state[i]", u: "m->input[i]", fed: "m->fed[i]", recent: "m->recent[i]", past: "m->past[i]" }),
    beginning("reset", "0", { x: "m->initial_state[i]" }),
    observes(shape) ? observe : predict,
    lines(shape.feedback, teach),
    lines(shape.closes, forecast),
  ].join("");
}

/** The lines that gather what a readout sees beside the state. */
function seenOf({ sees, lags, inputs, outputs }: Shape): string {
  if (!sees) return "";
  const most = Math.max(...lags);
  if (most === 0) return "const real *seen = u;\n      ";
  const width = most * outputs + inputs - outputs;
  return `real seen[${width}];
      gather(m, recent, u, seen);
      `;
}

const pushFunction = `/* Shifts a row into a window whose newest row comes first. */
static void push(real *window, int lags, const real *row)
{
  int i;
  for (i = lags * OUTPUTS - 1; i >= OUTPUTS; i--) window[i] = window[i - OUTPUTS];
  for (i = 0; lags > 0 && i < OUTPUTS; i++) window[i] = row[i];
}

/* What a readout sees beside the state: the window and the other inputs, or without lags the inputs. */
static void gather(const member *m, const real *window, const real *u, real *seen)
{
  int i, k = 0;
  for (i = 0; i < m->lags * OUTPUTS; i++) seen[k++] = window[i];
  for (i = m->lags > 0 ? OUTPUTS : 0; i < INPUTS; i++) seen[k++] = u[i];
}

`;

/** The median of each group's members, and then of the groups. */
function medians(groups: readonly number[]): string {
  if (groups.length === 1) {
    return `/* One member: what it says. */
static void medians(const double *made, double *output)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) output[o] = made[o];
}

`;
  }
  const count = Math.max(...groups) + 1;
  return `/* The middle one of sorted values; of an even number the mean of the middle two. Sorts them. */
static double median_of(double *values, int count)
{
  int i, j;
  for (i = 1; i < count; i++) {
    const double value = values[i];
    for (j = i; j > 0 && values[j - 1] > value; j--) values[j] = values[j - 1];
    values[j] = value;
  }
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2.0;
}

/* The median of each group's members, and then of the groups. */
static void medians(const double *made, double *output)
{
  static const unsigned char groups[MEMBERS] = { ${groups.join(", ")} };
  double values[MEMBERS], of_groups[${count}];
  int o, g, k, count;
  for (o = 0; o < OUTPUTS; o++) {
    for (g = 0; g < ${count}; g++) {
      for (k = 0, count = 0; k < MEMBERS; k++)
        if (groups[k] == g) values[count++] = made[o * MEMBERS + k];
      of_groups[g] = median_of(values, count);
    }
    output[o] = median_of(of_groups, ${count});
  }
}

`;
}
