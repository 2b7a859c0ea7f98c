// Everything that keeps a table from being read, in one error: each problem with the options of
// `data` that solve it, which are tried before they are proposed.
import { SpillwayError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { FileError, isParquet, readCsv, readParquet } from "@spillway/io";
import { parseStamp } from "../../series/time-form.js";
import { fittingForms } from "../../series/time-formats.js";
import type { FileData } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";

type Settings = Partial<FileData>;

/** More problems than these are not looked for. */
const mostProblems = 12;

/**
 * The error of a table with all that is wrong with it.
 * @param load reads the table with other options
 * @param isForecast whether it is the series of a forecast, which can be given what was missing
 * @returns the error itself if options would not solve it
 */
export async function tableProblems(
  error: unknown,
  { data, path, isForecast }: { readonly data: FileData; readonly path: string; readonly isForecast: boolean },
  load: (data: FileData) => Promise<unknown>,
): Promise<unknown> {
  if (!(error instanceof SpillwayError)) return error;
  /** The reason for which "mask" is proposed. */
  let masked = -1;
  const { reasons, settings, isSolved } = await collectProblems<Settings>(
    { error, path },
    async (given, before, problem) => {
      const more = await settingsFor(given, { ...data, ...before }, path, isForecast);
      if (more.missing === "mask") masked = problem;
      return more;
    },
    (found) => load({ ...data, ...found }),
  );
  if (Object.keys(settings).length === 0) return error;
  const mask = (k: number) => (k === masked ? ', or to "mask", which holds it and tells the model so' : "");
  const list =
    reasons.length === 1 ? error.message + mask(0) : `${path}: ${reasons.map((reason, k) => `(${k + 1}) ${reason}${mask(k)}`).join(". ")}`;
  const cure = `${isSolved ? "The table can be read" : "Some of it is solved"} with data: { file: ${data.file}, ${Object.entries({
    ...said(data),
    ...settings,
  })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${inYaml(value)}`)
    .join(", ")} }`;
  return new ExperimentError(`${list}. ${cure}`, { field: error.field, settings, cause: error });
}

/**
 * All that keeps a table from being read, one after the other, and the settings that solve it.
 * @param propose settings for those that an error names; `before` are the ones so far
 * @param load reads the table with settings
 */
export async function collectProblems<Found extends object>(
  { error, path }: { readonly error: SpillwayError; readonly path: string },
  propose: (given: Readonly<Record<string, unknown>>, before: Partial<Found>, problem: number) => Promise<Partial<Found>> | Partial<Found>,
  load: (settings: Partial<Found>) => Promise<unknown>,
): Promise<{ readonly reasons: readonly string[]; readonly settings: Partial<Found>; readonly isSolved: boolean }> {
  const reasons = [reasonOf(error, path)];
  let settings: Partial<Found> = {};
  let now = error;
  while (now.settings && reasons.length <= mostProblems) {
    settings = { ...settings, ...(await propose(now.settings, settings, reasons.length - 1)) };
    try {
      await load(settings);
      return { reasons, settings, isSolved: true };
    } catch (next) {
      if (!(next instanceof SpillwayError)) break;
      const reason = reasonOf(next, path);
      // The same again: what was proposed does not help.
      if (reasons.includes(reason)) break;
      reasons.push(reason);
      now = next;
    }
  }
  return { reasons, settings, isSolved: false };
}

/** What a file says beside its name. */
function said(data: FileData): Settings {
  const entries = Object.entries(data).filter(
    ([name, value]) => value !== undefined && name !== "file" && !(name === "missing" && value === "error"),
  );
  return Object.fromEntries(entries);
}

function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inYaml).join(", ")}]`;
  if (typeof value === "string" && /^[A-Za-z][\w/+-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value))
    return value;
  return JSON.stringify(value);
}

function reasonOf(error: SpillwayError, path: string): string {
  const reason = error instanceof FileError ? error.reason : error.message;
  return reason.startsWith(path) ? reason.slice(path.length).replace(/^[:,]? */, "") : reason;
}

/** Options as an error proposes them, as this table takes them. */
async function settingsFor(given: Readonly<Record<string, unknown>>, data: FileData, path: string, isForecast: boolean): Promise<Settings> {
  const { text = [], missing, ...rest } = given as Settings;
  const settings: { -readonly [Name in keyof Settings]: Settings[Name] } = rest;
  if (missing !== undefined) settings.missing = isForecast ? "mask" : missing;
  const stamps = data.time === undefined && data.inputs === undefined ? await timeColumn(text, { ...data, ...rest }, path) : undefined;
  if (stamps) {
    settings.time = stamps.name;
    if (stamps.form !== undefined) settings.timeFormat = stamps.form;
  }
  const others = text.filter((name) => name !== stamps?.name && name !== data.time);
  if (others.length > 0) settings.text = [...(data.text ?? []), ...others];
  // A column that is kept as text is none of the series; if no other is named, all others are.
  const columns = data.columns?.filter((column) => !text.includes(column));
  if (columns?.length !== data.columns?.length) settings.columns = columns!.length > 0 ? columns : undefined;
  return settings;
}

/** The first of some columns that holds time stamps, and their form if it is none of ISO 8601. */
async function timeColumn(names: readonly (string | number)[], data: FileData, path: string) {
  const { header, delimiter, comment, encoding, decimal } = data;
  const read = (options: { readonly text: readonly (string | number)[]; readonly columns: readonly [] }) =>
    (data.format === undefined ? isParquet(path) : data.format === "parquet")
      ? readParquet(path, options)
      : readCsv(path, { header, delimiter, comment, encoding, decimal, ...options });
  for (const name of names) {
    const { text } = await read({ text: [name], columns: [] });
    const cells = Object.values(text)[0]!;
    if (cells.every((cell) => typeof parseStamp(cell) === "object")) return { name, form: undefined };
    const [form] = fittingForms(cells);
    if (form !== undefined) return { name, form };
  }
  return undefined;
}

/** Options in a sentence: `set timeZone to "Europe/Berlin"`. */
export function proposed(name: string, values: readonly string[]): string {
  const most = 12;
  const all = values.slice(0, most).map(quoted).join(", ");
  return values.length === 1 ? `set ${name} to ${all}` : `set ${name} to the right one of ${all}${values.length > most ? ", ..." : ""}`;
}
