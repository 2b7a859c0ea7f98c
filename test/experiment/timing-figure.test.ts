import { describe, expect, it } from "vitest";
import { timingFigure } from "../../src/experiment/report/timing-figure.js";

describe("where the time of a run went", () => {
  it("is a bar a phase in the order of the run, and what no phase covers", () => {
    const figure = timingFigure({ data: 1, train: 5, test: 2, total: 10 })!;
    expect(figure.data[0]).toMatchObject({ y: ["data", "train", "test", "files and the rest"], x: [1, 5, 2, 2] });
    expect(figure.description).toBe("10 s in all: data 1 s, train 5 s, test 2 s, files and the rest 2 s.");
  });

  it("leaves out phases below a thousandth, and is nothing where nothing was timed", () => {
    expect(timingFigure({ encode: 1e-5, train: 9, total: 9 })!.data[0]).toMatchObject({ y: ["train"] });
    expect(timingFigure({ total: 3 })).toBeUndefined();
  });
});
