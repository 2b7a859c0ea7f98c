import { afterAll, describe, expect, it } from "vitest";
import { amount } from "../exhaustive.js";
import { formatNames, loadFormat } from "./cases.js";
import { Fuzzer } from "./run.js";

const fuzzer = new Fuzzer();
afterAll(() => fuzzer.dispose());

describe("a mutated input is read or refused, in bounded time and memory", () => {
  it.each(formatNames)("%s", async (format) => {
    const { testCases = 300 } = (await loadFormat(format)).format;
    const cases = amount(testCases, Math.ceil(testCases / 25));
    const { findings } = await fuzzer.run(format, { cases, seed: "ci" });
    expect(findings.map(({ problem, index }) => `case ${index}: ${problem.kind}: ${problem.text}`)).toEqual([]);
  });
});
