// An encoder that a user's package registers is found wherever an encoder is named.
import { afterAll, describe, expect, it } from "vitest";
import { ownPackage } from "./own-package.js";

const own = ownPackage("An encoder");
afterAll(() => own[Symbol.dispose]());

const cases = `const cases = Array.from({ length: 12 }, (_, b) => Array.from({ length: 10 }, (_, t) => [(t % (b % 2 ? 2 : 5)) / 5]));
const labels = cases.map((_, b) => b % 2);`;
const experiment = (encode: string) =>
  `name: own\ndata: { cases: cases, names: "{label}_{index}" }\nencode: ${encode}\nliquid: { size: 20, timeStep: 1 }\ntask: classify\nsplit: { train: 0.5 }\noutputs: { report: false }\n`;

describe("an encoder of a user's package", () => {
  it("encodes by name, its options checked and filled in", async () => {
    expect(
      await own.printed(`
        import { encodeSpikes } from "spillway/spikes";
        const series = [[0.2, 0.9], [0.6, 0.1]];
        let wrong;
        try { encodeSpikes(series, { encoder: "onset", frameMs: 5, levle: 1 }); } catch (error) { wrong = error.message; }
        const { times, neurons, durationMs } = encodeSpikes(series, { encoder: "onset", frameMs: 5 });
        console.log(JSON.stringify([[...times], [...neurons], durationMs, wrong]));`),
    ).toEqual([[0, 5], [1, 0], 10, 'unknown field "levle": did you mean "level"?']);
  });

  it("stands before a pipeline, which scales onto 0 to 1 for it and keeps it in its file", async () => {
    expect(
      await own.printed(`
        import { Pipeline } from "spillway/model";
        ${cases}
        const encoder = { type: "spikes", encoder: "onset", frameMs: 2, binMs: 1 };
        const made = new Pipeline({ reservoir: { size: 20, seed: 1 }, encoder });
        await made.fit(cases, labels);
        const loaded = await Pipeline.fromBytes(await made.toBytes());
        console.log(JSON.stringify(await loaded.score(cases, labels)));`),
    ).toBe(1);
  });

  it("stands in an experiment file, whose mistakes have their line", async () => {
    await own.printed(`
      import { mkdirSync, writeFileSync } from "node:fs";
      ${cases}
      mkdirSync("cases", { recursive: true });
      cases.forEach((rows, b) => writeFileSync(\`cases/\${labels[b] ? "a" : "b"}_\${b}.csv\`, "x\\n" + rows.join("\\n") + "\\n"));
      console.log(1);`);
    own.write("own.yaml", experiment("{ encoder: onset, frameMs: 2, level: 0.3 }"));
    expect(await own.cli("run", "own.yaml", "--import", "./own.mjs")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("accuracy"),
    });
    own.write("wrong.yaml", experiment("{ encoder: onst, frameMs: 2 }"));
    expect(await own.cli("run", "wrong.yaml", "--import", "./own.mjs")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/wrong\.yaml:3.*encode\.encoder is "onst".*did you mean onset/),
    });
    expect((await own.cli("schema", "--import", "./own.mjs")).stdout).toContain('"onset"');
  });
});
