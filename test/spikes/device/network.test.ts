// Networks of populations on a device: the table and the spikes that the host gives, bit for bit,
// and on a GPU those of a C program written from rule 13 of docs/numerics.md alone.
import { afterAll, describe, expect, it } from "vitest";
import "../../../src/index.js";
import { openNetwork } from "../../../src/engine/cuda/network/index.js";
import { isDrawnThere } from "../../../src/spikes/gpu/network/table.js";
import {
  drawNetwork,
  microcircuit,
  type NetworkOptions,
  planNetwork,
  ReferenceNetwork,
  SpikingNetwork,
  spikeHash,
  tableSum,
} from "../../../src/spikes/network/index.js";
import { casesOf, exhaustive } from "../../exhaustive.js";
import { onHardware, openTestDevice, size } from "../../gpu/device/device.js";
import { conductances, current, currents, mixedNetworks, ring } from "../network/mixed-networks.js";

const context = openTestDevice();
afterAll(() => context.dispose());

const layouts = ["slots", "table", "general"] as const;
const drawn = (options: Omit<NetworkOptions, "kind">) => drawNetwork(planNetwork({ kind: "network", ...options }));
const neuron = {
  type: "leakyIntegrateAndFire",
  membraneTimeConstant: 10,
  restingPotential: -65,
  threshold: -50,
  resetPotential: -65,
  refractoryPeriod: 2,
} as const;
const normal = { distribution: "normal", mean: 0.3, deviation: 0.05, least: 0 } as const;
const delay = { distribution: "uniform", from: 0.1, to: 0.7 } as const;

/** Two populations, one that excites and one that inhibits, every neuron of which soon fires. */
const restless = (more: Omit<Partial<NetworkOptions>, "kind"> = {}) =>
  drawn({
    seed: 5,
    populations: {
      E: {
        size: 150,
        neuron,
        receptors: { current: { timeConstant: 0.5 } },
        current: 40,
        initialPotential: { distribution: "normal", mean: -65, deviation: 4 },
      },
      I: { like: "E", size: 61, background: { rate: 4000, weight: 0.4 } },
    },
    projections: [
      { from: "E", to: "E", connect: { rule: "fixedTotalNumber", number: 2000 }, selfConnections: false, weight: normal, delay },
      { from: "E", to: "I", connect: { rule: "fixedOutDegree", number: 7 }, weight: normal, delay },
      { from: "I[0:40]", to: "E", connect: { rule: "fixedTotalNumber", number: 900 }, weight: -0.8, delay: 0.2 },
    ],
    ...more,
  });

/** Whether a device's spikes and state are the reference engine's after some steps in two parts. */
async function agrees(model: ReturnType<typeof restless>, layout: (typeof layouts)[number], steps: number): Promise<void> {
  await using network = await openNetwork(context, model, { plan: layout });
  const reference = new ReferenceNetwork(model);
  for (const part of [steps - 7, 7]) expect(await network.advance(part, undefined, true)).toEqual(reference.advance(part, undefined, true));
  expect(network.getState()).toEqual(reference.getState());
}

describe.each(layouts)("a network in the device's plan %s", (layout) => {
  it.runIf(onHardware || (exhaustive && layout !== "general"))(
    "is drawn there as on the host, and fires the same spikes: a fiftieth of the microcircuit",
    async () => {
      const plan = planNetwork(microcircuit({ scale: 0.02, drive: "poisson", seed: 1 }));
      await using network = await openNetwork(context, plan, { plan: layout });
      expect(network.tableSum).toBe("a2380d433091f273");
      const steps = size(2000, 600);
      expect(spikeHash((await network.advance(steps, undefined, true))!)).toBe(onHardware ? "86716788150d5518" : "25c0b7b603d159da");
    },
  );

  it("agrees with the reference engine if many neurons fire at once", () => agrees(restless(), layout, 120));

  it.runIf(exhaustive || layout === layouts[0])("agrees with the reference engine if more fire at once than a block lists", () => {
    const model = drawn({
      populations: { E: { size: 1400, neuron, receptors: { current: { timeConstant: 0.5 } }, current: 300, initialPotential: -60 } },
      projections: [{ from: "E", to: "E", connect: { rule: "fixedTotalNumber", number: 9000 }, weight: normal, delay }],
    });
    return agrees(model, layout, 30);
  });

  it("agrees with the reference engine in binary64, with no neurons that background spikes reach", () => {
    const model = restless({
      precision: "float64",
      populations: { E: { size: 130, neuron, receptors: { current: { timeConstant: 0.5 } }, current: 20 } },
      projections: [{ from: "E", to: "E", connect: { rule: "bernoulli", probability: 0.2 }, weight: 0.5, delay }],
    });
    return agrees(model, layout, 60);
  });

  it("draws slices, given out-degrees and no self-connections as the host does", async () => {
    const model = restless();
    await using network = await openNetwork(context, planNetwork({ ...model.config }), { plan: layout });
    expect(network.tableSum).toBe(tableSum(model.synapses));
  });

  it("goes on from a state, and with another drive", async () => {
    const model = restless();
    await using network = await openNetwork(context, model, { plan: layout });
    const reference = new ReferenceNetwork(model);
    reference.advance(30, undefined, false);
    network.setState(reference.getState());
    const drive = model.drive.map((value) => value / 2);
    network.setDrive(drive);
    reference.setDrive(drive);
    expect(await network.advance(40, undefined, true)).toEqual(reference.advance(40, undefined, true));
  });

  it("can be restored if a block waits longer than it may", async () => {
    const model = restless();
    const { cellBits } = model.synapses;
    const count = size(400_000, 20_000, 100_000);
    // One neuron, which fires at once, has all synapses: the block that delivers them keeps the
    // others waiting.
    const offsets = new Uint32Array(model.size + 1).fill(count, 150);
    const synapses = { ...model.synapses, offsets, packed: new Uint32Array(count).fill(1 << cellBits), units: new Uint16Array(count) };
    const initialPotential = model.initialPotential.with(149, 1000);
    await using network = await openNetwork(context, { ...model, synapses, initialPotential }, { plan: layout, spinLimit: 1 });
    const state = network.getState();
    network.keep();
    await expect(network.advance(20, undefined, true)).rejects.toThrow(/^network_\w+: block \d+ waited 1 clock ticks at step \d+/);
    network.restore();
    expect(network.getState()).toEqual(state);
  });

  it("can be restored if a potential is not finite", async () => {
    const model = restless();
    await using network = await openNetwork(context, model, { plan: layout });
    const state = network.getState();
    network.setDrive(model.drive.map((value, r) => (r === 17 ? 3e38 : value)));
    network.setState({ ...state, potential: state.potential.with(17, -3e38), currents: state.currents.with(17, 3e38) });
    network.setDrive(model.drive.map(() => Number.NaN));
    network.keep();
    await expect(network.advance(5, undefined, true)).rejects.toThrow(/potential of neuron \d+ is not finite after step 0/);
    network.restore();
    expect(network.getState().step).toBe(0);
  });
});

describe("a network that only the general kernel runs", () => {
  const networks: Record<string, Omit<NetworkOptions, "kind">> = {
    ...mixedNetworks,
    "synapses without a delay": {
      populations: { E: { size: 300, receptors: currents, current: { ...current, to: 90 } }, I: { like: "E", size: 60 } },
      projections: [
        { from: "E", to: "I", receptor: "fast", weight: 0.4, ...ring, delay: 0 },
        { from: "I", to: "E", receptor: "slow", weight: -0.8, ...ring },
      ],
    },
  };

  it.each(
    casesOf(
      Object.entries(networks).flatMap(([name, network]) =>
        (["float32", "float64"] as const).map((precision) => [name, precision, network] as const),
      ),
      (_, k) => k % 2 === 0,
    ),
  )("agrees with the reference engine: %s, %s", async (_, precision, network) => {
    const model = drawn({ ...network, precision });
    const steps = size(2000, 150);
    await using there = await openNetwork(context, model);
    expect(there.summary).toMatch(/^cuda: general/);
    expect(there.tableSum).toBe(tableSum(model.synapses));
    const here = new ReferenceNetwork(model);
    let spikes = 0;
    for (const part of [steps - 7, 7]) {
      const expected = here.advance(part, undefined, true)!;
      spikes += expected.neurons.length;
      expect(await there.advance(part, undefined, true)).toEqual(expected);
    }
    expect(spikes).toBeGreaterThan(0);
    expect(there.getState()).toEqual(here.getState());
    there.setState(here.getState());
    expect(there.getValues("filtered")).toEqual(here.getValues("filtered"));
  });

  it("is drawn there onto each receptor as on the host", async () => {
    const alone = { selfConnections: false, weight: { distribution: "normal", mean: 3, deviation: 0.5, least: 0 }, delay } as const;
    const plan = planNetwork({
      kind: "network",
      populations: {
        stimulus: { size: 5, neuron: null },
        E: { size: 23, receptors: currents, current: 60 },
        // Of so few that nearly every synapse is drawn onto itself at first.
        I: { like: "E", size: 2 },
      },
      projections: [
        { from: "stimulus", to: "E", receptor: "slow", connect: { rule: "fixedOutDegree", number: 4 }, weight: 2 },
        { from: "E", to: "E", receptor: "fast", connect: { rule: "fixedTotalNumber", number: 150 }, ...alone },
        { from: "E", to: "E", receptor: "slow", connect: { rule: "fixedOutDegree", number: 30 }, ...alone },
        { from: "I", to: "I", receptor: "slow", connect: { rule: "fixedOutDegree", number: 40 }, weight: -0.5, selfConnections: false },
      ],
    });
    expect(isDrawnThere(plan)).toBe(true);
    const model = drawNetwork(plan);
    await using there = await openNetwork(context, plan);
    expect(there.tableSum).toBe(tableSum(model.synapses));
    const here = new ReferenceNetwork(model);
    const expected = here.advance(90, undefined, true)!;
    expect(expected.neurons.length).toBeGreaterThan(0);
    expect(await there.advance(90, undefined, true)).toEqual(expected);
    expect(there.getState()).toEqual(here.getState());
  });

  it("refuses sums beyond 32 bits onto a receptor after drawing there", async () => {
    const plan = planNetwork({
      kind: "network",
      fractionBits: 0,
      populations: { S: { size: 1, neuron: null }, E: { size: 2, receptors: currents } },
      projections: [{ from: "S", to: "E", receptor: "slow", connect: { rule: "fixedOutDegree", number: 80_000 }, weight: 60_000 }],
    });
    expect(isDrawnThere(plan)).toBe(true);
    await expect(openNetwork(context, plan)).rejects.toThrow(/fractionBits is 0; .* can reach a neuron at once/);
  });

  it.each([0, 0.3])("takes spikes for inputs, which arrive after %s ms", async (inputDelay) => {
    const model = drawn({
      populations: { stimulus: { size: 4, neuron: null }, E: { size: 21 } },
      projections: [
        { from: "stimulus[0:3]", to: "E", connect: { rule: "bernoulli", probability: 0.5 }, weight: 60, delay: inputDelay },
        { from: "stimulus[3:4]", to: "E", connect: "allToAll", weight: 9, delay: 0.7 },
      ],
    });
    const inputs = {
      offsets: Uint32Array.from({ length: 101 }, (_, t) => 2 * t - (t > 50 ? 1 : 0)),
      neurons: Uint32Array.from({ length: 199 }, (_, s) => s % 4),
    };
    await using there = await openNetwork(context, model);
    const here = new ReferenceNetwork(model);
    const expected = here.advance(100, inputs, true)!;
    expect(expected.neurons.length).toBeGreaterThan(0);
    expect(await there.advance(100, inputs, true)).toEqual(expected);
    expect(await there.advance(9, undefined, true)).toEqual(here.advance(9, undefined, true));
    expect(there.getState()).toEqual(here.getState());
  });

  it("is refused by the other plans, with the reason", async () => {
    const refused = (plan: "slots" | "table", options: Omit<NetworkOptions, "kind">) =>
      openNetwork(context, planNetwork({ kind: "network", ...options }), { plan });
    const reason = /the plan "slots" does not run it: E has neurons that are not leaky.*take "general"/;
    await expect(refused("slots", { populations: { E: { size: 4, neuron: "izhikevich" } } })).rejects.toThrow(reason);
    const atOnce = { from: "E", to: "E", connect: "allToAll", weight: 1, delay: 0 } as const;
    await expect(refused("table", { populations: { E: { size: 4 } }, projections: [atOnce] })).rejects.toThrow(/delay of 0/);
    await expect(refused("table", { populations: { E: { size: 4, receptors: conductances } } })).rejects.toThrow(/E has conductances/);
    await expect(refused("table", { populations: { E: { size: 4 }, S: { size: 1, neuron: null } } })).rejects.toThrow(/of inputs/);
  });
});

describe("SpikingNetwork on a device", () => {
  it("records what it records on the host", async () => {
    const options = { ...restless().config } as NetworkOptions;
    await using there = await SpikingNetwork.create(options, { engine: onHardware ? "cuda" : "sim" });
    await using here = await SpikingNetwork.create(options, { engine: "reference" });
    expect(there.engine).toMatch(onHardware ? /^cuda: slots/ : /^sim: slots/);
    const asked = {
      spikes: true,
      potentials: { neurons: { E: [0, 7] }, everyMs: 1 },
      currents: [{ to: "E", current: 3, fromMs: 1, toMs: 2 }],
    } as const;
    expect(await there.run(4, asked)).toEqual(await here.run(4, asked));
  });
});

describe.runIf(onHardware)("the microcircuit on a GPU", () => {
  it("fires the spikes of the C reference at a tenth of its size", async () => {
    await using network = await openNetwork(context, planNetwork(microcircuit({ scale: 0.1, drive: "poisson", seed: 1 })));
    expect(network.tableSum).toBe("44402426e323ba9b");
    expect(spikeHash((await network.advance(15_000, undefined, true))!)).toBe("957caad8fd0a8e02");
  });

  it("fires them at full size, by either drive", async () => {
    for (const [drive, hash] of [
      ["dc", "2111a4df1f7acbe7"],
      ["poisson", "796905f30c320282"],
    ] as const) {
      await using network = await openNetwork(context, planNetwork(microcircuit({ drive, seed: 1 })));
      expect(network.tableSum).toBe("b5b8f20a47da80b7");
      expect(spikeHash((await network.advance(15_000, undefined, true))!)).toBe(hash);
    }
  });
});
