// What a program calls of an exported forecaster: where it begins, a row of the series, a forecast.
import { calendarColumns } from "../../series/calendar.js";
import { givenOf, observes, outsideOf, pastOf, type Shape, stateFields } from "./shape.js";
import { stepCall } from "./step.js";
import { mostLost } from "./transforms.js";

const lines = (isThere: boolean, text: string): string => (isThere ? text : "");

/** The names of arrays of the last rows where a model stands; "0" if there are none. */
export interface LastRows {
  readonly last: string;
  readonly last_fed: string;
}

/** The functions that the header declares. */
export function callsOf(shape: Shape, groups: readonly number[], lastRows: LastRows): string {
  const { name, inputs, lags, largest, masks, fills, fillsFed, needs, transforms } = shape;
  const fields = new Map(stateFields(shape));
  const hasLags = Math.max(...lags) > 0;
  const mostLags = Math.max(...lags);
  const several = transforms !== undefined && transforms.lists.length > 1;
  const past = pastOf(shape);
  const most = transforms ? mostLost(transforms) : 0;
  const lost = several ? "m->lost" : String(most);
  const mostRows = Math.max(1, mostLags) + most;
  const list = lines(several, "m->list, ");
  const windows = past > 0 ? `state->past + k * ${past}` : "(double *)0";
  const undone = (moves: number) =>
    lines(
      transforms !== undefined,
      `
      for (o = 0; o < OUTPUTS; o++) row[o] = made[o * MEMBERS + k];
      undo(${list}${windows}, row, ${moves});
      for (o = 0; o < OUTPUTS; o++) made[o * MEMBERS + k] = row[o];`,
    );
  const forwarded = (from: string) =>
    `    for (o = 0; o < OUTPUTS; o++) row[o] = ${from}[o];
    forward(${list}${windows}, row);
`;
  const memberHead = [
    "    const member *m = &members[k];",
    ...(inputs > 0 ? ["    real *u = state->u + k * INPUTS;"] : []),
    ...(fields.has("fed") ? ["    real *fed = state->fed + k * OUTPUTS;"] : []),
  ].join("\n");
  const moveOn = `x += m->width;${lines(hasLags, "\n    recent += m->lags * OUTPUTS;")}`;
  const cursors = `neuron *x = state->x;${lines(hasLags, "\n  real *recent = state->recent;")}`;
  const step = stepCall(needs, {
    ...{ reservoirs: "m->parts", count: "m->count", x: "x", next: "state->next", input: "u", fed: "fed", step: "state->step[k]++" },
  });
  const seen = seenOf(shape);
  const say = (readout: string, intercept: string) =>
    `${seen}answer(m, m->${readout}, m->${intercept}, x${lines(needs.composite, " + m->width - m->size")}${lines(shape.sees, ", seen")}, y);`;
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
  const lengths: Record<string, string> = { x: "m->width", u: "INPUTS", fed: "OUTPUTS", recent: "m->lags * OUTPUTS" };
  const offsets: Record<string, string> = { x: "size", u: "k * INPUTS", fed: "k * OUTPUTS", recent: "window" };
  const held = (field: keyof LastRows, length: number, from: string) =>
    lines(length > 0, `  for (i = 0; i < ${length}; i++) state->${field}[i] = ${from === "0" ? "nothing / nothing" : `${from}[i]`};\n`);
  const beginning = (call: string, rows: string, sources: Readonly<Record<string, string>>, from: LastRows) => {
    const fromRows = held("last", fills, from.last) + held("last_fed", fillsFed, from.last_fed);
    return `
void ${name}_${call}(${name}_state *state)
{
${lines(fromRows.includes("nothing"), "  const double nothing = 0;\n")}  int k, i, size = 0${lines(hasLags, ", window = 0")};
  for (k = 0; k < MEMBERS; k++) {
    const member *m = &members[k];
${copies(sources)}
${lines(past > 0, `    for (i = 0; i < ${past}; i++) state->past[k * ${past} + i] = ${sources["past"] ?? "0"};\n`)}${lines(needs.noise, `    state->step[k] = ${sources["step"] ?? "0"};\n`)}    size += m->width;${lines(hasLags, "\n    window += m->lags * OUTPUTS;")}
  }
  for (i = 0; i < ${largest}; i++) state->next[i] = 0;
${fromRows}  state->rows = ${rows};
}
`;
  };
  /** Rows with missing values held, under the name that the rest has for them. */
  const filled = (
    row: string,
    field: keyof LastRows,
    count: string,
    leave: string,
  ) => `  if (!fill(state->${field}, ${row}, ${count})) ${leave}
  ${row} = state->${field};
`;
  const filledInput = (leave: string) => lines(inputs > 0 && fills > 0, filled("input", "last", "INPUTS", leave));
  const inputRow = lines(inputs > 0, `    ${scores("input", "u", "", "INPUTS")}\n`);
  const one = (call: string, parameters: string, body: string, type = "void") => `
${type} ${name}_${call}(${name}_state *state, ${parameters})
{
  ${cursors}
${body}}
`;
  const predict = one(
    "predict",
    `${lines(inputs > 0, "const double *input, ")}double *output`,
    `  double made[OUTPUTS * MEMBERS]${lines(transforms !== undefined, ", row[OUTPUTS]")};
  real y[OUTPUTS];
  int k, o${lines(inputs > 0, ", i")};
${filledInput(`{
    const double nothing = 0;
    for (o = 0; output && o < OUTPUTS; o++) output[o] = nothing / nothing;
    return;
  }`)}  for (k = 0; k < MEMBERS; k++) {
${memberHead}
${transforms && !shape.feedback ? forwarded("input") : ""}${lines(
  most > 0,
  `    if (state->rows < ${lost}) {
      const double nothing = 0;
      for (o = 0; o < OUTPUTS; o++) made[o * MEMBERS + k] = nothing / nothing;
      ${moveOn.replaceAll("\n", "\n  ")}
      continue;
    }
`,
)}${transforms && !shape.feedback ? inputRow.replaceAll("input[", "row[") : inputRow}    ${step}
${lines(hasLags, `    ${push.replace("FROM", "u")}\n`)}    if (output) {
      ${say("readout", "intercept")}
      ${restore("target")}${undone(shape.feedback ? 1 : 0)}
${lines(shape.feedback, "      for (o = 0; o < OUTPUTS; o++) fed[o] = y[o];\n")}    }
    ${moveOn}
  }
${lines(
  several,
  `  if (output && state->rows < ${most})
    for (k = 0; k < MEMBERS * OUTPUTS; k++) made[k] = (made[0] - made[0]) / (made[0] - made[0]);
`,
)}  count_row(state);
  if (output) medians(made, output);
${lines(fillsFed > 0, "  for (o = 0; output && o < OUTPUTS; o++) state->last_fed[o] = output[o];\n")}`,
  );
  const teach = one(
    "teach",
    `${lines(inputs > 0, "const double *input, ")}const double *target`,
    `  int k, o${lines(inputs > 0, ", i")};${lines(transforms !== undefined, "\n  double row[OUTPUTS];")}
${filledInput("return;")}${lines(fillsFed > 0, filled("target", "last_fed", "OUTPUTS", "return;"))}  for (k = 0; k < MEMBERS; k++) {
${memberHead}
${transforms ? forwarded("target") : ""}${lines(
  most > 0,
  `    if (state->rows < ${lost}) {
      ${moveOn.replaceAll("\n", "\n  ")}
      continue;
    }
`,
)}${inputRow}    ${step}
    for (o = 0; o < OUTPUTS; o++) fed[o] = (real)((${transforms ? "row" : "target"}[o] - m->target_mean[o]) / m->target_deviation[o]);
    ${moveOn}
  }
  count_row(state);
`,
  );
  const pendingInputs = (outside: string) => `for (o = 0; o < OUTPUTS; o++) u[o] = fed[o];
    ${scores(outside, "u", "OUTPUTS + ", "INPUTS - OUTPUTS")}
    ${step}`;
  const given = givenOf(shape);
  const own = fills > 0 || transforms !== undefined;
  const known = masks > 0 ? "all" : "known";
  const observe = one(
    "observe",
    `const double *${own ? "measured" : "row"}${lines(given > 0, ", const double *known")}`,
    `  int k, o, i;${lines(own, "\n  double row[OUTPUTS];")}
${lines(masks > 0, maskedRow(shape))}${lines(fills > 0, "  if (!fill(state->last, measured, OUTPUTS)) return 0;\n")}  for (k = 0; k < MEMBERS; k++) {
${memberHead}
    if (state->rows > ${lost}) {
    ${pendingInputs(known).replaceAll("\n", "\n  ")}
    }
${transforms ? forwarded(fills > 0 ? "state->last" : "measured") : lines(fills > 0, "    for (o = 0; o < OUTPUTS; o++) row[o] = state->last[o];\n")}    for (o = 0; o < OUTPUTS; o++) fed[o] = (real)((row[o] - m->input_mean[o]) / m->input_deviation[o]);
${lines(hasLags, `    ${lines(most > 0, `if (state->rows >= ${lost}) `)}${push.replace("FROM", "fed")}\n`)}    ${moveOn}
  }
  count_row(state);
${lines(fills > 0, "  return 1;\n")}`,
    fills > 0 ? "int" : "void",
  );
  const outside = outsideOf(shape);
  const loopBody = shape.feedback
    ? `${lines(inputs > 0, `${scores("outside", "u", "", "INPUTS")}\n      `)}${step}
      ${say("loop_readout", "loop_intercept")}${hold}
      for (o = 0; o < OUTPUTS; o++) fed[o] = y[o];`
    : observes(shape)
      ? `${pendingInputs(masks > 0 ? "all" : "outside").replaceAll("\n", "\n  ")}
      ${say("loop_readout", "loop_intercept")}${hold}
      for (o = 0; o < OUTPUTS; o++) fed[o] = y[o];${lines(hasLags, `\n      ${push.replace("FROM", "y")}`)}`
      : `${say("loop_readout", "loop_intercept")}${hold}${lines(hasLags, `\n      ${push.replace("FROM", "y")}`)}
      for (o = 0; o < OUTPUTS; o++) u[o] = y[o];${lines(outside > 0, `\n      ${scores("outside", "u", "OUTPUTS + ", "INPUTS - OUTPUTS")}`)}
      ${step}`;
  const least = (observes(shape) ? Math.max(1, mostLags) : mostLags) + most;
  const forecast = `
int ${name}_forecast(${name}_state *state, int steps, ${lines(outside > 0, "const double *outside, ")}double *output)
{
  double made[OUTPUTS * MEMBERS]${lines(transforms !== undefined, ", row[OUTPUTS]")};
  real y[OUTPUTS];
  int t, k, o${lines(inputs > (shape.feedback ? 0 : shape.outputs), ", i")};
${lines(masks > 0, `  double all[${shape.known}];\n`)}${lines(least > 0, `  if (state->rows < ${least}) return 0;\n`)}  for (t = 0; t < steps; t++) {
    ${cursors}
${lines(masks > 0, `    ${gatherKnown(shape, "outside", "0")}\n`)}    for (k = 0; k < MEMBERS; k++) {
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
    lines(fills > 0 || fillsFed > 0, fillFunction),
    beginning(
      "begin",
      standing,
      {
        x: "m->state[i]",
        u: "m->input[i]",
        fed: "m->fed[i]",
        recent: "m->recent[i]",
        past: "m->past[i]",
        step: "m->step",
      },
      lastRows,
    ),
    beginning("reset", "0", { x: "m->initial_state[i]" }, { last: "0", last_fed: "0" }),
    observes(shape) ? observe : predict,
    lines(shape.feedback, teach),
    lines(shape.closes, forecast),
  ].join("");
}

/** What is known of a row, with the mask before the calendar. */
function gatherKnown({ masks, known, calendar }: Shape, given: string, flag: string): string {
  const last = calendarColumns(calendar);
  const own = known - masks - last;
  return [
    `for (i = 0; i < ${own}; i++) all[i] = ${given}[i];`,
    `for (o = 0; o < OUTPUTS; o++) all[${own} + o] = ${flag};`,
    `for (i = 0; i < ${last}; i++) all[${own + masks} + i] = ${given}[${own} + i];`,
  ]
    .filter((line) => !line.includes("i < 0;"))
    .join("\n    ");
}

/** What is known of a row of which values may be missing: the mask says which. */
function maskedRow(shape: Shape): string {
  return `  double all[${shape.known}];
  ${gatherKnown(shape, "known", "measured[o] != measured[o]").replaceAll("\n    ", "\n  ")}
`;
}

const fillFunction = `
/* Takes a row: a missing value (NaN) is the last one before it. 0 if there is none, and the row is not taken. */
static int fill(double *last, const double *row, int count)
{
  int i;
  for (i = 0; i < count; i++)
    if (row[i] != row[i] && last[i] != last[i]) return 0;
  for (i = 0; i < count; i++)
    if (row[i] == row[i]) last[i] = row[i];
  return 1;
}
`;

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
