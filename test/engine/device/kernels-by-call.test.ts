// Every call of every kind of reservoir by the plan "named" and by "auto" on the simulated device:
// which kernels ran, and the bits of the host. docs/cuda.md has the table that is made here;
// SPILLWAY_WRITE_DOCS=1 writes it.
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SpillwayError } from "../../../packages/core/src/errors.js";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import {
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  type CreateOptions,
  Matrix,
  ReservoirComputer,
  ReservoirEnsemble,
  ridge,
} from "../../../src/index.js";
import { processPattern, SpikePattern } from "../../../src/spikes/index.js";
import { bits } from "../contract.js";

const launched = new Set<string>();
const context = openDevice({ driver: simulatedDriver({ onLaunch: ({ kernel }) => void launched.add(kernel) }) });
afterAll(() => context.dispose());

const neuron = { type: "leakyIntegrateAndFire", membraneTimeConstant: 20 } as const;
const kinds: Readonly<Record<string, AnyReservoirOptions>> = {
  "rates, dense W": { size: 70, storage: "dense", seed: 3 },
  "rates, sparse W": { size: 70, storage: "sparse", connectionProbability: 0.2, seed: 3 },
  liquid: { kind: "spiking", size: 20, inputSize: 1, timeStep: 1, seed: 3 },
  network: {
    ...{ kind: "network", seed: 3, timeStep: 1, rowMs: 1, inputSize: 1 },
    populations: { E: { size: 12, neuron, current: 16, stateTimeConstant: 30 } },
    projections: [{ from: "E", to: "E", connect: { rule: "bernoulli", probability: 0.2 }, weight: 0.8, delay: 1 }],
    input: { to: ["E"], scaling: 9 },
  } as AnyReservoirOptions,
  oscillators: { kind: "oscillator", size: 12, seed: 3 } as AnyReservoirOptions,
};

const series = Matrix.from(Array.from({ length: 14 }, (_, t) => [t % 3 === 0 ? 1 : 0]));
const targets = Matrix.from(Array.from({ length: 14 }, (_, t) => [Math.sin(0.3 * t)]));
const pattern = SpikePattern.from(
  [1, 4, 12].map((timeMs) => ({ neuron: 0, timeMs })),
  { durationMs: 15, neuronCount: 1 },
);

async function trained(of: AnyReservoirComputer) {
  const trainer = ridge();
  const sink = trainer.accumulator({ stateSize: of.model.size, inputSize: 1, outputSize: 1 });
  await of.train(series, targets, sink, { washout: 3 });
  return trainer.solve(sink);
}

type Values = Float32Array | Float64Array;
const withComputer = (use: (of: AnyReservoirComputer) => Promise<Values>) => async (options: AnyReservoirOptions, on: CreateOptions) => {
  await using computer = await ReservoirComputer.create(options, on);
  launched.clear();
  return await use(computer);
};

/** The numbers that a call gives. */
const calls: Readonly<Record<string, (options: AnyReservoirOptions, on: CreateOptions) => Promise<Values>>> = {
  run: withComputer(async (of) => (await of.run(series)).data),
  step: withComputer(async (of) => of.step([1]).slice()),
  train: withComputer(async (of) => (await trained(of)).weights.data as Float64Array),
  batch: withComputer(async (of) => (await of.batch([series, series, series])).at(-1)!.data),
  generate: withComputer(async (of) => {
    const readout = await trained(of);
    launched.clear();
    return (await of.generate(5, readout)).data;
  }),
  processPattern: withComputer((of) => processPattern(of, pattern, { stepMs: 1 })),
  async ensemble(options, { engine, context, plan }) {
    await using all = await ReservoirEnsemble.create([options, { ...options, seed: 4 }] as never, { engine, context, plan });
    launched.clear();
    return (await all.run(series)).at(-1)!.data;
  },
};

/** Kernels that move or check states. */
const housekeeping = /^(set_chunk|advance_chunk|pack_state|unpack_state|first_non_finite)/;

const refusals = {
  plan: "refused, it has one way to run",
  step: "refused, no single steps on a device",
  ensemble: "refused, ensembles have rates or liquids",
};

const refused = (error: unknown): string => {
  expect(error).toBeInstanceOf(SpillwayError);
  const { code, field } = error as SpillwayError & { readonly field?: string };
  return field === "plan" ? refusals.plan : code === "unavailable" ? refusals.step : refusals.ensemble;
};

/** What happened, by kind, plan and call. */
const found: { readonly kind: string; readonly plan: string; readonly call: string; readonly ran: string }[] = [];

describe.each(Object.entries(kinds))("%s", (kind, options) => {
  let expected: Record<string, Uint32Array | string>;
  beforeAll(async () => {
    expected = {};
    for (const [call, make] of Object.entries(calls)) expected[call] = await make(options, { engine: "cpu" }).then(bits, refused);
  });

  it.each(["named", "auto"])("by the plan %s gives the bits of the host in every call, or is refused", async (plan) => {
    for (const [call, make] of Object.entries(calls)) {
      launched.clear();
      const made = await make(options, { context, plan }).then(bits, refused);
      found.push({
        kind,
        plan,
        call,
        ran: typeof made === "string" ? made : [...launched].filter((name) => !housekeeping.test(name)).join(", "),
      });
      if (made === refusals.plan) expect(plan, call).toBe("named");
      else if (made === refusals.step) expect([kind, call]).toEqual(["network", "step"]);
      else expect(made, call).toEqual(expected[call]);
    }
  });
});

/** The table of docs/cuda.md: a line for each kind and plan. */
function tableOf(): string {
  const rows = Object.keys(kinds).flatMap((kind) =>
    ["named", "auto"].map((plan) => {
      const ways = new Map<string, string[]>();
      for (const one of found) if (one.kind === kind && one.plan === plan) ways.set(one.ran, [...(ways.get(one.ran) ?? []), one.call]);
      const words = [...ways].map(([ran, names]) => {
        const what = ran.startsWith("refused") ? ran : ran.replace(/\w+/g, "`$&`");
        return `${ways.size === 1 ? "every call" : names.join(", ")}: ${what}`;
      });
      return `| ${kind} | ${plan} | ${words.join("; ")} |`;
    }),
  );
  return ["| reservoir | plan | kernels, by call |", "|---|---|---|", ...rows].join("\n");
}

it("are the kernels that docs/cuda.md names", async () => {
  const [begin, end] = ["<!-- kernels by call: test/engine/device/kernels-by-call.test.ts -->", "<!-- end of kernels by call -->"];
  const file = new URL("../../../docs/cuda.md", import.meta.url);
  const text = await readFile(file, "utf8");
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (process.env["SPILLWAY_WRITE_DOCS"] === "1") await writeFile(file, `${text.slice(0, from)}\n\n${tableOf()}\n\n${text.slice(to)}`);
  else expect(text.slice(from, to).trim()).toBe(tableOf());
});

it("of rates by the plan named are the named kernels alone in every call", () => {
  const named = /^(matvec_input|matvec_reservoir|leaky_integration)/;
  const steps = /step_|^(dense|sparse|grid|cluster|batch|ensemble|reservoir|persistent)_|drive/;
  for (const { kind, plan, call, ran } of found) {
    if (!kind.startsWith("rates") || plan !== "named") continue;
    const kernels = ran.split(", ");
    expect(
      kernels.filter((name) => steps.test(name) && !named.test(name)),
      `${kind}, ${call}`,
    ).toEqual([]);
    for (const name of [kind.endsWith("dense W") ? "matvec_reservoir" : "matvec_reservoir_csr", "leaky_integration", "matvec_input"])
      expect(kernels, `${kind}, ${call}`).toContain(name);
  }
});
