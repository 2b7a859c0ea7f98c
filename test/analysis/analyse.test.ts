import { describe, expect, it } from "vitest";
import {
  analyse,
  axisValues,
  lyapunovExponent,
  measureNames,
  measureReservoirs,
  memoryCapacity,
  qualityMap,
} from "../../src/analysis/index.js";
import "../../src/index.js";

const small = { size: 12, leakRate: 1, seed: 3, precision: "float64" } as const;

describe("analyse", () => {
  it("takes the measures that are asked for, each as it is by itself, and says which comes next", async () => {
    const reported: string[] = [];
    const onProgress = (done: number, total: number, measure: string) => reported.push(`${done} of ${total} ${measure}`);
    const { measures, leftOut, seconds } = await analyse(small, { measures: ["lyapunovExponent", "memoryCapacity"], onProgress });
    expect(measures).toEqual({ lyapunovExponent: await lyapunovExponent(small), memoryCapacity: await memoryCapacity(small) });
    expect(leftOut).toEqual([]);
    expect(Object.keys(seconds)).toEqual(["lyapunovExponent", "memoryCapacity"]);
    expect(reported).toEqual(["0 of 2 lyapunovExponent", "1 of 2 memoryCapacity", "2 of 2 "]);
  });

  it("leaves out what is not about the reservoir, with the reason", async () => {
    const ranks = ["kernelRank", "generalisationRank"];
    const spiking = await analyse({ kind: "spiking", size: 10, inputSize: 2, seed: 1 } as never);
    expect(Object.keys(spiking.measures)).toEqual(ranks);
    expect(spiking.leftOut.find(({ measure }) => measure === "lyapunovExponent")!.reason).toContain("one reservoir of rates");
    expect(spiking.leftOut.length).toBe(measureNames.length - 2);
    const { measures, leftOut } = await analyse({ ...small, inputSize: 2 });
    expect(leftOut.map(({ measure }) => measure)).toEqual(["memoryCapacity", "informationCapacity"]);
    expect(Object.keys(measures).length).toBe(5);
  });

  it("drives exponent, echo state index and dynamics by a series", async () => {
    const inputs = Float64Array.from({ length: 400 }, (_, t) => 3 * Math.sin(t / 7));
    const { measures } = await analyse(small, { measures: ["lyapunovExponent", "echoStateIndex", "informationDynamics"], inputs });
    expect(measures.lyapunovExponent).toBe(await lyapunovExponent(small, { inputs, washout: 80, length: 320 }));
    expect(measures.echoStateIndex!.curve.length).toBe(401);
  });

  it("does not hide an error that is none of the reservoir's kind", async () => {
    await expect(
      analyse({ ...small, connectionProbability: 1, spectralRadius: 60, activation: "identity" }, { measures: ["lyapunovExponent"] }),
    ).rejects.toThrow(/not finite/);
    await expect(analyse(small, { measures: ["lyapunov"] as never })).rejects.toThrow("measures[0] is");
  });
});

describe("measures of several reservoirs", () => {
  it("are those of each by itself", async () => {
    const reservoirs = [
      { ...small, seed: 1 },
      { ...small, size: 8, seed: 2 },
    ];
    const { values, interrupted, measured } = await measureReservoirs(reservoirs, { measures: ["lyapunovExponent"], engine: "cpu" });
    const single = await Promise.all(reservoirs.map((each) => lyapunovExponent(each, { washout: 200, length: 1000 })));
    expect([...values.lyapunovExponent!]).toEqual(single);
    expect([interrupted, measured]).toEqual([false, 2]);
    await expect(measureReservoirs([])).rejects.toThrow("a list of descriptions, at least one");
  });
});

describe("a map of quality", () => {
  it("is negative exponents below the edge and positive above, with memory and ranks beside", async () => {
    const map = await qualityMap(
      { size: 40, leakRate: 1, connectionProbability: 1, seed: 1 },
      {
        x: { parameter: "spectralRadius", values: [0.3, 0.9, 2.5] },
        y: { parameter: "inputScaling", values: [0.1, 1] },
        measures: ["lyapunovExponent", "memoryCapacity", "kernelRank", "generalisationRank", "rankDifference"],
      },
    );
    const { lyapunovExponent: exponent, memoryCapacity: memory, ...ranks } = map.values;
    expect([exponent!.rows, exponent!.cols]).toEqual([2, 3]);
    expect(Array.from(exponent!.data, Math.sign)).toEqual([-1, -1, 1, -1, -1, 1]);
    expect(exponent!.at(0, 1)).toBeGreaterThan(exponent!.at(1, 1));
    expect(memory!.at(0, 1)).toBeGreaterThan(memory!.at(0, 0));
    expect(memory!.at(0, 1)).toBeGreaterThan(memory!.at(0, 2));
    ranks.rankDifference!.data.forEach((difference, i) => {
      expect(difference).toBe(ranks.kernelRank!.data[i]! - ranks.generalisationRank!.data[i]!);
    });
  });

  it("is the measure of the reservoir that has these numbers, whatever they are", async () => {
    const axes = { x: { parameter: "leakRate", values: [0.4] }, y: { parameter: "bias", values: [0.2] } };
    const { values } = await qualityMap(small, { ...axes, measures: ["lyapunovExponent", "storage"] });
    const expected = await lyapunovExponent({ ...small, leakRate: 0.4, bias: 0.2 }, { washout: 200, length: 1000 });
    expect(values.lyapunovExponent!.data[0]).toBe(expected);
    expect(values.storage!.data[0]).toBeGreaterThan(0);
  });

  it("has no number where states leave the finite ones, and numbers elsewhere", async () => {
    const { values } = await qualityMap(
      { ...small, connectionProbability: 1, activation: "identity" },
      {
        x: { parameter: "spectralRadius", values: [0.5, 60] },
        y: { parameter: "inputScaling", values: [1] },
        measures: ["lyapunovExponent", "echoStateIndex"],
      },
    );
    for (const matrix of Object.values(values)) {
      expect(Number.isFinite(matrix.data[0])).toBe(true);
      expect(matrix.data[1]).toBeNaN();
    }
  });

  it("refuses a parameter that there is not, one on both axes, and more points than 256 x 256", async () => {
    const x = { parameter: "spectralRadius", values: [1] };
    await expect(qualityMap(small, { x, y: { parameter: "inputScale", values: [1] } })).rejects.toThrow('"inputScale"');
    await expect(qualityMap(small, { x, y: x })).rejects.toThrow('y.parameter is "spectralRadius"; it takes another parameter than x');
    await expect(qualityMap(small, { x, y: { parameter: "bias", values: [] } })).rejects.toThrow("y.values");
    const many = axisValues(0.1, 1, 300);
    await expect(
      qualityMap(small, { x: { parameter: "spectralRadius", values: many }, y: { parameter: "bias", values: many } }),
    ).rejects.toThrow("the number of points is 90000; it takes at most 65536");
  });

  it("stops on request, and gives the points that it has", async () => {
    const controller = new AbortController();
    const onProgress = (done: number) => {
      if (done === 2) controller.abort();
    };
    const options = { signal: controller.signal, measures: ["lyapunovExponent"] as const, onProgress };
    const { values, interrupted } = await qualityMap(small, options);
    expect(interrupted).toBe(true);
    expect([...values.lyapunovExponent!.data.subarray(0, 4)].map(Number.isNaN)).toEqual([false, false, true, true]);
    await expect(qualityMap(small, options)).rejects.toMatchObject({ code: "aborted" });
  });

  it("has axes that are even, also on a scale of logarithms", () => {
    expect(axisValues(0, 1, 3)).toEqual([0, 0.5, 1]);
    expect(axisValues(0.01, 1, 3, "log")).toEqual([0.01, 0.1, 1]);
  });
});
