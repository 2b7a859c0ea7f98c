// Networks on several threads have the bits of one: every part has memory of its own, and spikes
// are exchanged behind one barrier.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WasmNetwork } from "../../../src/engine/cpu/network.js";
import { cutNeurons, periodOf } from "../../../src/engine/cpu/network-parts.js";
import { ReservoirComputer } from "../../../src/index.js";
import { drawNetwork } from "../../../src/spikes/network/draw.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import { SpikingNetwork } from "../../../src/spikes/network/spiking-network.js";
import { plasticNetwork } from "./plastic-network.js";
import { runInCalls, threadedNetworks } from "./threaded-networks.js";

/** Holds the worker threads from test to test. */
let held: WasmNetwork;
beforeAll(async () => {
  held = await WasmNetwork.together(drawNetwork(planNetwork({ kind: "network", populations: { E: { size: 1 } } })), 4);
});
afterAll(() => held.dispose());

describe("threads of a network", () => {
  it.each(
    Object.entries(threadedNetworks).flatMap(([name, network]) =>
      (["float32", "float64"] as const).map((precision) => [name, precision, network] as const),
    ),
  )("have the bits of one: %s, %s", async (_, precision, network) => {
    const model = drawNetwork(planNetwork({ kind: "network", ...network, precision }));
    const alone = new WasmNetwork(model);
    const [expected, later] = [runInCalls(alone, model), runInCalls(alone, model)];
    expect(expected.records.some(({ neurons }) => neurons.length > 0)).toBe(true);
    for (const threads of [2, 3, 4]) {
      await using together = await WasmNetwork.together(model, threads);
      expect(runInCalls(together, model)).toEqual(expected);
      if (threads === 2) continue;
      // From the state of one thread.
      together.setState(expected.state);
      expect(runInCalls(together, model)).toEqual(later);
    }
  });

  it("say in which step a potential is not finite, and go on from a state that is set", async () => {
    const model = drawNetwork(planNetwork({ kind: "network", populations: { E: { size: 100, neuron: "izhikevich", current: 10 } } }));
    const drive = model.drive.slice();
    drive[70] = 1e20;
    for (const network of [new WasmNetwork(model), await WasmNetwork.together(model, 3)]) {
      await using running = network;
      const before = running.getState();
      running.setDrive(drive);
      expect(() => running.advance(100, undefined, true)).toThrow(/a potential is not finite after step 1 /);
      running.setState(before);
      running.setDrive(model.drive);
      expect(running.advance(100, undefined, true)).toEqual(new WasmNetwork(model).advance(100, undefined, true));
    }
  });

  it("have more spikes in a call than memory holds at once", async () => {
    const size = 300;
    const model = drawNetwork(
      planNetwork({
        kind: "network",
        populations: {
          E: {
            size,
            neuron: { type: "leakyIntegrateAndFire", threshold: -60, restingPotential: -65, resetPotential: -65, refractoryPeriod: 0 },
            current: 1000,
          },
        },
        projections: [{ from: "E", to: "E", connect: { rule: "fixedInDegree", number: 2 }, weight: 1, delay: 0.2 }],
      }),
    );
    await using together = await WasmNetwork.together(model, 2);
    const expected = new WasmNetwork(model).advance(2000, undefined, true)!;
    expect(expected.neurons.length).toBeGreaterThan(4 * 65_536);
    expect(together.advance(2000, undefined, true)).toEqual(expected);
  });
});

describe("how a network is cut", () => {
  const model = drawNetwork(
    planNetwork({
      kind: "network",
      populations: { E: { size: 100 }, I: { size: 40 } },
      projections: [{ from: "E", to: "I", connect: { rule: "fixedOutDegree", number: 3 }, weight: 1, delay: 0.5 }],
    }),
  );

  it("gives each part a run of every population, in sixteens", () => {
    const runs = cutNeurons(model, 2).map(({ slices }) => slices.map(({ first, inNetwork, size }) => [first, inNetwork, size]));
    expect(runs).toEqual([
      [
        [0, 0, 64],
        [64, 100, 32],
      ],
      [
        [0, 64, 36],
        [36, 132, 8],
      ],
    ]);
  });

  it("exchanges spikes as seldom as the least delay allows", () => {
    // A spike of step t is first needed in step t + 1 + 5.
    expect(periodOf(model)).toBe(6);
  });
});

describe("the option threads", () => {
  const large = { kind: "network", populations: { E: { size: 2500, current: 80, stateTimeConstant: 20 } } } as const;
  const small = { kind: "network", populations: { E: { size: 20, current: 20, stateTimeConstant: 20 } } } as const;

  it("runs large networks on threads, and says why others run on one", async () => {
    await using together = await SpikingNetwork.create(large, { engine: "cpu", threads: 2 });
    expect(together.engine).toBe("cpu: WebAssembly SIMD, 2 threads");
    await using alone = await SpikingNetwork.create(large, { engine: "cpu" });
    expect(alone.engine).toBe("cpu: WebAssembly SIMD, one thread");
    const expected = await alone.run(20, { spikes: true });
    expect(expected.rates["E"]).toBeGreaterThan(0);
    expect(await together.run(20, { spikes: true })).toEqual(expected);
    await using few = await SpikingNetwork.create(small, { engine: "cpu", threads: 2 });
    expect(few.engine).toBe("cpu: WebAssembly SIMD, one thread, as there are fewer than 500 neurons");
    await using plastic = await SpikingNetwork.create(plasticNetwork, { engine: "cpu", threads: 2 });
    expect(plastic.engine).toBe("cpu: WebAssembly SIMD, one thread, as synapses that change are renewed on one");
  });

  it("reaches networks as reservoirs", async () => {
    await using together = await ReservoirComputer.create({ ...large, inputSize: 1 }, { engine: "cpu", threads: 2 });
    expect(together.engine.plan.summary).toMatch(/2 threads/);
    await using alone = await ReservoirComputer.create({ ...large, inputSize: 1 }, { engine: "cpu" });
    const inputs = new Float32Array(8).fill(0.5);
    expect((await together.run(inputs)).data).toEqual((await alone.run(inputs)).data);
  });

  it("hears an AbortSignal and stays where it stopped", async () => {
    await using running = await SpikingNetwork.create(large, { engine: "cpu", threads: 2 });
    const stop = new AbortController();
    const onProgress = (done: number) => done >= 400 && stop.abort();
    await expect(running.run(1000, { signal: stop.signal, onProgress })).rejects.toThrow(/stopped after 400 of 10000 steps/);
    expect((await running.getState()).step).toBe(400);
  });
});
