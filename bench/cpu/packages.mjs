// The CPU bench beside the packages people use: ReservoirPy, and PyTorch in a loop written by hand.
// One protocol for all (run, ridge fit, closed loop) on the same matrices and the same series, one
// thread each, and the start of a program. Not a bench of kernels: see run.mjs.
// Usage, on the built package: node bench/cpu/packages.mjs [--quick] [--write]
// PYTHON names the Python that has reservoirpy and torch; what it lacks is left out, and the output
// says so.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { mackeyGlass, nrmse, ReservoirComputer } from "spillway";
import { writeNpz } from "spillway/series";
import { finished, started } from "./children.mjs";

const quick = process.argv.includes("--quick");
const write = process.argv.includes("--write");
const rounds = quick ? 3 : 11;
const python = process.env.PYTHON ?? "/usr/bin/python3";
const sizes = [100, 500, 1000];
const protocol = { steps: 5000, ahead: 500, washout: 100, leak: 0.3, lambda: 1e-8 };
const scored = 84;
const start = { size: 100, steps: 1000, ahead: scored };
const oneThread = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" };

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** From the lower to the upper quartile, as a share of the median. */
function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length * 0.75)] - sorted[Math.floor(sorted.length * 0.25)]) / median(values);
}

function shuffled(list) {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** Versions of what the Python has, by package; no entry for what it lacks. */
function installed() {
  const code = `import importlib.metadata as m, json, platform
found = {"python": platform.python_version()}
for name in ("numpy", "scipy", "reservoirpy", "torch"):
    try: found[name] = m.version(name)
    except m.PackageNotFoundError: pass
print(json.dumps(found))`;
  const { stdout, status } = finished(python, ["-c", code], { encoding: "utf8" });
  return status === 0 ? JSON.parse(stdout) : {};
}

const ours = (precision) => ({ command: process.execPath, args: ["bench/cpu/packages-ours.mjs", precision] });
const theirs = (variant) => ({ command: python, args: ["bench/cpu/packages.py", variant] });
const versions = installed();
/** What the Python lacks of what a package takes. */
const lacking = (needed) => [needed, "numpy", "scipy"].filter((part) => versions[part] === undefined);
const sides = [
  { name: "spillway float32", starts: "spillway", ...ours("float32") },
  { name: "spillway float64", ...ours("float64") },
  { name: "ReservoirPy float64", starts: "ReservoirPy", needs: "reservoirpy", ...theirs("reservoirpy") },
  { name: "PyTorch float32, dense", starts: "PyTorch", needs: "torch", ...theirs("torch-dense") },
  { name: "PyTorch float32, CSR", needs: "torch", ...theirs("torch-csr") },
].filter(({ needs }) => !needs || lacking(needs).length === 0);

function live({ name, command, args }, folder) {
  const child = started(command, [...args, "serve", folder], { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...oneThread } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended before it answered`);
      return JSON.parse(value);
    },
    close: () => child.stdin.end(),
  };
}

const series = mackeyGlass(protocol.steps + protocol.ahead, { tau: 17 });
const truth = series.slice(protocol.steps, protocol.steps + scored);

/**
 * One reservoir a size for every side: W in CSR, dense W_in and b, all in binary64; and the series.
 */
async function writeReservoir(folder, size) {
  const computer = await ReservoirComputer.create({
    size,
    connectionProbability: 0.1,
    spectralRadius: 0.95,
    leakRate: protocol.leak,
    bias: 0.2,
    storage: "sparse",
    precision: "float64",
    seed: "packages",
  });
  const { weights, inputWeights, bias } = computer.model;
  const vector = (data) => ({ data, shape: [data.length] });
  const { values, columns, rowOffsets } = weights;
  await writeNpz(
    join(folder, `${size}.npz`),
    { data: vector(values), indices: vector(columns), indptr: vector(rowOffsets), bias: vector(bias), inputWeights, series },
    { compress: false },
  );
  await computer.dispose();
}

/**
 * Samples of every side, in random order in each round: seconds of each phase, and the error of the
 * forecast's first steps.
 */
async function phases(folder) {
  const running = sides.map((side) => live(side, folder));
  const samples = new Map();
  for (const size of sizes) {
    await writeReservoir(folder, size);
    for (const side of running) {
      await side.ask({ kind: "prepare", size, ...protocol });
      await side.ask({ kind: "sample", size, ...protocol });
      samples.set(`${size} ${side.name}`, []);
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const size of sizes) {
      for (const side of shuffled(running)) samples.get(`${size} ${side.name}`).push(await side.ask({ kind: "sample", size, ...protocol }));
    }
  }
  for (const side of running) side.close();
  return samples;
}

/**
 * Seconds of whole programs, each a fresh process, in random order in each round after one that
 * fills the caches of files.
 */
function starts(folder) {
  writeFileSync(join(folder, "start.json"), JSON.stringify({ ...protocol, ...start }));
  writeFileSync(join(folder, "series.f64"), series.data);
  const programs = sides.filter(({ starts }) => starts);
  const samples = new Map(programs.map(({ starts }) => [starts, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { starts, command, args } of shuffled(programs)) {
      const begun = performance.now();
      const { stdout, stderr, status } = finished(command, [...args, "start", folder], {
        encoding: "utf8",
        env: { ...process.env, ...oneThread },
      });
      const wall = (performance.now() - begun) / 1e3;
      if (status !== 0) throw new Error(`${starts} ended with ${status}: ${stderr}`);
      const { forecast, ...times } = JSON.parse(stdout);
      if (!forecast.every(Number.isFinite) || forecast.length !== start.ahead) throw new Error(`${starts} gave no forecast`);
      if (round > 0) samples.get(starts).push({ ...times, wall });
    }
  }
  return samples;
}

const lines = [];
const say = (line) => {
  lines.push(line);
  console.log(line);
};
const day = new Date().toISOString().slice(0, 10);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const listed = Object.entries(versions).map(([name, value]) => `${name} ${value}`);
say(`CPU bench beside packages, ${day}, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads, ${os.type()} ${os.release()}`);
say(`spillway ${version} on Node ${process.version}; ${listed.join(", ") || `no Python at ${python}`}`);
for (const [name, needed] of [
  ["ReservoirPy", "reservoirpy"],
  ["PyTorch", "torch"],
]) {
  const missing = lacking(needed);
  if (missing.length > 0) say(`not measured: ${name}, since ${python} lacks ${missing.join(", ")}; PYTHON names a Python that has them`);
}
say("not measured: ReservoirComputing.jl, which takes Julia; this bench has no side for it");
say("");
say(
  `One thread each; process CPU time, median of ${rounds} samples, sides visited in random order. W at density 0.1, W_in, b and the Mackey-Glass series (tau 17) are the same numbers for all; leak ${protocol.leak}, spectral radius 0.95.`,
);
say(
  `run: ${protocol.steps} steps, all states kept. fit: ridge on those states with an intercept, lambda ${protocol.lambda}, washout ${protocol.washout}, sums in float64. generate: ${protocol.ahead} steps of closed loop.`,
);
say(
  "ReservoirPy: its Reservoir and Ridge nodes in float64, its default, the closed loop node by node. PyTorch has no leaky reservoir: a loop of addmv, tanh and lerp in float32, its default, Cholesky in float64.",
);
say(
  "spillway: portable arithmetic, the same bits on every machine; that is asked of no other side. In brackets: times that of spillway float32.",
);
say("Not compared: several threads, GPUs, memory, larger reservoirs, dense W, and how well each can be tuned.");

const folder = mkdtempSync(join(os.tmpdir(), "spillway-packages-"));
try {
  const samples = await phases(folder);
  const rows = [
    ["run, us a step", ({ run }) => (run / protocol.steps) * 1e6],
    ["fit, ms", ({ fit }) => fit * 1e3],
    ["generate, us a step", ({ generate }) => (generate / protocol.ahead) * 1e6],
    ["all three, ms", ({ run, fit, generate }) => (run + fit + generate) * 1e3],
  ];
  say("");
  say(`| | ${sides.map(({ name }) => name).join(" | ")} |`);
  say(`|---|${"---|".repeat(sides.length)}`);
  for (const size of sizes) {
    for (const [title, of] of rows) {
      const figures = sides.map(({ name }) => median(samples.get(`${size} ${name}`).map(of)));
      const cells = figures.map((figure, i) => `${figure.toPrecision(3)}${i === 0 ? "" : ` (${(figure / figures[0]).toFixed(2)}x)`}`);
      say(`| N=${size}: ${title} | ${cells.join(" | ")} |`);
    }
    const scores = sides.map(({ name }) => nrmse(truth, samples.get(`${size} ${name}`)[0].forecast.slice(0, scored)).toExponential(1));
    say(`| N=${size}: NRMSE of the first ${scored} steps | ${scores.join(" | ")} |`);
  }
  const spreads = [...samples.values()].flatMap((list) => rows.map(([, of]) => spread(list.map(of)))).toSorted((a, b) => a - b);
  say("");
  say(
    `The middle half of a cell's samples spans ${(median(spreads) * 100).toFixed(0)} % of its median (the median cell), ${(spreads.at(-1) * 100).toFixed(0)} % at most.`,
  );
  const programs = starts(folder);
  say("");
  say(
    `Start: a fresh program imports the package, draws a reservoir of ${start.size} neurons by the package's own means, runs ${start.steps} steps, fits and forecasts ${start.ahead}; median of ${rounds} programs, files already in memory.`,
  );
  say(
    `The clock's column depends on what else runs: the load average of the machine was ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} processors.`,
  );
  say("");
  say("| | CPU time of the import, ms | CPU time of the whole program, ms | from start to end by the clock, ms |");
  say("|---|---|---|---|");
  for (const [name, times] of programs) {
    const figures = ["imported", "cpu", "wall"].map((part) => (median(times.map((time) => time[part])) * 1e3).toFixed(0));
    say(`| ${name} | ${figures.join(" | ")} |`);
  }
  if (write) writeFileSync(`bench/results/packages-${day}.md`, `${lines.join("\n")}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
