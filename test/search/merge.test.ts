// Parts of a search that share nothing, and journals that are brought together: each trial once,
// in its place, and two results of one trial are told apart by their bits.
import { describe, expect, it } from "vitest";
import { grid, MemoryStorage, mergeStudies, randomSampler, type Sampler, Study, sobol, tpe } from "../../packages/search/src/index.js";
import { sharded, shardOf, shareOf } from "../../packages/search/src/shard.js";

const space = { x: { float: [0, 1] }, n: { int: [1, 9] } } as const;
const score = (params: Readonly<Record<string, unknown>>) => (params["x"] as number) + (params["n"] as number);

async function searched(sampler: Sampler, trials: number, options: { readonly space?: object; readonly bias?: number } = {}) {
  const storage = new MemoryStorage();
  const study = await Study.open({ storage, sampler, space: (options.space as typeof space) ?? space });
  for (let k = 0; k < trials; k++) {
    const [trial] = await study.ask();
    await study.tell([[trial!, score(trial!.params) + (options.bias ?? 0)]]);
  }
  return { storage, study };
}

describe("parts of a search", () => {
  it.each([
    ["random", randomSampler(), space],
    ["sobol", sobol(), space],
    ["grid", grid(), { x: { float: [0, 1], step: 0.25 }, n: { int: [1, 3] } }],
  ] as const)("have together the trials of the whole: %s", async (_, sampler, given) => {
    const whole = await searched(sampler, 11, { space: given });
    const target = new MemoryStorage();
    const parts = [];
    for (const text of ["0/3", "1/3", "2/3"]) {
      const shard = shardOf(text);
      parts.push((await searched(sharded(sampler, shard), shareOf(shard, 11), { space: given })).storage);
    }
    expect(await mergeStudies(target, parts)).toEqual({ added: 11, known: 0, different: [] });
    const merged = await Study.open({ storage: target, sampler, space: given as typeof space });
    const told = ({ trials }: Study) => trials.map(({ number, params, value }) => ({ number, params, value }));
    expect(told(merged)).toEqual(told(whole.study));
    expect((await merged.ask())[0]).toEqual((await whole.study.ask())[0]);
  });

  it("are refused for samplers that look at other trials", () => {
    expect(() => sharded(tpe(), { index: 0, of: 2 })).toThrow(
      "shard takes a sampler that looks at no other trial: random, sobol or grid; tpe",
    );
    for (const text of ["2/2", "-1/2", "a", "0", "1/0"]) expect(() => shardOf(text)).toThrow("shard is");
  });
});

describe("a merge", () => {
  it("counts a trial once that several have", async () => {
    const one = await searched(randomSampler(), 6);
    const copy = new MemoryStorage();
    await copy.append(await one.storage.read(0));
    const more = await Study.open({ storage: copy, sampler: randomSampler(), space });
    const [trial] = await more.ask();
    await more.tell([[trial!, 1]]);
    expect(await mergeStudies(one.storage, [copy])).toEqual({ added: 1, known: 6, different: [] });
    expect(await mergeStudies(one.storage, [copy])).toEqual({ added: 0, known: 7, different: [] });
  });

  it("tells two results of one trial that differ in a bit", async () => {
    const [one, other] = [await searched(randomSampler(), 3), await searched(randomSampler(), 3, { bias: 2 ** -50 })];
    const { added, known, different } = await mergeStudies(one.storage, [other.storage]);
    expect([added, known, different.length]).toEqual([0, 0, 3]);
    expect(different[0]).toEqual({ number: 0, kept: one.study.trials[0]!.value, other: other.study.trials[0]!.value, from: "memory" });
  });

  it("refuses what is of another search, and writes nothing", async () => {
    const [one, other] = [
      await searched(randomSampler(), 2),
      await searched(randomSampler(), 2, { space: { ...space, y: { float: [0, 1] } } }),
    ];
    const before = (await one.storage.read(0)).length;
    await expect(mergeStudies(one.storage, [other.storage])).rejects.toThrow("the study study in memory is of another space");
    await expect(mergeStudies(one.storage, [new MemoryStorage()])).rejects.toThrow("memory holds no study");
    await expect(mergeStudies(one.storage, [other.storage], "none")).rejects.toThrow('and no study "none"');
    expect(await one.storage.read(0)).toHaveLength(before);
  });
});
