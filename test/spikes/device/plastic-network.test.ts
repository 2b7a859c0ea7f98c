// Networks with plastic projections on a device: the spikes, weights and traces of the reference
// engine, bit for bit.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import "../../../src/index.js";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { openNetwork } from "../../../src/engine/cuda/network/index.js";
import {
  drawNetwork,
  hpcBenchmark,
  loadNetwork,
  type NetworkOptions,
  type ProjectionPlasticityOptions,
  planNetwork,
  ReferenceNetwork,
  SpikingNetwork,
  type StepSpikes,
  saveNetwork,
} from "../../../src/spikes/network/index.js";
import { onHardware, openTestDevice, size } from "../../gpu/device/device.js";
import { brianNetwork, plasticNetwork } from "../network/plastic-network.js";

const context = openTestDevice();
const folder = mkdtempSync(join(tmpdir(), "spillway-plastic-device-"));
afterAll(() => {
  context.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const inputsOf = (steps: number): StepSpikes => ({
  offsets: Uint32Array.from({ length: steps + 1 }, (_, t) => Math.floor(t / 4) * 3),
  neurons: Uint32Array.from({ length: Math.floor(steps / 4) * 3 }, (_, s) =>
    s % 3 === 2 ? Math.floor((s - 1) * 0.7) % 5 : Math.floor(s * 0.7) % 5,
  ),
});
/** The steps from `from` on. */
const part = ({ offsets, neurons }: StepSpikes, from: number, to: number): StepSpikes => ({
  offsets: offsets.slice(from, to + 1).map((each) => each - offsets[from]!),
  neurons: neurons.slice(offsets[from], offsets[to]),
});

/** Whether a device's spikes, weights and state are the reference engine's, in parts of a run. */
async function agrees(options: NetworkOptions, parts: readonly number[], withInputs: boolean): Promise<void> {
  const model = drawNetwork(planNetwork(options));
  await using there = await openNetwork(context, model);
  expect(there.summary).toMatch(/^cuda: plastic, .* plastic ones$/);
  const here = new ReferenceNetwork(model);
  const total = parts.reduce((sum, each) => sum + each, 0);
  const given = withInputs ? inputsOf(total) : undefined;
  let [done, spikes] = [0, 0];
  for (const steps of parts) {
    const inputs = given && part(given, done, done + steps);
    const expected = here.advance(steps, inputs, true)!;
    spikes += expected.neurons.length;
    expect(await there.advance(steps, inputs, true)).toEqual(expected);
    done += steps;
  }
  expect(spikes).toBeGreaterThan(0);
  expect(there.getState()).toEqual(here.getState());
  const changed = model.plastic.map(({ units }, k) => {
    const weights = there.getWeights(k);
    expect(weights).toEqual(here.getWeights(k));
    return weights ? Array.from(weights).filter((weight, s) => weight !== units[s]).length : 0;
  });
  if (model.plastic.some(({ projection }) => projection.plasticity!.kind === "stdp")) expect(Math.max(...changed)).toBeGreaterThan(50);
}

/** With delays of a step or more, and those of spike-timing-dependent plasticity all dendritic. */
const dendritic: NetworkOptions = {
  ...plasticNetwork,
  projections: plasticNetwork.projections!.map(({ plasticity, delay, ...rest }) => ({
    ...rest,
    delay: delay === 0 ? 0.3 : delay,
    ...(plasticity && { plasticity: plasticity.kind === "stdp" ? { ...plasticity, delay: "dendritic" as const } : plasticity }),
  })),
};
const pairs = { kind: "stdp", potentiationTimeConstant: 17, depressionTimeConstant: 34, learningRate: 0.01, maximumWeight: 2 } as const;
const rules: Record<string, ProjectionPlasticityOptions> = {
  "additive pairs": pairs,
  "multiplicative pairs": { ...pairs, minimumWeight: 0.25, potentiationExponent: 1, depressionExponent: 1 },
  "pairs between additive and multiplicative": { ...pairs, potentiationExponent: 0.3, depressionExponent: 0.6 },
  "pairs behind dendritic delays": { ...pairs, delay: "dendritic", minimumWeight: 0.25, depressionExponent: 1 },
  "a power law": { ...pairs, weightDependence: "powerLaw", referenceWeight: 0.1 },
  "facilitation and depression": { kind: "shortTerm", release: 0.2, recoveryTimeConstant: 130, facilitationTimeConstant: 500 },
  "depression alone": { kind: "shortTerm", release: 0.6, recoveryTimeConstant: 200 },
};

describe("a plastic network on a device agrees with the reference engine", () => {
  it.each(
    Object.entries(rules).flatMap(([name, plasticity]) =>
      (["float32", "float64"] as const).map((precision) => [name, precision, plasticity] as const),
    ),
  )("by %s, %s", (_, precision, plasticity) =>
    agrees(
      {
        kind: "network",
        precision,
        seed: 7,
        populations: {
          stimulus: { size: 5, neuron: null },
          E: { size: 30, current: { distribution: "uniform", from: 20, to: 70 } },
        },
        projections: [
          {
            from: "E",
            to: "E",
            connect: { rule: "fixedInDegree", number: 6 },
            weight: { distribution: "uniform", from: 0.5, to: 2 },
            delay: { distribution: "uniform", from: 0.1, to: 1 },
            plasticity,
          },
          { from: "stimulus", to: "E", connect: "allToAll", weight: 1.5, delay: 0, plasticity },
        ],
      },
      [size(2000, 130), 1, 40],
      true,
    ),
  );

  it.each(["float32", "float64"] as const)("with every kind of projection, receptor and delay at once, %s", (precision) =>
    agrees({ ...plasticNetwork, precision }, [size(3000, 150), 7, 60], true),
  );

  it.each(["float32", "float64"] as const)("with delays behind all synapses, so that a step has one half, %s", (precision) =>
    agrees({ ...dendritic, precision }, [size(3000, 150), 7, 60], true),
  );

  it.each(["axonal", "dendritic"] as const)("with %s delays of more than 32 steps, and none of inputs", (delay) => {
    const E = { ...brianNetwork.populations["E"]!, initialPotential: { distribution: "uniform", from: 0, to: 15 } } as const;
    const projections = brianNetwork.projections!.map((each) =>
      each.plasticity?.kind === "stdp" ? { ...each, plasticity: { ...each.plasticity, delay } } : each,
    );
    return agrees({ ...brianNetwork, populations: { ...brianNetwork.populations, E }, projections }, [size(2000, 220)], false);
  });

  it("in NEST's benchmark of plasticity, a hundredth or a tenth of it", async () => {
    await agrees(hpcBenchmark({ scale: size(0.1, 0.01) }), [size(1000, 150), 20], false);
  });
});

describe("a plastic network on a device", () => {
  const model = drawNetwork(planNetwork(plasticNetwork));

  it("goes on from a state of the host, and gives one that the host goes on from", async () => {
    await using there = await openNetwork(context, model);
    const here = new ReferenceNetwork(model);
    here.advance(90, inputsOf(90), false);
    there.setState(here.getState());
    expect(there.getState()).toEqual(here.getState());
    expect(await there.advance(70, inputsOf(70), true)).toEqual(here.advance(70, inputsOf(70), true));
    here.setState(there.getState());
    expect(here.advance(30, undefined, true)).toEqual(await there.advance(30, undefined, true));
    expect(there.getState()).toEqual(here.getState());
  });

  it("can be restored if a potential is not finite", async () => {
    await using there = await openNetwork(context, model);
    await there.advance(80, inputsOf(80), false);
    const state = there.getState();
    there.keep();
    there.setDrive(model.drive.map((value, r) => (r === 17 ? Number.NaN : value)));
    await expect(there.advance(20, inputsOf(20), true)).rejects.toThrow(/potential of neuron 17 is not finite after step 80/);
    there.restore();
    expect(there.getState()).toEqual(state);
    there.setDrive(model.drive);
    const here = new ReferenceNetwork(model);
    here.setState(state);
    expect(await there.advance(40, inputsOf(40), true)).toEqual(here.advance(40, inputsOf(40), true));
  });

  it("can be restored if a block waits longer than it may", async () => {
    const wide = drawNetwork(
      planNetwork({
        kind: "network",
        populations: { E: { size: 300, current: 20 } },
        projections: [
          { from: "E", to: "E", connect: { rule: "fixedTotalNumber", number: 2000 }, weight: 1 },
          { from: "E", to: "E", connect: { rule: "fixedTotalNumber", number: 2000 }, weight: 1, plasticity: pairs },
        ],
      }),
    );
    const count = size(400_000, 20_000, 100_000);
    // One neuron, which fires at once, has all constant synapses: the block that delivers them
    // keeps the others waiting.
    const offsets = new Uint32Array(wide.size + 1).fill(count, 1);
    const synapses = { ...wide.synapses, offsets, packed: new Uint32Array(count).fill(1 << wide.cellBits), units: new Uint16Array(count) };
    const initialPotential = wide.initialPotential.with(0, 1000);
    await using there = await openNetwork(context, { ...wide, synapses, initialPotential }, { spinLimit: 1 });
    const before = there.getState();
    there.keep();
    await expect(there.advance(20, undefined, true)).rejects.toThrow(/^network_plastic: block \d+ waited 1 clock ticks at step \d+/);
    there.restore();
    expect(there.getState()).toEqual(before);
  });

  it.each([
    ["halves of a step", plasticNetwork],
    ["steps of one half", dendritic],
  ])("has no races on global memory between %s", async (_, options) => {
    if (onHardware) return;
    const own = drawNetwork(planNetwork(options));
    using checked = openDevice({ driver: simulatedDriver({ checks: { globalRaces: true } }) });
    await using there = await openNetwork(checked, own);
    const here = new ReferenceNetwork(own);
    expect(await there.advance(60, inputsOf(60), true)).toEqual(here.advance(60, inputsOf(60), true));
    expect(there.getState()).toEqual(here.getState());
  });

  it("is refused by the other plans, as the plan for plastic networks refuses others", async () => {
    await expect(openNetwork(context, model, { plan: "general" })).rejects.toThrow(
      /the plan "general" does not run it: projections\[3\] has plasticity; take "plastic", or leave it out/,
    );
    const constant = planNetwork({ kind: "network", populations: { E: { size: 4 } } });
    await expect(openNetwork(context, constant, { plan: "plastic" })).rejects.toThrow(/it has no plastic projections; take "general"/);
  });

  it("is refused before it is drawn if its synapses do not fit on the host, which draws it", async () => {
    const memory = vi.spyOn(process, "constrainedMemory").mockReturnValue(10_000);
    try {
      await expect(openNetwork(context, planNetwork(plasticNetwork))).rejects.toThrow(
        /^the \d+ synapses of 50 neurons would take \S+ \S+ and the limit is \S+ \S+: take fewer$/,
      );
    } finally {
      memory.mockRestore();
    }
  });

  it("runs without a synapse", async () => {
    const connect = { rule: "fixedTotalNumber", number: 0 } as const;
    const projections = Object.values(rules).map((plasticity) => ({ from: "E", to: "E", connect, weight: 1, plasticity }));
    const empty = drawNetwork(planNetwork({ kind: "network", populations: { E: { size: 9, current: 40 } }, projections }));
    await using there = await openNetwork(context, empty);
    const here = new ReferenceNetwork(empty);
    expect(await there.advance(200, undefined, true)).toEqual(here.advance(200, undefined, true));
    expect(there.getState()).toEqual(here.getState());
  });

  it("records, resets and goes on from a file as on the host", async () => {
    const engine = onHardware ? "cuda" : "sim";
    const path = join(folder, "plastic.safetensors");
    await using there = await SpikingNetwork.create(plasticNetwork, { engine });
    await using here = await SpikingNetwork.create(plasticNetwork, { engine: "cpu" });
    expect(there.engine).toMatch(new RegExp(`^${engine}: plastic`));
    const asked = {
      spikes: true,
      weights: { of: [0, 3], sample: 10, everyMs: 2 },
      potentials: { neurons: { E: [3] }, everyMs: 1 },
    } as const;
    expect(await there.run(8, asked)).toEqual(await here.run(8, asked));
    expect(await there.weights(2)).toEqual(await here.weights(2));
    await saveNetwork(path, there);
    await using loaded = await loadNetwork(path, { engine });
    expect(await loaded.run(4, asked)).toEqual(await here.run(4, asked));
    await there.reset();
    await here.reset();
    expect(await there.weights(0)).toEqual(await here.weights(0));
    expect(await there.run(5, asked)).toEqual(await here.run(5, asked));
  });
});
