// A study: what is asked for and told stands in its storage, in order, and others can go on.
import { describe, expect, it } from "vitest";
import {
  cmaes,
  MemoryStorage,
  randomSampler,
  type SpaceDescription,
  type StoredParameter,
  Study,
  StudyLog,
  type StudyOperation,
  tpe,
} from "../../packages/search/src/index.js";

const space: SpaceDescription = { a: { float: [0, 1] }, b: { choice: ["x", "y"] }, c: { int: [1, 9], when: { b: "y" } } };
const score = (params: Readonly<Record<string, unknown>>) => ((params["a"] as number) - 0.3) ** 2 + (params["b"] === "x" ? 0.1 : 0);

/** Asks and tells until so many trials are finished. */
async function searched(study: Study, count: number, batch = 1): Promise<Study> {
  while (study.finished < count) {
    const trials = await study.ask(Math.min(batch, count - study.finished));
    await study.tell(trials.map((trial) => [trial, score(trial.params)] as const));
  }
  return study;
}

describe("a study", () => {
  it("asks, is told, and knows its best trial", async () => {
    const study = await searched(await Study.open({ space }), 60);
    expect(study.trials).toHaveLength(60);
    expect(study.best!.value).toBe(Math.min(...study.trials.map(({ value }) => value!)));
    expect(study.best!.value).toBeLessThan(0.01);
    expect(study.best!.params["b"]).toBe("y");
    expect(Object.keys(study.importance()).sort()).toEqual(["a", "b", "c"]);
  });

  it("looks for large values if it is told to", async () => {
    const study = await searched(await Study.open({ space, direction: "maximise", sampler: randomSampler() }), 20);
    expect(study.best!.value).toBe(Math.max(...study.trials.map(({ value }) => value!)));
  });

  it.each([tpe, cmaes, randomSampler])("goes on in another process as if it had never stopped", async (sampler) => {
    const whole = await searched(await Study.open({ space, sampler: sampler() }), 40);
    const storage = new MemoryStorage();
    await searched(await Study.open({ space, sampler: sampler(), storage }), 17);
    const resumed = await searched(await Study.open({ space, sampler: sampler(), storage }), 40);
    const params = (study: Study) => study.trials.map((trial) => trial.params);
    expect(params(resumed)).toEqual(params(whole));
  });

  it("gives two processes at once different trials, each number once", async () => {
    const storage = new MemoryStorage();
    const open = () => Study.open({ space, storage, sampler: randomSampler() });
    const [one, two] = [await open(), await open()];
    const asked = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? one : two).ask(3)));
    const numbers = asked.flat().map(({ number }) => number);
    expect(new Set(numbers).size).toBe(90);
    const alone = await (await Study.open({ space, sampler: randomSampler() })).ask(90);
    const byNumber = asked.flat().sort((a, b) => a.number - b.number);
    expect(byNumber).toEqual(alone);
  });

  it("can say again from its storage what each suggestion was", async () => {
    const storage = new MemoryStorage();
    const study = await searched(await Study.open({ space, storage }), 40, 4);
    const operations = await storage.read(0);
    for (const number of [12, 24, 36]) {
      const created = operations.find(
        (each) =>
          each.type === "createTrial" &&
          each.template.systemAttributes?.["spillway:seen"] !== undefined &&
          operations.filter((other) => other.type === "createTrial").indexOf(each) === number,
      ) as StudyOperation & { type: "createTrial" };
      const before = new MemoryStorage();
      await before.append(operations.slice(0, created.template.systemAttributes!["spillway:seen"] as number));
      const again = await (await Study.open({ space, storage: before })).ask(4);
      expect(again.map(({ params }) => params)).toEqual(study.trials.slice(number, number + 4).map(({ params }) => params));
    }
  });

  it("puts enqueued parameters in front and suggests the rest", async () => {
    const study = await Study.open({ space });
    await study.enqueue({ a: 0.25, b: "y" });
    const [first, second] = await study.ask(2);
    expect(first!.params).toEqual({ a: 0.25, b: "y", c: expect.any(Number) });
    expect(second!.params["a"]).not.toBe(0.25);
    await expect(study.enqueue({ a: 2 })).rejects.toThrow("params.a is 2; it takes a number from 0 to 1");
  });

  it("keeps the first outcome of a trial and counts those that came late", async () => {
    const storage = new MemoryStorage();
    const [one, two] = [await Study.open({ space, storage }), await Study.open({ space, storage })];
    const [trial] = await one.ask();
    await two.sync();
    await two.tell([[trial!.number, 1]]);
    await one.tell([[trial!, 2]]);
    expect(one.trials[0]!.value).toBe(1);
    expect(one.dropped).toBe(1);
  });

  it("keeps what a trial was told: steps, attributes, pruned, failed, infinite", async () => {
    const study = await Study.open({ space });
    const trials = await study.ask(4);
    await study.tell([
      [trials[0]!, { value: 1, intermediate: { 10: 2, 20: 1 }, attributes: { seeds: [1, 2] } }],
      [trials[1]!, { pruned: true, intermediate: { 10: 5 } }],
      [trials[2]!, new Error("no memory")],
      [trials[3]!, Number.POSITIVE_INFINITY],
    ]);
    expect(study.trials.map(({ state, value }) => [state, value])).toEqual([
      ["complete", 1],
      ["pruned", undefined],
      ["failed", undefined],
      ["complete", Number.POSITIVE_INFINITY],
    ]);
    expect(study.trials[0]).toMatchObject({ intermediate: { 10: 2, 20: 1 }, attributes: { seeds: [1, 2] } });
    expect(study.trials[2]!.attributes).toEqual({ "spillway:error": "no memory" });
    expect(study.finished).toBe(3);
  });

  it("counts a value that is not a number as a failed trial", async () => {
    const study = await Study.open({ space });
    await study.tell([[(await study.ask())[0]!, Number.NaN]]);
    expect(study.trials[0]!.state).toBe("failed");
    expect(study.best).toBeUndefined();
  });

  it.each<[SpaceDescription, string]>([
    [{ ...space, a: { float: [0.1, 1], log: true } }, "a has log true and had false"],
    [{ ...space, a: { int: [0, 1] } }, "a is int and was float"],
    [{ ...space, b: { choice: ["y", "x"] } }, 'b has the choices ["y","x"] and had ["x","y"]'],
    [{ ...space, d: { float: [0, 1] } }, "d is newly in it"],
    [{ a: space["a"]!, b: space["b"]! }, "c is no longer in it"],
    [{ ...space, c: { int: [1, 9] } }, "its conditions differ"],
  ])("refuses to go on with another space, %#", async (other, difference) => {
    const storage = new MemoryStorage();
    await Study.open({ space, storage });
    await expect(Study.open({ space: other, storage })).rejects.toThrow(`the study study in memory is of another space: ${difference};`);
    await expect(Study.open({ space, storage, direction: "maximise" })).rejects.toThrow('direction is "maximise"; it takes "minimise"');
  });

  it("takes a study that another program made, with its trials, unless they are of another space", async () => {
    const range = { low: 0, high: 1, log: false, step: undefined };
    const written = async (parameters: Readonly<Record<string, StoredParameter>>): Promise<MemoryStorage> => {
      const storage = new MemoryStorage();
      const by = "another";
      await storage.append([
        { by, type: "createStudy", name: "study", direction: "minimise" },
        { by, type: "createTrial", study: 0, template: { state: "complete", value: 0.5, parameters } },
      ]);
      return storage;
    };
    const storage = await written({ a: { value: 0.25, distribution: { kind: "float", ...range } } });
    const study = await Study.open({ space: { a: space["a"]! }, storage });
    expect([study.adopted, study.best?.params]).toEqual([1, { a: 0.25 }]);
    // From then on it has a space, and nothing is another program's.
    expect((await Study.open({ space: { a: space["a"]! }, storage })).adopted).toBe(0);
    await expect(Study.open({ space: { d: { float: [0, 1] } }, storage })).rejects.toThrow("is of another space: a is no longer in it");
    const log = await written({ a: { value: 0.25, distribution: { kind: "float", ...range, low: 0.1, log: true } } });
    await expect(Study.open({ space, storage: log })).rejects.toThrow(
      "the study study in memory, which another program made, is of another space: a has log false and had true in trial 0; take another name",
    );
    const other = await written({ sr: { value: 0.25, distribution: { kind: "float", ...range } } });
    await expect(Study.open({ space, storage: other })).rejects.toThrow("its trials have sr, and not a, b, c; take another name");
  });

  it("goes on with other bounds and says so", async () => {
    const storage = new MemoryStorage();
    await searched(await Study.open({ space, storage }), 20);
    const study = await Study.open({ space: { ...space, a: { float: [0.2, 0.5] } }, storage });
    expect(study.change).toBe("a now goes from 0.2 to 0.5, before from 0 to 1");
    for (const { params } of await study.ask(20)) expect(params["a"]).toBeGreaterThanOrEqual(0.2);
  });

  it("is one of several in a storage", async () => {
    const storage = new MemoryStorage();
    const one = await searched(await Study.open({ space, storage, name: "one" }), 5);
    const two = await searched(await Study.open({ space: { z: { float: [0, 1] } }, storage, name: "two" }), 0);
    await two.tell([[(await two.ask())[0]!, 3]]);
    await one.sync();
    expect([one.trials.length, two.trials.length]).toEqual([5, 1]);
    expect((await Study.open({ space, storage, name: "one" })).best).toEqual(one.best);
  });

  it.each<[(study: Study) => Promise<unknown>, string]>([
    [(study) => study.ask(0), "ask: count is 0; it takes a whole number from 1 to 1000000"],
    [(study) => study.tell([[7, 1]]), "tell: outcomes[0][0] is 7; it takes a trial that was asked for, or its number"],
    [(study) => study.tell(3 as never), "tell: outcomes is 3; it takes a list of [trial, outcome]"],
  ])("refuses what is none, %#", async (call, sentence) => {
    await expect(call(await Study.open({ space }))).rejects.toThrow(sentence);
  });
});

describe("the log of studies", () => {
  it("takes the first claim and the first finish, and ignores what names nothing", () => {
    const log = new StudyLog();
    log.apply([
      { by: "a", type: "createStudy", name: "s", direction: "minimise" },
      { by: "b", type: "createStudy", name: "s", direction: "maximise" },
      { by: "a", type: "createTrial", study: 0, template: { state: "waiting" } },
      { by: "a", type: "state", trial: 0, state: "running", at: 1 },
      { by: "b", type: "state", trial: 0, state: "running", at: 2 },
      { by: "b", type: "state", trial: 0, state: "complete", value: 5, at: 3 },
      { by: "a", type: "state", trial: 0, state: "complete", value: 6, at: 4 },
      { by: "a", type: "trialAttribute", trial: 0, system: false, name: "late", value: 1 },
      { by: "a", type: "createTrial", study: 3, template: { state: "running" } },
      { by: "a", type: "intermediate", trial: 9, step: 1, value: 1 },
    ]);
    const { trials, direction } = log.studies.get("s")!;
    expect(direction).toBe("minimise");
    expect(trials).toMatchObject([{ by: "a", state: "complete", value: 5, started: 1, finished: 3 }]);
    expect(trials[0]!.attributes.size).toBe(0);
    expect([log.length, log.ignored]).toEqual([10, 6]);
  });

  it("counts ids over all studies, and those of a deleted one as well", () => {
    const log = new StudyLog();
    log.apply([
      { by: "a", type: "createStudy", name: "s", direction: "minimise" },
      { by: "a", type: "createTrial", study: 0, template: { state: "running" } },
      { by: "a", type: "deleteStudy", study: 0 },
      { by: "a", type: "createStudy", name: "s", direction: "minimise" },
      { by: "a", type: "createTrial", study: 0, template: { state: "running" } },
      { by: "a", type: "createTrial", study: 1, template: { state: "complete", value: 2 } },
    ]);
    expect(log.studies.get("s")).toMatchObject({ id: 1, trials: [{ id: 1, number: 0, value: 2 }] });
  });
});

describe("a trial with 200,000 intermediate values", () => {
  const first = { by: "w", type: "createStudy", name: "study", direction: "minimise" } as const;
  const steps = Array.from({ length: 200_000 }, (_, step) => step);

  it.each<[string, StudyOperation[]]>([
    [
      "one by one",
      [
        { by: "w", type: "createTrial", study: 0, template: { state: "running" } },
        ...steps.map((step): StudyOperation => ({ by: "w", type: "intermediate", trial: 0, step, value: step })),
      ],
    ],
    [
      "at once",
      [
        {
          by: "w",
          type: "createTrial",
          study: 0,
          template: { state: "running", intermediate: Object.fromEntries(steps.map((k) => [k, k])) },
        },
      ],
    ],
  ])("is read, %s", async (_, operations) => {
    const storage = new MemoryStorage();
    await storage.append([first, ...operations]);
    const study = await Study.open({ storage, space: { x: { float: [0, 1] } } });
    expect(Object.keys(study.trials[0]!.intermediate)).toHaveLength(200_000);
    expect(await study.ask()).toHaveLength(1);
  });
});
