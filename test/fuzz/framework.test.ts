import { afterAll, describe, expect, it } from "vitest";
import { loadFormat, makeInput } from "./cases.js";
import { minimise } from "./minimise.js";
import { Fuzzer } from "./run.js";

const planted = "./planted.ts";
const bytes = (text: string) => new TextEncoder().encode(text);
const fuzzer = new Fuzzer({ computeSeconds: 0.2, waitSeconds: 1, memoryBytes: 2 ** 27 });
afterAll(() => fuzzer.dispose());

describe("the fuzzer", () => {
  it.each([
    ["error", "error"],
    ["message", "message"],
    ["prototype", "prototype"],
    ["time", "time"],
    ["wait", "time"],
    ["memory", "memory"],
    ["ended", "ended"],
  ])("finds the planted fault %s", async (name, kind) => {
    expect(await fuzzer.once(planted, bytes(`some <${name}> here`))).toMatchObject({ kind });
  });

  it("takes success and the errors of the format for what they are", async () => {
    expect(await fuzzer.once(planted, bytes("well"))).toBeUndefined();
    expect(await fuzzer.once(planted, bytes("<refused>"))).toBeUndefined();
  });

  it("comes upon faults by mutation, once each, and gives the smallest input of each", async () => {
    const { findings, refused } = await fuzzer.run(planted, { cases: 400, seed: "1" });
    expect(findings.map(({ problem, input }) => [problem.kind, new TextDecoder().decode(input)]).sort()).toEqual([
      ["error", "<error>"],
      ["message", "<message>"],
    ]);
    expect(refused).toBeGreaterThan(10);
  });

  it("makes the same input of the same seed and number", async () => {
    const loaded = await loadFormat(planted);
    expect(await makeInput(loaded, "1", 17)).toEqual(await makeInput(loaded, "1", 17));
    expect(await makeInput(loaded, "1", 17)).not.toEqual(await makeInput(loaded, "2", 17));
  });
});

describe("minimising", () => {
  it("keeps what the problem needs and makes the rest plain", async () => {
    const fails = async (input: Uint8Array) => input.includes(7) && input.length >= 3;
    const small = await minimise(
      Uint8Array.from({ length: 100 }, (_, i) => i),
      fails,
      { tries: 1000, seconds: 10 },
    );
    expect([...small].sort()).toEqual([0x30, 0x30, 7]);
  });
});
