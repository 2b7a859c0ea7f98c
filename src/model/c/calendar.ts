// What the calendar says of a time stamp, as a table of a program.
import { type CalendarFeature, calendarColumns, cycleOf, dayNumbers } from "../../series/calendar.js";
import { type Constants, type Field, nowhere } from "./constants.js";

/** What NAME.h says of it. */
export function calendarDeclaration(name: string, features: readonly CalendarFeature[]): string {
  const columns = calendarColumns(features);
  return `/* What the calendar says of a row: the last ${columns} of its known values. \`wall\` is the row's time stamp as its own
   clock shows it, in milliseconds since 1970-01-01 00:00. */
void ${name}_calendar(int64_t wall, double *known);
`;
}

const cycles = ["hour", "weekday", "yearday"] as const;

/** Fields of the table of features, and whether years are counted. */
export function calendarRows(features: readonly CalendarFeature[], constants: Constants) {
  const rows = features.map((feature, k): readonly Field[] => {
    if (typeof feature === "object" && "holidays" in feature) {
      const days = dayNumbers(feature.holidays);
      return [cycles.length, 0, days.length, constants.to("int32_t", `holidays_${k}`, days)];
    }
    const { name, harmonics } = cycleOf(feature);
    return [cycles.indexOf(name), harmonics, 0, nowhere];
  });
  return { rows, hasYears: rows.some(([kind]) => kind === cycles.indexOf("yearday")) };
}
