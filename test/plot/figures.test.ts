import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import {
  encodeArray,
  plotConfusion,
  plotError,
  plotForecast,
  plotPhaseSpace,
  plotSeries,
  plotStateHeatmap,
  plotTrajectories,
} from "../../src/plot/index.js";
import { sequentialScale } from "../../src/plot/palette.js";
import { colourAt } from "../../src/plot/svg/heatmap.js";
import { decoded } from "./decoded.js";

describe("encodeArray", () => {
  it("writes typed arrays as plotly's base64 form, with the shape of a matrix", () => {
    // 1.5 is 3ff8000000000000 in binary64; little-endian in base64 that is AAAAAAAA+D8=.
    expect(encodeArray(Float64Array.of(1.5))).toEqual({ dtype: "f8", bdata: "AAAAAAAA+D8=" });
    expect(encodeArray(new Float32Array(6), [2, 3])).toMatchObject({ dtype: "f4", shape: "2, 3" });
    expect(encodeArray(Int32Array.of(-1))).toEqual({ dtype: "i4", bdata: "/////w==" });
  });

  it("encodes only the part of the buffer that an array shows", () => {
    expect(decoded(encodeArray(Float64Array.of(1, 2, 3, 4).subarray(1, 3)))).toEqual([2, 3]);
  });
});

describe("plotForecast", () => {
  const target = [[1], [2], [3]];
  const prediction = [[1], [2.5], [4]];

  it("draws the rows before, the target after them, the baseline and the prediction on one time axis", () => {
    const figure = plotForecast(prediction, target, {
      before: [[-1], [0]],
      baseline: [[0], [0], [0]],
      baselineName: "persistence",
      start: 10,
    });
    expect(figure.data.map(({ name }) => name)).toEqual(["target", "persistence", "prediction"]);
    expect(decoded(figure.data[0]!["x"])).toEqual([8, 9, 10, 11, 12]);
    expect(decoded(figure.data[0]!["y"])).toEqual([-1, 0, 1, 2, 3]);
    expect(decoded(figure.data[2]!["x"])).toEqual([10, 11, 12]);
    expect(decoded(figure.data[2]!["y"])).toEqual([1, 2.5, 4]);
    expect(figure.layout["shapes"]).toMatchObject([{ x0: 10, x1: 10 }]);
  });

  it("says in words what it shows", () => {
    expect(plotForecast(prediction, target, { names: ["CO2"] }).description).toBe("The target and the prediction of CO2 over 3 steps.");
  });

  it("gives each column a panel, and says where it leaves columns out", () => {
    const figure = plotForecast([[1, 2, 3, 4]], [[1, 2, 3, 4]], { maxColumns: 2 });
    expect(figure.data.map(({ yaxis }) => yaxis)).toEqual(["y", "y", "y2", "y2"]);
    expect(figure.description).toContain("The first 2 of 4 columns are drawn.");
  });

  it("takes labels for the time axis, one a row", () => {
    const times = ["2015-01-01", "2015-02-01", "2015-03-01", "2015-04-01"];
    const figure = plotForecast(prediction, target, { before: [[0]], times });
    expect(figure.data[0]!["x"]).toEqual(times);
    expect(figure.data[1]!["x"]).toEqual(times.slice(1));
    expect(() => plotForecast(prediction, target, { times })).toThrow("times holds 4 labels; 0 rows before and 3 of the forecast take 3");
  });

  it("adds the error as a panel, and counts time in Lyapunov times with the horizon marked", () => {
    const long = Array.from({ length: 10 }, (_, t) => [t % 2]);
    const off = long.map(([value], t) => [value! + (t >= 4 ? 1 : 0)]);
    const figure = plotForecast(off, long, { withError: true, before: [[0]], lyapunov: { dt: 0.5, exponent: 0.4 } });
    // A step is 0.5 x 0.4 = 0.2 Lyapunov times; the error passes 0.4 standard deviations at step 4.
    expect(decoded(figure.data[0]!["x"])[0]).toBeCloseTo(-0.2, 12);
    expect(decoded(figure.data[1]!["x"])[9]).toBeCloseTo(1.8, 12);
    expect(decoded(figure.data[2]!["y"])).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    expect(figure.layout["shapes"]).toMatchObject([{ x0: 0 }, { x0: 0.8 }]);
    expect(figure.description).toContain("The forecast is valid for 0.8 Lyapunov times.");
    expect(() => plotForecast([[1]], [[1]], { lyapunov: { dt: 0, exponent: 1 } })).toThrow("lyapunov.dt is 0; it takes a number above 0");
  });

  it("refuses another shape than the target's", () => {
    expect(() => plotForecast([[1]], target)).toThrow("prediction is 1 x 1 and target is 3 x 1; they take the same shape");
  });
});

describe("plotError", () => {
  it("draws the root mean square over the columns", () => {
    const figure = plotError([[[3, 4]]], [[[0, 0]]]);
    // sqrt((9 + 16) / 2)
    expect(decoded(figure.data[0]!["y"])[0]).toBeCloseTo(Math.sqrt(12.5), 12);
  });

  it("draws the median of several starts above them", () => {
    const figure = plotError(
      [
        [[1], [2]],
        [[3], [2]],
        [[8], [2]],
      ],
      [
        [[0], [0]],
        [[0], [0]],
        [[0], [0]],
      ],
    );
    expect(figure.data.map(({ name }) => name)).toEqual(["one start", "one start", "one start", "median"]);
    expect(decoded(figure.data[3]!["y"])).toEqual([3, 2]);
  });

  it("takes a logarithmic axis where the error spans more than a power of ten", () => {
    const axis = (errors: number[][]) => (plotError([errors], [errors.map(() => [0])]).layout["yaxis"] as { type?: string }).type;
    expect(axis([[1], [11]])).toBe("log");
    expect(axis([[1], [9]])).toBeUndefined();
    expect(axis([[0], [0]])).toBeUndefined();
  });

  it("refuses nothing to draw, and predictions without targets", () => {
    expect(() => plotError([], [])).toThrow("there are 0 predictions and 0 targets");
    expect(() => plotError([[[1]]], [])).toThrow("there are 1 predictions and 0 targets");
  });
});

describe("plotSeries", () => {
  it("draws one line a column", () => {
    const figure = plotSeries([
      [1, 10],
      [2, 20],
    ]);
    expect(figure.data.map(({ y }) => decoded(y))).toEqual([
      [1, 2],
      [10, 20],
    ]);
  });
});

describe("plotStateHeatmap", () => {
  const states = new Matrix(
    3,
    2,
    Float64Array.of(
      1,
      10, //
      2,
      20,
      3,
      30,
    ),
  );

  it("puts time to the right and a neuron on each line", () => {
    const { data } = plotStateHeatmap(states, { start: 5 });
    expect(data[0]).toMatchObject({ z: { shape: "2, 3" }, x0: 5, dx: 1, dy: 1, zmin: -30, zmax: 30 });
    expect(decoded(data[0]!["z"])).toEqual([1, 2, 3, 10, 20, 30]);
  });

  it("can draw what is left when each neuron's mean is taken off", () => {
    expect(decoded(plotStateHeatmap(states, { centred: true }).data[0]!["z"])).toEqual([-1, 0, 1, -10, 0, 10]);
  });

  it("thins out what is more than it can show, and says so", () => {
    const { data, description } = plotStateHeatmap(Matrix.zeros(700, 3), { maxSteps: 300 });
    expect(data[0]).toMatchObject({ dx: 3, z: { shape: "3, 234" } });
    expect(description).toContain("every 3rd step is drawn");
  });
});

describe("plotTrajectories", () => {
  it("draws the neurons asked for, or six at equal distances", () => {
    const states = Matrix.zeros(4, 60);
    expect(plotTrajectories(states, { neurons: [7] }).data.map(({ name }) => name)).toEqual(["neuron 7"]);
    expect(plotTrajectories(states).data.map(({ name }) => name)).toEqual([0, 10, 20, 30, 40, 50].map((neuron) => `neuron ${neuron}`));
  });

  it("refuses a neuron that there is not", () => {
    expect(() => plotTrajectories(Matrix.zeros(4, 3), { neurons: [3] })).toThrow("column 3 is outside a 4 x 3 matrix");
  });
});

/** Contrast of two colours by WCAG 2.2. */
function contrast(a: string, b: readonly number[]): number {
  const luminance = (channels: readonly number[]) => {
    const [red, green, blue] = channels.map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const [x, y] = [luminance([1, 3, 5].map((at) => Number.parseInt(a.slice(at, at + 2), 16))), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

describe("plotConfusion", () => {
  it("writes every count in an ink that is easy to read on its cell", () => {
    for (let k = 1; k < 100; k++) {
      const counts = [
        [k, 100 - k],
        [0, 1],
      ];
      const { layout } = plotConfusion(counts, ["a", "b"]);
      const [note] = layout["annotations"] as { readonly font: { readonly color: string } }[];
      expect(contrast(note!.font.color, colourAt(sequentialScale, k / 100))).toBeGreaterThan(4.5);
    }
  });

  const counts = [
    [3, 1],
    [0, 4],
  ];

  it("colours the share of each true class and writes the counts", () => {
    const { data, layout, description } = plotConfusion(counts, ["a", "b"]);
    expect(decoded(data[0]!["z"])).toEqual([0.75, 0.25, 0, 1]);
    expect((layout["annotations"] as { text: string }[]).map(({ text }) => text)).toEqual(["3", "1", "4"]);
    expect(description).toBe("7 of 8 cases are classified rightly; 1 are not. Rows are the true classes, columns the predicted ones.");
  });

  it("refuses another number of classes", () => {
    expect(() => plotConfusion(counts, ["a"])).toThrow("counts is 2 x 2; 1 classes take 1 x 1");
  });
});

describe("states after a washout", () => {
  const states = Array.from({ length: 40 }, (_, t) => [0, 1, 2].map((i) => Math.sin(t / (3 + i)) + (t < 10 ? 100 : 0)));
  const rest = states.slice(10);
  it("are those of the later steps alone, at their own time", () => {
    expect(plotStateHeatmap(states, { washout: 10 })).toEqual(plotStateHeatmap(rest, { start: 10 }));
    expect(plotTrajectories(states, { washout: 10, start: 5 })).toEqual(plotTrajectories(rest, { start: 15 }));
    expect(plotPhaseSpace(states, { washout: 10 })).toEqual(plotPhaseSpace(rest));
    expect(plotPhaseSpace(states, { washout: 0 })).toEqual(plotPhaseSpace(states));
  });

  it("take at least one step that is drawn", () => {
    for (const plot of [plotStateHeatmap, plotTrajectories, plotPhaseSpace])
      expect(() => plot(states, { washout: 40 })).toThrow("washout is 40; it takes fewer than the 40 steps of the states");
  });
});
