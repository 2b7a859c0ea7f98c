// What a process holds while reservoirs come and go, in every engine and of every kind: it does not
// grow. `npm run test:exhaustive` makes 2,000 of each.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { Matrix, ReservoirComputer, runEnsemble } from "../../src/index.js";
import type { AnyReservoirOptions } from "../../src/reservoir/index.js";
import { SpikingNetwork } from "../../src/spikes/index.js";
import { amount, casesOf, exhaustive } from "../exhaustive.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const inputs = Matrix.from([[0.1], [0.2], [-0.3]]);
const small = { size: 24, inputSize: 1, connectionProbability: 0.3 } as const;
const kinds = {
  sparse: small,
  dense: { ...small, storage: "dense", precision: "float64" },
  bfloat16: { ...small, weightPrecision: "bfloat16", feedback: { size: 1 } },
  integer: { ...small, arithmetic: "integer" },
  oscillator: { ...small, kind: "oscillator" },
  stateAffine: { kind: "stateAffine", size: 12 },
  spiking: { kind: "spiking", size: 20, inputSize: 1, timeStep: 0.5 },
} as const;

type Cycle = (seed: number) => Promise<unknown>;

/** A reservoir is made, runs and goes, in an engine. */
const ofKind =
  (options: AnyReservoirOptions, engine: string, also: object = {}): Cycle =>
  async (seed) => {
    const computer = await ReservoirComputer.create({ ...options, seed }, { engine, ...also });
    await computer.run(inputs);
    await computer.dispose();
  };

const network =
  (engine: "reference" | "cpu" | "sim"): Cycle =>
  async (seed) => {
    const populations = { E: { size: 12 } };
    const projections = [{ from: "E", to: "E", connect: "allToAll", weight: 1 }] as const;
    const made = await SpikingNetwork.create({ kind: "network", populations, projections, seed }, { engine });
    await made.run(2);
    await made.dispose();
  };

const cycles: readonly (readonly [name: string, cycle: Cycle])[] = [
  ...["reference", "cpu", "sim"].flatMap((engine) =>
    Object.entries(kinds)
      .filter(([kind]) => !(engine === "sim" && kind === "stateAffine"))
      .map(([kind, options]) => [`${kind} in ${engine}`, ofKind(options, engine)] as const),
  ),
  ["dense in cpu, two threads", ofKind(kinds.dense, "cpu", { threads: 2 })],
  ...["named", "streamed", "cluster", "grid"].map(
    (plan) => [`dense in sim, ${plan}`, ofKind({ ...kinds.dense, precision: "float32" }, "sim", { plan })] as const,
  ),
  ["created and not run in sim", async (seed) => (await ReservoirComputer.create({ ...small, seed }, { engine: "sim" })).dispose()],
  [
    "an ensemble in sim",
    (seed) =>
      runEnsemble(
        [
          { ...small, seed },
          { ...small, seed: seed + 1 },
        ],
        inputs,
        { engine: "sim" },
      ),
  ],
  [
    "batches in sim",
    async (seed) => {
      const computer = await ReservoirComputer.create({ ...small, seed }, { engine: "sim" });
      await computer.batch([inputs, inputs]);
      await computer.dispose();
    },
  ],
  ...(["reference", "cpu", "sim"] as const).map((engine) => [`a network in ${engine}`, network(engine)] as const),
];

/** Bytes that live, of the heap and of arrays and modules outside it, and those of the process. */
async function held(): Promise<{ readonly live: number; readonly resident: number }> {
  // What a finalizer lets go is collected by the next pass.
  for (let pass = 0; pass < 3; pass++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { live: heapUsed + external, resident: rss };
}

const [warmUp, count] = [amount(300, 24), amount(2000, 24)];

const representative = /^(sparse in cpu|sparse in sim|a network in sim)/;

it.each(casesOf(cycles, ([name]) => representative.test(name)))("does not grow: %s", { timeout: 600_000 }, async (_name, cycle) => {
  for (let seed = 0; seed < warmUp; seed++) await cycle(seed % 8);
  const before = await held();
  for (let seed = 0; seed < count; seed++) await cycle(seed % 8);
  const after = await held();
  expect(after.live - before.live).toBeLessThan(exhaustive ? 0.05 * before.live : 20_000 * count);
  // The heap's own reserve goes on growing for some thousand cycles; 50 kB a cycle would show.
  expect(after.resident - before.resident).toBeLessThan(100e6);
});

// What a WeakRef was made of lives until the event loop has another task; promises alone give none.
it("does not grow while promises alone are waited for: created and not run in sim", async () => {
  const cycle = cycles.find(([name]) => name.startsWith("created and not run"))![1];
  const bytes = async () => {
    for (let seed = 0; seed < 24; seed++) await cycle(1);
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  // The median of three: what is loaded once, whenever that is, is not of each cycle.
  const growth: number[] = [];
  for (let batch = 0, before = await bytes(); batch < 3; batch++) {
    const after = await bytes();
    growth.push(after - before);
    before = after;
  }
  expect(growth.toSorted((a, b) => a - b)[1]).toBeLessThan(24 * 16_000);
});
