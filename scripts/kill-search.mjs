// Kills workers of a study at random moments, and says whether anything was lost: `npm run test:kill
// -- --minutes 10`, or --seconds. Four processes share a journal, in a file or with --redis in a
// server, which is started here unless an address follows; three of them are killed every 0.2 to 2
// seconds and started again. In the end every trial is over, none twice, and each has the parameters
// and the value that an undisturbed worker gives it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { journalFile, randomSampler, redisJournal, repairJournal, Study, StudyLog } from "../dist/api/search.js";

const space = { x: { float: [0, 1] }, n: { int: [1, 1000], log: true }, c: { choice: ["a", "b", null] } };
const score = ({ x, n, c }) => x * n + (c === "a" ? 1 : 2);
/** Milliseconds without a sign of life after which a worker's trials are taken over. */
const grace = 2000;
const isServer = (storage) => storage.startsWith("redis://");
const storageAt = async (storage) =>
  isServer(storage) ? redisJournal(storage, { prefix: "spillway-kill" }) : journalFile(storage, { grace: grace / 1000 });
const open = async (storage) => Study.open({ space, storage: await storageAt(storage), sampler: randomSampler({ seed: 7 }) });
const pause = (ms) => new Promise((later) => setTimeout(later, ms));

const [mode, path] = process.argv.slice(2);
if (mode === "worker") await work(path);
else process.exitCode = await main(process.argv.slice(2));

async function work(journal) {
  const study = await open(journal);
  await study.beat(grace);
  const beating = setInterval(() => void study.beat(grace).catch(() => undefined), grace / 8);
  let stopping = false;
  process.on("SIGTERM", () => {
    stopping = true;
  });
  while (!stopping) {
    const trials = await study.ask(1 + (study.trials.length % 4));
    await pause(5);
    await study.tell(
      trials.map((trial) => [trial, { value: score(trial.params), attributes: { "spillway:seeds": [score(trial.params)] } }]),
    );
  }
  clearInterval(beating);
  await study.close();
}

async function main(words) {
  const folder = mkdtempSync(join(tmpdir(), "spillway-kill-"));
  const at = words.indexOf("--redis");
  const given = at < 0 ? undefined : words[at + 1];
  const server = at >= 0 && !given?.startsWith("redis://") ? await startServer(folder) : undefined;
  const faults = await supervise(secondsOf(words), server?.url ?? (at < 0 ? join(folder, "journal.log") : given));
  if (server) {
    server.process.kill();
    await once(server.process, "exit");
  }
  if (faults === 0) rmSync(folder, { recursive: true, force: true });
  return faults === 0 ? 0 : 1;
}

/** A server of our own, at a port that was free. */
async function startServer(folder) {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  await new Promise((closed) => probe.close(closed));
  const server = spawn("redis-server", ["--port", String(port), "--save", "", "--dir", folder], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const text of server.stdout) if (String(text).includes("Ready to accept")) break;
  return { url: `redis://127.0.0.1:${port}`, process: server };
}

async function supervise(seconds, journal) {
  const start = () =>
    spawn(process.execPath, [fileURLToPath(import.meta.url), "worker", journal], { stdio: ["ignore", "ignore", "inherit"] });
  const workers = [start(), start(), start(), start()];
  const end = performance.now() + 1000 * seconds;
  let kills = 0;
  for (let turn = 0; performance.now() < end; turn++) {
    await pause(200 + 1800 * ((turn * 0.6180339887) % 1));
    const victim = 1 + (turn % 3);
    workers[victim].kill("SIGKILL");
    kills++;
    workers[victim] = start();
  }
  const ended = workers.map((worker) => new Promise((done) => worker.once("exit", done)));
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(ended);
  const faults = await faultsOf(journal);
  const { counts } = faults.study;
  console.log(`${seconds} s, ${kills} kills: ${counts.complete} trials complete, ${counts.failed} taken over or given up`);
  for (const fault of faults.list) console.log(`fault: ${fault}`);
  if (faults.list.length > 0) console.log(`the journal: ${journal}`);
  return faults.list.length;
}

/** Finishes what is left, as the next worker would, and looks for what is wrong. */
async function faultsOf(journal) {
  const list = [];
  const study = await open(journal);
  await study.beat(grace);
  await pause(1.5 * grace);
  await study.beat(grace);
  for (let waiting = study.counts.waiting; waiting > 0; waiting = study.counts.waiting) {
    const trials = await study.ask(waiting);
    await study.tell(trials.map((trial) => [trial, score(trial.params)]));
  }
  if (study.counts.running > 0) list.push(`${study.counts.running} trials are left running`);
  const plain = await Study.open({ space, sampler: randomSampler({ seed: 7 }) });
  const wanted = await plain.ask(Math.max(1, study.trials.length));
  const log = new StudyLog();
  const storage = await storageAt(journal);
  log.apply(await storage.read(0));
  await storage.close();
  const stored = log.studies.get("study").trials;
  const isFirst = ({ number }) => !stored[number].systemAttributes.has("failed_trial");
  for (const trial of study.trials) {
    const { number, params, value, state } = trial;
    const isFresh = isFirst(trial);
    if (isFresh && JSON.stringify(params) !== JSON.stringify(wanted[number].params)) list.push(`trial ${number} has other parameters`);
    if (state === "complete" && value !== score(params)) list.push(`trial ${number} has the value ${value}`);
  }
  const fresh = study.trials.filter(isFirst).map(({ params }) => JSON.stringify(params));
  const done = study.trials.filter(({ state }) => state === "complete").map(({ params }) => JSON.stringify(params));
  if (new Set(done).size !== done.length) list.push("a trial was counted twice");
  const lost = fresh.filter((params) => !done.includes(params)).length;
  const { failed, retried } = study.counts;
  if (lost !== failed - retried) list.push(`${lost} trials have no result, and ${failed - retried} were given up`);
  await study.close();
  if (isServer(journal)) return { list, study };
  const { lost: lines, mended } = await repairJournal(journal);
  if (lines.length + mended.length > 0) list.push(`lines that are no record: ${[...lines.map(({ line }) => line), ...mended]}`);
  return { list, study };
}

function secondsOf(words) {
  const at = (name) => Number(words[words.indexOf(name) + 1]);
  if (words.includes("--minutes")) return 60 * at("--minutes");
  return words.includes("--seconds") ? at("--seconds") : 60;
}
