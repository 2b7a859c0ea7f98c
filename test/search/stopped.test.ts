// A worker whose process is stopped for longer than the grace and then goes on: others run its
// trials, and its results count no second time. One that is killed is not waited for on its machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { journalFile, randomSampler, Study } from "../../packages/search/src/index.js";
import { isGone, ownMark } from "../../packages/search/src/process-mark.js";

const worker = `
  import { once } from "node:events";
  import { journalFile, Study, randomSampler } from ${JSON.stringify(new URL("../../packages/search/src/index.ts", import.meta.url).pathname)};
  const storage = journalFile(process.argv.at(-1), { grace: 0.2 });
  const study = await Study.open({ storage, space: { x: { float: [0, 1] } }, sampler: randomSampler() });
  await study.beat(300);
  const beating = setInterval(() => study.beat(300), 40);
  const [right, wrong] = await study.ask(2);
  console.log("asked");
  await once(process.stdin, "data");
  await study.tell([[right, right.params.x], [wrong, wrong.params.x + 2 ** -52]]);
  clearInterval(beating);
  console.log(JSON.stringify({ dropped: study.dropped, different: study.different.map(({ number }) => number) }));
  process.exit();
`;

/** A worker with two trials in work, its journal, and the folder of that. */
async function startWorker() {
  const folder = mkdtempSync(join(tmpdir(), "spillway-stopped-"));
  const path = join(folder, "s.log");
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", worker, path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return { folder, path, child };
}

it.skipIf(process.platform === "win32")("is taken over, and its late results are dropped, or told if a bit differs", async () => {
  const { folder, path, child } = await startWorker();
  const storage = journalFile(path, { grace: 0.2 });
  const other = await Study.open({ storage, space: { x: { float: [0, 1] } }, sampler: randomSampler() });
  child.kill("SIGSTOP");
  let taken = 0;
  while (taken === 0) {
    taken = await other.beat(300);
    await new Promise((later) => setTimeout(later, 40));
  }
  const trials = await other.ask(2);
  await other.tell(trials.map((trial) => [trial, trial.params["x"] as number]));
  const ended = once(child, "exit");
  child.stdin.write("go\n");
  const said = once(child.stdout, "data");
  child.kill("SIGCONT");
  expect(JSON.parse(String(await said))).toEqual({ dropped: 2, different: [3] });
  await ended;
  await other.sync();
  expect(other.trials.map(({ state }) => state)).toEqual(["failed", "failed", "complete", "complete"]);
  expect(other.trials.slice(2).map(({ params }) => params)).toEqual(other.trials.slice(0, 2).map(({ params }) => params));
  rmSync(folder, { recursive: true });
});

it.runIf(process.platform === "linux")("is taken over at once if it was killed on this machine, and not before", async () => {
  const { folder, path, child } = await startWorker();
  const other = await Study.open({ storage: journalFile(path), space: { x: { float: [0, 1] } }, sampler: randomSampler() });
  expect(await other.beat()).toBe(0);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect(await other.beat()).toBe(2);
  expect(other.trials.map(({ state }) => state)).toEqual(["failed", "failed", "waiting", "waiting"]);
  rmSync(folder, { recursive: true });
});

it.runIf(process.platform === "linux")("is gone by its process only if it ran on this machine and in this container", () => {
  const own = ownMark()!;
  expect(isGone({ seq: 1, ...own }, own)).toBe(false);
  expect(isGone({ seq: 1, ...own, started: own.started - 1 }, own)).toBe(true);
  for (const [host, pid] of [["another", own.pid], [own.host, -1], [own.host, "1"], [own.host, null]] as const) // biome-ignore format: one line
    expect(isGone({ seq: 1, host, pid, started: 1 }, own), `${host} ${pid}`).toBe(false);
  for (const said of [null, 1, "text", [], { seq: 1 }]) expect(isGone(said, own)).toBe(false);
});
