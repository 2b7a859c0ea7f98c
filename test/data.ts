// Real recordings for tests: where they are, and what to say where they are not. None of them is
// part of the project.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "vitest";
import { dataFolder } from "../scripts/recordings.mjs";

export { dataFolder };

/** The public data sets that tests use. `files` are relative to the data folder. */
export const dataSets = {
  JapaneseVowels: {
    files: ["uea/JapaneseVowels_TRAIN.ts", "uea/JapaneseVowels_TEST.ts"],
    published: 'the data set "JapaneseVowels" of the UEA archive, https://www.timeseriesclassification.com',
  },
  GunPoint: {
    files: ["uea/GunPoint_TRAIN.ts", "uea/GunPoint_TEST.ts"],
    published: 'the data set "GunPoint" of the UCR archive, https://www.timeseriesclassification.com',
  },
  ItalyPowerDemand: {
    files: ["uea/ItalyPowerDemand_TRAIN.ts", "uea/ItalyPowerDemand_TEST.ts"],
    published: 'the data set "ItalyPowerDemand" of the UCR archive, https://www.timeseriesclassification.com',
  },
  FreeSpokenDigits: {
    files: ["fsdd/0_jackson_0.wav"],
    published:
      "the recordings of the Free Spoken Digit Dataset, https://github.com/Jakobovski/free-spoken-digit-dataset (its folder recordings, as fsdd)",
  },
  load_rte: {
    files: ["series/load_rte.csv"],
    published: "the electricity consumption of France, https://github.com/ourownstory/neuralprophet-data (datasets/energy/load_rte.csv)",
  },
  "monthly-sunspots": {
    files: ["series/monthly-sunspots.csv"],
    published: "the monthly sunspot numbers, https://github.com/unit8co/darts (datasets/monthly-sunspots.csv)",
  },
  ETTh1: {
    files: ["series/ETTh1.csv"],
    published: "the electricity transformer temperatures, https://github.com/zhouhaoyi/ETDataset (ETT-small/ETTh1.csv)",
  },
  "m-competitions": {
    files: ["yearly", "quarterly", "monthly"]
      .flatMap((kind) => [`m1-${kind}`, `m3-${kind}`])
      .concat("m3-other", "m4-weekly", "m4-hourly", "sample")
      .map((name) => `m-competitions/${name}.json`),
    published:
      "series of the M competitions, https://github.com/robjhyndman/Mcomp and https://github.com/Mcompetitions/M4-methods, as lists of { id, season, horizon, train, test }",
  },
} as const satisfies Record<string, { files: readonly string[]; published: string }>;

export type DataSetName = keyof typeof dataSets;

/**
 * What is missing for a data set, as a sentence that says what to put where; undefined if it is
 * all there.
 */
export function missingData(name: DataSetName): string | undefined {
  const folder = dataFolder();
  const { files, published } = dataSets[name];
  const absent = folder === undefined ? files : files.filter((file) => !existsSync(join(folder, file)));
  if (absent.length === 0) return undefined;
  const folderName = folder ?? "a folder, and name that folder in SPILLWAY_DATA";
  return `needs ${published}: put ${absent.join(", ")} into ${folderName}`;
}

/**
 * Whether missing recordings fail a test: they do if SPILLWAY_DATA names their folder. A CI that
 * has none skips.
 */
export const mustBeThere = (): boolean => Boolean(process.env["SPILLWAY_DATA"]);

/**
 * A test over a public data set. If the data set is absent, the test is skipped and says what to
 * put where. If SPILLWAY_DATA names a folder, it fails instead.
 */
export function itWithData(name: string, needs: DataSetName, body: (folder: string) => void | Promise<void>): void {
  it(name, async (context: TestContext) => {
    const missing = missingData(needs);
    if (missing === undefined) return body(dataFolder()!);
    if (mustBeThere()) throw new Error(missing);
    context.skip(missing);
  });
}
