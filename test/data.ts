// Real recordings for tests: where they are, and what to say where they are not. None of them is part of the project.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { it, type TestContext } from "vitest";

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
} as const satisfies Record<string, { files: readonly string[]; published: string }>;

export type DataSetName = keyof typeof dataSets;

/** The folder of real recordings: SPILLWAY_DATA, else ../shared/data beside the project if it is there, else undefined. */
export function dataFolder(): string | undefined {
  const named = process.env["SPILLWAY_DATA"];
  if (named) return resolve(named);
  const beside = resolve(dirname(fileURLToPath(import.meta.url)), "../../shared/data");
  return existsSync(beside) ? beside : undefined;
}

/** What is missing for a data set, as a sentence that says what to put where; undefined where it is all there. */
export function missingData(name: DataSetName): string | undefined {
  const folder = dataFolder();
  const { files, published } = dataSets[name];
  const absent = folder === undefined ? files : files.filter((file) => !existsSync(join(folder, file)));
  if (absent.length === 0) return undefined;
  const place = folder ?? "a folder, and name that folder in SPILLWAY_DATA";
  return `needs ${published}: put ${absent.join(", ")} into ${place}`;
}

/**
 * A test over a public data set. Where the data set is absent the test is skipped and says what to put where; with CI=true in the
 * environment it fails instead.
 */
export function itWithData(name: string, needs: DataSetName, body: (folder: string) => void | Promise<void>): void {
  it(name, async (context: TestContext) => {
    const missing = missingData(needs);
    if (missing === undefined) return body(dataFolder()!);
    if (process.env["CI"] === "true" || process.env["CI"] === "1") throw new Error(missing);
    context.skip(missing);
  });
}
