// The header of a `.ts` file: what it says about its cases. Whether the cases agree is checked
// where they are read.

import { quoted } from "../core/text.js";
import { FormatError } from "./errors.js";

export interface UeaHeader {
  readonly problemName: string;
  readonly description: string;
  /** Every field as written, names in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  /** undefined if the header does not say. */
  readonly channels: number | undefined;
  readonly missing: boolean | undefined;
  readonly equalLength: boolean | undefined;
  readonly seriesLength: number | undefined;
  /** What stands after the last ":" of a case. */
  readonly labelled: "class" | "target" | false;
  /** undefined if the header lists none. */
  readonly classes: readonly string[] | undefined;
  /** Index of the line that holds @data. */
  readonly dataLine: number;
}

/** @throws FormatError naming the line. */
export function parseUeaHeader(lines: readonly string[], source: string): UeaHeader {
  const fields: Record<string, string> = Object.create(null);
  const at: Record<string, number> = Object.create(null);
  const description: string[] = [];
  const fail = (reason: string, line?: number): FormatError =>
    new FormatError(".ts", source, line === undefined ? reason : `line ${line}: ${reason}`, line === undefined ? {} : { line });

  let dataLine = -1;
  for (let i = 0; i < lines.length && dataLine < 0; i++) {
    const line = lines[i]!.trim();
    if (line.startsWith("#") || line.startsWith("%")) description.push(line.slice(1).trim());
    else if (line.startsWith("@")) {
      const [tag = "", ...rest] = line.slice(1).split(/\s+/);
      const name = tag.toLowerCase();
      if (name === "data") dataLine = i;
      else if (name in fields) throw fail(`@${tag} stands in the header twice`, i + 1);
      else {
        fields[name] = rest.join(" ");
        at[name] = i + 1;
      }
    } else if (line !== "") throw fail(`${quoted(line)} stands before @data; a header line starts with # or @`, i + 1);
  }
  if (dataLine < 0) throw fail("there is no line @data; a .ts file has a header of @ lines, then @data, then a case a line");

  const flag = (name: string): boolean | undefined => {
    const value = fields[name]?.toLowerCase();
    if (value === undefined || value === "true" || value === "false") return value === undefined ? undefined : value === "true";
    throw fail(`@${name} is ${quoted(fields[name]!)}; it takes true or false`, at[name]);
  };
  const count = (name: string): number | undefined => {
    const value = fields[name];
    if (value === undefined) return undefined;
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    throw fail(`@${name} is ${quoted(value)}; it takes a whole number of at least 1`, at[name]);
  };
  /** "true a b c", "true", "false" or nothing. */
  const label = (name: string): { present: boolean; values: string[] } => {
    const [first = "false", ...values] = fields[name]?.split(" ") ?? [];
    if (first !== "true" && first !== "false") throw fail(`@${name} is ${quoted(fields[name]!)}; it takes true or false first`, at[name]);
    return { present: first === "true", values };
  };

  if (flag("timestamps"))
    throw fail("@timeStamps is true: cases with a time stamp at every value are not read; it takes false", at["timestamps"]);
  const univariate = flag("univariate");
  const dimensions = count("dimensions") ?? count("dimension");
  if (univariate && dimensions !== undefined && dimensions !== 1) {
    throw fail(`@univariate is true and @dimensions is ${dimensions}; one channel takes 1`, at["dimensions"] ?? at["dimension"]);
  }
  const classLabel = label("classlabel");
  const targetLabel = label("targetlabel");
  if (classLabel.present && targetLabel.present) throw fail("@classLabel and @targetLabel are both true; a case ends with one of them");
  return {
    problemName: fields["problemname"] ?? "",
    description: description.join("\n"),
    fields,
    channels: dimensions ?? (univariate ? 1 : undefined),
    missing: flag("missing"),
    equalLength: flag("equallength"),
    seriesLength: count("serieslength"),
    labelled: classLabel.present ? "class" : targetLabel.present ? "target" : false,
    classes: classLabel.present && classLabel.values.length > 0 ? classLabel.values : undefined,
    dataLine,
  };
}
