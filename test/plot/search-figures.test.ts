// Figures of searches, from plain trials and from a study.

import { describe, expect, it } from "vitest";
import { MemoryStorage, randomSampler, Study } from "../../packages/search/src/index.js";
import {
  type PlottedStudy,
  type PlottedTrial,
  plotContour,
  plotHistory,
  plotImportance,
  plotIntermediateValues,
  plotParallelCoordinates,
  plotSlices,
  plotTimeline,
  toSvg,
} from "../../src/plot/index.js";
import { parameterAxis } from "../../src/plot/search/trials.js";
import { decoded } from "./decoded.js";

const space = {
  parameters: [
    { name: "reservoir.radius", kind: "float", low: 0, high: 2, log: false, choices: [] },
    { name: "readout.lambda", kind: "float", low: 1e-6, high: 1, log: true, choices: [] },
    { name: "topology", kind: "choice", low: 0, high: 1, log: false, choices: ["<i>ring</i>", "sparse"] },
  ],
} as const;
const trial = (number: number, value: number | undefined, more: Partial<PlottedTrial> = {}): PlottedTrial => ({
  number,
  state: "complete",
  value,
  params: {
    "reservoir.radius": (number % 5) / 2.5,
    "readout.lambda": 10 ** -(number % 6),
    topology: number % 2 ? "sparse" : "<i>ring</i>",
  },
  ...more,
});
const study = (trials: readonly PlottedTrial[], direction = "minimise"): PlottedStudy => ({ direction, trials, space });
const named = (figure: { readonly data: readonly Readonly<Record<string, unknown>>[] }, name: string) =>
  figure.data.find((trace) => trace["name"] === name)!;

describe("plotHistory", () => {
  const trials = [
    trial(0, 3),
    trial(1, 5),
    trial(2, 2),
    trial(3, undefined, { state: "failed" }),
    trial(4, 4, { state: "pruned" }),
    trial(5, Infinity),
  ];

  it("draws the values, the best so far as steps, and marks what was pruned or failed", () => {
    const figure = plotHistory(study(trials));
    expect(decoded(named(figure, "best so far")["x"]).slice(0, 4)).toEqual([0, 2, 2, 5]);
    expect(decoded(named(figure, "best so far")["y"]).slice(0, 4)).toEqual([3, 3, 2, 2]);
    expect(decoded(named(figure, "pruned")["y"])).toEqual([4]);
    // The failed one and the infinite one stand at the upper edge.
    expect(decoded(named(figure, "failed")["x"])).toEqual([3, 5]);
    expect(figure.description).toBe("3 complete, 1 pruned and 1 failed trials; 1 are not finite. The best is trial 2 with 2.");
  });

  it("rises for what is maximised", () => {
    expect(decoded(named(plotHistory(study(trials, "maximise")), "best so far")["y"]).slice(0, 3)).toEqual([3, 3, 5]);
  });

  it("is an image with the best 500 above 5,000 trials, and small as a drawing", () => {
    const many = study(Array.from({ length: 20_000 }, (_, k) => trial(k, ((k * 7919) % 10_007) / 100)));
    for (const figure of [plotHistory(many), plotParallelCoordinates(many), plotSlices(many)]) {
      expect(figure.data[0]!["type"]).toBe("heatmap");
      expect(toSvg(figure).length).toBeLessThan(1_000_000);
    }
    expect(decoded(named(plotHistory(many), "best 500")["x"])).toHaveLength(500);
  });
});

describe("plotParallelCoordinates", () => {
  const trials = [trial(0, 1), trial(1, 4), trial(2, 2, { params: { "reservoir.radius": 2, topology: "sparse" } })];

  it("puts the most important column first, logarithms on their axis, and the best line last, on top", () => {
    const figure = plotParallelCoordinates(study(trials), {
      importance: { "readout.lambda": 0.7, topology: 0.2, "reservoir.radius": 0.1 },
    });
    expect(figure.layout["xaxis"]).toMatchObject({ ticktext: ["lambda", "topology", "radius", "value"] });
    const best = figure.data.at(-1)!;
    expect(best).toMatchObject({ name: "best 1 %", line: { color: "#D55E00" } });
    // lambda 1 is the upper end of its axis, which has margins of 3 % of six decades at both ends.
    expect(decoded(best["y"])[0]).toBeCloseTo(1.03 / 1.06, 12);
    // A trial without a lambda has a broken line.
    expect(figure.data.flatMap((trace) => decoded(trace["y"])).filter(Number.isNaN)).toHaveLength(3 + 1);
    expect((figure.layout["annotations"] as { text: string }[]).map(({ text }) => text)).toContain("1e-6");
  });

  it("escapes what a choice is called in a drawing", () => {
    expect(toSvg(plotParallelCoordinates(study(trials)))).not.toContain("<i>ring");
  });
});

describe("figures of parameters", () => {
  const trials = Array.from({ length: 30 }, (_, k) => trial(k, Math.abs((k % 5) / 2.5 - 0.8) + 0.1));

  it("have a panel for each parameter, with every trial in the order of its number", () => {
    const figure = plotSlices(study(trials));
    expect(new Set(figure.data.map((trace) => trace["xaxis"]))).toEqual(new Set(["x", "x2", "x3"]));
    expect(figure.data.filter((trace) => trace["xaxis"] === "x").map(({ name }) => name)).toContain("trials 0 to 4");
    expect(figure.layout["xaxis3"]).toMatchObject({ ticktext: ["<i>ring</i>", "sparse"] });
  });

  it("draw values over two of them, darker where they are better", () => {
    const figure = plotContour(study(trials), "reservoir.radius", "readout.lambda");
    const row = decoded(figure.data[0]!["z"]).slice(20 * 40, 21 * 40);
    // The best radius is 0.8 of 2, in the 17th of 40 cells.
    expect(Math.abs(row.indexOf(Math.min(...row)) - 16)).toBeLessThanOrEqual(2);
    expect(() => plotContour(study(trials), "radius", "topology")).toThrow(
      '"radius" is no parameter of the study; it has reservoir.radius',
    );
  });

  it("draw importance as bars, the longest on top", () => {
    const figure = plotImportance({ "reservoir.radius": 0.25, "readout.lambda": 0.75 });
    expect(decoded(figure.data[0]!["x"]).filter(Number.isFinite)).toEqual([0, 0.75, 0, 0.25]);
    expect(figure.layout["yaxis"]).toMatchObject({ ticktext: ["lambda", "radius"] });
    expect(toSvg(plotImportance({ "a.veryLongNameOfAParameter": 1 }))).toContain('<text x="192" y');
    expect(plotImportance({}).description).toContain("too few trials to say");
    expect(() => plotImportance({ a: 2 })).toThrow('importance["a"] is 2; it takes a share from 0 to 1');
  });
});

describe("figures of time", () => {
  it("draw values on the way, the best last", () => {
    const figure = plotIntermediateValues(
      study([trial(0, 2, { intermediate: { 500: 3, 1000: 2 } }), trial(1, undefined, { state: "pruned", intermediate: { 500: 9 } })]),
    );
    expect(figure.data.map(({ name }) => name)).toEqual(["stopped early", "best"]);
    expect(decoded(named(figure, "best")["x"]).slice(0, 2)).toEqual([500, 1000]);
  });

  it("give trials that ran at once lanes of their own", () => {
    const figure = plotTimeline(
      study([
        trial(0, 1, { started: 1000, finished: 3000 }),
        trial(1, 1, { started: 2000, finished: 4000 }),
        trial(2, 1, { started: 3000, finished: 5000 }),
      ]),
    );
    expect(decoded(figure.data[0]!["y"]).filter(Number.isFinite)).toEqual([0, 0, 1, 1, 0, 0]);
    expect(figure.description).toBe("3 trials in 4 s, at most 2 at once and 1.5 on average.");
  });
});

it("a study of spillway/search is drawn as it is", async () => {
  const open = await Study.open({
    storage: new MemoryStorage(),
    name: "x",
    direction: "minimise",
    sampler: randomSampler({ seed: 1 }),
    space: { radius: { float: [0.1, 1.5] }, lambda: { float: [1e-8, 1], log: true } },
  });
  const asked = await open.ask(40);
  await open.tell(asked.map(({ number, params }) => [{ number, params }, ((params["radius"] as number) - 1) ** 2] as const));
  expect(plotHistory(open).description).toContain("40 complete");
  expect(plotSlices(open, { importance: open.importance() }).layout["xaxis"]).toMatchObject({ title: { text: "radius" } });
  await open.close();
});

it("what is no study is named", () => {
  expect(() => plotHistory(5 as never)).toThrow("study is 5; it takes a study");
  expect(() => plotSlices({ ...study([]), direction: "down" })).toThrow('study.direction is "down"; it takes "minimise" or "maximise"');
  expect(() => plotTimeline({ ...study([]), trials: 3 as never })).toThrow("study.trials is 3; it takes a list of trials");
  expect(plotHistory(study([])).description).toContain("None has a value.");
});

describe("the ticks of a search's axes", () => {
  it.each([
    [0.13, 0.97, false, ["0.2", "0.4", "0.6", "0.8"]],
    [1, 31, false, ["10", "20", "30"]],
    [1e-6, 1, true, ["1e-6", "1e-5", "1e-4", "1e-3", "0.01", "0.1", "1"]],
    [0.02, 0.9, true, ["0.02", "0.05", "0.1", "0.2", "0.5"]],
    [2.1, 4.4, true, ["2.5", "3.0", "3.5", "4.0"]],
  ] as const)("from %d to %d, of logarithms: %s, are round", (low, high, log, labels) => {
    const { ticks } = parameterAxis({ name: "p", kind: "number", low, high, log, choices: [] } as never);
    expect(ticks.ticktext).toEqual(labels);
    const values = ticks.tickvals.map((at) => (log ? 10 ** at : at));
    for (const [k, label] of ticks.ticktext.entries()) expect(values[k]).toBeCloseTo(Number(label), 9);
  });
});
