// Reads the `.ts` text files of the UEA and UCR time-series archives: one case a line, channels
// separated by ":", class last. The format: A. Bagnall et al. 2018, "The UEA multivariate time
// series classification archive", section 2. Nothing is downloaded.
import { type InputOf, resolve, type TableOf } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import { checkText, FormatError, type SourceOptions } from "./errors.js";
import { readText } from "./files.js";
import { fillMissing, type MissingPolicy, parseNumber } from "./missing.js";
import { missingTable, sourceTable } from "./options.js";

interface UeaHeader {
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
function parseUeaHeader(lines: readonly string[], source: string): UeaHeader {
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

export const ueaTable = {
  /**
   * What becomes of "?"; default "error". "drop" leaves out a frame in which any channel is
   * missing.
   */
  missing: missingTable.missing,
};

/** What is done about missing values. */
export interface UeaOptions extends InputOf<typeof ueaTable> {}

const ueaTextTable = { ...ueaTable, ...sourceTable } satisfies TableOf<UeaOptions & SourceOptions>;

/** The cases of one `.ts` file. */
export interface UeaDataset {
  readonly problemName: string;
  /** The comment lines above the header. */
  readonly description: string;
  /** Every header field as it was written, names in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  /** Channels of every case. */
  readonly channels: number;
  /** Whether all cases have the same length, as found in the data. */
  readonly equalLength: boolean;
  /** One T x channels matrix a case; T may differ. */
  readonly sequences: readonly Matrix<Float64Array>[];
  /** The class of each case; empty if the file has no classes. */
  readonly labels: readonly string[];
  /** The classes, in the order of the header, or of their first case if the header lists none. */
  readonly classes: readonly string[];
  /**
   * The number each case is to be mapped to, if the file is one of regression
   * (`@targetLabel true`).
   */
  readonly targets: Float64Array | undefined;
  /** How many values were missing, and were filled or dropped as `missing` says. */
  readonly missing: number;
}

/** Reads a `.ts` file; see {@link parseUea}. @throws FileError if it cannot be read. */
export async function readUea(path: string, options: UeaOptions = {}): Promise<UeaDataset> {
  resolve(ueaTable, options);
  return parseUea(await readText(path, ".ts"), { ...options, source: path });
}

/**
 * Parses the text of a `.ts` file and holds its header against its data: number of channels, equal
 * lengths, series length, classes.
 * @throws FormatError naming line, case (from 1) and channel (from 1).
 */
export function parseUea(text: string, options: UeaOptions & SourceOptions = {}): UeaDataset {
  const { missing, source = ".ts text" } = resolve(ueaTextTable, options);
  checkText(text, source);
  const lines = (text.startsWith("\uFEFF") ? text.slice(1) : text).split(/\r\n?|\n/);
  const header = parseUeaHeader(lines, source);
  const reader = new CaseReader(source, header, missing);
  for (let i = header.dataLine + 1; i < lines.length; i++) {
    const line = lines[i]!.trim();
    if (line !== "" && !line.startsWith("#")) reader.take(line, i + 1);
  }
  return reader.dataset();
}

class CaseReader {
  readonly #source: string;
  readonly #header: UeaHeader;
  readonly #policy: MissingPolicy;
  readonly #sequences: Matrix<Float64Array>[] = [];
  readonly #labels: string[] = [];
  readonly #classes: Set<string>;
  readonly #targets: number[] = [];
  #channels: number | undefined;
  #firstLength = 0;
  #equalLength = true;
  #missing = 0;

  constructor(source: string, header: UeaHeader, policy: MissingPolicy) {
    this.#source = source;
    this.#header = header;
    this.#policy = policy;
    this.#channels = header.channels;
    this.#classes = new Set(header.classes);
  }

  take(line: string, number: number): void {
    const location = { line: number, case: this.#sequences.length + 1 };
    const channels = line.split(":");
    if (this.#header.labelled) this.#label(channels.pop()!.trim(), location);
    if (channels.length === 0)
      throw this.#fail(`it holds no channel: ${quoted(line)} has no ":" before its ${this.#header.labelled}`, location);
    this.#channels ??= channels.length;
    if (channels.length !== this.#channels) {
      const per = this.#header.channels === undefined ? `the first case ${this.#channels}` : `the header says ${this.#channels}`;
      const advice = this.#header.labelled ? "" : " (is there a class at the end? the header says there is none)";
      throw this.#fail(`it holds ${channels.length} channels and ${per}${advice}`, location);
    }
    const sequence = this.#sequence(channels, location);
    const length = sequence.rows;
    const { seriesLength, equalLength } = this.#header;
    if (this.#sequences.length === 0) this.#firstLength = length;
    if (length !== this.#firstLength) this.#equalLength = false;
    if (equalLength && seriesLength !== undefined && length !== seriesLength) {
      throw this.#fail(`it is ${length} long and the header says @seriesLength ${seriesLength}`, location);
    }
    if (equalLength && !this.#equalLength) {
      throw this.#fail(`it is ${length} long and case 1 ${this.#firstLength}, and the header says @equalLength true`, location);
    }
    this.#sequences.push(this.#filled(sequence, location));
  }

  dataset(): UeaDataset {
    if (this.#sequences.length === 0) {
      throw new FormatError(".ts", this.#source, "there is no case after @data; it takes at least one");
    }
    const { problemName, description, fields, labelled } = this.#header;
    const { rows } = this.#sequences[0]!;
    return {
      problemName,
      description,
      fields,
      channels: this.#channels!,
      equalLength: this.#sequences.every((sequence) => sequence.rows === rows),
      sequences: this.#sequences,
      labels: this.#labels,
      classes: [...this.#classes],
      targets: labelled === "target" ? Float64Array.from(this.#targets) : undefined,
      missing: this.#missing,
    };
  }

  #sequence(channels: readonly string[], location: CaseLocation): Matrix<Float64Array> {
    const cells = channels.map((channel) => channel.split(","));
    const rows = cells[0]!.length;
    const data = new Float64Array(rows * cells.length);
    const ragged = cells.findIndex((channel) => channel.length !== rows);
    if (ragged >= 0) {
      throw this.#fail(
        `channel ${ragged + 1} holds ${cells[ragged]!.length} values and channel 1 holds ${rows}; every channel of a case takes the same number`,
        { ...location, channel: ragged + 1 },
      );
    }
    cells.forEach((channel, c) => {
      for (let t = 0; t < rows; t++) {
        const cell = channel[t]!.trim();
        const value = cell === "?" || cell.toLowerCase() === "nan" ? Number.NaN : parseNumber(cell);
        const wrong =
          value === undefined
            ? `: ${quoted(cell)} is not a number`
            : Number.isNaN(value) && this.#header.missing === false
              ? " is missing, and the header says @missing false"
              : undefined;
        if (wrong !== undefined) throw this.#fail(`channel ${c + 1}, value ${t + 1}${wrong}`, { ...location, channel: c + 1 });
        data[t * cells.length + c] = value!;
      }
    });
    return new Matrix<Float64Array>(rows, cells.length, data);
  }

  #filled(sequence: Matrix<Float64Array>, location: CaseLocation): Matrix<Float64Array> {
    const { matrix, missing } = fillMissing(sequence, this.#policy, (t, c, reason) => {
      const advice =
        this.#policy === "error" && reason === "the value is missing" ? `; set \`missing\` to "interpolate", "hold" or "drop"` : "";
      return this.#fail(`channel ${c + 1}, value ${t + 1}: ${reason}${advice}`, { ...location, channel: c + 1 });
    });
    if (matrix.rows === 0) throw this.#fail("every frame has a missing value; none is left", location);
    this.#missing += missing;
    return matrix;
  }

  #label(label: string, location: CaseLocation): void {
    if (this.#header.labelled === "target") {
      const value = parseNumber(label);
      if (value === undefined) throw this.#fail(`its target ${quoted(label)} is not a number`, location);
      this.#targets.push(value);
      return;
    }
    if (!this.#classes.has(label)) {
      if (this.#header.classes) {
        const there = this.#header.classes.slice(0, 20).map(quoted).join(", ");
        const more = this.#header.classes.length > 20 ? ", ..." : "";
        throw this.#fail(`its class is ${quoted(label)}; the header lists ${there}${more}`, location);
      }
      if (label === "") throw this.#fail("it ends without a class", location);
      this.#classes.add(label);
    }
    this.#labels.push(label);
  }

  #fail(reason: string, location: CaseLocation & { channel?: number }): FormatError {
    return new FormatError(".ts", this.#source, `line ${location.line}, case ${location.case}: ${reason}`, { ...location });
  }
}

interface CaseLocation {
  readonly line: number;
  readonly case: number;
}
