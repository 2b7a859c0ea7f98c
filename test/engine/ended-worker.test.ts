// Worker threads that end while the thread that owns the reservoir is blocked: no event can tell
// it. In a process of its own, which is ended if it hangs.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const index = at("../../dist/index.js");
const spikes = at("../../dist/api/spikes.js");
beforeAll(() => expect(existsSync(index), "the package is not built: npm run build").toBe(true));

/** Runs a module over the built package and gives what it prints. */
async function printed(code: string, endWorker = ""): Promise<unknown> {
  const hook = endWorker === "" ? {} : { NODE_OPTIONS: `--import ${pathToFileURL(at("end-worker.mjs")).href}`, END_WORKER: endWorker };
  const text = `import { ReservoirComputer } from ${JSON.stringify(pathToFileURL(index).href)};
const print = (value) => console.log(JSON.stringify(value));
const inputs = new Float32Array(3000).fill(0.5);
const create = (threads) => ReservoirComputer.create({ size: 40, seed: 1 }, { engine: "cpu", threads });
${code}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], {
    env: { ...process.env, ...hook },
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}

describe("a worker thread that ends", () => {
  it.each(["exit", "error", "memory"])("in a barrier, by %s: the run fails and names it, and the next computer works", async (way) => {
    const code = `
      const failed = await create(3).then((computer) => computer.run(inputs)).catch(({ name, thread, message }) => ({ name, thread, message }));
      const [alone, together] = [await create(1), await create(2)];
      const same = Buffer.compare(Buffer.from((await alone.run(inputs)).data.buffer), Buffer.from((await together.run(inputs)).data.buffer));
      print({ ...failed, same });`;
    expect(await printed(code, way)).toEqual({
      name: "WorkerEndedError",
      thread: 2,
      message: expect.stringMatching(
        /^worker thread 2 of this reservoir has ended.*, and what this call computed is lost; the next call goes on without it$/,
      ),
      same: 0,
    });
  });

  it("in the barrier of a network, by exit: the run fails, and the next goes on from where it was", async () => {
    const code = `
      import { SpikingNetwork } from ${JSON.stringify(pathToFileURL(spikes).href)};
      const description = {
        kind: "network",
        populations: { E: { size: 2500, current: 80 } },
        projections: [{ from: "E", to: "E", connect: { rule: "fixedOutDegree", number: 5 }, weight: 1 }],
      };
      const [together, alone] = [await SpikingNetwork.create(description, { engine: "cpu", threads: 3 }), await SpikingNetwork.create(description, { engine: "cpu" })];
      const failed = await together.run(1000).catch(({ name, thread }) => ({ name, thread }));
      const [own, expected] = [await together.run(20, { spikes: true }), await alone.run(20, { spikes: true })];
      print({ ...failed, spikes: own.spikes.E.times.length > 0, same: JSON.stringify(own) === JSON.stringify(expected) });`;
    expect(await printed(code, "exit")).toEqual({ name: "WorkerEndedError", thread: 2, spikes: true, same: true });
  });

  it("before a step: the step fails, which has no turn of the event loop to hear of it", async () => {
    const code = `
      const workers = [];
      process.on("worker", (worker) => workers.push(worker));
      const computer = await create(2);
      void workers[0].terminate();
      try { for (;;) computer.step([0.5]); } catch ({ name, thread }) { print({ name, thread }); }`;
    expect(await printed(code)).toEqual({ name: "WorkerEndedError", thread: 1 });
  });
});

describe("after a worker thread has ended", () => {
  const code = `
    const [workers, started] = [[], []];
    const told = (worker, event) => new Promise((resolve) => worker.once(event, resolve));
    process.on("worker", (worker) => {
      workers.push(worker);
      started.push(Promise.all(["message", "online"].map((event) => told(worker, event))));
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const [first, second, alone] = [await create(2), await create(2), await create(1)];
    const stepped = (computer) => Array.from(computer.step([0.5]));
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    /** Ends the last worker and steps a computer until it fails. */
    const lost = (computer) => {
      void workers.at(-1).terminate();
      for (let steps = 0; ; steps++) {
        try { computer.step([0.5]); } catch ({ name, thread }) { return { steps, name, thread }; }
      }
    };
    const replaced = async () => {
      while (workers.length < 2) await turn();
      await started[1];
      for (let k = 0; k < 5; k++) await turn();
    };`;

  it("only the computer whose call it was lost in has failed, and goes on from where it was, as the others do", async () => {
    const text = `${code}
      const { steps, ...failed } = lost(first);
      const other = stepped(second);
      let expected = stepped(alone);
      const others = same(other, expected);
      for (let k = 0; k < steps; k++) expected = stepped(alone);
      print({ ...failed, others, own: same(stepped(first), expected), workers: workers.length });`;
    const result = await printed(text);
    expect(result).toEqual({ name: "WorkerEndedError", thread: 1, others: true, own: true, workers: expect.any(Number) });
  });

  it("all computers get the pool's new thread, with the same bits", async () => {
    const text = `${code}
      lost(first);
      second.step([0.5]);
      await replaced();
      for (const computer of [first, second]) { computer.reset(); await computer.run(inputs); }
      await alone.run(inputs);
      const states = [first, second, alone].map(stepped);
      const again = lost(second);
      print({ same: same(states[0], states[2]) && same(states[1], states[2]), name: again.name, workers: workers.length });`;
    expect(await printed(text)).toEqual({ same: true, name: "WorkerEndedError", workers: 2 });
  });

  it("none is left once the computers are disposed, also of those on their way", async () => {
    const text = `${code}
      lost(first);
      second.step([0.5]);
      for (const computer of [first, second]) await computer.dispose();
      await turn();
      print(workers.map(({ threadId }) => threadId));`;
    expect(await printed(text)).toEqual([-1, -1]);
  });
});

describe("worker threads", () => {
  it("are as many as the computer with the most has, however many computers there are, and none after the last", async () => {
    const code = `
      let threads = 0;
      process.on("worker", (worker) => { threads++; worker.on("exit", () => threads--); });
      const computers = [];
      for (const count of [3, 2, 3, 4]) computers.push(await create(count));
      const before = threads;
      for (const computer of computers) await computer.dispose();
      await new Promise((resolve) => setImmediate(resolve));
      print([before, threads]);`;
    expect(await printed(code)).toEqual([3, 0]);
  });

  it("are left to the computers that have them when those that were disposed had much memory, which a sleeping thread keeps", async () => {
    const code = `
      let started = 0;
      process.on("worker", () => started++);
      const small = await create(2);
      const large = { size: 3000, seed: 1, precision: "float64", storage: "dense", spectralRadius: null };
      for (let k = 0; k < 2; k++) await (await ReservoirComputer.create(large, { engine: "cpu", threads: 2 })).dispose();
      await small.run(inputs);
      print(started);`;
    expect(await printed(code)).toBe(2);
  });

  it("end when the computers that have them were collected without being disposed", async () => {
    const code = `
      import { setFlagsFromString } from "node:v8";
      import { runInNewContext } from "node:vm";
      setFlagsFromString("--expose-gc");
      let threads = 0;
      process.on("worker", (worker) => { threads++; worker.on("exit", () => threads--); });
      await (async () => { for (let k = 0; k < 3; k++) await (await create(3)).run(inputs); })();
      const before = threads;
      while (threads > 0) {
        runInNewContext("gc")();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      print([before, threads]);`;
    expect(await printed(code)).toEqual([2, 0]);
  });

  it("of a computer that was not disposed do not keep the process alive", async () => {
    expect(await printed("const computer = await create(3); await computer.run(inputs); print(computer.state.step);")).toBe(3000);
  });
});
