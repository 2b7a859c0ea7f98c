// Why cells of a CSV text are no numbers, column by column, and the options that would read them.
import { quoted } from "@spillway/core/text.js";
import { type CsvOptions, missingMarkers } from "./csv-options.js";
import { cellNumber, delimiterOf, eachRecord } from "./csv-records.js";

/** Everything that is wrong with the cells of a table, in a sentence, and options that solve it. */
export interface CellProblems {
  readonly reason: string;
  readonly settings: Pick<CsvOptions, "decimal" | "thousands" | "missingMarkers" | "text">;
}

type Reading = Pick<CsvOptions, "decimal" | "thousands">;

/** What is counted of a column that was meant to hold numbers. */
interface Tally {
  readonly index: number;
  readonly column: string;
  readonly name: string | number;
  /** Cells that are numbers as they are read now. */
  numbers: number;
  /** Cells that each reading takes for no number. */
  readonly bad: number[];
  /** Different cells that are none now, at most `mostDifferent`: the first row, and how many. */
  readonly cells: Map<string, { readonly line: number; count: number }>;
  readonly markers: Set<string>;
}

const mostDifferent = 1000;
/** Texts of a column of numbers that may mean a missing value. */
const mostMarkers = 5;

/** Goes over a whole text again once a cell of it was no number. */
export async function cellProblems(
  text: string,
  source: string,
  options: CsvOptions & { readonly header: boolean },
  columns: readonly { readonly index: number; readonly name: string }[],
): Promise<CellProblems> {
  const { decimal = ".", thousands, missingMarkers: markers = missingMarkers } = options;
  const now: Reading = { decimal, thousands };
  const comma: Reading[] = [
    { decimal: ",", thousands: undefined },
    { decimal: ".", thousands: "," },
  ];
  // Between commas a comma within quotes separates thousands rather than decimals.
  const readings: Reading[] = [now, ...(delimiterOf(text, options) === "," ? comma.toReversed() : comma)];
  for (const mark of [",", "."] as const)
    for (const separator of [".", ",", " ", "'"] as const) if (separator !== mark) readings.push({ decimal: mark, thousands: separator });
  const tallies = columns.map(
    ({ index, name }): Tally => ({
      index,
      name: options.header ? name : index,
      column: options.header ? `column ${quoted(name)}` : `column ${index} (counted from 0)`,
      numbers: 0,
      bad: readings.map(() => 0),
      cells: new Map(),
      markers: new Set(),
    }),
  );
  let first = options.header;
  await eachRecord(text, source, options, (record, { line }) => {
    if (first) {
      first = false;
      return;
    }
    for (const tally of tallies) count(tally, record[tally.index]?.trim() ?? "", line, readings, markers);
  });
  const totals = readings.map((_, k) => tallies.reduce((sum, { bad }) => sum + bad[k]!, 0));
  const best = totals.indexOf(Math.min(...totals));
  return described(tallies, { best, readings, totals });
}

function count(tally: Tally, cell: string, line: number, readings: readonly Reading[], markers: readonly string[]): void {
  if (markers.includes(cell)) {
    tally.markers.add(cell);
    return;
  }
  const isNumber = readings.map((reading) => cellNumber(cell, reading) !== undefined);
  isNumber.forEach((is, k) => {
    if (!is) tally.bad[k]!++;
  });
  if (isNumber[0]) {
    tally.numbers++;
    return;
  }
  const known = tally.cells.get(cell);
  if (known) known.count++;
  else if (tally.cells.size < mostDifferent) tally.cells.set(cell, { line, count: 1 });
}

function described(
  tallies: readonly Tally[],
  { best, readings, totals }: { readonly best: number; readonly readings: readonly Reading[]; readonly totals: readonly number[] },
): CellProblems {
  const now = readings[0]!;
  const reading = readings[best]!;
  const markers = new Set<string>();
  const text: (string | number)[] = [];
  const sentences = tallies
    .filter(({ cells }) => cells.size > 0)
    .map((tally) => {
      const all = [...tally.cells];
      const rest = all.filter(([cell]) => cellNumber(cell, reading) === undefined);
      const said = ([cell, { line }]: (typeof all)[number]) => `row ${line}, ${tally.column}: ${quoted(cell)} is not a number`;
      if (rest.length === 0) return `${said(all[0]!)}; ${readingAdvice(now, readings, best, totals)}`;
      const sum = (cells: typeof all) => cells.reduce((total, [, own]) => total + own.count, 0);
      const texts = sum(rest);
      const numbers = tally.numbers + sum(all) - texts;
      if (rest.length <= mostMarkers && (texts < numbers || (rest.length === 1 && numbers >= 10))) {
        for (const cell of [...rest.map(([own]) => own), ...tally.markers]) markers.add(cell);
        const list = rest.length > 1 ? ` (here ${rest.map(([cell]) => quoted(cell)).join(", ")})` : "";
        return `${said(rest[0]!)}; ${texts === 1 ? "correct the cell, or " : ""}set \`missingMarkers\` to all texts that mean a missing value${list}, or list the column under \`text\``;
      }
      text.push(tally.name);
      return `${said(all[0]!)}; list the column under \`text\`, or leave it out of \`columns\``;
    });
  for (const { markers: own } of tallies) if (markers.size > 0) for (const cell of own) markers.add(cell);
  const more = sentences.length > 10 ? `; and so in ${sentences.length - 10} more columns` : "";
  return {
    reason: sentences.slice(0, 10).join(". ") + more,
    settings: {
      ...(reading.decimal !== now.decimal && { decimal: reading.decimal }),
      ...(reading.thousands !== now.thousands && { thousands: reading.thousands }),
      ...(markers.size > 0 && { missingMarkers: [...markers] }),
      ...(text.length > 0 && { text }),
    },
  };
}

const marks = { ",": "a comma", ".": "a point", " ": "a blank", "'": "an apostrophe" };

function readingAdvice(now: Reading, readings: readonly Reading[], best: number, totals: readonly number[]): string {
  const advice = ({ decimal, thousands }: Reading) =>
    [
      decimal === now.decimal ? undefined : `set \`decimal\` to "${decimal}" if ${marks[decimal!]} is the decimal mark`,
      thousands === now.thousands || thousands === undefined
        ? undefined
        : `set \`thousands\` to "${thousands}" if ${marks[thousands]} separates thousands`,
    ]
      .filter((each) => each !== undefined)
      .join(" and ");
  const other = [1, 2].find((k) => k > best && totals[k] === totals[best]);
  return advice(readings[best]!) + (other === undefined ? "" : `, or ${advice(readings[other]!)}`);
}
