// What a user gets wrong of a figure: a sentence that names it, not a figure that left it out.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../src/index.js";
import * as plot from "../../src/plot/index.js";

const series = [[1], [2], [3]];
const spikes = { times: [1, 2], neurons: [0, 1], durationMs: 3, neuronCount: 2 };
const eigenvalues = { re: [0.5], im: [0] };
const memory = { total: 1, curve: [1, 0.5] };
const difference = { histogram: [{ label: "0", count: 1 }], divergence: new Float64Array(1), every: 1, equal: true };
const comparison = { reference: { engine: "cpu" }, others: [{ engine: "sim", difference }], steps: 1, size: 1 } as never;

const capacity = { total: 1, rank: 1, byDegree: [{ degree: 1, capacity: 1, byDelay: [1] }] };
const axis = { parameter: "a", values: [1] };
const map = { x: axis, y: axis, values: { storage: Matrix.zeros(1, 1) } };

const figures: Readonly<Record<string, (options: never) => plot.Figure>> = {
  plotComparison: (options) => plot.plotComparison(comparison, options),
  plotCapacity: (options) => plot.plotCapacity(capacity, options),
  plotCurves: (options) => plot.plotCurves({ a: { x: [1], y: [1] } }, options),
  plotQualityMap: (options) => plot.plotQualityMap(map, "storage", options),
  plotConfusion: (options) => plot.plotConfusion([[1]], ["a"], options),
  plotCalibration: (options) => plot.plotCalibration([0.5], [0.5], options),
  plotError: (options) => plot.plotError([series], [series], options),
  plotForecast: (options) => plot.plotForecast(series, series, options),
  plotMemoryCapacity: (options) => plot.plotMemoryCapacity(memory, options),
  plotPhaseSpace: (options) => plot.plotPhaseSpace([[1, 2]], options),
  plotResiduals: (options) => plot.plotResiduals([series], [series], options),
  plotSeries: (options) => plot.plotSeries(series, options),
  plotSpectrum: (options) => plot.plotSpectrum(eigenvalues, options),
  plotSpikeRaster: (options) => plot.plotSpikeRaster(spikes, options),
  plotStateHeatmap: (options) => plot.plotStateHeatmap(series, options),
  plotTrajectories: (options) => plot.plotTrajectories(series, options),
};

describe("figures", () => {
  it.each(Object.entries(figures))("%s refuses an option that there is not, and options that are no object", (_, draw) => {
    expect(() => draw({ titel: "x" } as never)).toThrow('unknown field "titel": did you mean "title"?');
    expect(() => draw(null as never)).toThrow("options is null; it takes an object of options");
    expect(() => draw({ title: 5 } as never)).toThrow("title is 5; it takes a text");
    expect(draw({ title: "x" } as never).title).toBe("x");
  });

  it.each([
    ["plotSeries", { names: "x" }, 'names is "x"; it takes a list'],
    ["plotSeries", { start: Number.NaN }, "start is NaN; it takes a finite number"],
    ["plotSeries", { maxPoints: "all" }, 'maxPoints is "all"; it takes a number of at least 0'],
    ["plotForecast", { withError: "yes" }, 'withError is "yes"; it takes true or false'],
    ["plotForecast", { times: 3 }, "times is 3; it takes a list"],
    ["plotForecast", { baseline: 5 }, "baseline is 5; it takes a Matrix"],
    ["plotStateHeatmap", { maxSteps: 0 }, "maxSteps is 0; it takes a number of at least 1"],
    ["plotStateHeatmap", { range: [2, 1] }, "range is [2,1]; it takes two numbers that rise"],
    ["plotTrajectories", { neurons: 3 }, "neurons is 3; it takes a list"],
    ["plotSpikeRaster", { bins: [0, 5] }, "bins[0] is 0; it takes a whole number of at least 1"],
  ])("%s refuses %j", (name, options, message) => {
    expect(() => figures[name]!(options as never)).toThrow(message);
  });

  const draws: Readonly<Record<string, readonly [(what: never) => unknown, string]>> = {
    plotComparison: [(what) => plot.plotComparison(what), "comparison"],
    "plotCalibration, nominal": [(what) => plot.plotCalibration(what, [0.5]), "nominal"],
    "plotCalibration, measured": [(what) => plot.plotCalibration([0.5], what), "measured"],
    plotConfusion: [(what) => plot.plotConfusion([[1]], what), "classes"],
    "plotError, predictions": [(what) => plot.plotError(what, [series]), "predictions"],
    "plotError, targets": [(what) => plot.plotError([series], what), "targets"],
    plotForecast: [(what) => plot.plotForecast(what, series), "prediction"],
    plotMemoryCapacity: [(what) => plot.plotMemoryCapacity(what), "memories"],
    plotPhaseSpace: [(what) => plot.plotPhaseSpace(what), "states"],
    "plotResiduals, predictions": [(what) => plot.plotResiduals(what, [series]), "predictions"],
    "plotResiduals, targets": [(what) => plot.plotResiduals([series], what), "targets"],
    plotSeries: [(what) => plot.plotSeries(what), "series"],
    plotSpectrum: [(what) => plot.plotSpectrum(what), "spectra"],
    plotSpikeRaster: [(what) => plot.plotSpikeRaster(what), "spikes"],
    plotStateHeatmap: [(what) => plot.plotStateHeatmap(what), "states"],
    plotTrajectories: [(what) => plot.plotTrajectories(what), "states"],
    decimate: [(what) => plot.decimate(what), "values"],
  };

  it.each(Object.entries(draws))("%s names what it cannot draw, and says what it takes", (_, [draw, name]) => {
    expect(() => draw(undefined as never)).toThrow(new RegExp(`^${name} is missing; it takes `));
    expect(() => draw(5 as never)).toThrow(new RegExp(`^${name} is 5; it takes `));
  });

  it("are not drawn of a reservoir that was not measured", async () => {
    const reservoir = await ReservoirComputer.create({ size: 3, seed: 1 }, { engine: "reference" });
    const computer = reservoir as never;
    expect(() => plot.plotSpectrum(computer)).toThrow("it takes lists re and im of eigenvalues, such as spectrum() gives");
    expect(() => plot.plotMemoryCapacity(computer)).toThrow("it takes what memoryCapacity() gives");
    expect(() => plot.plotComparison(computer)).toThrow(/^comparison is .*; it takes what compare\(\) gives$/);
    expect(() => plot.plotSpikeRaster(computer)).toThrow(/^spikes is .*; it takes \{ times, neurons, durationMs, neuronCount \}/);
    await reservoir.dispose();
    expect(() => plot.plotMemoryCapacity({ total: 3 } as never)).toThrow('reservoir is {"total":3}; it takes what memoryCapacity() gives');
    expect(() => plot.plotSpikeRaster({ ...spikes, neuronCount: undefined as never })).toThrow("neuronCount is missing; it takes a whole");
  });
});

describe("what draws figures", () => {
  const figure = plot.plotSeries(series);
  const drawn = (trace: object) => plot.toSvg({ ...figure, data: [trace as never] });
  const report = (section: object) => plot.reportHtml({ title: "x", sections: [section as never], plotly: "" });
  const section = { title: "x", facts: [], scores: [], figures: [figure] };

  const draws: Readonly<Record<string, (figure: never, options?: never) => unknown>> = {
    toSvg: plot.toSvg,
    toHtml: plot.toHtml,
    toImage: (drawn: never, options: object = {}) => plot.toImage(drawn, { renderer: "static", ...options }),
  };

  it.each(Object.entries(draws))("%s refuses a malformed figure, and an option that there is not", async (_, draw) => {
    const made = async (drawn: unknown, options?: object) => draw(drawn as never, options as never);
    await expect(made(undefined)).rejects.toThrow("figure is missing; it takes what a function such as plotSeries");
    await expect(made({ ...figure, layout: null })).rejects.toThrow(/^figure is .*; it takes what a function such as plotSeries/);
    await expect(made({ ...figure, data: [null] })).rejects.toThrow("trace 0 of the figure is null; it takes what");
    await expect(made({ data: [], layout: {} })).rejects.toThrow("the title of the figure is missing; it takes what");
    await expect(made(figure, { widht: 300 })).rejects.toThrow('unknown field "widht"');
  });

  it.each([
    ["a theme", () => plot.toSvg(figure, { theme: "sepia" as never }), 'theme is "sepia"; it takes "light" or "dark"'],
    [
      "a theme by the name of a method",
      () => plot.toSvg(figure, { theme: "toString" as never }),
      'theme is "toString"; it takes "light" or "dark"',
    ],
    ["a width", () => plot.toSvg(figure, { width: Number.NaN }), "width is NaN; it takes a number above 0"],
    ["a height", () => plot.toSvg(figure, { height: "300" as never }), 'height is "300"; it takes a number above 0'],
    [
      "a renderer",
      () => plot.toImage(figure, { renderer: "chrome" as never }),
      'renderer is "chrome"; it takes "auto", "chromium" or "static"',
    ],
    ["a scale", () => plot.toImage(figure, { renderer: "static", scale: 0 }), "scale is 0; it takes a number above 0"],
    ["the options of a page", () => plot.toHtml(figure, null as never), "options is null; it takes an object of options"],
    ["a page's title", () => plot.toHtml(figure, { title: 5 as never }), "title is 5; it takes a text"],
    ["a report", () => plot.reportHtml(undefined as never), "options is missing; it takes an object of options"],
    ["a report's sections", () => plot.reportHtml({ title: "x" } as never), "sections is missing; it takes a list of sections"],
    ["a section", () => report(undefined as never), "sections[0].title is missing; it takes a text"],
    ["a section's scores", () => report({ ...section, scores: undefined }), "sections[0].scores is missing; it takes a list of scores"],
    ["a score", () => report({ ...section, scores: [undefined] }), "sections[0].scores[0].metric is missing; it takes a text"],
    ["a section's figures", () => report({ ...section, figures: [[1]] }), "figure is an array of 1; it takes what a function"],
    ["the place of plotly", () => plot.toHtml(figure, { plotly: 5 as never }), "plotly is 5; it takes a text"],
    ["an image's values", () => drawn({ type: "heatmap" }), "a trace holds missing for its values; it takes a list or an encoded array"],
    ["a line's values", () => drawn({ type: "scatter", y: 5 }), "a trace holds 5 for its values; it takes a list or an encoded array"],
    ["encoded values", () => drawn({ type: "scatter", y: { dtype: "f2", bdata: "" } }), 'a trace holds {"dtype":"f2"'],
    ["an array for plotly", () => plot.encodeArray([1] as never), "the array is an array of 1; it takes a Float32Array"],
  ])("refuses %s of another kind", async (_, draw, message) => {
    await expect((async () => draw())()).rejects.toThrow(message);
  });
});
