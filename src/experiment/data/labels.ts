// Anomalies that are known, from a CSV file with a line for each.
import { csvColumns, parseCsv, readText } from "@spillway/io";
import type { AnomalyLabel, LabelsFile } from "../description/description.js";
import { resolveDataPath } from "../description/paths.js";

/** A label, and where it is from, for errors. */
export interface KnownAnomaly {
  readonly label: AnomalyLabel;
  readonly from: string;
}

/** Whole numbers are rows; anything else is a time stamp. */
const rowOrStamp = (cell: string): string | number => (/^\s*\d{1,15}\s*$/.test(cell) ? Number(cell) : cell);

/** @throws FileError, FormatError for a column that the file does not have */
export async function readLabels({ file, start, end }: LabelsFile, experimentPath: string | undefined): Promise<KnownAnomaly[]> {
  const path = resolveDataPath(file, experimentPath);
  const text = await readText(path, "CSV");
  const header = (await csvColumns(text, { source: path, header: true })).map(({ name }) => name);
  const has = (name: string) => (header.includes(name) ? name : undefined);
  const columns = [start ?? has("start") ?? 0, end ?? has("end")].filter((column) => column !== undefined);
  const table = await parseCsv(text, { source: path, header: true, columns: [], text: columns });
  const [starts, ends] = columns.map((column) => table.text[typeof column === "number" ? header[column]! : column]!);
  return table.lines.map((line, k) => {
    const [from, to] = [starts, ends].map((cells) => cells && rowOrStamp(cells[k]!));
    return { label: to === undefined ? from! : [from!, to], from: `task.labels, ${path}, row ${line}` };
  });
}
