// What comes late or twice counts once: results of trials that were taken over, appends whose
// answer was lost.
import { describe, expect, it } from "vitest";
import { MemoryStorage, mergeStudies, randomSampler, Study, type StudyOperation } from "../../packages/search/src/index.js";

const space = { x: { float: [0, 1] } } as const;
const open = (storage: MemoryStorage, seed = 1) => Study.open({ storage, space, sampler: randomSampler({ seed }) });

/** A study whose worker was held up, so that another took its trials over. */
async function heldUp(trials: number) {
  const storage = new MemoryStorage();
  const [slow, other] = [await open(storage, 1), await open(storage, 2)];
  await slow.beat();
  const asked = await slow.ask(trials);
  await other.beat();
  await new Promise((later) => setTimeout(later, 5));
  expect(await other.beat(1)).toBe(trials);
  return { storage, slow, other, asked };
}

const outcomesOf = ({ trials }: Study) => trials.map(({ state, value }) => [state, value]);

describe("a result of a trial that was taken over", () => {
  it("goes to the trial that waits in its place, and counts once", async () => {
    const { slow, other, asked } = await heldUp(1);
    await slow.tell([[asked[0]!, 0.5]]);
    await other.sync();
    expect(outcomesOf(other)).toEqual([
      ["failed", undefined],
      ["complete", 0.5],
    ]);
    expect([slow.dropped, other.counts.waiting, other.finished]).toEqual([0, 0, 1]);
  });

  it("is dropped if another has that trial in work, or finished it", async () => {
    const { slow, other, asked } = await heldUp(2);
    const taken = await other.ask(2);
    await other.tell([[taken[0]!, 0.5]]);
    await slow.tell(asked.map((trial) => [trial, 0.5]));
    await other.tell([[taken[1]!, 0.25]]);
    expect(outcomesOf(other).slice(2)).toEqual([
      ["complete", 0.5],
      ["complete", 0.25],
    ]);
    expect([slow.dropped, slow.different]).toEqual([2, []]);
  });

  it("is reported if it differs in a bit", async () => {
    const { slow, other, asked } = await heldUp(1);
    await other.tell([[(await other.ask())[0]!, { value: 0.3, attributes: { "spillway:seeds": [0.1, 0.3] } }]]);
    await slow.tell([[asked[0]!, { value: 0.3, attributes: { "spillway:seeds": [0.1, 0.30000000000000004] } }]]);
    expect(slow.different).toMatchObject([{ number: 1, kept: 0.3, other: 0.3 }]);
  });

  it("ends a trial that runs or waits where it is merged into, so that nobody runs it again", async () => {
    const storage = new MemoryStorage();
    const [slow, other] = [await open(storage, 1), await open(storage, 2)];
    await slow.beat();
    const [late] = await slow.ask();
    const [running] = await other.ask();
    const apart = new MemoryStorage();
    await apart.append(await storage.read(0));
    await other.beat();
    await new Promise((later) => setTimeout(later, 5));
    expect(await other.beat(1)).toBe(1);
    const copy = await open(apart);
    await copy.tell([
      [late!, 0.5],
      [running!, 0.75],
    ]);
    expect(await mergeStudies(storage, [apart])).toEqual({ added: 2, known: 0, different: [] });
    expect(await mergeStudies(storage, [apart])).toEqual({ added: 0, known: 2, different: [] });
    await other.sync();
    expect(outcomesOf(other)).toEqual([
      ["failed", undefined],
      ["complete", 0.75],
      ["complete", 0.5],
    ]);
  });
});

/** Carries out an append and then fails, as a connection does that breaks before the answer. */
class LosesAnswers extends MemoryStorage {
  isLosing = false;

  override async append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    const done = await super.append(operations, expected);
    if (this.isLosing) throw new Error("the connection is lost");
    return done;
  }
}

describe("an append whose answer is lost", () => {
  async function losing() {
    const storage = new LosesAnswers();
    const study = await open(storage);
    const lose = async (call: () => Promise<unknown>) => {
      storage.isLosing = true;
      await expect(call()).rejects.toThrow("lost");
      storage.isLosing = false;
    };
    return { storage, study, lose };
  }

  it("of new trials and claims gives the same trials to who asks again", async () => {
    const { study, lose } = await losing();
    await study.enqueue({ x: 0.5 });
    await lose(() => study.ask(3));
    const one = await study.ask(1);
    const others = await study.ask(3);
    expect([...one, ...others].map(({ number }) => number)).toEqual([0, 1, 2, 3]);
    expect(study.counts.running).toBe(4);
  });

  it("of a result, of trials given back or put in front is repeated without effect", async () => {
    const { study, lose } = await losing();
    const [a, b] = await study.ask(2);
    await lose(() => study.tell([[a!, 1]]));
    await study.tell([[a!, 1]]);
    await lose(() => study.giveBack([b!]));
    await study.giveBack([b!]);
    expect(study.counts).toMatchObject({ complete: 1, failed: 1, waiting: 1 });
  });
});
