// CPU bench: reservoir steps and ridge fits beside NumPy/SciPy in the same run, one thread each.
// All sides are live processes that take turns in short pieces of the same length; a figure is a
// median of process CPU time, a ratio the median of the rounds' ratios. Usage: npm run bench [--
// --quick] [-- --write] [-- --only=REGEXP], and to see what decides: [-- --steps=N] [--
// --small-pages]
import { appendFileSync } from "node:fs";
import os from "node:os";
import { live, median, pieceSteps, ratio, rounds } from "./live.mjs";
import { busyThreads, machine, processorTimes } from "./machine.mjs";

const option = (name) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
const quick = process.argv.includes("--quick");
const write = process.argv.includes("--write");
const only = option("only");
const fixedSteps = Number(option("steps") ?? 0);
const count = quick ? 5 : 21;
const pieceSeconds = quick ? 0.03 : 0.06;

const oneThread = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" };
const python = process.env.PYTHON ?? "/usr/bin/python3";
const cores = ["Haswell", "SkylakeX"];
const program = [...process.execArgv, "bench/cpu/ours.mjs"];
const ours = live("spillway", process.execPath, program, {});
const peer = (core, name, env) => live(name, python, ["bench/cpu/peer.py"], { ...oneThread, OPENBLAS_CORETYPE: core, ...env });
const peers = cores.map((core) => peer(core, core));
if (process.argv.includes("--small-pages"))
  peers.push(...cores.map((core) => peer(core, `${core}, small pages`, { NUMPY_MADVISE_HUGEPAGE: "0" })));

const cases = [
  ...[100, 300, 1000, 2000, 5000].map((size) => ({ size, density: 0.1, bar: size === 100 ? undefined : 1.7 })),
  ...[100, 300, 1000, 2000, 5000].map((size) => ({ size, density: 1, bar: size === 100 ? undefined : 1 })),
];
/** Reservoirs whose creation is timed: a new seed each time, and as many as take a tenth of a second. */
const created = [
  { size: 5000, density: 1, radius: "circularLaw", distribution: "uniform", steps: 1 },
  { size: 5000, density: 1, radius: "circularLaw", distribution: "normal", steps: 1 },
  { size: 2000, density: 1, radius: "circularLaw", distribution: "uniform", steps: 3 },
  { size: 5000, density: 0.1, radius: "circularLaw", distribution: "uniform", steps: 2 },
  { size: 1000, density: 0.1, radius: "auto", distribution: "uniform", steps: 4 },
  { size: 100, density: 0.1, radius: "auto", distribution: "uniform", steps: 50 },
];

const lines = [];
const say = (line) => {
  lines.push(line);
  console.log(line);
};
const times = (value) => `${value.toFixed(2)}x`;
const spread = ({ median: middle, low, high }) => `${times(middle)} (${low.toFixed(2)} to ${high.toFixed(2)})`;

const about = { ...(await ours.ask({ kind: "about" })), ...(await peers[0].ask({ kind: "about" })) };
say(`CPU bench, ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`);
for (const line of machine()) say(line);
say(
  `Node ${[about.node, ...process.execArgv].join(" ")}, NumPy ${about.numpy}, SciPy ${about.scipy}; float32, leak .3, 3 inputs, all states kept; one thread each`,
);
say(
  `${count} rounds of pieces of about ${pieceSeconds * 1e3} ms, the same number of steps on every side; medians of process CPU time, microseconds a step; ratios with their quartiles`,
);
say("");
say("| case | spillway | NumPy/SciPy | ratio | bar | OpenBLAS kernels | busy threads, load |");
say("|---|---|---|---|---|---|---|");
for (const { size, density, bar } of cases) {
  const name = `${density === 1 ? "dense" : `sparse p=${density}`} N=${size}`;
  if (only && !name.match(only)) continue;
  const sides = [ours, ...(density === 1 ? peers : peers.slice(0, 1))];
  const request = (_side, steps) => ({ kind: "reservoir", size, density, steps });
  const steps = fixedSteps || (await pieceSteps(sides, request, pieceSeconds));
  const before = processorTimes();
  const samples = await rounds(sides, request, steps, count);
  const busy = busyThreads(before, processorTimes());
  const mine = samples.get(ours);
  const theirs = sides.slice(1).toSorted((a, b) => median(samples.get(a)) - median(samples.get(b)));
  const others = theirs.slice(1).map((side) => `, ${times(ratio(samples.get(side), mine).median)} ${side.name}`);
  const first = samples.get(theirs[0]);
  say(
    `| ${name} | ${(median(mine) * 1e6).toFixed(2)} | ${(median(first) * 1e6).toFixed(2)} | ${spread(ratio(first, mine))} | ${bar ? `${bar}x` : ""} | ${density === 1 ? `${theirs[0].name}${others.join("")}` : "-"} | ${busy.toFixed(1)}, ${os.loadavg()[0].toFixed(1)} |`,
  );
}
if (!only || "create".match(only)) await creations();
if (!only || "ridge".match(only)) {
  // The system's BLAS is asked for in a process of its own for each core type, since OpenBLAS looks
  // at the environment once.
  const system = cores.map((core) =>
    live(`spillway, system OpenBLAS ${core}`, process.execPath, program, { ...oneThread, OPENBLAS_CORETYPE: core }),
  );
  const sides = [...peers.slice(0, cores.length), ours, ...system];
  const request = (side) => ({ kind: "ridge", size: 1000, rows: 10000, ...(system.includes(side) ? { blas: "system" } : {}) });
  for (const side of sides) await side.ask(request(side));
  const before = processorTimes();
  const samples = await rounds(sides, request, 1, Math.ceil(count / 2));
  const busy = busyThreads(before, processorTimes());
  say("");
  say(
    `Ridge fit, N=1000, T=10000, sums in float64; NumPy: X.T @ X and X.T @ Y of float64, Cholesky by SciPy. ${busy.toFixed(1)} busy threads`,
  );
  say("");
  say(`| ridge fit | ms | ${cores.map((core) => `times NumPy's with OpenBLAS ${core}`).join(" | ")} |`);
  say(`|---|---|${cores.map(() => "---|").join("")}`);
  for (const side of sides) {
    const name = side === ours ? "spillway, portable" : peers.includes(side) ? `numpy, OpenBLAS ${side.name}` : side.name;
    const beside = peers.slice(0, cores.length).map((one) => (one === side ? "" : spread(ratio(samples.get(side), samples.get(one)))));
    say(`| ${name} | ${(median(samples.get(side)) * 1e3).toFixed(0)} | ${beside.join(" | ")} |`);
  }
  for (const side of system) side.close();
}

async function creations() {
  const [peer] = peers;
  say("");
  say(
    "Creation of a reservoir: W drawn in float64, scaled to a spectral radius of .95, rounded to float32; here also packed for the kernels. NumPy and SciPy: W alone, by the variance (circular law) or by eigs(k=1, ncv=60)",
  );
  say("");
  say("| creation | spillway, ms | NumPy/SciPy, ms | spillway times NumPy |");
  say("|---|---|---|---|");
  let seed = 1;
  for (const { steps, ...what } of created) {
    const request = () => ({ kind: "create", ...what, seed: seed++ * 1000 });
    for (const side of [ours, peer]) await side.ask({ ...request(), steps });
    const samples = await rounds([ours, peer], (_side, count) => ({ ...request(), steps: count }), steps, Math.ceil(count / 2));
    const [mine, theirs] = [samples.get(ours), samples.get(peer)];
    const name = `N=${what.size}, ${what.density === 1 ? "dense" : `p=${what.density}`}, ${what.distribution}, ${what.radius === "auto" ? "measured radius" : "circular law"}`;
    say(`| ${name} | ${(median(mine) * 1e3).toFixed(1)} | ${(median(theirs) * 1e3).toFixed(1)} | ${spread(ratio(mine, theirs))} |`);
  }
}

for (const side of [ours, ...peers]) side.close();
// Another run of the day comes behind the ones before.
if (write) appendFileSync(`bench/results/cpu-${new Date().toISOString().slice(0, 10)}.md`, `${lines.join("\n")}\n\n`);
