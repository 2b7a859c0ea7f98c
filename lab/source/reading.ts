// The worker that reads a file of the user's own. It gives one answer, and is then ended.
import { type CsvColumn, csvColumns } from "../../packages/io/src/index.js";
import type { OwnChoices, OwnSeries } from "../../src/lab/own-data.js";
import { marksOf, readOwnSeries } from "../../src/lab/own-series.js";
import { sentenceOf } from "./sentence.js";

export interface ReadingRequest {
  readonly file: File;
  readonly choices: OwnChoices;
}

/** The series, or the sentence why there is none, with the columns if they could be found. */
export type ReadingAnswer = OwnSeries | { readonly problem: string; readonly columns: readonly CsvColumn[] };

addEventListener("message", async ({ data }: MessageEvent<ReadingRequest>) => postMessage(await answerTo(data)));

async function answerTo({ file, choices }: ReadingRequest): Promise<ReadingAnswer> {
  let columns: readonly CsvColumn[] = [];
  try {
    const text = await file.text();
    columns = await csvColumns(text, { header: choices.header, ...(await marksOf(text, choices)), source: file.name });
    return await readOwnSeries(text, file.name, choices);
  } catch (error) {
    return { problem: sentenceOf(error), columns };
  }
}
