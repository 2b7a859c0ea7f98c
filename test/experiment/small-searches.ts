// Searches of a tenth of a second that tests of several folders start from, and what they leave.

import { journalFile, StudyLog } from "../../packages/search/src/index.js";
import { type SearchInput, searchExperiment } from "../../src/experiment/index.js";

/** NARMA-10 with ten neurons and 67 rows that train a trial; the search is the test's. */
export const smallNarma = {
  name: "narma",
  data: { task: "narma" },
  reservoir: { size: 10, connectionProbability: 0.4 },
  task: "predict",
  washout: 10,
  split: { train: 90, test: 20 },
  metrics: ["nrmse"],
  outputs: { report: false },
} satisfies Omit<SearchInput, "search">;

/** The only study of a journal. */
export async function studyIn(path: string) {
  const log = new StudyLog();
  const journal = journalFile(path);
  log.apply(await journal.read(0));
  await journal.close();
  const [study] = log.studies.values();
  return study!;
}

/** Everything that a search keeps of its trials, on an engine and in a journal that is new. */
export async function trialsOf(source: SearchInput, engine: string, storage: string): Promise<unknown[][]> {
  await searchExperiment(source, { engine, refit: false, storage });
  return (await studyIn(storage)).trials.map(({ state, value, parameters, attributes, intermediate }) => [
    state,
    value,
    [...parameters],
    [...attributes],
    [...intermediate],
  ]);
}
