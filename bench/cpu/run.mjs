// CPU bench: reservoir steps and ridge fits beside NumPy/SciPy in the same run. All sides are live processes, visited in random order; the figure is the
// median of process CPU time, one thread each. Usage: npm run bench [-- --quick] [-- --write]
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import os from "node:os";
import { createInterface } from "node:readline";

const quick = process.argv.includes("--quick");
const write = process.argv.includes("--write");
const rounds = quick ? 3 : 7;
const sampleSeconds = quick ? 0.05 : 0.15;
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7);

function live(name, command, args, env) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended`);
      return JSON.parse(value);
    },
    close: () => child.stdin.end(),
  };
}

const oneThread = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" };
const python = process.env.PYTHON ?? "/usr/bin/python3";
const ours = live("spillway", process.execPath, ["bench/cpu/ours.mjs"], {});
const cores = ["Haswell", "SkylakeX"];
const peers = cores.map((core) =>
  live(`numpy (OpenBLAS ${core})`, python, ["bench/cpu/peer.py"], { ...oneThread, OPENBLAS_CORETYPE: core }),
);

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function shuffled(list) {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** Median seconds of each side over the rounds, after one warm-up that also sets the number of steps of a sample. */
async function compare(sides, requestOf) {
  const steps = new Map();
  for (const side of sides) {
    const first = await side.ask(requestOf(side, 20));
    steps.set(side, Math.max(3, Math.min(20000, Math.ceil(sampleSeconds / first.seconds))));
    await side.ask(requestOf(side, steps.get(side)));
  }
  const samples = new Map(sides.map((side) => [side, []]));
  for (let round = 0; round < rounds; round++) {
    for (const side of shuffled(sides)) {
      for (let k = 0; k < 2; k++) samples.get(side).push((await side.ask(requestOf(side, steps.get(side)))).seconds);
    }
  }
  return sides.map((side) => median(samples.get(side)));
}

const cases = [
  ...[100, 300, 1000, 2000, 5000].map((size) => ({ size, density: 0.1, bar: size === 100 ? undefined : 1.7 })),
  ...[
    [100, undefined],
    [300, 1.25],
    [1000, 0.85],
    [2000, 0.75],
    [5000, 0.85],
  ].map(([size, bar]) => ({ size, density: 1, bar })),
];

const about = { ...(await ours.ask({ kind: "about" })), ...(await peers[0].ask({ kind: "about" })) };
const lines = [];
const say = (line) => {
  lines.push(line);
  console.log(line);
};
say(
  `CPU bench, ${new Date().toISOString().slice(0, 10)}, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads, ${os.type()} ${os.release()}`,
);
say(`Node ${about.node}, NumPy ${about.numpy}, SciPy ${about.scipy}; float32, leak .3, 3 inputs, all states kept; one thread each`);
say(`median of ${rounds * 2} samples of process CPU time, sides visited in random order; microseconds a step`);
say("");
say("| case | spillway | NumPy/SciPy | ratio | bar | OpenBLAS kernels |");
say("|---|---|---|---|---|---|");
for (const { size, density, bar } of cases) {
  if (only && !`${density === 1 ? "dense" : "sparse"} ${size}`.match(only)) continue;
  const [mine, ...theirs] = await compare([ours, ...peers], (_side, steps) => ({ kind: "reservoir", size, density, steps }));
  const best = Math.min(...theirs);
  const core = density === 1 ? peers[theirs.indexOf(best)].name.replace(/.*OpenBLAS (.*)\)/, "$1") : "-";
  say(
    `| ${density === 1 ? "dense" : `sparse p=${density}`} N=${size} | ${(mine * 1e6).toFixed(2)} | ${(best * 1e6).toFixed(2)} | ${(best / mine).toFixed(2)}x | ${bar ? `${bar}x` : ""} | ${core} |`,
  );
}
if (!only || only === "ridge") {
  // The system's BLAS is asked for in a process of its own for each core type, since OpenBLAS looks at the environment once.
  const system = cores.map((core) =>
    live(`spillway, system OpenBLAS ${core}`, process.execPath, ["bench/cpu/ours.mjs"], { ...oneThread, OPENBLAS_CORETYPE: core }),
  );
  const sides = [...peers, ours, ...system];
  const times = await compare(sides, (side) => ({
    kind: "ridge",
    size: 1000,
    rows: 10000,
    ...(system.includes(side) ? { blas: "system" } : {}),
  }));
  const best = Math.min(times[0], times[1]);
  say("");
  say("| ridge fit, N=1000, T=10000, float64 sums | ms | times NumPy's, each OpenBLAS core type |");
  say("|---|---|---|");
  sides.forEach((side, i) => {
    const beside = times.slice(0, 2).map((time, k) => `${(times[i] / time).toFixed(2)} (${cores[k]})`);
    say(
      `| ${side === ours ? "spillway, portable" : side.name} | ${(times[i] * 1e3).toFixed(0)} | ${i < 2 ? (times[i] / best).toFixed(2) : beside.join(", ")} |`,
    );
  });
  for (const side of system) side.close();
}

for (const side of [ours, ...peers]) side.close();
if (write) writeFileSync(`bench/results/cpu-${new Date().toISOString().slice(0, 10)}.md`, `${lines.join("\n")}\n`);
