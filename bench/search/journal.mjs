// What a study costs in its file: 10,000 trials of six parameters in batches of 500 written, read
// again, and gone on with one by one, beside the same in memory. Usage: node bench/search/journal.mjs [--trials 10000]
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { journalFile, MemoryStorage, randomSampler, Study, tpe } from "../../dist/api/search.js";

const { values: flags } = parseArgs({ options: { trials: { type: "string", default: "10000" } } });
const [trials, batch, further] = [Number(flags.trials), 500, 100];
const space = {
  ...{ a: { float: [0.1, 1.5] }, b: { float: [1e-10, 1], log: true }, c: { int: [50, 400], step: 50 } },
  ...{ d: { int: [1, 256], log: true }, e: { float: [0, 1] }, f: { float: [1e-3, 10], log: true } },
};
const score = ({ a, b, c, e, f }) => (a - 0.9) ** 2 + 0.1 * (Math.log10(b) + 6) ** 2 + c / 400 + (e - 0.3) ** 2 + Math.log10(f) ** 2;

const folder = mkdtempSync(join(tmpdir(), "spillway-bench-"));
const path = join(folder, "journal.log");
const open = (sampler) => Study.open({ storage: journalFile(path), name: "study", space, sampler });

/** Seconds of the clock and of the processor. */
async function timed(work) {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return [(performance.now() - begun) / 1000, (user + system) / 1e6];
}

const told = async (study, count) => {
  const asked = await study.ask(count);
  await study.tell(asked.map((trial) => [trial, { value: score(trial.params), attributes: { "spillway:seeds": [1, 2, 3] } }]));
};
const onwards = async (study, count) => {
  for (let k = 0; k < count; k++) await told(study, 1);
};
const show = (what, [seconds, processor], unit = "s", times = 1) =>
  console.log(`| ${what} | ${(seconds * times).toFixed(2)} ${unit} | ${(processor * times).toFixed(2)} ${unit} |`);

console.log("| work | clock | processor |\n|---|---|---|");
const written = await open(randomSampler({ seed: 1 }));
const write = await timed(async () => {
  while (written.finished < trials) await told(written, Math.min(batch, trials - written.finished));
});
show(`${trials} trials written in batches of ${batch}, ${(statSync(path).size / 1e6).toFixed(1)} MB`, write);
await written.close();
let study;
const read = await timed(async () => {
  study = await open(tpe({ seed: 1 }));
});
show("read again", read);
const first = await timed(() => onwards(study, further));
show(`the first ${further} trials of TPE in a process, each`, first, "ms", 1000 / further);
const memory = new MemoryStorage();
await memory.append(await journalFile(path).read(0));
const twin = await Study.open({ storage: memory, name: "study", space, sampler: tpe({ seed: 1 }) });
await onwards(twin, further);
const [parts, each] = [8, 25];
const runs = { "in memory": [], "through the file": [] };
for (let part = 0; part < parts; part++) {
  runs["in memory"].push(await timed(() => onwards(twin, each)));
  runs["through the file"].push(await timed(() => onwards(study, each)));
}
for (const [where, found] of Object.entries(runs)) {
  const [clock, processor] = [0, 1].map((k) => found.map((pair) => pair[k]).sort((a, b) => a - b));
  show(`a later trial ${where}, the least of ${parts} runs of ${each}`, [clock[0], processor[0]], "ms", 1000 / each);
  show("the same, the median", [clock[parts >> 1], processor[parts >> 1]], "ms", 1000 / each);
}
await study.close();
rmSync(folder, { recursive: true, force: true });
