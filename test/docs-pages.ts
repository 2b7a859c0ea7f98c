// The blocks of code on the pages of the documentation, and data for the experiments among them.
// A block's first line says what it is, and may say in a word how it is run; a comment right above
// it, <!-- given: ... -->, does before what a reader has done already.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseExperimentText } from "../src/experiment/description/file.js";

export interface Block {
  /** The file, such as docs/search.md, and the number of the block's first line. */
  readonly page: string;
  readonly line: number;
  /** The nearest heading above it. */
  readonly heading: string;
  /** What stands behind the fence: "ts", "sh", "" for diagrams and formulas. */
  readonly language: string;
  /** The word behind the language. */
  readonly how: string;
  readonly given: string;
  readonly text: string;
}

const folders = ["docs", "docs/internals", "docs/api"];
/** Every page that has blocks to run. */
export const pages: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md"],
  ...folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  ),
];

/** The blocks of a page, in their order. @throws Error if one has no end */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(page, "utf8");
  const found: Block[] = [];
  let heading = "";
  const parts = /^#+ (.*)$|(?:^<!-- given:\n([\s\S]*?)-->\n+)?^```([^\s`]*) *([^\n]*)\n([\s\S]*?)^```$/gm;
  for (const { 1: title, 2: given, 3: language, 4: how, 5: body, 0: whole, index } of text.matchAll(parts)) {
    if (title !== undefined) heading = title;
    else {
      const line = text.slice(0, index + whole.indexOf("```")).split("\n").length;
      found.push({ page, line, heading, language: language!, how: how!, given: given ?? "", text: body! });
    }
  }
  const fences = text.match(/^ *```/gm)?.length ?? 0;
  if (fences !== 2 * found.length) throw new Error(`${page} has ${fences} fences, of which ${2 * found.length} are those of blocks`);
  return found;
}

/** The commands of a block of shell, one by one, without comments. */
export function commandsOf(text: string): string[] {
  return text
    .replace(/\\\n\s*/g, " ")
    .split(/\n|&&/)
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/**
 * A table with the columns that an experiment asks for: days, and swings of a week with a trend.
 */
export function tableFor(text: string): { readonly file: string; readonly csv: string } | undefined {
  const { data } = parseExperimentText(text, "a block").experiment;
  if (!("file" in data) || !data.file.endsWith(".csv") || /[:$]/.test(data.file)) return undefined;
  const dates = [...(data.time === undefined ? [] : [data.time]), ...(data.text ?? [])];
  const numbers = [...(data.columns ?? []), ...(data.inputs ?? []), ...(data.targets ?? [])];
  const rows = Array.from({ length: 600 }, (_, t) => [
    ...dates.map(() => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10)),
    ...numbers.map((_name, c) => (15 + c + 4 * Math.sin((2 * Math.PI * t) / 7) + Math.cos(t / 40) + 0.1 * Math.sin(t * t)).toFixed(2)),
  ]);
  return { file: data.file, csv: [[...dates, ...numbers], ...rows].map((row) => row.join(",")).join("\n") };
}
