// Cold start: the time of `import "spillway"`, and of the first 1000 steps at N = 100 from the
// start of the process. Medians over fresh processes.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const sample = (code) =>
  median(
    Array.from({ length: 15 }, () => {
      const { stdout, status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
      return Number(stdout);
    }),
  );

const imported = sample(`const t = performance.now(); await import("spillway"); console.log(performance.now() - t)`);
// performance.now() counts from the start of the process.
const steps = sample(`
import { ReservoirComputer } from "spillway";
const computer = await ReservoirComputer.create({ size: 100, seed: 1 });
await computer.run(new Float32Array(1000).fill(0.5));
console.log(performance.now());`);
const empty = sample("console.log(performance.now())");
console.log(`Node ${process.version}: an empty program ${empty.toFixed(0)} ms`);
console.log(`import "spillway": ${imported.toFixed(0)} ms (bar 100)`);
console.log(`first 1000 steps at N=100, from process start: ${steps.toFixed(0)} ms (bar 150)`);

// The command line: a run of 30 neurons as users start it, and without the process that supervises
// it.
const folder = mkdtempSync(join(tmpdir(), "spillway-start-"));
writeFileSync(
  join(folder, "small.yaml"),
  "name: small\ndata: { task: narma, length: 700 }\nreservoir: { size: 30 }\ntask: predict\noutputs: { report: false }\n",
);
const times = { main: [], command: [] };
for (let k = 0; k < 15; k++)
  for (const [name, list] of Object.entries(times)) {
    const begun = performance.now();
    const { status } = spawnSync(process.execPath, [`dist/cli/${name}.js`, "run", join(folder, "small.yaml"), "--quiet", "--out", folder]);
    if (status !== 0) throw new Error(`spillway run ended with ${status}`);
    list.push(performance.now() - begun);
  }
rmSync(folder, { recursive: true });
const [supervised, alone] = [median(times.main), median(times.command)];
console.log(`spillway run, 30 neurons: ${supervised.toFixed(0)} ms, ${alone.toFixed(0)} ms without the supervising process`);
