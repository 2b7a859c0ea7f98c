// One parameter of a pipeline by its path, as a grid search sets it.
import { describe, expect, it } from "vitest";
import { withParameter } from "../../src/pipeline/index.js";

describe("withParameter", () => {
  const parameters = { reservoir: { size: 3, leakRate: 1 } };

  it("changes a copy", () => {
    expect(withParameter(parameters, "reservoir.leakRate", 0.5)).toEqual({ reservoir: { size: 3, leakRate: 0.5 } });
    expect(withParameter(parameters, "readout.lambda", 0.1)).toMatchObject({ readout: { lambda: 0.1 } });
    expect(parameters.reservoir.leakRate).toBe(1);
  });

  it.each([
    [undefined, "path is missing; it takes names with points between them"],
    [3, "path is 3; it takes names with points between them"],
    ["", 'path is ""; it takes names with points between them'],
    ["reservoir..size", 'path is "reservoir..size"; it takes names with points between them'],
    ["reservoir.size.x", "size is 3"],
  ])("refuses the path %j", (path, message) => {
    expect(() => withParameter(parameters, path as never, 1)).toThrow(message);
  });

  it("refuses parameters that are none", () => {
    expect(() => withParameter(undefined as never, "scaler", "none")).toThrow(
      "parameters is missing; it takes the parameters of a pipeline",
    );
  });
});
