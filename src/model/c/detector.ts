// An anomaly detector as one C source and its header: a row in, what is said of it out.
import type { AnomalySettings } from "../anomaly/options.js";
import { detectorProgram, layoutOf } from "../anomaly/program.js";
import type { Program } from "./constants.js";
import { headerText, textConstant } from "./text.js";

/** @param state where `begin` goes to */
export function cDetector(
  settings: AnomalySettings,
  state: Float64Array,
  { name, version }: { readonly name: string; readonly version: string },
): Program {
  const program = detectorProgram(settings, state);
  const title = `Written by Spillway ${version}: a detector of anomalies in ${settings.columns.length} columns.`;
  return { ...program, title, header: headerOf(settings, name, title) };
}

function headerOf(settings: AnomalySettings, name: string, title: string): string {
  const { columns } = settings;
  const upper = name.toUpperCase();
  const results = 6 + 6 * columns.length;
  const body = `/* Numbers of a row (${columns.map((column) => textConstant(column)).join(", ")}), of a state and of a result. */
enum { ${upper}_COLUMNS = ${columns.length}, ${upper}_STATE = ${layoutOf(settings).length}, ${upper}_RESULT = ${results} };

/* A result: the score (odd from 1 on), the p-value (NaN if there is none), why an alarm is raised in this row (0 none, 1
   novelty, 2 stuck, 3 surprise, 4 missing), the column and the rows that it is of (-1 for none), and whether an incident
   goes on. Then of each column: score, p-value, alarm, expected value and band (NaN if there is none). */
enum {
  ${upper}_SCORE, ${upper}_P_VALUE, ${upper}_ALARM, ${upper}_CAUSE_COLUMN, ${upper}_CAUSE_ROWS, ${upper}_ONGOING, ${upper}_FIRST_COLUMN
};
enum {
  ${upper}_COLUMN_SCORE, ${upper}_COLUMN_P_VALUE, ${upper}_COLUMN_ALARM, ${upper}_EXPECTED, ${upper}_LOWER, ${upper}_UPPER, ${upper}_COLUMN_RESULTS
};

/* Goes to where the detector was when it was exported. */
void ${name}_begin(double *state);

/* Takes the next row. A value that is no number (NaN), infinite or beyond 1e300 is missing. \`instant\` and \`wall\` are its
   time stamp in milliseconds since 1970, in UTC and as its own clock shows it; NaN for none. */
void ${name}_update(double *state, const double *row, double instant, double wall, double *result);

/* What a person says of the incident that holds a row, by its number or, with \`by_time\`, by its instant: normal, or an
   anomaly, which is to raise an alarm again. 0 if there is no such incident among the last 32 alarms. */
int ${name}_feedback(double *state, double at, int by_time, int is_anomaly);
`;
  return headerText(name, { comment: `${title}\n   No call allocates; a state is all that a detector remembers.`, integers: false, body });
}
