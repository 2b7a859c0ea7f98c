// NAME.h of an exported forecaster: its state, and what a program calls.
import type { CalendarFeature } from "../../series/calendar.js";
import { calendarDeclaration } from "./calendar.js";
import { givenOf, observes, outsideOf, pastOf, type Shape, stateFields } from "./shape.js";
import { headerText, lines, typeName } from "./text.js";
import { mostLost } from "./transforms.js";

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
