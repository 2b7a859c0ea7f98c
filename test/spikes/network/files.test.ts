// Networks as files: description and state.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import "../../../src/index.js";
import { readSafetensors, writeSafetensors } from "../../../packages/io/src/index.js";
import { loadNetwork, type NetworkOptions, SpikingNetwork, saveNetwork } from "../../../src/spikes/index.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-network-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "network.safetensors");
const network: NetworkOptions = {
  kind: "network",
  seed: "saved",
  populations: {
    stimulus: { size: 2, neuron: null },
    E: { size: 30, current: { distribution: "uniform", from: 14, to: 22 }, stateTimeConstant: 20 },
    A: { size: 10, neuron: { type: "adaptiveIntegrateAndFire", adaptationStep: 2 }, current: 20, background: { rate: 500, weight: 30 } },
  },
  projections: [
    {
      from: "E",
      to: "A",
      connect: { rule: "fixedInDegree", number: 8 },
      weight: { distribution: "normal", mean: 40, deviation: 5 },
      delay: 1.5,
    },
    {
      from: "A",
      to: "E",
      connect: { rule: "bernoulli", probability: 0.3 },
      weight: -30,
      delay: { distribution: "uniform", from: 0.5, to: 2 },
    },
    {
      from: "stimulus",
      to: "E",
      connect: {
        rule: "list",
        synapses: [
          [0, 3],
          [1, 4, 20, 1],
        ],
      },
      weight: 9,
    },
  ],
};

describe("a network in a file", () => {
  it("goes on with the bits of the one that was saved", async () => {
    await using saved = await SpikingNetwork.create(network);
    await saved.run(30);
    await saveNetwork(path, saved);
    await using loaded = await loadNetwork(path, { engine: "reference" });
    expect(loaded.config).toEqual(saved.config);
    const [rest, expected] = [await loaded.run(30, { spikes: true }), await saved.run(30, { spikes: true })];
    expect(expected.spikes["E"]!.times.length).toBeGreaterThan(5);
    expect(rest).toEqual(expected);
    expect(await loaded.getState()).toEqual(await saved.getState());
  });

  it.each<[string, (file: Awaited<ReturnType<typeof readSafetensors>>) => Promise<void>, RegExp]>([
    ["a file of something else", ({ tensors }) => writeSafetensors(path, tensors), /this is no network/],
    ["a description that cannot be", ({ tensors, metadata }) => writeSafetensors(path, tensors, { ...metadata, config: "{" }), /no JSON/],
    [
      "a state of another network",
      ({ tensors, metadata }) =>
        writeSafetensors(path, { ...tensors, held: { dtype: "I32", shape: [1], data: new Int32Array(1) } }, metadata),
      /state\.held is 1; it takes 40 values/,
    ],
    [
      "a potential that is not finite",
      ({ tensors, metadata }) =>
        writeSafetensors(
          path,
          { ...tensors, potential: { dtype: "F32", shape: [40], data: new Float32Array(40).fill(Number.NaN) } },
          metadata,
        ),
      /state\.potential\[0\] is NaN; it takes a finite number/,
    ],
    ["a step that is none", ({ tensors, metadata }) => writeSafetensors(path, tensors, { ...metadata, step: "-1" }), /state\.step is -1/],
    [
      "a potential that is held for longer than it can be",
      ({ tensors, metadata }) =>
        writeSafetensors(path, { ...tensors, held: { dtype: "I32", shape: [40], data: new Int32Array(40).fill(99, 3) } }, metadata),
      /state\.held\[3\] is 99; it takes a number from 0 to 30/,
    ],
  ])("refuses %s", async (_, spoil, message) => {
    await using saved = await SpikingNetwork.create(network);
    await saveNetwork(path, saved);
    await spoil(await readSafetensors(path));
    await expect(loadNetwork(path)).rejects.toThrow(message);
  });

  it.each<[string, "fired" | "resources", readonly [number, number], RegExp]>([
    ["a neuron that fires a billion times in a step", "fired", [0, 1e9], /state\.fired\[0\] is 1000000000; it takes a number from 0 to 1/],
    ["a channel that does", "fired", [4, 1e9], /state\.fired\[4\] is 1000000000; it takes a number from 0 to 65535/],
    ["a spike after the last step", "resources", [8, 51], /state\.resources\[8\] is 51; it takes a number from 0 to 50/],
    ["more resources than there are", "resources", [4, 2], /state\.resources\[4\] is 2; it takes a number from 0 to 1/],
  ])("refuses %s", async (_, name, [index, value], message) => {
    const plasticity = { kind: "shortTerm", release: 0.5, recoveryTimeConstant: 50 } as const;
    await using saved = await SpikingNetwork.create({
      kind: "network",
      populations: { in: { size: 1, neuron: null }, E: { size: 4, current: 20 } },
      projections: [{ from: "E", to: "E", connect: "allToAll", weight: 1, plasticity }],
    });
    await saved.run(5);
    await saveNetwork(path, saved);
    const { tensors, metadata } = await readSafetensors(path);
    tensors[name]!.data[index] = value;
    await writeSafetensors(path, tensors, metadata);
    await expect(loadNetwork(path)).rejects.toThrow(message);
  });
});
