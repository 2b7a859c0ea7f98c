// A flag of the command line from the option of a table that it sets. The table says what it takes,
// its default and its sentence; only the letters and the name of its value are said here.

import { ArgumentError } from "@spillway/core/errors.js";
import { suggestion } from "@spillway/core/near-names.js";
import type { JsonSchema, Option, OptionTable } from "@spillway/core/options.js";
import { Option as CommandOption } from "commander";

/** What a table does not say of a flag. */
export interface FlagSetting {
  /** One letter: "t" is -t. */
  readonly short?: string;
  /** What the help calls the value, such as "dir"; default "n" for a number, else "name". */
  readonly value?: string;
  /** What the flag is called, if not as the option: "timeUnit" is --time-unit. */
  readonly name?: string;
  /** What the help says beside the table's sentence. */
  readonly note?: string;
  /** What a command takes if the flag is left out, if not the table's default. */
  readonly fallback?: string;
}

/** A flag that sets an option of a table. */
export class TableFlag extends CommandOption {
  /** The option that it sets. */
  readonly described: Option<unknown, unknown>;

  constructor(option: string, described: Option<unknown, unknown>, { short, value, name = option, note = "", fallback }: FlagSetting) {
    const { type, items } = described.schema;
    const isNumber = type === "number" || type === "integer";
    const long = longOf(name);
    const takesValue = type === "boolean" ? "" : ` <${value ?? (isNumber ? "n" : "name")}>`;
    super(`${short === undefined ? "" : `-${short}, `}${long}${takesValue}`, helpOf(described) + note);
    this.described = described;
    if (type === "boolean") return;
    const initial = fallback ?? described.default;
    if (initial !== undefined) this.default(initial);
    const { type: each } = (items ?? described.schema) as JsonSchema;
    const readOne = (text: string) => (each === "number" || each === "integer" ? numberOf(text) : text);
    this.argParser((text) => readFlag(described, type === "array" ? namesOf(text).map(readOne) : readOne(text), long));
  }

  /** The words that it takes, if there are only so many. */
  get words(): readonly string[] | undefined {
    return wordsOf(this.described);
  }
}

/** The flag that sets an option of a table: `flagOf(threadsTable, "threads")` is --threads. */
export function flagOf<Table extends OptionTable>(table: Table, name: keyof Table & string, setting: FlagSetting = {}): TableFlag {
  return new TableFlag(name, table[name]!, setting);
}

/** Names with commas between them. */
export const namesOf = (text: string): string[] => text.split(",").map((name) => name.trim());

/** "--kernel-source" for kernelSource. */
export function longOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The table's sentence, as help has sentences, and what the flag takes if it is not any text. */
export function helpOf({ description, takes, schema }: Option<unknown, unknown>): string {
  const sentence = description.replace(/\.$/, "").replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  const isPlain = schema["type"] === "boolean" || (schema["type"] === "string" && schema["enum"] === undefined);
  return isPlain ? sentence : `${sentence}; takes ${takes}`;
}

/** @throws ArgumentError of the table, with the nearest word if there is one */
function readFlag(described: Option<unknown, unknown>, value: unknown, long: string): unknown {
  try {
    return described.read(value, long);
  } catch (error) {
    const near = error instanceof ArgumentError && typeof value === "string" ? suggestion(value, wordsOf(described) ?? []) : "";
    if (near === "") throw error;
    throw new ArgumentError(long, value, `${described.takes}${near}`, { cause: error });
  }
}

function wordsOf({ schema }: Option<unknown, unknown>): readonly string[] | undefined {
  return schema["enum"] as readonly string[] | undefined;
}

/** A text that is no number stays as it is: the table's error then shows it. */
function numberOf(text: string): string | number {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? text : value;
}
