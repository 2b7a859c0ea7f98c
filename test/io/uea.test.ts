import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FormatError, parseUea, readUea } from "../../packages/io/src/index.js";
import { itWithData } from "../data.js";
import { failure } from "./help.js";

const header = (...lines: string[]): string => ["#a comment", "@problemName Toy", "@timeStamps false", ...lines, "@data", ""].join("\n");
const multivariate = header("@univariate false", "@dimensions 2", "@equalLength false", "@classLabel true a b");

describe("a .ts file", () => {
  it("gives each case as T x channels, with its class, which stands last", () => {
    const set = parseUea(`${multivariate}1,2,3:4,5,6:b\n7:8:a\n`);
    expect(set.sequences.map((sequence) => sequence.toArrays())).toEqual([
      [
        [1, 4],
        [2, 5],
        [3, 6],
      ],
      [[7, 8]],
    ]);
    expect(set.labels).toEqual(["b", "a"]);
    expect(set).toMatchObject({ problemName: "Toy", description: "a comment", classes: ["a", "b"], channels: 2, equalLength: false });
  });

  it("of one channel has one column", () => {
    const set = parseUea(`${header("@univariate true", "@equalLength true", "@seriesLength 3", "@classLabel true 1 2")}1,2,3:2\n4,5,6:1\n`);
    expect(set.sequences[1]!.toArrays()).toEqual([[4], [5], [6]]);
    expect(set.equalLength).toBe(true);
  });

  it("without classes has no labels", () => {
    const set = parseUea(`${header("@univariate true", "@classLabel false")}1,2\n3,4\n`);
    expect(set).toMatchObject({ labels: [], classes: [], targets: undefined });
  });

  it("without a list of classes lists those of its cases in their order", () => {
    expect(parseUea(`${header("@univariate true", "@classLabel true")}1:walk\n2:run\n3:walk\n`).classes).toEqual(["walk", "run"]);
  });

  it("of regression has targets", () => {
    const set = parseUea(`${header("@univariate true", "@targetLabel true")}1,2:0.5\n3,4:-1e3\n`);
    expect(set.targets).toEqual(Float64Array.of(0.5, -1000));
    expect(set.labels).toEqual([]);
  });

  it("keeps header fields that it does not use", () => {
    expect(parseUea(`${header("@univariate true", "@padding Left Side")}1\n`).fields).toMatchObject({ padding: "Left Side" });
  });

  it("has header names in any case, and Windows line ends", () => {
    const text = `\uFEFF@PROBLEMNAME X\n@Univariate TRUE\n@CLASSLABEL true 1\n@DATA\n1,2:1\n`.replaceAll("\n", "\r\n");
    expect(parseUea(text).problemName).toBe("X");
  });
});

describe("a .ts case that does not fit", () => {
  it.each([
    [
      "ragged channels",
      `${multivariate}1,2:3,4:a\n1,2,3:4,5:b\n`,
      "line 10, case 2: channel 2 holds 2 values and channel 1 holds 3; every channel of a case takes the same number",
      { line: 10, case: 2, channel: 2 },
    ],
    ["a channel too many", `${multivariate}1:2:3:a\n`, "line 9, case 1: it holds 3 channels and the header says 2", { line: 9, case: 1 }],
    ["a channel too few", `${multivariate}1:a\n`, "line 9, case 1: it holds 1 channels and the header says 2", { line: 9, case: 1 }],
    ["an unknown class", `${multivariate}1:2:c\n`, 'line 9, case 1: its class is "c"; the header lists "a", "b"', { line: 9, case: 1 }],
    [
      "another length than equal ones",
      `${header("@univariate true", "@equalLength true", "@classLabel false")}1,2\n1,2,3\n`,
      "line 9, case 2: it is 3 long and case 1 2, and the header says @equalLength true",
      { line: 9, case: 2 },
    ],
    [
      "another length than the header's",
      `${header("@univariate true", "@equalLength true", "@seriesLength 4", "@classLabel false")}1,2\n`,
      "line 9, case 1: it is 2 long and the header says @seriesLength 4",
      { line: 9, case: 1 },
    ],
    [
      "a word",
      `${multivariate}1,two:3,4:a\n`,
      'line 9, case 1: channel 1, value 2: "two" is not a number',
      { line: 9, case: 1, channel: 1 },
    ],
    [
      "an empty channel",
      `${multivariate}1::a\n`,
      'line 9, case 1: channel 2, value 1: "" is not a number',
      { line: 9, case: 1, channel: 2 },
    ],
    [
      "a gap where there is none",
      `${header("@missing false", "@univariate true")}1,?\n`,
      "line 7, case 1: channel 1, value 2 is missing, and the header says @missing false",
      { line: 7, case: 1, channel: 1 },
    ],
    [
      "several channels without a header that says so",
      `${header("@classLabel false")}1:2\n1:2:3\n`,
      "line 7, case 2: it holds 3 channels and the first case 2 (is there a class at the end? the header says there is none)",
      { line: 7, case: 2 },
    ],
    [
      "a target that is no number",
      `${header("@univariate true", "@targetLabel true")}1:x\n`,
      'its target "x" is not a number',
      { case: 1 },
    ],
  ])("by %s is an error that names line, case and channel", async (_, text, reason, site) => {
    const error = await failure(() => parseUea(text, { source: "toy.ts" }), FormatError);
    expect(error.message).toContain(reason);
    expect(error.message.startsWith("toy.ts: ")).toBe(true);
    expect(error.location).toMatchObject(site);
  });
});

describe("a .ts header that does not fit", () => {
  it.each([
    ["no @data", "@problemName X\n", "there is no line @data"],
    ["an empty file", "", "there is no line @data"],
    ["no case", header("@univariate true"), "there is no case after @data; it takes at least one"],
    ["cases before @data", "1,2,3:1\n@data\n", 'line 1: "1,2,3:1" stands before @data'],
    ["a field twice", "@missing true\n@missing false\n@data\n1\n", "line 2: @missing stands in the header twice"],
    ["no true or false", "@univariate maybe\n@data\n1\n", 'line 1: @univariate is "maybe"; it takes true or false'],
    ["no whole number", "@dimensions 2.5\n@data\n1\n", 'line 1: @dimensions is "2.5"; it takes a whole number of at least 1'],
    [
      "several dimensions of one channel",
      "@univariate true\n@dimensions 3\n@data\n1\n",
      "line 2: @univariate is true and @dimensions is 3",
    ],
    ["time stamps", "@timeStamps true\n@data\n(0,1)\n", "line 1: @timeStamps is true"],
    ["classes and targets", "@classLabel true 1\n@targetLabel true\n@data\n1:1\n", "@classLabel and @targetLabel are both true"],
  ])("by %s is an error", (_, text, reason) => {
    expect(() => parseUea(text)).toThrow(FormatError);
    expect(() => parseUea(text)).toThrow(reason);
  });
});

describe("a missing value of a .ts case", () => {
  const gaps = `${header("@missing true", "@univariate false", "@dimensions 2", "@classLabel false")}1,?,3:4,5,NaN\n`;

  it("is an error that names it, unless a policy is chosen", () => {
    expect(() => parseUea(gaps)).toThrow("line 9, case 1: channel 1, value 2: the value is missing; set `missing` to");
  });

  it("is filled or dropped with its frame", () => {
    expect(parseUea(gaps, { missing: "hold" }).sequences[0]!.toArrays()).toEqual([
      [1, 4],
      [1, 5],
      [3, 5],
    ]);
    const dropped = parseUea(gaps, { missing: "drop" });
    expect(dropped.sequences[0]!.toArrays()).toEqual([[1, 4]]);
    expect(dropped.missing).toBe(2);
  });
});

describe("cases that were written as .ts", () => {
  it("read back as the same numbers, lengths and classes", () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true });
    const length = fc.integer({ min: 1, max: 5 });
    const set = fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.array(length, { minLength: 1, maxLength: 5 }))
      .chain(([channels, lengths]) =>
        fc.tuple(
          ...lengths.map((T) => fc.array(fc.array(value, { minLength: T, maxLength: T }), { minLength: channels, maxLength: channels })),
        ),
      );
    fc.assert(
      fc.property(set, (cases) => {
        const text = cases.map((channels, k) => `${channels.map((channel) => channel.join(",")).join(":")}:c${k % 2}`).join("\n");
        const read = parseUea(`${header("@classLabel true c0 c1")}${text}`);
        const back = read.sequences.map((sequence) => Array.from({ length: sequence.cols }, (_, c) => [...sequence.column(c)]));
        expect(back).toEqual(cases.map((channels) => channels.map((channel) => channel.map((x) => (Object.is(x, -0) ? 0 : x)))));
        expect(read.labels).toEqual(cases.map((_, k) => `c${k % 2}`));
      }),
    );
  });
});

describe("the archive's own files", () => {
  // Counts and lengths: UCI Japanese Vowels (Kudo, Toyama, Shimbo 1999) and the UCR archive's
  // summary table.
  itWithData("Japanese Vowels: 270 and 370 utterances of 12 channels and 7 to 29 frames, 9 speakers", "JapaneseVowels", async (folder) => {
    const train = await readUea(join(folder, "uea/JapaneseVowels_TRAIN.ts"));
    const test = await readUea(join(folder, "uea/JapaneseVowels_TEST.ts"));
    expect([train.sequences.length, test.sequences.length]).toEqual([270, 370]);
    expect(train.classes).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    expect([train.channels, train.equalLength]).toEqual([12, false]);
    const lengths = [...train.sequences, ...test.sequences].map((sequence) => sequence.rows);
    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([7, 29]);
    const perClass = train.classes.map((name) => train.labels.filter((label) => label === name).length);
    expect(perClass).toEqual(new Array(9).fill(30));
    expect(test.classes.map((name) => test.labels.filter((label) => label === name).length)).toEqual([31, 35, 88, 44, 29, 24, 40, 50, 29]);
    // The first frame of the first utterance in the file.
    const line = readFileSync(join(folder, "uea/JapaneseVowels_TRAIN.ts"), "utf8").split("@data\n")[1]!.split("\n")[0]!;
    const first = line
      .split(":")
      .slice(0, 12)
      .map((channel) => Number(channel.split(",")[0]));
    expect([...train.sequences[0]!.row(0)]).toEqual(first);
  });

  itWithData("GunPoint: 50 and 150 cases of 150 frames, 2 classes", "GunPoint", async (folder) => {
    const train = await readUea(join(folder, "uea/GunPoint_TRAIN.ts"));
    const test = await readUea(join(folder, "uea/GunPoint_TEST.ts"));
    expect([train.sequences.length, test.sequences.length]).toEqual([50, 150]);
    expect(train).toMatchObject({ problemName: "GunPoint", equalLength: true, channels: 1, classes: ["1", "2"] });
    expect(train.sequences[0]!.rows).toBe(150);
    expect(train.sequences[0]!.at(0, 0)).toBe(-0.6478854);
  });

  itWithData("ItalyPowerDemand: 67 and 1029 cases of 24 frames, 2 classes", "ItalyPowerDemand", async (folder) => {
    const train = await readUea(join(folder, "uea/ItalyPowerDemand_TRAIN.ts"));
    const test = await readUea(join(folder, "uea/ItalyPowerDemand_TEST.ts"));
    expect([train.sequences.length, test.sequences.length]).toEqual([67, 1029]);
    expect(test.sequences[1028]!.rows).toBe(24);
    // A number with an exponent: case 6 of the test file has -8.6758111E-4 at frame 7.
    expect(test.sequences[5]!.at(7, 0)).toBe(-8.6758111e-4);
  });
});
