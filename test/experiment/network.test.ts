// Experiments that run a network of populations, from a file to measures and a report.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { readNpz } from "../../packages/io/src/index.js";
import { run } from "../../src/cli/commands/run.js";
import { silent } from "../../src/cli/progress.js";
import { loadNetworkExperiment, readNetworkExperiment, runNetworkExperiment } from "../../src/experiment/index.js";
import { plotPopulationRates, plotWeights } from "../../src/plot/index.js";
import { populationStatistics, readSpikePattern, SpikePattern, SpikingNetwork } from "../../src/spikes/index.js";

const out = mkdtempSync(join(tmpdir(), "spillway-network-"));
afterAll(() => rmSync(out, { recursive: true, force: true }));
const example = "examples/experiments/microcircuit.yaml";

describe("an experiment with a network", () => {
  it("is run by its file, with measures by population beside references of its scale", async () => {
    const options = { out, set: ["durationMs=300", "discardMs=100", "outputs.spikes=true"], scale: "0.02", json: true };
    const { text, interrupted } = await run([example], { ...options, signal: new AbortController().signal, progress: silent });
    expect(interrupted).toBe(false);
    const result = JSON.parse(text);
    expect(Object.keys(result.seeds[0].populations)).toEqual(["L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"]);
    expect(result.seeds[0].populations.L5E.rate).toBeGreaterThan(1);
    expect(result.neurons).toBe(1544);
    expect(result.references).toEqual([]);
    expect(result.files).toEqual(["result.json", "spikes.npz", "report.html"]);
    const spikes = await readSpikePattern(join(out, "microcircuit", "spikes.npz"));
    expect(spikes.neuronCount).toBe(1544);
    expect(readFileSync(join(out, "microcircuit", "report.html"), "utf8")).toContain("Spikes by population");
  });

  it("writes the weights of plastic projections as they are at the end", async () => {
    const plasticity = { kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 20, learningRate: 0.1, maximumWeight: 1 };
    const projection = { from: "E", to: "E", connect: { rule: "fixedInDegree", number: 4 }, weight: 0.5, delay: 1 };
    const experiment = (projections: readonly object[]) =>
      readNetworkExperiment({
        name: "learning",
        network: { populations: { E: { size: 20, current: { distribution: "uniform", from: 18, to: 30 } } }, projections },
        ...{ durationMs: 100, discardMs: 0, outputs: { weights: true, report: false } },
      });
    const { result, folder } = await runNetworkExperiment(experiment([projection, { ...projection, plasticity }]), { out });
    expect(result.files).toEqual(["result.json", "weights.npz"]);
    const arrays = await readNpz(join(folder!, "weights.npz"));
    expect(Object.keys(arrays).sort()).toEqual(["delays_1", "sources_1", "targets_1", "weights_1"]);
    expect(new Set(arrays["weights_1"]!.data as Float64Array).size).toBeGreaterThan(10);
    expect(() => experiment([projection])).toThrow("outputs.weights is true; it takes false, as no projection has spike-timing");
  });

  it("drives populations by currents that its file says, from the beginning of the recorded time", async () => {
    const network = { populations: { E: { size: 20 }, I: { size: 10 } }, projections: [] } as const;
    const currents = [{ to: "E", current: 30, fromMs: 50, toMs: 150 }];
    const described = { name: "driven", network, currents, durationMs: 200, discardMs: 20, outputs: { report: false } };
    const { result } = await runNetworkExperiment(readNetworkExperiment(described));
    await using direct = await SpikingNetwork.create({ ...network, kind: "network", seed: "spillway" } as never, { engine: "cpu" });
    await direct.run(20);
    const { rates, spikes } = await direct.run(200, { spikes: true, currents });
    const { E, I } = result.seeds[0]!.populations;
    expect(E!.rate).toBeGreaterThan(10);
    expect([E!.rate, I!.rate]).toEqual([rates["E"], 0]);
    expect(Math.min(...spikes["E"]!.times)).toBeGreaterThan(50);
    expect(Math.max(...spikes["E"]!.times)).toBeLessThanOrEqual(150.1);
    const refused = readNetworkExperiment({ ...described, currents: [{ to: "X", current: 1 }] });
    await expect(runNetworkExperiment(refused)).rejects.toThrow("currents[0].to");
    expect(() => readNetworkExperiment({ ...described, currents: [{ current: 1 }] })).toThrow("currents[0].to is missing");
  });

  it("runs NEST's benchmark of plasticity, at the scale that is asked for", async () => {
    const options = { out, set: ["durationMs=100", "discardMs=20", "outputs.weights=true", "references=[]"], scale: "0.05", json: true };
    const { text } = await run(["examples/experiments/hpc-benchmark.yaml"], {
      ...options,
      ...{ signal: new AbortController().signal, progress: silent },
    });
    const result = JSON.parse(text);
    expect([result.neurons, result.synapses]).toEqual([563, 563 * 563]);
    for (const name of ["E", "I"]) {
      expect(result.seeds[0].populations[name].rate).toBeGreaterThan(3);
      expect(result.seeds[0].populations[name].rate).toBeLessThan(40);
    }
    const arrays = await readNpz(join(out, "hpc-benchmark", "weights.npz"));
    const weights = arrays["weights_0"]!.data as Float64Array;
    expect(weights.length).toBe(450 * 450);
    // 45.61 pA / sqrt(.05), which the power law keeps in the middle of its weights.
    expect(weights.reduce((a, b) => a + b, 0) / weights.length / (45.609600316540956 / Math.sqrt(0.05))).toBeCloseTo(1, 1);
    expect(new Set(weights).size).toBeGreaterThan(1000);
  });

  it("takes a scale for networks that have one alone", async () => {
    await expect(loadNetworkExperiment("examples/experiments/coba.yaml", [], "2")).rejects.toThrow(
      /--scale is "2"; it takes a file whose network is one of microcircuit, hpcBenchmark/,
    );
    await expect(loadNetworkExperiment("examples/experiments/hpc-benchmark.yaml", [], "-1")).rejects.toThrow(
      /network\.hpcBenchmark\.scale is -1; it takes a number above 0/,
    );
    expect(() => readNetworkExperiment({ name: "a", network: { hpcBenchmark: {}, timeStep: 1 } })).toThrow(
      "beside network.hpcBenchmark there may be no timeStep",
    );
  });

  it("says in a table how the populations fire", async () => {
    const { text } = await run([example], {
      ...{ out, set: ["durationMs=50", "discardMs=0", "seeds=[1, 2]", "outputs.report=false"], scale: "0.02" },
      ...{ signal: new AbortController().signal, progress: silent },
    });
    expect(text).toMatch(/microcircuit: 1544 neurons, 119548 synapses; 50 ms after 0 ms; cpu.*real-time factor/);
    expect(text).toMatch(/L6I +\d/);
  });

  it("keeps the references of the same scale and drive alone", async () => {
    const { references } = (
      await runNetworkExperiment({
        ...readNetworkExperiment({
          name: "small",
          network: { microcircuit: { scale: 0.01, drive: "poisson" } },
          durationMs: 10,
          discardMs: 0,
          references: [
            { name: "a", rates: { L4E: 1 }, scale: 0.01 },
            { name: "b", rates: { L4E: 1 }, scale: 1 },
            { name: "c", rates: { L4E: 1 }, drive: "dc" },
          ],
        }),
      })
    ).result;
    expect(references.map(({ name }) => name)).toEqual(["a"]);
  });

  it("shows in its report how weights that change were and are distributed, by projection", async () => {
    const timing = { kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 20, learningRate: 0.1, maximumWeight: 2 };
    const projection = { from: "E", to: "E", connect: { rule: "fixedInDegree", number: 5 }, weight: 1 };
    const experiment = readNetworkExperiment({
      name: "learning",
      network: {
        populations: { E: { size: 30, current: 30 } },
        projections: [projection, { ...projection, plasticity: timing }],
      },
      durationMs: 100,
      discardMs: 0,
    } as never);
    const { folder } = await runNetworkExperiment(experiment, { out });
    const report = readFileSync(join(folder!, "report.html"), "utf8");
    expect(report).toContain("Weights from E to E, projections[1]");
    expect(report).toMatch(/Weights of 150 synapses in mV; before: mean 1, standard deviation 0; after: mean/);
    expect(report).not.toContain("projections[0]");
  });

  it("has the rates of Brette's CUBA network", async () => {
    const experiment = await loadNetworkExperiment("examples/experiments/cuba.yaml", ["seeds=[1, 2]"]);
    const { seeds } = (await runNetworkExperiment(experiment!)).result;
    const rate = (name: string) => (seeds[0]!.populations[name]!.rate + seeds[1]!.populations[name]!.rate) / 2;
    // Means over ten seeds of a NumPy program: 5.63 and 5.57 Hz, with deviations of 0.32 and 0.11.
    expect(Math.abs(rate("E") - 5.63)).toBeLessThan(3 * 0.32);
    expect(Math.abs(rate("I") - 5.57)).toBeLessThan(3 * 0.11);
  });

  it("has the rates of Brette's COBA network, whose synapses are conductances", async () => {
    const experiment = await loadNetworkExperiment("examples/experiments/coba.yaml", ["seeds=[1, 2]"]);
    const { seeds } = (await runNetworkExperiment(experiment!)).result;
    const rate = (name: string) => (seeds[0]!.populations[name]!.rate + seeds[1]!.populations[name]!.rate) / 2;
    // Means over the eight of ten seeds of a NumPy program whose activity lasts: 19.0 Hz, with
    // deviations of 1.1 and 0.7.
    expect(Math.abs(rate("E") - 19)).toBeLessThan(3 * 1.1);
    expect(Math.abs(rate("I") - 19)).toBeLessThan(3 * 0.7);
  });

  it.each(["microcircuit", "cuba", "coba", "brunel"])("takes the example %s", async (name) => {
    expect((await loadNetworkExperiment(`examples/experiments/${name}.yaml`))!.name).toBe(name);
  });

  it.each<[string, readonly string[], RegExp]>([
    ["a scale that is none", ["network.microcircuit.scale=2"], /microcircuit\.yaml:5: network\.microcircuit\.scale is 2/],
    ["a part of a step", ["durationMs=0.05"], /durationMs is 0\.05.*steps of 0\.1 ms/],
    ["a misspelt field", ["duratoinMs=5"], /did you mean "durationMs"/],
    ["a name that leaves the folder", ["name=../x"], /names a folder/],
  ])("refuses %s", async (_, set, message) => {
    await expect(loadNetworkExperiment(example, set)).rejects.toThrow(message);
  });

  it("is not what other files are", async () => {
    expect(await loadNetworkExperiment("examples/experiments/narma10.yaml")).toBeUndefined();
  });
});

describe("a figure of weights", () => {
  const numbers = (trace: Readonly<Record<string, unknown>>, axis: string) => {
    const bytes = Buffer.from((trace[axis] as { bdata: string }).bdata, "base64");
    return [...new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))];
  };

  it("has shares of synapses in the same bars before and after, with units, axes and a legend", () => {
    const { data, layout, description } = plotWeights([1, 1, 1, 1], [0, 0, 1, 2], { unit: "nS", bins: 2 });
    expect(data.map(({ name }) => name)).toEqual(["before", "after"]);
    for (const trace of data) expect(numbers(trace, "x")).toEqual([0, 0, 1, 1, 2, 2]);
    expect(data.map((trace) => numbers(trace, "y"))).toEqual([
      [0, 0, 0, 1, 1, 0],
      [0, 0.5, 0.5, 0.5, 0.5, 0],
    ]);
    expect(layout).toMatchObject({ xaxis: { title: { text: "weight (nS)" } }, yaxis: { title: { text: "share of synapses" } } });
    expect(description).toMatch(/^Weights of 4 synapses in nS; before: mean 1, standard deviation 0; after: mean 0\.75, /);
  });

  it("takes weights that are finite numbers, at least one", () => {
    expect(() => plotWeights([], [1])).toThrow("before is an array of 0; it takes a list of at least one weight");
    expect(() => plotWeights([1], [1, Number.NaN])).toThrow("after[1] is NaN; it takes a finite number");
  });
});

describe("the measures of a population", () => {
  const regular = (period: number, neuron: number) =>
    Array.from({ length: Math.floor(1000 / period) }, (_, k) => ({ neuron, timeMs: (k + 1) * period }));

  it("are rate, irregularity and the share of silent neurons", () => {
    const pattern = SpikePattern.from([...regular(100, 0), ...regular(50, 1)], { durationMs: 1000, neuronCount: 4 });
    const { rate, silentShare, intervalVariation, rateDeviation } = populationStatistics(pattern);
    expect(rate).toBe(7.5);
    expect(silentShare).toBe(0.5);
    expect(intervalVariation).toBeCloseTo(0, 12);
    expect(rateDeviation).toBeCloseTo(Math.sqrt((2.5 ** 2 + 12.5 ** 2 + 2 * 7.5 ** 2) / 4), 12);
    expect(populationStatistics(pattern, { fromMs: 500 }).rate).toBe(7.5);
  });

  it("correlate what fires together, and leave out what is silent", () => {
    const same = SpikePattern.from(
      [0, 1].flatMap((neuron) => regular(130, neuron)),
      { durationMs: 1000, neuronCount: 3 },
    );
    expect(populationStatistics(same).correlation).toBeCloseTo(1, 12);
    const alone = SpikePattern.from(regular(130, 0), { durationMs: 1000, neuronCount: 3 });
    expect(populationStatistics(alone).correlation).toBeUndefined();
    const intervals = SpikePattern.from(
      [10, 20, 40].map((timeMs) => ({ neuron: 0, timeMs })),
      { durationMs: 100, neuronCount: 1 },
    );
    // Intervals of 10 and 20 ms: deviation 5 over mean 15.
    expect(populationStatistics(intervals).intervalVariation).toBeCloseTo(1 / 3, 12);
  });

  it("are drawn with references as marks", () => {
    const { data, description } = plotPopulationRates({ E: 4, I: 6 }, [{ name: "NEST", rates: { E: 4.4, I: 5.9 } }], {
      deviations: { E: 3 },
    });
    expect(data.map((trace) => trace["name"])).toEqual(["deviation over neurons", "this run", "NEST"]);
    expect(description).toBe("E 4 Hz, I 6 Hz");
    expect(() => plotPopulationRates({ E: Number.NaN })).toThrow(/rates\.E/);
  });
});
