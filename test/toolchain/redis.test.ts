// A study in Redis whose network fails: connections that break, also between a call and its answer,
// servers that are silent or started again; and the commands that use it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { randomSampler, redisJournal, Study } from "../../packages/search/src/index.js";
import { patientStorage } from "../../packages/search/src/patience.js";
import { spillway } from "../cli/spillway.js";
import { FaultyProxy, RedisServer } from "./redis-server.js";

let folder: string;
let server: RedisServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spillway-redis-"));
  server = await RedisServer.start(folder, { durable: true });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const space = { x: { float: [0, 1] } } as const;
const score = ({ x }: Readonly<Record<string, unknown>>) => (x as number) ** 2;
let prefixes = 0;

describe("a network that fails", () => {
  let proxy: FaultyProxy;
  let prefix: string;
  beforeEach(async () => {
    proxy = await FaultyProxy.to(server.port);
    prefix = `n${prefixes++}`;
  });
  afterEach(() => proxy.close());

  async function opened() {
    const away: boolean[] = [];
    const storage = patientStorage(await redisJournal(proxy.url, { prefix, timeout: 0.3 }), {
      patienceMs: 60_000,
      signal: new AbortController().signal,
      onChange: (error) => away.push(error !== undefined),
    });
    return { away, study: await Study.open({ storage, space, sampler: randomSampler({ seed: 3 }) }) };
  }

  /** What a study has that nothing disturbed. */
  async function expectWhole(trials: number): Promise<void> {
    const plain = await Study.open({ space, sampler: randomSampler({ seed: 3 }) });
    const wanted = (await plain.ask(trials)).map(({ params }) => ["complete", params, score(params)]);
    const study = await Study.open({ storage: await redisJournal(server.url, { prefix }), space });
    expect(study.trials.map(({ state, params, value }) => [state, params, value])).toEqual(wanted);
    await study.close();
  }

  it("loses no trial and counts none twice if connections break at any answer", async () => {
    const { study } = await opened();
    for (let k = 0; k < 12; k++) {
      // An ask is answered four times or so, a tell five times.
      proxy.answers = k % 10;
      const trials = await study.ask(2);
      if (k % 3 === 0) proxy.cut();
      await study.tell(trials.map((trial) => [trial, score(trial.params)]));
    }
    proxy.answers = undefined;
    await study.close();
    await expectWhole(24);
  });

  it("waits for a server that says nothing, and for one that is killed and started again", async () => {
    // A loaded machine may take longer to an answer than the storage waits: more than once away.
    const { study, away } = await opened();
    const isAway = () => away.at(-1);
    const silent = await study.ask(2);
    proxy.isSilent = true;
    const told = study.tell(silent.map((trial) => [trial, score(trial.params)]));
    await expect.poll(isAway, { timeout: 60_000 }).toBe(true);
    proxy.isSilent = false;
    await told;
    expect(isAway()).toBe(false);
    await server.stop("SIGKILL");
    const asked = study.ask(1);
    await expect.poll(isAway, { timeout: 60_000 }).toBe(true);
    await server.start();
    const [trial] = await asked;
    await study.tell([[trial!, score(trial!.params)]]);
    await study.close();
    await expectWhole(3);
  });
});

it("a journal has the prefix of its address, unless the options have another", async () => {
  const record = { by: "w", type: "createStudy", name: "s", direction: "minimise" } as const;
  const [byAddress, byOption] = [
    await redisJournal(`${server.url}/2?prefix=a@b`),
    await redisJournal(`${server.url}/2?prefix=c`, { prefix: "a@b" }),
  ];
  await byAddress.append([record]);
  expect(await byOption.read(0)).toEqual([record]);
  const other = await redisJournal(`${server.url}/2?prefix=c`);
  expect(await other.read(0)).toEqual([]);
  for (const storage of [byAddress, byOption, other]) await storage.close();
});

it("a study that is deleted while it is open ends the next call with a sentence, and writes nothing", async () => {
  const storage = await redisJournal(server.url, { prefix: "deleted" });
  const study = await Study.open({ storage, space, sampler: randomSampler({ seed: 3 }) });
  await study.ask(1);
  await storage.append([{ by: "other", type: "deleteStudy", study: 0 }]);
  const { length } = await storage.read(0);
  await expect(study.ask(2)).rejects.toMatchObject({ code: "lifecycle", message: expect.stringContaining("was deleted") });
  expect(await storage.read(0)).toHaveLength(length);
  await study.close();
});

describe("a journal that a server has lost a part of", () => {
  const command = (...words: string[]) => spawnSync("redis-cli", ["-p", String(server.port), ...words], { encoding: "utf8" });

  it.each([
    ["a record is gone", ["del", "lost:log:1"], "record 1 is not there, and later ones are counted"],
    ["its number is no number", ["set", "lost:log_number", "many"], 'its lost:log_number is "many"'],
  ])("is refused in a sentence if %s", async (_, change, sentence) => {
    command("flushall");
    const at = { prefix: "lost", timeout: 0.5 };
    const study = await Study.open({ storage: await redisJournal(server.url, at), space });
    await study.tell((await study.ask(2)).map((trial) => [trial, 1]));
    expect(command(...change).status).toBe(0);
    const storage = await redisJournal(server.url, at);
    await expect(Study.open({ storage, space })).rejects.toThrow(sentence);
    await Promise.all([storage.close(), study.close()]);
  });
});

describe("spillway search in Redis", () => {
  const run = (...args: readonly string[]) => spillway(args, { cwd: folder });
  const file = `name: n
data: { task: narma }
reservoir: { size: 20 }
task: predict
washout: 30
split: { train: 300, test: 100 }
metrics: [nrmse]
outputs: { report: false }
search:
  space: { reservoir.spectralRadius: { float: [0.1, 1.4] } }
  sampler: sobol
  seeds: 1
  budget: { trials: 8 }
  refit: { seeds: 1 }
`;
  beforeAll(() => writeFileSync(join(folder, "n.yaml"), file));
  interface Listed {
    readonly state: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly value: number;
  }
  const listed = async (address: string) => JSON.parse((await run("runs", address, "--trials", "--json")).stdout) as Listed[];

  it("is shared by several commands, has the trials of a file, and is merged from parts", async () => {
    const address = `${server.url}/1?prefix=shared`;
    const ended = await Promise.all(["a", "b"].map((out) => run("search", "n.yaml", "--storage", address, "--out", out, "--quiet")));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(Array(2).fill([0, ""]));
    expect((await run("search", "n.yaml", "--out", "plain", "--quiet")).code).toBe(0);
    const plain = await listed("plain/n");
    const shared = await listed(address);
    const told = ({ state, params, value }: Listed) => [state, params, value];
    expect(shared.slice(0, 8).map(told)).toEqual(plain.map(told));
    expect((await run("runs", `${server.url}/1?prefix=merged`, "--merge", address)).stdout).toContain("0 were there already");
    expect((await run("search", "n.yaml", "--storage", "redis://127.0.0.1:1/0")).stderr).toContain(
      "no Redis or Valkey answers at redis://127.0.0.1:1",
    );
  });

  it("ends with 75 if the server stays away, and the same command goes on", async () => {
    const proxy = await FaultyProxy.to(server.port);
    const args = ["search", "n.yaml", "--storage", `${proxy.url}/0?prefix=away`, "--out", "away", "--no-refit", "--patience", "1s"];
    const ended = await spillway([...args, "--trials", "100000"], {
      cwd: folder,
      watch: (stderr) => {
        if (proxy.isShut || !/\(trial \d/.test(stderr)) return;
        proxy.isShut = true;
        proxy.cut();
      },
    });
    expect(ended).toMatchObject({ code: 75, stderr: expect.stringMatching(/127\.0\.0\.1:\d+.* is away, for \d s now: /) });
    proxy.isShut = false;
    const done = async () => (await listed(`${server.url}/0?prefix=away`)).filter(({ state }) => state === "complete").length;
    const wanted = (await done()) + 2;
    expect((await run(...args, "--trials", String(wanted))).code).toBe(0);
    expect(await done()).toBe(wanted);
    expect(readdirSync(join(folder, "away", "n")).filter((name) => name.endsWith(".spool"))).toEqual([]);
    await proxy.close();
  });
});

it("keeps its trials when workers are killed at random", () => {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/kill-search.mjs", "--seconds", "15", "--redis", server.url], {
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^15 s, \d+ kills: \d+ trials complete/)]);
});
