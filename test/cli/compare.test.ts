import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareEngines } from "../../src/cli/commands/compare.js";
import { silent } from "../../src/cli/progress.js";

const experiment = `
name: small
data: { task: narma, length: 200 }
task: { type: predict }
reservoir: { size: 20 }
split: { train: 150, test: 50 }
washout: 20
`;

describe("spillway compare", () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-compare-"));
    file = join(folder, "small.yaml");
    await writeFile(file, experiment);
  });
  afterAll(() => rm(folder, { recursive: true }));
  const signal = new AbortController().signal;

  it("says that engines give the same bits, and writes a page and the figures as data", async () => {
    const out = join(folder, "compared");
    const { text, equal } = await compareEngines(file, { engines: ["reference", "cpu"], steps: 120, out, signal }, silent);
    expect(equal).toBe(true);
    expect(text).toMatch(/^small: 20 neurons, float32, 120 steps/);
    expect(text).toMatch(/cpu\s+equal\s+0/);
    expect((await readdir(out)).sort()).toEqual(["compare.html", "compare.json"]);
    const { comparison } = JSON.parse(await readFile(join(out, "compare.json"), "utf8"));
    expect(comparison).toMatchObject({
      steps: 120,
      equal: true,
      others: [{ engine: "cpu", difference: { differing: 0, compared: 2400 } }],
    });
  });

  it("takes changes to the experiment", async () => {
    const { text } = await compareEngines(file, { engines: ["reference", "cpu"], set: ["reservoir.size=7"], signal, json: true }, silent);
    expect(JSON.parse(text).comparison).toMatchObject({ size: 7, steps: 200 });
  });

  it("cuts the data into sequences, and says where fast arithmetic had nothing faster", async () => {
    const options = { engines: ["reference", "cpu:fast"], sequences: 4, steps: 40, signal };
    const { text, equal } = await compareEngines(file, options, silent);
    expect(equal).toBe(true);
    expect(text).toMatch(/^small: 20 neurons, float32, 4 sequences of 10 steps/);
    expect(text).toMatch(/cpu:fast\s+equal/);
    expect(text).toContain("cpu:fast was allowed fast arithmetic and gave the bits of reference");
    expect(text).toMatch(/[\d.]+ by clock/);
  });

  it("runs a device once by each plan, and engines without plans once", async () => {
    const options = { engines: ["cpu", "sim"], plans: ["named", "auto"], steps: 6, signal };
    const { text, equal } = await compareEngines(file, options, silent);
    expect(equal).toBe(true);
    const lines = text.split("\n").map((line) => line.trim().split(/ {2,}/));
    const found = lines.filter(([name]) => /^(cpu|sim)/.test(name!)).map(([name, bits, ...rest]) => [name, bits, rest.at(-1)]);
    expect(found).toEqual([
      ["cpu", "reference", expect.anything()],
      ["sim, named", "equal", expect.stringContaining('plan "named"')],
      ["sim, auto", "equal", expect.not.stringContaining('plan "named"')],
    ]);
    const { text: ofFile } = await compareEngines(file, { ...options, plans: undefined, set: ["plan=named"] }, silent);
    expect(ofFile).toMatch(/^sim, named +equal .*plan "named"/m);
    const json = await compareEngines(file, { ...options, engines: ["sim"], json: true }, silent);
    expect(JSON.parse(json.text).comparison.others).toHaveLength(1);
    await expect(compareEngines(file, { ...options, engines: ["cpu"] }, silent)).rejects.toMatchObject({ code: "shape", field: "engines" });
    await expect(compareEngines(file, { ...options, plans: ["fastest"] }, silent)).rejects.toMatchObject({
      field: "plan",
      value: "fastest",
    });
  });

  it("names the kernels that a batch ran by on a device", async () => {
    const { text, equal } = await compareEngines(file, { engines: ["cpu", "sim"], sequences: 3, steps: 12, signal }, silent);
    expect(equal).toBe(true);
    expect(text).toMatch(/sim +equal .* kernels \w+/);
    expect(text).not.toContain("by simulated events");
  });

  it("says of fast arithmetic how far apart the states come, and at which rate", async () => {
    const options = { engines: ["cpu", "sim:fast"], sequences: 3, steps: 24, signal };
    const { text, equal } = await compareEngines(file, options, silent);
    expect(equal).toBe(false);
    expect(text).toMatch(/sim:fast against cpu, distance in units in the last place:/);
    expect(text).toMatch(/furthest apart at step \d: \S+, root of the mean square over neurons; no state by more than \S+\n/);
    expect(text).toMatch(/the difference is (growing|shrinking) by a factor of [\d.]+ a step/);
  });

  it("refuses one engine, and engines that there are not", async () => {
    await expect(compareEngines(file, { engines: ["cpu"], signal }, silent)).rejects.toThrow(
      '--engines is "cpu"; it takes at least two names',
    );
    await expect(compareEngines(file, { engines: ["cpu", "abacus"], signal }, silent)).rejects.toThrow(
      'the engine "abacus" is not available',
    );
  });
});
